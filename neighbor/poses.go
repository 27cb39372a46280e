package neighbor

import (
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

const (
	// poseChunk is what one goroutine computes and sorts by table at a time.
	poseChunk = 1 << 12
	// poseShards is how many tables there are. Each is filled by one goroutine at a time, and for the image models' grids
	// most of one stays in the cache while it is.
	poseShards = 64
	// shardPairs is the number of pairs from which on several tables pay.
	shardPairs = 1 << 14
	poseGrain  = 1 << 12
)

// poseBatch is the number of pairs whose poses are computed before they enter the tables. The more there are, the more often
// a table's entries are met while they are in the cache; their poses and hashes are 28 bytes each with two coordinates.
// Where few poses repeat and the tables become large, a batch is four times that.
var poseBatch = 1 << 18 // a variable for tests

// buildPoses computes the relative pose of every pair and fills Pose, Poses and Count.
func (p *problem) buildPoses(nb *Neighborhood) {
	nb.Pose = make([]int32, nb.Pairs())
	tol := p.mergeTolerance()
	if tol < 0 {
		p.separatePoses(nb)
		return
	}
	if nb.Pairs() < shardPairs {
		p.buildTables(nb, tol, 1, nil)
		return
	}
	pairs := p.leadingPairs(nb, tol)
	done := pairs != nil && p.buildTables(nb, tol, poseShards, pairs)
	if !done && !p.buildTables(nb, tol, poseShards, nil) {
		p.buildTables(nb, tol, 1, nil)
	}
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
	following := t.follow(p, nb, tol)
	if following < nb.Pairs()/8 {
		return nil
	}
	return leadersOnly(nb.Pose, nb.Pairs()-following)
}

// buildTables fills Pose, Poses and Count through so many tables. With pairs not nil only those are entered, and the others
// follow them. It reports false if that cannot be done.
func (p *problem) buildTables(nb *Neighborhood, tol float64, shards int, pairs []int32) bool {
	if pairs == nil {
		clear(nb.Pose)
	}
	b := newPoseBuilder(p, nb, tol, shards, pairs)
	if !b.enterAll() {
		return false
	}
	b.number()
	return true
}

// poseBuilder sorts poses into tables by where they lie in the space of poses, so far apart that no two poses of different
// tables could merge; then tables can be filled independently. Each table gets its poses in the order of pairs, and entries
// are named by the first pair that showed them. So the result is that of entering all poses, in order, into one table,
// whatever GOMAXPROCS is.
type poseBuilder struct {
	p      *problem
	nb     *Neighborhood
	e      int
	pairs  []int32 // the pairs to enter, ascending; nil are all
	tables []*poseTable
	// border is set when a pose lies within the tolerance of the border between two tables.
	border atomic.Bool
	inv    float64 // cells per unit
	coarse float64 // regions per unit, the regions being what tables are chosen by

	size int  // of a batch
	few  bool // few pairs have a pose in common
	// The batch, chunk by chunk, and within a chunk table by table.
	poses []float64
	hash  []uint64
	pair  []int32
	start [][poseShards + 1]int32 // where the poses of each table start in the chunk
	work  []poseWork
}

// poseWork is scratch of one goroutine.
type poseWork struct {
	poses []float64
	hash  []uint64
	shard []uint8
	index []int32
}

func newPoseBuilder(p *problem, nb *Neighborhood, tol float64, shards int, pairs []int32) *poseBuilder {
	// On a grid under a group of rotations, four pairs or more have a pose in common. Of those that lead, few do.
	entering, guess := nb.Pairs(), nb.Pairs()/(4*shards)
	if pairs != nil {
		entering = len(pairs)
	}
	size, few := poseBatch, pairs != nil || p.MaxNeighbors > 0 // samples seldom share any
	if few {
		size *= 4 // the tables will be large
	}
	batch := min(entering, size)
	b := &poseBuilder{
		p: p, nb: nb, e: nb.PoseDim, pairs: pairs,
		poses: make([]float64, batch*nb.PoseDim), hash: make([]uint64, batch), pair: make([]int32, batch),
		start: make([][poseShards + 1]int32, (batch+poseChunk-1)/poseChunk),
		size:  size,
		few:   few,
		work:  make([]poseWork, runtime.GOMAXPROCS(0)),
	}
	for range shards {
		b.tables = append(b.tables, newPoseTable(nb.PoseDim, tol, guess))
	}
	// Regions are some 2³⁰ cells wide, so that a border between them is rarely within the tolerance of a pose, and by a factor
	// that keeps the numbers people space points by off those borders.
	b.inv = b.tables[0].inv
	b.coarse = b.inv * 0x1p-30 * 0.7548776662466927
	return b
}

// enterAll enters all poses and sets Pose to the pair that names the entry. It gives up and reports false if a pose lies on
// a border between tables, or an entry is not clear enough for the pairs that follow.
func (b *poseBuilder) enterAll() bool {
	pairs := b.nb.Pairs()
	if b.pairs != nil {
		pairs = len(b.pairs)
	}
	for lo := 0; lo < pairs; lo += b.size {
		n := min(b.size, pairs-lo)
		parallel.ForWorkers(n, poseChunk, len(b.work), func(worker, from, to int) {
			b.split(&b.work[worker], lo, from, to)
		})
		if b.border.Load() {
			return false
		}
		parallel.For(len(b.tables), 1, func(shard, _ int) {
			if b.few {
				count := 0
				for c := range (n + poseChunk - 1) / poseChunk {
					count += int(b.start[c][shard+1] - b.start[c][shard])
				}
				// At most so many, if the pairs left are spread as these are.
				b.tables[shard].guess = b.tables[shard].n + int(int64(count)*int64(pairs-lo)/int64(n))
			}
			for c := range (n + poseChunk - 1) / poseChunk {
				from, to := c*poseChunk+int(b.start[c][shard]), c*poseChunk+int(b.start[c][shard+1])
				b.tables[shard].enterPairs(b.nb.Pose, b.poses[from*b.e:to*b.e], b.hash[from:to], b.pair[from:to])
			}
		})
		for _, t := range b.tables {
			if t.unclear {
				return false
			}
		}
	}
	return true
}

// split computes the poses of pairs lo+from .. lo+to-1 and puts them into the batch by table, otherwise in order.
func (b *poseBuilder) split(w *poseWork, lo, from, to int) {
	n, e := to-from, b.e
	start := &b.start[from/poseChunk]
	*start = [poseShards + 1]int32{}
	if len(b.tables) == 1 {
		b.posesOf(w, b.poses[from*e:to*e], lo+from, lo+to)
		for k := from; k < to; k++ {
			b.hash[k], b.pair[k] = b.tables[0].hash(b.poses[k*e:(k+1)*e]), b.pairAt(lo+k)
		}
		start[1] = int32(n)
		return
	}
	if w.hash == nil {
		w.poses, w.hash, w.shard = make([]float64, poseChunk*e), make([]uint64, poseChunk), make([]uint8, poseChunk)
	}
	b.posesOf(w, w.poses[:n*e], lo+from, lo+to)
	var next [poseShards + 1]int32
	for k := range n {
		pose := w.poses[k*e : (k+1)*e]
		hash, shard, inside := b.locate(pose)
		if !inside {
			b.border.Store(true)
			return
		}
		w.hash[k], w.shard[k] = hash, shard
		next[int(shard)+1]++
	}
	for s := range poseShards {
		next[s+1] += next[s]
	}
	*start = next
	for k := range n {
		s := w.shard[k]
		at := from + int(next[s])
		next[s]++
		b.hash[at], b.pair[at] = w.hash[k], b.pairAt(lo+from+k)
		to := b.poses[at*e : (at+1)*e]
		for c, v := range w.poses[k*e : (k+1)*e] {
			to[c] = v
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
	nb, e := b.nb, b.e
	if b.pairs == nil {
		b.p.poses(dst, nb, lo, hi)
		return
	}
	pairs := b.pairs[lo:hi]
	if cap(w.index) < len(pairs) {
		w.index = make([]int32, poseChunk)
	}
	i := nb.rowOf(int(pairs[0]))
	for k := 0; k < len(pairs); {
		for nb.Offsets[i+1] <= int(pairs[k]) {
			i++
		}
		index := w.index[:0]
		for _, pair := range pairs[k:] {
			if int(pair) >= nb.Offsets[i+1] {
				break
			}
			index = append(index, nb.Index[pair])
		}
		b.p.posesOf(dst[k*e:(k+len(index))*e], i, index)
		k += len(index)
	}
}

// locate returns the hash and the table of a pose, and whether the pose is farther than the tolerance from all borders of its
// region.
func (b *poseBuilder) locate(pose []float64) (hash uint64, shard uint8, inside bool) {
	// A region is at least 2³⁵ tolerances wide; the rest covers the rounding of two scaled numbers.
	const reach = 0.5 - 0x1p-31
	inv, coarse := b.inv, b.coarse
	region, cellBit := uint64(0), uint64(insideBit)
	for k, x := range pose[:min(len(pose), hashDims)] {
		y := float64(x * coarse)
		if !(math.Abs(y) < 0x1.8p18) {
			// So far out that cells become numbers of their own: one table takes all.
			return 0, 0, false
		}
		shifted := y + roundMagic
		if math.Abs(y-(shifted-roundMagic)) >= reach {
			return 0, 0, false
		}
		region += math.Float64bits(shifted) * hashFactors[k]
		z := float64(x * inv)
		cell := z + roundMagic
		hash += math.Float64bits(cell) * hashFactors[k]
		// As poseTable.inside has it.
		if !(math.Abs(z-(cell-roundMagic)) < 0.5-2.0/cellWidth-(math.Abs(z)+1)*0x1p-50) {
			cellBit = 0
		}
	}
	return mix(hash)&^insideBit | cellBit, uint8(mixShort(region) >> 58), true
}

// mixShort is enough of mix for its upper bits.
func mixShort(x uint64) uint64 { return (x ^ x>>32) * 0x9e3779b97f4a7c15 }

// number numbers the entries by the first pair that showed them, and fills Poses and Count.
func (b *poseBuilder) number() {
	nb, e := b.nb, b.e
	// A bit per pair that names an entry; its rank among them is the entry's number.
	words := (len(nb.Pose) + 63) / 64
	first, rank := make([]uint64, words), make([]int32, words+1)
	const grain = poseGrain / 64
	parallel.For(words, grain, func(lo, hi int) {
		for w := lo; w < hi; w++ {
			word := uint64(0)
			for k, id := range nb.Pose[64*w : min(64*w+64, len(nb.Pose))] {
				if int(id) == 64*w+k { // no pair that follows: those are negative
					word |= 1 << k
				}
			}
			first[w] = word
		}
	})
	for w, word := range first {
		rank[w+1] = rank[w] + int32(bits.OnesCount64(word))
	}
	numberOf := func(pair int32) int32 {
		w := pair >> 6
		return rank[w] + int32(bits.OnesCount64(first[w]&(1<<(pair&63)-1)))
	}
	parallel.For(len(nb.Pose), poseGrain, func(lo, hi int) {
		for k, pair := range nb.Pose[lo:hi] {
			if pair >= 0 {
				nb.Pose[lo+k] = numberOf(pair)
			}
		}
	})
	if b.pairs != nil {
		parallel.For(len(nb.Pose), poseGrain, func(lo, hi int) {
			for k, leader := range nb.Pose[lo:hi] {
				if leader < 0 {
					nb.Pose[lo+k] = nb.Pose[^leader]
				}
			}
		})
	}
	nb.Poses, nb.Count = make([]float64, int(rank[words])*e), make([]int32, rank[words])
	parallel.For(len(b.tables), 1, func(s, _ int) {
		t := b.tables[s]
		for id := range t.n {
			n := int(numberOf(t.first(id)))
			nb.Count[n] = t.count(id)
			t.copyPose(nb.Poses[n*e:(n+1)*e], id)
		}
		b.tables[s] = nil
	})
}

// separatePoses gives every pair a pose of its own.
func (p *problem) separatePoses(nb *Neighborhood) {
	e, pairs := nb.PoseDim, nb.Pairs()
	nb.Poses, nb.Count = make([]float64, pairs*e), make([]int32, pairs)
	parallel.For(pairs, poseGrain, func(lo, hi int) {
		p.poses(nb.Poses[lo*e:hi*e], nb, lo, hi)
		for k := lo; k < hi; k++ {
			nb.Pose[k], nb.Count[k] = int32(k), 1
		}
	})
}

// poses writes the relative poses of pairs lo .. hi-1 into dst.
func (p *problem) poses(dst []float64, nb *Neighborhood, lo, hi int) {
	e := nb.PoseDim
	i := nb.rowOf(lo)
	for k := lo; k < hi; {
		for nb.Offsets[i+1] <= k {
			i++
		}
		end := min(nb.Offsets[i+1], hi)
		p.posesOf(dst[(k-lo)*e:(end-lo)*e], i, nb.Index[k:end])
		k = end
	}
}

// posesOf writes the relative poses of query i and the points that index names into dst.
func (p *problem) posesOf(dst []float64, i int, index []int32) {
	ai, qi := p.queries.Row(i)
	group.RelativePoses(dst, ai, qi, p.points, index)
}

// rowOf returns the row of a pair: the last that starts at or before it; empty rows before it start there too.
func (n *Neighborhood) rowOf(pair int) int {
	return sort.Search(n.Queries, func(i int) bool { return n.Offsets[i+1] > pair })
}

// mergeTolerance returns the tolerance that MergeTolerance asks for.
func (p *problem) mergeTolerance() float64 {
	if p.MergeTolerance != 0 {
		return p.MergeTolerance
	}
	var size []float64
	add := func(a, q []float64) {
		m := 0.0
		for _, x := range a {
			m = max(m, math.Abs(x))
		}
		for _, x := range q {
			m = max(m, math.Abs(x))
		}
		size = append(size, m)
	}
	for i := range p.queries.Rows() {
		if counts(p.QueryMask, i) {
			add(p.queries.Row(i))
		}
	}
	if p.points != p.queries {
		for j := range p.points.Rows() {
			if counts(p.PointMask, j) {
				add(p.points.Row(j))
			}
		}
	}
	if len(size) == 0 {
		return DefaultMergeUnits
	}
	slices.Sort(size)
	return DefaultMergeUnits * max(1, size[len(size)/2])
}

// within reports whether the first len(b) numbers of a and b differ by at most tol each.
func within(a, b []float64, tol float64) bool {
	for k, x := range b {
		if !(math.Abs(a[k]-x) <= tol) {
			return false
		}
	}
	return true
}
