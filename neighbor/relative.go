package neighbor

import (
	"math"
	"sort"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

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

// posesOfPairs writes the relative poses of pairs, which ascend, into dst.
func (p *problem) posesOfPairs(w *poseWork, dst []float64, nb *Neighborhood, pairs []int32) {
	if len(pairs) == 0 {
		return
	}
	e := nb.PoseDim
	i := nb.rowOf(int(pairs[0]))
	for k := 0; k < len(pairs); {
		for nb.Offsets[i+1] <= int(pairs[k]) {
			i++
		}
		lo, end := nb.Offsets[i], nb.Offsets[i+1]
		rest := pairs[k:min(k+end-lo, len(pairs))]
		if cap(w.index) < len(rest) {
			w.index = make([]int32, len(rest)+len(rest)/4)
		}
		index, row := w.index[:len(rest)], nb.Index[lo:end]
		n := 0
		for _, pair := range rest {
			at := int(pair) - lo
			if at >= len(row) {
				break
			}
			index[n] = row[at]
			n++
		}
		index = index[:n]
		p.posesOf(dst[k*e:(k+len(index))*e], i, index)
		k += len(index)
	}
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
	size := make([]float64, 0, p.queries.Rows()+p.points.Rows())
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
	return DefaultMergeUnits * max(1, kthSmallest(size, len(size)/2))
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
