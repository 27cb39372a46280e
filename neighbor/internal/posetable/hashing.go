package posetable

import (
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// Hashing looks every pose up in a hash table, and works for any pairs. The strategies before it use it for the pairs whose poses
// they cannot determine.
//
// Poses are first sorted by where they lie in the space of poses, into regions so far apart that poses of different regions
// cannot merge. Then the table of each region is filled independently, and is small enough for a cache. Each table gets its poses
// in the order of pairs, and entries are numbered by the first pair that showed them. So the result is that of entering all
// poses, in order, into one table, whatever GOMAXPROCS is. If a pose lies on the border of a region, wider regions are tried, and
// finally a single table for all poses.

const (
	// itemsPerShard is about how many poses a table gets: its items and slots then stay in the second-level cache of a core.
	itemsPerShard = 1 << 11
	// minShards is enough for goroutines to share the work evenly, maxShards the largest number of places that a sort can write
	// to at a time without losing speed.
	minShards, maxShards = 32, 1 << 11
	// itemsPerPiece is about how many poses of a chunk go to one table, and minChunk the smallest chunk.
	itemsPerPiece, minChunk = 32, 1 << 13
	// poseBlock is how many poses are computed at a time.
	poseBlock = 1 << 10
	// narrowRegion and wideRegion are edges, as powers of two in cells, of the regions that tables are chosen by. They are so
	// wide that a pose is rarely on a border: among some hundred million scattered poses, one is on a border of narrow regions.
	// Wide ones distribute poses less evenly. regionOrigin, in narrow regions, moves the borders away from the round numbers at
	// which people place points.
	narrowRegion, wideRegion = 30, 34
	regionOrigin             = 0x305ee7a9
	// pooledItems is the largest number of words of items that is kept between calls: 128 MiB, enough for a 128 × 128 image under
	// R>0×SO(2).
	pooledItems = 1 << 24
)

// smallPairs is the largest number of pairs for which one table is faster than looking for a better strategy.
const smallPairs = 1 << 14

// shardsFor is how many tables so many poses are entered into.
func shardsFor(pairs int) int {
	if pairs < smallPairs {
		return 1
	}
	shards := minShards
	for shards < maxShards && shards*itemsPerShard < pairs {
		shards *= 2
	}
	return shards
}

// hash looks up the poses of the pairs in entered, or of all pairs if entered is nil, in that many tables. Every other pair
// follows one of those entered: its Pose is the complement of the pair that it follows, and the Pose of a pair that others follow
// is their number; finish is not nil where rows follow others, and then gives each pair its entry and returns the twins. hash
// returns false, and leaves Pose all zero, if that is not possible. With one table and no followers the only reason is lack of
// memory.
func hash(p *Pairs, entered []int32, shards int, finish func(p *Pairs) (twins []int32)) (*Table, bool) {
	h := newHashing(p, shards, entered)
	if h == nil {
		clear(p.Pose)
		return nil, false
	}
	defer h.free()
	if !h.enterAll() || !p.fits(h.n, int(h.entries.Load()), shards) {
		clear(p.Pose)
		return nil, false
	}
	return h.number(finish), true
}

// hashing is the state of hash.
type hashing struct {
	*Pairs
	stride  int
	entered []int32 // the pairs to enter, ascending; nil are all
	n       int     // how many
	shards  int     // a power of two
	inv     float64 // cells per unit
	region  uint    // narrowRegion or wideRegion
	// border is set when a pose lies in a cell at the border of a region, unclear when an entry fails the conditions that
	// followers need (see rotationReach).
	border, unclear atomic.Bool
	entries         atomic.Int64

	chunk int      // how many pairs are sorted by table together
	items []uint64 // [n, stride], see cellTable: chunk by chunk, within a chunk table by table, and there by pair
	start []int32  // [chunks, shards+1] where the items of each table start in the chunk
	buf   *[]uint64
	work  []hashWork
}

// hashWork is scratch of one goroutine.
type hashWork struct {
	poses []float64
	items []uint64
	shard []uint16
	next  []int32
	index []int32
	table *cellTable
}

// itemPool keeps items between calls: the allocator clears what it hands out, which nobody needs here. The pool drops what was
// unused during two collections.
var itemPool sync.Pool

// newHashing returns nil if there is not enough memory.
func newHashing(p *Pairs, shards int, entered []int32) *hashing {
	b := &hashing{
		Pairs: p, stride: p.e + 1, entered: entered, n: len(p.Index), shards: shards,
		inv:   newCellTable(0, 0, p.Tolerance, nil).inv,
		chunk: max(minChunk, shards*itemsPerPiece),
		work:  make([]hashWork, runtime.GOMAXPROCS(0)),
	}
	if entered != nil {
		b.n = len(entered)
	}
	if !p.fits(b.n, 0, shards) {
		return nil
	}
	b.start = make([]int32, (b.n+b.chunk-1)/b.chunk*(shards+1))
	b.buf, _ = itemPool.Get().(*[]uint64)
	if size := b.n * b.stride; b.buf == nil || cap(*b.buf) < size {
		items := make([]uint64, size)
		b.buf = &items
	}
	b.items = (*b.buf)[:b.n*b.stride]
	return b
}

// free hands the items back.
func (b *hashing) free() {
	if cap(*b.buf) <= pooledItems {
		itemPool.Put(b.buf)
	}
	b.buf, b.items = nil, nil
}

// enterAll enters all poses. Afterwards Pose says for the pair of an entry how many other pairs share it. For every other pair it
// is the complement of a pair that shares the entry: the entry's own pair or, for followers, the pair that they follow. enterAll
// gives up and returns false if a pose lies on a border between regions, or if an entry fails the conditions that followers need.
func (b *hashing) enterAll() bool {
	for _, b.region = range []uint{narrowRegion, wideRegion} {
		b.border.Store(false)
		parallel.ForWorkers(b.n, b.chunk, len(b.work), func(worker, from, to int) {
			b.pause()
			if !b.border.Load() {
				b.split(&b.work[worker], from, to)
			}
		})
		if !b.border.Load() {
			break
		}
	}
	if b.border.Load() {
		return false
	}
	parallel.ForWorkers(b.shards, 1, len(b.work), func(worker, shard, _ int) {
		b.pause()
		w := &b.work[worker]
		if w.table == nil {
			w.table = newCellTable(b.e, b.stride, b.Tolerance, b.items)
		}
		count := 0
		for at := shard; at < len(b.start); at += b.shards + 1 {
			count += int(b.start[at+1] - b.start[at])
		}
		w.table.reset(count)
		for lo, at := 0, shard; at < len(b.start); lo, at = lo+b.chunk, at+b.shards+1 {
			if !w.table.enterItems(b.Pose, lo+int(b.start[at]), lo+int(b.start[at+1])) {
				b.unclear.Store(true)
				return
			}
		}
		b.entries.Add(int64(w.table.n))
	})
	return !b.unclear.Load()
}

// split computes the poses that are entered as numbers from .. to-1, a chunk, and writes their items sorted by table, and within
// a table in the order of pairs.
func (b *hashing) split(w *hashWork, from, to int) {
	stride := b.stride
	if w.poses == nil {
		w.poses = make([]float64, poseBlock*b.e)
		if b.shards > 1 {
			w.items, w.shard, w.next = make([]uint64, b.chunk*stride), make([]uint16, b.chunk), make([]int32, b.shards)
		}
	}
	items, start := w.items, b.start[from/b.chunk*(b.shards+1):][:b.shards+1]
	if b.shards == 1 {
		items, start[1] = b.items[from*stride:to*stride], int32(to-from)
	}
	for lo := from; lo < to; lo += poseBlock {
		n := min(poseBlock, to-lo)
		b.enteredPoses(w, w.poses[:n*b.e], lo, lo+n)
		if b.shards == 1 {
			b.pack(w, items[(lo-from)*stride:], lo, n)
		} else if !b.locate(w, items[(lo-from)*stride:], w.shard[lo-from:], lo, n) {
			b.border.Store(true)
			return
		}
	}
	if b.shards == 1 {
		return
	}
	next := w.next
	clear(next)
	for _, s := range w.shard[:to-from] {
		next[s]++
	}
	at := int32(0)
	for s, n := range next {
		start[s], next[s] = at, at
		at += n
	}
	start[b.shards] = at
	chunk := b.items[from*stride : to*stride]
	for k, s := range w.shard[:to-from] {
		at := int(next[s]) * stride
		next[s]++
		if stride == 3 {
			dst, src := (*[3]uint64)(chunk[at:]), (*[3]uint64)(items[3*k:])
			a, b, c := src[0], src[1], src[2] // loaded now: the compiler cannot know that the stores do not overlap them
			dst[0], dst[1], dst[2] = a, b, c
			continue
		}
		copy(chunk[at:at+stride], items[k*stride:])
	}
}

// pairAt is the pair that is entered as number k.
func (b *hashing) pairAt(k int) int32 {
	if b.entered == nil {
		return int32(k)
	}
	return b.entered[k]
}

// enteredPoses writes the poses of the pairs to enter as numbers lo .. hi-1 into dst.
func (b *hashing) enteredPoses(w *hashWork, dst []float64, lo, hi int) {
	if b.entered == nil {
		b.poses(dst, lo, hi)
		return
	}
	b.posesOfPairs(&w.index, dst, b.entered[lo:hi])
}

// pack writes the items of n poses, which are entered as numbers lo and on, for a single table.
func (b *hashing) pack(w *hashWork, items []uint64, lo, n int) {
	t := cellTable{e: b.e, inv: b.inv}
	for k := range n {
		pose := w.poses[k*b.e : (k+1)*b.e]
		item := items[k*b.stride:][:b.stride]
		for c, x := range pose {
			item[c] = math.Float64bits(x)
		}
		item[b.e] = uint64(tagOf(t.hash(pose)))<<32 | uint64(b.pairAt(lo+k))
		if t.inside(pose) {
			item[b.e] |= insideBit
		}
	}
}

// locate writes the items of n poses, which are entered as numbers lo and on, and the table of each. It reports false if one of
// them lies in a cell at the border of its region.
func (b *hashing) locate(w *hashWork, items []uint64, shards []uint16, lo, n int) bool {
	e, inv, shift := b.e, b.inv, 64-bits.Len(uint(b.shards-1))
	edge := b.region & 63 // which spares shifts a comparison
	origin := uint64(regionOrigin) << (edge - narrowRegion)
	sure := true
	for k := range n {
		region, hash, own := uint64(0), uint64(0), ^uint64(0)
		item, pose := items[k*(e+1):][:e+1], w.poses[k*e:(k+1)*e]
		if e == 2 { // as below, twice
			z0, c0 := scaled(pose[0], inv)
			z1, c1 := scaled(pose[1], inv)
			item[0], item[1] = math.Float64bits(pose[0]), math.Float64bits(pose[1])
			hash = c0*hashFactors[0] + c1*hashFactors[1]
			own = insideCell(z0, c0) & insideCell(z1, c1)
			region = (c0+origin)>>edge*hashFactors[0] + (c1+origin)>>edge*hashFactors[1]
			if !(insideRegion(z0, c0+origin, edge) && insideRegion(z1, c1+origin, edge)) {
				sure = false
			}
		} else {
			for c, x := range pose {
				item[c] = math.Float64bits(x)
				if c >= hashDims {
					continue
				}
				z, cell := scaled(x, inv)
				hash += cell * hashFactors[c]
				own &= insideCell(z, cell)
				region += (cell + origin) >> edge * hashFactors[c]
				if !insideRegion(z, cell+origin, edge) {
					sure = false
				}
			}
		}
		item[e] = uint64(tagOf(Mix(hash)))<<32 | own>>63*insideBit | uint64(b.pairAt(lo+k))
		shards[k] = uint16(mixShort(region) >> shift)
	}
	return sure
}

// scaled returns a coordinate in cells, and its cell as a number; see cellTable.cell.
func scaled(x, inv float64) (z float64, cell uint64) {
	z = float64(x * inv)
	return z, math.Float64bits(z + roundMagic)
}

// insideCell returns a number whose highest bit is set if a coordinate is inside its cell in the sense of cellTable.inside.
// Nonnegative floats compare like their bits, and comparing bits needs no branch that the machine could mispredict. So far out
// that reach is negative, no coordinate is inside.
func insideCell(z float64, cell uint64) uint64 {
	above := math.Abs(z - (math.Float64frombits(cell) - roundMagic))
	reach := 0.5 - 2.0/cellWidth - (math.Abs(z)+1)*0x1p-50
	return math.Float64bits(above) - math.Float64bits(reach)
}

// insideRegion reports whether a cell, counted from the border of a region of 2^edge cells, is not at the border of its region. A
// pose that may merge with one in a cell lies in that cell or next to it, because scaled numbers are off by at most 2⁻⁵; where
// they are off by more, insideCell says that nothing is inside.
func insideRegion(z float64, cell uint64, edge uint) bool {
	mask := uint64(1)<<(edge&63) - 1
	return cell&mask-1 < mask-1 && math.Abs(z) < 0x1p48
}

// number numbers the entries by the first pair that showed them, and fills Pose. If finish is not nil, it gives the pairs that
// were not entered their entries.
func (b *hashing) number(finish func(p *Pairs) (twins []int32)) *Table {
	chunks := (b.n + poseGrain - 1) / poseGrain
	start := make([]int32, chunks+1)
	n := int(b.entries.Load())
	t := &Table{}
	// The allocator clears what it hands out, which takes about as long as counting; so both run side by side.
	parallel.For(chunks+1, 1, func(chunk, _ int) {
		if chunk == 0 {
			t.Poses, t.Count = make([]float64, n*b.e), make([]int32, n)
			return
		}
		lo, hi, entries := (chunk-1)*poseGrain, min(chunk*poseGrain, b.n), int32(0)
		if b.entered == nil {
			for _, v := range b.Pose[lo:hi] {
				entries += int32(^uint32(v) >> 31)
			}
		} else {
			for _, k := range b.entered[lo:hi] {
				entries += int32(^uint32(b.Pose[k]) >> 31)
			}
		}
		start[chunk] = entries
	})
	for c := range chunks {
		start[c+1] += start[c]
	}
	parallel.ForWorkers(b.n, poseGrain, len(b.work), func(worker, lo, hi int) {
		b.pause()
		w := &b.work[worker]
		if w.next = w.next[:0]; cap(w.next) < poseGrain {
			w.next = make([]int32, 0, poseGrain)
		}
		entries := w.next[:poseGrain]
		from, m := start[lo/poseGrain], int32(0)
		count := t.Count[from:start[lo/poseGrain+1]]
		for at := lo; at < hi; at++ {
			k := b.pairAt(at)
			if v := b.Pose[k]; v >= 0 {
				entries[m], count[m] = k, v+1
				b.Pose[k] = from + m
				m++
			}
		}
		b.posesOfPairs(&w.index, t.Poses[int(from)*b.e:int(from+m)*b.e], entries[:m])
	})
	// Pairs that were entered now name entries. Next, the followers take the entry of the pair that they follow.
	if finish != nil {
		t.Twins = finish(b.Pairs)
		return t
	}
	pose := b.Pose
	if b.entered != nil {
		parallel.For(len(b.entered), poseGrain, func(lo, hi int) {
			for _, k := range b.entered[lo:hi] {
				if v := pose[k]; v < 0 {
					pose[k] = pose[^v]
				}
			}
		})
	}
	parallel.For(len(pose), poseGrain, func(lo, hi int) {
		b.pause()
		take(pose[lo:hi], pose)
	})
	return t
}

// take replaces, for pairs that share the entry of another pair, the complement of that pair by the entry.
func take(row, pose []int32) {
	for k, v := range row {
		if v < 0 {
			row[k] = pose[^v]
		}
	}
}
