package layers

import (
	"sort"
	"sync"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// sortedPairs are the pairs of a neighbourhood in the orders that gradients gather in.
type sortedPairs struct {
	once     sync.Once
	rows     poseRows
	poseStep int // rows per chunk

	pointOnce sync.Once
	byPoint   *neighbor.Neighborhood

	tileOnce sync.Once

	planOnce             sync.Once
	plan, transposedPlan *simd.DepthwisePlan
}

// poseRows lists pairs by pose: query and point of row r are entries offsets[r] to offsets[r+1]. A pose has one row or several,
// each for some consecutive queries: rows[first[p]] to rows[first[p+1]]. Where rows is nil, row p is pose p.
type poseRows struct {
	offsets      []int
	query, point []int32
	first        []int
	rows         []int32
}

// chunkPairs is about how many pairs a goroutine takes at a time when it gathers by pose.
const chunkPairs = 1 << 13

// A pose that occurs all over would send its gather through all features again. In segments of segmentQueries queries what is
// gathered stays in the cache for all poses of a segment; that is worth it if the poses of all segments together have at least
// segmentPairs pairs each, or are few more than the poses.
const (
	segmentQueries = 256
	segmentPairs   = 16
)

// sort returns the pairs sorted by pose, and by segment where that pays.
func (p *Pairs[T]) sort() *sortedPairs {
	s := &p.sorted
	s.once.Do(func() {
		row, rows := p.segmentRows()
		s.rows = p.poseRows(row, rows)
		s.poseStep = max(1, rows*chunkPairs/max(1, p.Pairs()))
	})
	return s
}

// transposed returns the pairs sorted by point.
func (p *Pairs[T]) transposed() *neighbor.Neighborhood {
	s := &p.sorted
	s.pointOnce.Do(func() { s.byPoint = p.Transpose() })
	return s.byPoint
}

// segmentRows returns for every pair the row that it belongs to, counted from segment to segment, and how many rows there are;
// nil if the rows are the poses.
func (p *Pairs[T]) segmentRows() (row []int32, rows int) {
	n := p.NumPoses()
	last, at := make([]int32, n), make([]int32, n) // the segment, from 1, that a pose was last seen in, and its row there
	row = make([]int32, p.Pairs())
	most := max(n+n/8, p.Pairs()/segmentPairs)
	for i := range p.Queries {
		segment := int32(i/segmentQueries) + 1
		for k := p.Offsets[i]; k < p.Offsets[i+1]; k++ {
			pose := p.Pose[k]
			if last[pose] != segment {
				if rows == most {
					return nil, n
				}
				last[pose], at[pose] = segment, int32(rows)
				rows++
			}
			row[k] = at[pose]
		}
	}
	return row, rows
}

// poseRows sorts the pairs by row, stably.
func (p *Pairs[T]) poseRows(row []int32, rows int) poseRows {
	r := poseRows{offsets: make([]int, rows+1), query: make([]int32, p.Pairs()), point: make([]int32, p.Pairs())}
	if row != nil {
		r.first, r.rows = make([]int, p.NumPoses()+1), make([]int32, rows)
		pose := make([]int32, rows)
		for k, at := range row {
			pose[at] = p.Pose[k]
		}
		countingSort(r.first, pose, func() func(at, to int) { return func(at, to int) { r.rows[to] = int32(at) } })
	} else {
		row = p.Pose
	}
	countingSort(r.offsets, row, func() func(k, to int) {
		query := 0
		return func(k, to int) {
			for k >= p.Offsets[query+1] {
				query++
			}
			r.query[to], r.point[to] = int32(query), p.Index[k]
		}
	})
	return r
}

// sortShares is in how many shares countingSort places what it sorts.
const sortShares = 4

// countingSort calls place(k, to) for every k, to being its place among all when they are sorted by key, stably. offsets, with an element
// more than there are keys, gets where each key's places begin. Several goroutines each place a range of keys, in the order of k, by
// a function that newPlace makes for them.
func countingSort(offsets []int, key []int32, newPlace func() (place func(k, to int))) {
	clear(offsets)
	for _, v := range key {
		offsets[v+1]++
	}
	for v := range len(offsets) - 1 {
		offsets[v+1] += offsets[v]
	}
	parallel.For(sortShares, 1, func(share, _ int) {
		// Keys whose places begin in this share of all.
		lo := sort.SearchInts(offsets, len(key)*share/sortShares)
		hi := sort.SearchInts(offsets, len(key)*(share+1)/sortShares)
		if share+1 == sortShares {
			hi = len(offsets) - 1
		}
		if lo >= hi {
			return
		}
		next, place := append([]int(nil), offsets[lo:hi]...), newPlace()
		for k, v := range key {
			if at := int(v) - lo; at >= 0 && at < len(next) {
				place(k, next[at])
				next[at]++
			}
		}
	})
}

// gatherPoints calls gather for chunks of points, with their pairs (query and pose), in parallel.
func (p *Pairs[T]) gatherPoints(gather func(lo, hi int, offsets []int, query, pose []int32)) {
	t := p.transposed()
	parallel.For(t.Queries, chunkRows, func(lo, hi int) {
		a, b := t.Offsets[lo], t.Offsets[hi]
		gather(lo, hi, t.Offsets[lo:hi+1], t.Index[a:b], t.Pose[a:b])
	})
}

// poseGradient returns the gradient [poses, c] to the convolution weights, summed over the batch: gather overwrites a chunk
// of rows with image b's part. The result is rented.
func (p *Pairs[T]) poseGradient(batch, c int, gather func(dw []T, b int, offsets []int, query, point []int32)) []T {
	s := p.sort()
	r := s.rows
	rows := len(r.offsets) - 1
	dw := rent[T](rows * c)
	parallel.For(rows, s.poseStep, func(lo, hi int) {
		from, to := r.offsets[lo], r.offsets[hi]
		sum, part := dw[lo*c:hi*c], []T(nil)
		for b := range batch {
			if b == 0 {
				gather(sum, 0, r.offsets[lo:hi+1], r.query[from:to], r.point[from:to])
				continue
			}
			if part == nil {
				part = rent[T](len(sum))
			}
			gather(part, b, r.offsets[lo:hi+1], r.query[from:to], r.point[from:to])
			simd.Add(sum, sum, part)
		}
		giveBack(part)
	})
	if r.rows == nil {
		return dw
	}
	out := rent[T](p.NumPoses() * c)
	parallel.For(p.NumPoses(), rowGrain, func(lo, hi int) {
		for pose := lo; pose < hi; pose++ {
			to := out[pose*c : (pose+1)*c]
			clear(to)
			for _, row := range r.rows[r.first[pose]:r.first[pose+1]] {
				simd.Add(to, to, dw[int(row)*c:][:c])
			}
		}
	})
	giveBack(dw)
	return out
}

// divide sets dst [batch, rows, c] to src with every row divided by the size of its neighbourhood. That turns a sum over
// neighbours into their mean, and the gradient to the mean into that to the sum. dst may be src itself.
func (p *Pairs[T]) divide(dst, src []T, batch, c int) {
	parallel.For(batch*p.Queries, rowGrain, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			i := r % p.Queries
			simd.Scale(dst[r*c:(r+1)*c], 1/T(max(1, p.Offsets[i+1]-p.Offsets[i])), src[r*c:(r+1)*c])
		}
	})
}
