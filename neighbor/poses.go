package neighbor

import (
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

const (
	// shardPairs is the number of pairs from which on several tables pay.
	shardPairs = 1 << 14
	// itemsPerShard is how many poses a table gets, about: then their items and its slots stay in a core's second cache.
	itemsPerShard = 1 << 12
	// minShards is enough for goroutines to share the work evenly, maxShards what a sort by table can write to at a time.
	minShards, maxShards = 32, 1 << 11
	// itemsPerPiece is how many poses of a chunk go to one table, about, and minChunk the smallest chunk.
	itemsPerPiece, minChunk = 32, 1 << 12
	// poseBlock is how many poses are computed at a time.
	poseBlock = 1 << 10
	poseGrain = 1 << 12
	// pooledItems is how many words of items are kept between calls at most: 128 MiB, enough for a 128 × 128 image under R>0×SO(2).
	pooledItems = 1 << 24
)

// buildPoses computes the relative pose of every pair and fills Pose, which is zero, Poses and Count.
func (p *problem) buildPoses(nb *Neighborhood) {
	if nb.Pose == nil {
		nb.Pose = []int32{} // nothing was searched for
	}
	tol := p.mergeTolerance()
	if tol < 0 {
		p.separatePoses(nb)
		return
	}
	if nb.Pairs() < shardPairs {
		p.buildTables(nb, tol, 1, nil)
		return
	}
	pairs, done := p.knownPairs(nb, tol)
	if done {
		return
	}
	if pairs == nil {
		pairs = p.leadingPairs(nb, tol)
	}
	done = pairs != nil && p.buildTables(nb, tol, shardsFor(len(pairs)), pairs)
	if !done && !p.buildTables(nb, tol, shardsFor(nb.Pairs()), nil) {
		p.buildTables(nb, tol, 1, nil)
	}
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
func (p *problem) leadingPairs(nb *Neighborhood, tol float64) []int32 {
	if p.MaxNeighbors > 0 {
		return nil // samples do not turn with their queries
	}
	t := p.findTurns(tol)
	if t == nil {
		return nil
	}
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
// follow one of them. It reports false if that cannot be done.
func (p *problem) buildTables(nb *Neighborhood, tol float64, shards int, pairs []int32) bool {
	if pairs == nil {
		clear(nb.Pose)
	}
	b := newPoseBuilder(p, nb, tol, shards, pairs)
	defer b.free()
	if !b.enterAll() {
		return false
	}
	b.number()
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
	coarse    float64 // regions per unit, the regions being what tables are chosen by
	// border is set when a pose lies within the tolerance of the border between two tables, unclear when an entry is not clear
	// enough for the pairs that follow.
	border, unclear atomic.Bool

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
	// Regions are some 2³⁰ cells wide, so that a border between them is rarely within the tolerance of a pose, and by a factor
	// that keeps the numbers people space points by off those borders.
	b.coarse = b.inv * 0x1p-30 * 0.7548776662466927
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
		dst, src := chunk[at:][:stride:stride], items[k*stride:][:stride:stride]
		if stride == 3 {
			dst[0], dst[1], dst[2] = src[0], src[1], src[2]
			continue
		}
		for c, v := range src {
			dst[c] = v
		}
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
// them is not farther than the tolerance from all borders of its region.
func (b *poseBuilder) locate(w *poseWork, items []uint64, shards []uint16, lo, n int) bool {
	// A region is at least 2³⁵ tolerances wide; the rest covers the rounding of two scaled numbers.
	const reach = 0.5 - 0x1p-31
	e, inv, coarse, shift := b.e, b.inv, b.coarse, 64-bits.Len(uint(b.shards-1))
	inside := true
	for k := range n {
		region, hash, own := uint64(0), uint64(0), uint64(insideBit)
		item := items[k*(e+1):][:e+1]
		for c, x := range w.poses[k*e : (k+1)*e] {
			item[c] = math.Float64bits(x)
			if c >= hashDims {
				continue
			}
			y := float64(x * coarse)
			shifted := y + roundMagic
			region += math.Float64bits(shifted) * hashFactors[c]
			// So far out that cells become numbers of their own, one table takes all.
			if !(math.Abs(y) < 0x1.8p18 && math.Abs(y-(shifted-roundMagic)) < reach) {
				inside = false
			}
			z := float64(x * inv)
			cell := z + roundMagic
			hash += math.Float64bits(cell) * hashFactors[c]
			// As poseTable.inside has it.
			if !(math.Abs(z-(cell-roundMagic)) < 0.5-2.0/cellWidth-(math.Abs(z)+1)*0x1p-50) {
				own = 0
			}
		}
		item[e] = uint64(tagOf(mix(hash)))<<32 | own | uint64(b.pairAt(lo+k))
		shards[k] = uint16(mixShort(region) >> shift)
	}
	return inside
}

// mixShort is enough of mix for its upper bits.
func mixShort(x uint64) uint64 { return (x ^ x>>32) * 0x9e3779b97f4a7c15 }

// number numbers the entries by the first pair that showed them, and fills Poses and Count.
func (b *poseBuilder) number() {
	nb := b.nb
	chunks := (b.n + poseGrain - 1) / poseGrain
	start := make([]int32, chunks+1)
	parallel.For(b.n, poseGrain, func(lo, hi int) {
		n := int32(0)
		if b.pairs == nil {
			for _, v := range nb.Pose[lo:hi] {
				n += int32(^uint32(v) >> 31)
			}
		} else {
			for _, k := range b.pairs[lo:hi] {
				n += int32(^uint32(nb.Pose[k]) >> 31)
			}
		}
		start[lo/poseGrain+1] = n
	})
	for c := range chunks {
		start[c+1] += start[c]
	}
	n := int(start[chunks])
	nb.Poses, nb.Count = make([]float64, n*b.e), make([]int32, n)
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
	take := func(k int32) {
		if v := nb.Pose[k]; v < 0 {
			nb.Pose[k] = nb.Pose[^v]
		}
	}
	if b.pairs != nil {
		parallel.For(len(b.pairs), poseGrain, func(lo, hi int) {
			for _, k := range b.pairs[lo:hi] {
				take(k)
			}
		})
	}
	parallel.For(len(nb.Pose), poseGrain, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			take(int32(k))
		}
	})
}
