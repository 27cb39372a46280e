package posetable

import (
	"math"
	"sort"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/reuse"
)

const (
	// poseGrain is how many pairs a goroutine takes at a time.
	poseGrain = 1 << 12
	// rowGrain is how many rows a goroutine takes at a time.
	rowGrain = 512
)

// pose writes the relative pose of query i as seen from point j.
func (p *Pairs) pose(dst []float64, i, j int) {
	ai, qi := p.Queries.Row(i)
	aj, qj := p.Points.Row(j)
	p.Group.RelativePose(dst, ai, qi, aj, qj)
}

// posesOf writes the relative poses of query i and the points that index names into dst.
func (p *Pairs) posesOf(dst []float64, i int, index []int32) {
	ai, qi := p.Queries.Row(i)
	group.RelativePoses(dst, ai, qi, p.Points, index)
}

// row returns the poses of row i, in dst if it is large enough.
func (p *Pairs) row(dst []float64, i int) []float64 {
	lo, hi := p.Offsets[i], p.Offsets[i+1]
	n := (hi - lo) * p.e
	dst = reuse.Roomy(dst, n, n+n/4)
	p.posesOf(dst, i, p.Index[lo:hi])
	return dst
}

// poses writes the relative poses of pairs lo .. hi-1 into dst.
func (p *Pairs) poses(dst []float64, lo, hi int) {
	i := p.rowOf(lo)
	for k := lo; k < hi; {
		for p.Offsets[i+1] <= k {
			i++
		}
		end := min(p.Offsets[i+1], hi)
		p.posesOf(dst[(k-lo)*p.e:(end-lo)*p.e], i, p.Index[k:end])
		k = end
	}
}

// posesOfPairs writes the relative poses of pairs, which ascend, into dst. spare is for indices.
func (p *Pairs) posesOfPairs(spare *[]int32, dst []float64, pairs []int32) {
	if len(pairs) == 0 {
		return
	}
	i := p.rowOf(int(pairs[0]))
	for k := 0; k < len(pairs); {
		for p.Offsets[i+1] <= int(pairs[k]) {
			i++
		}
		lo, end := p.Offsets[i], p.Offsets[i+1]
		rest := pairs[k:min(k+end-lo, len(pairs))]
		*spare = reuse.Roomy(*spare, len(rest), len(rest)+len(rest)/4)
		index, row := *spare, p.Index[lo:end]
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
		p.posesOf(dst[k*p.e:(k+len(index))*p.e], i, index)
		k += len(index)
	}
}

// rowOf returns the row of a pair: the last that starts at or before it; empty rows before it start there too.
func (p *Pairs) rowOf(pair int) int {
	return sort.Search(p.rows(), func(i int) bool { return p.Offsets[i+1] > pair })
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
