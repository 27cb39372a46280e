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
var poseBatch = 1 << 18 // a variable for tests

// buildPoses computes the relative pose of every pair and fills Pose, Poses and Count.
func (p *problem) buildPoses(nb *Neighborhood) {
	nb.Pose = make([]int32, nb.Pairs())
	tol := p.mergeTolerance()
	if tol < 0 {
		p.separatePoses(nb)
		return
	}
	shards := 1
	if nb.Pairs() >= shardPairs {
		shards = poseShards
	}
	b := newPoseBuilder(p, nb, tol, shards)
	if !b.enterAll() {
		b = newPoseBuilder(p, nb, tol, 1)
		b.enterAll()
	}
	b.number()
}

// poseBuilder sorts poses into tables by where they lie in the space of poses, so far apart that no two poses of different
// tables could merge; then tables can be filled independently. Each table gets its poses in the order of pairs, and entries
// are named by the first pair that showed them. So the result is that of entering all poses, in order, into one table,
// whatever GOMAXPROCS is.
type poseBuilder struct {
	p      *problem
	nb     *Neighborhood
	e      int
	tables []*poseTable
	// border is set when a pose lies within the tolerance of the border between two tables.
	border atomic.Bool
	inv    float64 // cells per unit
	coarse float64 // regions per unit, the regions being what tables are chosen by

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
}

func newPoseBuilder(p *problem, nb *Neighborhood, tol float64, shards int) *poseBuilder {
	batch := min(nb.Pairs(), poseBatch)
	b := &poseBuilder{
		p: p, nb: nb, e: nb.PoseDim,
		poses: make([]float64, batch*nb.PoseDim), hash: make([]uint64, batch), pair: make([]int32, batch),
		start: make([][poseShards + 1]int32, (batch+poseChunk-1)/poseChunk),
		work:  make([]poseWork, runtime.GOMAXPROCS(0)),
	}
	for range shards {
		// On a grid under a group of rotations, four pairs or more have a pose in common.
		b.tables = append(b.tables, newPoseTable(nb.PoseDim, tol, nb.Pairs()/(4*shards)))
	}
	// Regions are some 2³⁰ cells wide, so that a border between them is rarely within the tolerance of a pose, and by a factor
	// that keeps the numbers people space points by off those borders.
	b.inv = b.tables[0].inv
	b.coarse = b.inv * 0x1p-30 * 0.7548776662466927
	return b
}

// enterAll enters all poses and sets Pose to the pair that names the entry. It gives up and reports false if a pose lies on
// a border between tables.
func (b *poseBuilder) enterAll() bool {
	pairs := b.nb.Pairs()
	for lo := 0; lo < pairs; lo += poseBatch {
		n := min(poseBatch, pairs-lo)
		parallel.ForWorkers(n, poseChunk, len(b.work), func(worker, from, to int) {
			b.split(&b.work[worker], lo, from, to)
		})
		if b.border.Load() {
			return false
		}
		parallel.For(len(b.tables), 1, func(shard, _ int) {
			for c := range (n + poseChunk - 1) / poseChunk {
				from, to := c*poseChunk+int(b.start[c][shard]), c*poseChunk+int(b.start[c][shard+1])
				b.tables[shard].enterPairs(b.nb.Pose, b.poses[from*b.e:to*b.e], b.hash[from:to], b.pair[from:to])
			}
		})
	}
	return true
}

// split computes the poses of pairs lo+from .. lo+to-1 and puts them into the batch by table, otherwise in order.
func (b *poseBuilder) split(w *poseWork, lo, from, to int) {
	n, e := to-from, b.e
	start := &b.start[from/poseChunk]
	*start = [poseShards + 1]int32{}
	if len(b.tables) == 1 {
		b.p.poses(b.poses[from*e:to*e], b.nb, lo+from, lo+to)
		for k := from; k < to; k++ {
			b.hash[k], b.pair[k] = b.tables[0].hash(b.poses[k*e:(k+1)*e]), int32(lo+k)
		}
		start[1] = int32(n)
		return
	}
	if w.hash == nil {
		w.poses, w.hash, w.shard = make([]float64, poseChunk*e), make([]uint64, poseChunk), make([]uint8, poseChunk)
	}
	b.p.poses(w.poses[:n*e], b.nb, lo+from, lo+to)
	var next [poseShards + 1]int32
	for k := range n {
		pose := w.poses[k*e : (k+1)*e]
		hash, shard, inside := b.locate(pose)
		if !inside {
			b.border.Store(true)
			return
		}
		w.hash[k], w.shard[k] = hash, shard
		next[shard+1]++
	}
	for s := range poseShards {
		next[s+1] += next[s]
	}
	*start = next
	for k := range n {
		s := w.shard[k]
		at := from + int(next[s])
		next[s]++
		b.hash[at], b.pair[at] = w.hash[k], int32(lo+from+k)
		to := b.poses[at*e : (at+1)*e]
		for c, v := range w.poses[k*e : (k+1)*e] {
			to[c] = v
		}
	}
}

// locate returns the hash and the table of a pose, and whether the pose is farther than the tolerance from all borders of its
// region.
func (b *poseBuilder) locate(pose []float64) (hash uint64, shard uint8, inside bool) {
	// A region is at least 2³⁵ tolerances wide; the rest covers the rounding of two scaled numbers.
	const reach = 0.5 - 0x1p-31
	inv, coarse := b.inv, b.coarse
	region := uint64(0)
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
		hash += math.Float64bits(float64(x*inv)+roundMagic) * hashFactors[k]
	}
	return mix(hash), uint8(mixShort(region) >> 58), true
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
				if int(id) == 64*w+k {
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
			nb.Pose[lo+k] = numberOf(pair)
		}
	})
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
	// The row of pair lo is the last that starts at or before it; empty rows before it start there too.
	i := sort.Search(nb.Queries, func(i int) bool { return nb.Offsets[i+1] > lo })
	for k := lo; k < hi; {
		for nb.Offsets[i+1] <= k {
			i++
		}
		end := min(nb.Offsets[i+1], hi)
		ai, qi := p.queries.Row(i)
		group.RelativePoses(dst[(k-lo)*e:(end-lo)*e], ai, qi, p.points, nb.Index[k:end])
		k = end
	}
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
