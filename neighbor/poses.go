package neighbor

import (
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

const (
	// shardPairs is the number of pairs from which on several tables pay.
	shardPairs = 1 << 14
	// itemsPerShard is how many poses a table gets, about: then their items and its slots stay in a core's second cache.
	itemsPerShard = 1 << 11
	// minShards is enough for goroutines to share the work evenly, maxShards what a sort by table can write to at a time.
	minShards, maxShards = 32, 1 << 11
	// itemsPerPiece is how many poses of a chunk go to one table, about, and minChunk the smallest chunk.
	itemsPerPiece, minChunk = 32, 1 << 13
	// poseBlock is how many poses are computed at a time.
	poseBlock = 1 << 10
	poseGrain = 1 << 12
	// regionCells is the edge, in cells, of the regions that tables are chosen by: so wide that a pose is rarely at a border
	// between them. regionOrigin keeps the numbers people space points by off those borders.
	regionCells, regionOrigin = 1 << 30, 0x305ee7a9
	// pooledItems is how many words of items are kept between calls at most: 128 MiB, enough for a 128 × 128 image under R>0×SO(2).
	pooledItems = 1 << 24
)

// buildPoses computes the relative pose of every pair and fills Pose, which is zero, Poses and Count.
// Poses merge within tol.
func (p *problem) buildPoses(nb *Neighborhood, tol float64) {
	if nb.Pose == nil {
		nb.Pose = []int32{} // nothing was searched for
	}
	if tol < 0 {
		p.separatePoses(nb)
		return
	}
	if nb.Pairs() < shardPairs {
		p.buildTables(nb, tol, 1, nil, nil)
		return
	}
	known, probe := p.findRepeats(nb, tol)
	pairs, done := p.knownPairs(known, nb, tol)
	if done {
		return
	}
	var t *turns
	if pairs == nil && p.MaxNeighbors == 0 { // samples do not turn with their queries
		if probe == nil {
			probe = p.probeTurns(tol)
		}
		if probe.order > 0 {
			t = probe.turns(p, tol)
			pairs = p.leadingPairs(nb, t, tol)
		}
	}
	done = pairs != nil && p.buildTables(nb, tol, shardsFor(len(pairs)), pairs, t)
	if !done && !p.buildTables(nb, tol, shardsFor(nb.Pairs()), nil, nil) {
		p.buildTables(nb, tol, 1, nil, nil)
	}
}

// findRepeats looks for known poses and, side by side, for the lattice that points stand on, if the group may have any use for it,
// or for turns otherwise, in case there are no known poses. What is nil may not have been looked for.
func (p *problem) findRepeats(nb *Neighborhood, tol float64) (known *knownPoses, probe *turnProbe) {
	var l *shifts
	var needless atomic.Int32 // the task that there is no need for
	_, shifts := p.g.(group.Shifter)
	parallel.For(3, 1, func(task, _ int) {
		switch {
		case task == 0:
			if known = p.findKnown(nb, tol); known != nil {
				needless.Store(2)
			} else {
				needless.Store(1)
			}
		case task == int(needless.Load()):
		case task == 1 && shifts:
			l = p.findShifts(0.75 * memberReach * tol)
		case task == 2 && !shifts && p.MaxNeighbors == 0:
			probe = p.probeTurns(tol)
		}
	})
	if known != nil {
		known.shifts = l
	}
	return known, probe
}

// shardsFor is how many tables so many poses are entered into.
func shardsFor(pairs int) int {
	if pairs < shardPairs {
		return 1
	}
	shards := minShards
	for shards < maxShards && shards*itemsPerShard < pairs {
		shards *= 2
	}
	return shards
}

// leadingPairs has pairs follow others where turns of the points take those to them, and returns the ones that follow none,
// or nil if these are nearly all. See turns.
func (p *problem) leadingPairs(nb *Neighborhood, t *turns, tol float64) []int32 {
	following, all := t.follow(p, nb, tol), 0
	for _, n := range following {
		all += int(n)
	}
	if all < nb.Pairs()/8 {
		return nil
	}
	return leadersOnly(nb, following, all)
}

// buildTables fills Pose, Poses and Count through so many tables. With pairs not nil only those are entered, and all others
// follow one of them, by turns if t is not nil. It reports false if that cannot be done.
func (p *problem) buildTables(nb *Neighborhood, tol float64, shards int, pairs []int32, t *turns) bool {
	if pairs == nil {
		clear(nb.Pose)
	}
	b := newPoseBuilder(p, nb, tol, shards, pairs)
	defer b.free()
	if !b.enterAll() {
		return false
	}
	b.number(t)
	if t != nil {
		nb.twins = t.twins
	}
	return true
}

// poseBuilder sorts poses into tables by where they lie in the space of poses, so far apart that no two poses of different
// tables could merge; then tables can be filled independently, each small enough for a cache. A table gets its poses in the
// order of pairs, and entries are named by the first pair that showed them. So the result is that of entering all poses, in
// order, into one table, whatever GOMAXPROCS is.
type poseBuilder struct {
	p         *problem
	nb        *Neighborhood
	e, stride int
	tol       float64
	pairs     []int32 // the pairs to enter, ascending; nil are all
	n         int     // how many
	shards    int     // a power of two
	inv       float64 // cells per unit
	// border is set when a pose lies in a cell at the border between two tables, unclear when an entry is not clear enough for
	// the pairs that follow.
	border, unclear atomic.Bool
	entries         atomic.Int64

	chunk int      // how many pairs are sorted by table together
	items []uint64 // [n, stride], see poseTable: chunk by chunk, within a chunk table by table, and there by pair
	start []int32  // [chunks, shards+1] where the items of each table start in the chunk
	buf   *[]uint64
	work  []poseWork
}

// poseWork is scratch of one goroutine.
type poseWork struct {
	poses []float64
	items []uint64
	shard []uint16
	next  []int32
	index []int32
	table *poseTable
}

// itemPool keeps items between calls: the allocator clears what it hands out, and nobody needs that here. The pool lets go of
// what two collections found unused.
var itemPool sync.Pool

func newPoseBuilder(p *problem, nb *Neighborhood, tol float64, shards int, pairs []int32) *poseBuilder {
	b := &poseBuilder{
		p: p, nb: nb, e: nb.PoseDim, stride: nb.PoseDim + 1, tol: tol, pairs: pairs, n: nb.Pairs(), shards: shards,
		inv:   newPoseTable(0, 0, tol, nil).inv,
		chunk: max(minChunk, shards*itemsPerPiece),
		work:  make([]poseWork, runtime.GOMAXPROCS(0)),
	}
	if pairs != nil {
		b.n = len(pairs)
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
func (b *poseBuilder) free() {
	if cap(*b.buf) <= pooledItems {
		itemPool.Put(b.buf)
	}
	b.buf, b.items = nil, nil
}

// enterAll enters all poses. After it, Pose says for the pair of an entry how many others share it, and is negative for all
// others: the complement of a pair that shares the entry and is the entry's or, for pairs that follow, one that was entered.
// It gives up and reports false if a pose lies on a border between tables, or an entry is not clear enough for the pairs
// that follow.
func (b *poseBuilder) enterAll() bool {
	parallel.ForWorkers(b.n, b.chunk, len(b.work), func(worker, from, to int) {
		if !b.border.Load() {
			b.split(&b.work[worker], from, to)
		}
	})
	if b.border.Load() {
		return false
	}
	parallel.ForWorkers(b.shards, 1, len(b.work), func(worker, shard, _ int) {
		w := &b.work[worker]
		if w.table == nil {
			w.table = newPoseTable(b.e, b.stride, b.tol, b.items)
		}
		count := 0
		for at := shard; at < len(b.start); at += b.shards + 1 {
			count += int(b.start[at+1] - b.start[at])
		}
		w.table.reset(count)
		for lo, at := 0, shard; at < len(b.start); lo, at = lo+b.chunk, at+b.shards+1 {
			if !w.table.enterItems(b.nb.Pose, lo+int(b.start[at]), lo+int(b.start[at+1])) {
				b.unclear.Store(true)
				return
			}
		}
		b.entries.Add(int64(w.table.n))
	})
	return !b.unclear.Load()
}

// split computes the poses that are entered as numbers from .. to-1, a chunk, and writes their items by table, otherwise in
// order.
func (b *poseBuilder) split(w *poseWork, from, to int) {
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
		b.posesOf(w, w.poses[:n*b.e], lo, lo+n)
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
			a, b, c := src[0], src[1], src[2] // now, as the compiler does not know that they stand elsewhere
			dst[0], dst[1], dst[2] = a, b, c
			continue
		}
		copy(chunk[at:at+stride], items[k*stride:])
	}
}

// pairAt is the pair that is entered as number k.
func (b *poseBuilder) pairAt(k int) int32 {
	if b.pairs == nil {
		return int32(k)
	}
	return b.pairs[k]
}

// posesOf writes the poses of the pairs to enter as numbers lo .. hi-1 into dst.
func (b *poseBuilder) posesOf(w *poseWork, dst []float64, lo, hi int) {
	if b.pairs == nil {
		b.p.poses(dst, b.nb, lo, hi)
		return
	}
	b.p.posesOfPairs(w, dst, b.nb, b.pairs[lo:hi])
}

// pack writes the items of n poses, which are entered as numbers lo and on, for a single table.
func (b *poseBuilder) pack(w *poseWork, items []uint64, lo, n int) {
	t := poseTable{e: b.e, inv: b.inv}
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

// locate writes the items of n poses, which are entered as numbers lo and on, and their tables. It reports false if one of
// them lies in a cell at the border of its region.
func (b *poseBuilder) locate(w *poseWork, items []uint64, shards []uint16, lo, n int) bool {
	e, inv, shift := b.e, b.inv, 64-bits.Len(uint(b.shards-1))
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
			region = (c0+regionOrigin)/regionCells*hashFactors[0] + (c1+regionOrigin)/regionCells*hashFactors[1]
			if !(insideRegion(z0, c0) && insideRegion(z1, c1)) {
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
				region += (cell + regionOrigin) / regionCells * hashFactors[c]
				if !insideRegion(z, cell) {
					sure = false
				}
			}
		}
		item[e] = uint64(tagOf(mix(hash)))<<32 | own>>63*insideBit | uint64(b.pairAt(lo+k))
		shards[k] = uint16(mixShort(region) >> shift)
	}
	return sure
}

// scaled returns a coordinate in cells, and its cell as a number; see poseTable.cell.
func scaled(x, inv float64) (z float64, cell uint64) {
	z = float64(x * inv)
	return z, math.Float64bits(z + roundMagic)
}

// insideCell returns a number whose highest bit is set if a coordinate is inside its cell as poseTable.inside has it. Numbers that
// are not negative compare as their bits do, and so nobody has to guess what a branch would do. So far out that reach is
// negative, no coordinate is inside its region.
func insideCell(z float64, cell uint64) uint64 {
	above := math.Abs(z - (math.Float64frombits(cell) - roundMagic))
	reach := 0.5 - 2.0/cellWidth - (math.Abs(z)+1)*0x1p-50
	return math.Float64bits(above) - math.Float64bits(reach)
}

// insideRegion reports whether a cell is not at the border of its region. A pose that may merge with one in a cell lies there or
// in one next to it, as scaled numbers are off by 2⁻⁵ at most; where they are off by more, nothing is inside.
func insideRegion(z float64, cell uint64) bool {
	return (cell+regionOrigin)%regionCells-1 < regionCells-2 && math.Abs(z) < 0x1p48
}

// mixShort is enough of mix for its upper bits.
func mixShort(x uint64) uint64 { return (x ^ x>>32) * 0x9e3779b97f4a7c15 }

// number numbers the entries by the first pair that showed them, and fills Pose, Poses and Count. Pairs that were not entered
// follow others by turns if t is not nil.
func (b *poseBuilder) number(t *turns) {
	nb := b.nb
	chunks := (b.n + poseGrain - 1) / poseGrain
	start := make([]int32, chunks+1)
	n := int(b.entries.Load())
	// The allocator clears what it hands out, which takes about as long as counting.
	parallel.For(chunks+1, 1, func(chunk, _ int) {
		if chunk == 0 {
			nb.Poses, nb.Count = make([]float64, n*b.e), make([]int32, n)
			return
		}
		lo, hi, entries := (chunk-1)*poseGrain, min(chunk*poseGrain, b.n), int32(0)
		if b.pairs == nil {
			for _, v := range nb.Pose[lo:hi] {
				entries += int32(^uint32(v) >> 31)
			}
		} else {
			for _, k := range b.pairs[lo:hi] {
				entries += int32(^uint32(nb.Pose[k]) >> 31)
			}
		}
		start[chunk] = entries
	})
	for c := range chunks {
		start[c+1] += start[c]
	}
	parallel.ForWorkers(b.n, poseGrain, len(b.work), func(worker, lo, hi int) {
		w := &b.work[worker]
		if w.next = w.next[:0]; cap(w.next) < poseGrain {
			w.next = make([]int32, 0, poseGrain)
		}
		entries := w.next[:poseGrain]
		from, m := start[lo/poseGrain], int32(0)
		count := nb.Count[from:start[lo/poseGrain+1]]
		for at := lo; at < hi; at++ {
			k := b.pairAt(at)
			if v := nb.Pose[k]; v >= 0 {
				entries[m], count[m] = k, v+1
				nb.Pose[k] = from + m
				m++
			}
		}
		b.p.posesOfPairs(w, nb.Poses[int(from)*b.e:int(from+m)*b.e], nb, entries[:m])
	})
	// The pairs that were entered name entries now, then those that follow name the pairs that were entered.
	if t != nil {
		t.take(nb)
		return
	}
	pose := nb.Pose
	if b.pairs != nil {
		parallel.For(len(b.pairs), poseGrain, func(lo, hi int) {
			for _, k := range b.pairs[lo:hi] {
				if v := pose[k]; v < 0 {
					pose[k] = pose[^v]
				}
			}
		})
	}
	parallel.For(len(pose), poseGrain, func(lo, hi int) { take(pose[lo:hi], pose) })
}

// take has pairs that share another's entry, whose complement they have, name it.
func take(row, pose []int32) {
	for k, v := range row {
		if v < 0 {
			row[k] = pose[^v]
		}
	}
}
