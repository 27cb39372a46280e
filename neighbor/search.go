package neighbor

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/equivcnp/equivcnp/group"
)

const (
	// treeMinPoints is the number of points of a block from which on Auto builds a tree. Below, a scan of all points costs less
	// than the box tests of the upper levels and the sorting of the leaves' points: a scan of 128 points takes about a
	// microsecond.
	treeMinPoints = 128
	// distBlock is how many distances are computed at a time: 8 KiB of them stay in the first-level cache.
	distBlock = 1024
)

// block is one independent set of points, copied in a form that can be searched: only unmasked points, in ascending order or,
// with a tree, in the tree's order.
type block struct {
	rows []int32 // [n] the row of each stored point
	// ascending are the same rows in ascending order: the tree's numbering.
	ascending []int32
	a         []float64        // [n, g]
	q         []float64        // [n, orbit]
	tree      *KDTree[float64] // nil: scan
}

// searcher answers queries against the blocks. It is read-only; every goroutine brings its own scratch.
type searcher struct {
	*problem
	fast   group.PairComputer // nil if the group is none
	bound  group.Bounder      // nil if there is no tree
	blocks []block
}

// scratch is what one goroutine needs while it searches.
type scratch struct {
	dist   []float64
	pose   []float64
	center []float64
	half   []float64
	runs   []run
	found  []int32  // rows found
	seen   []uint64 // a bit per row of points, all zero between queries
	near   nearest
}

// newSearcher gathers the points and builds the trees.
func (p *problem) newSearcher() (*searcher, error) {
	s := &searcher{problem: p}
	s.fast, _ = p.g.(group.PairComputer)
	bounder, _ := p.g.(group.Bounder)
	if p.Method == Brute || (bounder != nil && (bounder.BoundDim() < 1 || bounder.BoundDim() > maxTreeDim)) {
		bounder = nil
	}
	for k := 1; k < len(p.PointBlocks); k++ {
		b, err := p.gather(p.PointBlocks[k-1], p.PointBlocks[k], bounder)
		if err != nil {
			return nil, err
		}
		if b.tree != nil {
			s.bound = bounder
		}
		s.blocks = append(s.blocks, b)
	}
	return s, nil
}

// gather makes a block of the points lo .. hi-1.
func (p *problem) gather(lo, hi int, bounder group.Bounder) (b block, err error) {
	for j := lo; j < hi; j++ {
		if counts(p.PointMask, j) {
			b.ascending = append(b.ascending, int32(j))
		}
	}
	b.rows = b.ascending
	n := len(b.rows)
	if bounder != nil && n > 0 && (p.Method == Tree || n >= treeMinPoints) {
		dim := bounder.BoundDim()
		x := make([]float64, n*dim)
		for k, j := range b.ascending {
			a, q := p.points.Row(int(j))
			bounder.BoundCoords(x[k*dim:(k+1)*dim], a, q)
		}
		b.tree, err = NewTree(x, dim, bounder.BoundPeriods())
		switch {
		case err == nil:
			b.rows = make([]int32, n)
			for pos, k := range b.tree.index {
				b.rows[pos] = b.ascending[k]
			}
		case errors.Is(err, ErrValue): // bounding coordinates overflow: scan the block instead
			b.tree = nil
		default:
			return b, fmt.Errorf("neighbor: bounds of group %s: %w", p.g.Name(), err)
		}
	}
	b.a, b.q = make([]float64, 0, n*p.ga), make([]float64, 0, n*p.qa)
	for _, j := range b.rows {
		a, q := p.points.Row(int(j))
		b.a, b.q = append(b.a, a...), append(b.q, q...)
	}
	return b, nil
}

// newScratch returns scratch for s.
func (s *searcher) newScratch() *scratch {
	w := &scratch{dist: make([]float64, distBlock), pose: make([]float64, group.PoseDim(s.g))}
	if s.bound != nil {
		w.center, w.half = make([]float64, s.bound.BoundDim()), make([]float64, s.bound.BoundDim())
		w.seen = make([]uint64, (s.points.Rows()+63)/64)
	}
	return w
}

// boundSlack covers the rounding of bounding coordinates, relative to their size: far from the origin it exceeds the room that BoundBox
// leaves. The coordinates of a point are mixed by a rotation, so that each is off by some units in the last place of the largest. 64 of
// them are more than any group of package group needs.
const boundSlack = 0x1p-46

// candidates returns the runs of stored positions of b that hold every point within distance r of query i.
func (s *searcher) candidates(w *scratch, b *block, i int, r float64) []run {
	w.runs = w.runs[:0]
	// An infinite ball needs no box, and 0·Inf in a bound would be NaN.
	if b.tree == nil || math.IsInf(r, 1) {
		return b.all(w.runs)
	}
	ai, qi := s.queries.Row(i)
	s.bound.BoundCoords(w.center, ai, qi)
	if firstBad(w.center) >= 0 {
		return b.all(w.runs)
	}
	s.bound.BoundBox(w.half, r)
	size, periodic := 0.0, func(axis int) bool { return axis < len(b.tree.periods) && b.tree.periods[axis] != 0 }
	for axis, x := range w.center {
		if !periodic(axis) {
			size += math.Abs(x)
		}
	}
	for axis := range w.half {
		if !periodic(axis) {
			w.half[axis] += size * boundSlack
		}
	}
	for axis, p := range b.tree.periods {
		w.center[axis] = b.tree.wrap(axis, w.center[axis])
		if w.half[axis] += p * periodSlack; math.IsNaN(w.half[axis]) {
			w.half[axis] = math.Inf(1)
		}
	}
	w.runs = b.tree.boxRuns(w.runs, w.center, w.half)
	return w.runs
}

// visit calls f with the distances of query i to the candidates within r, piece by piece; dist[k] belongs to stored
// position lo+k of b.
func (s *searcher) visit(w *scratch, b *block, i int, r float64, f func(lo int, dist []float64)) {
	ai, qi := s.queries.Row(i)
	for _, c := range s.candidates(w, b, i, r) {
		for lo := c.lo; lo < c.hi; lo += distBlock {
			hi := min(lo+distBlock, c.hi)
			dist := w.dist[:hi-lo]
			distances(s.g, s.fast, dist, ai, qi, b.a[lo*s.ga:hi*s.ga], b.q[lo*s.qa:hi*s.qa], w.pose)
			f(lo, dist)
		}
	}
}

// ball returns the rows within the radius of query i of block b, ascending. The result is w.found and is valid until the next
// call.
func (s *searcher) ball(w *scratch, b *block, i int) []int32 {
	w.found = w.found[:0]
	s.visit(w, b, i, s.Radius, func(lo int, dist []float64) {
		for k, d := range dist {
			if d < s.Radius {
				w.found = append(w.found, b.rows[lo+k])
			}
		}
	})
	if b.tree != nil {
		w.sortFound()
	}
	return w.found
}

// sortFound sorts the rows found, which are distinct. Where they are dense, marking them in a bit set and reading it is several
// times faster than comparing them.
func (w *scratch) sortFound() {
	if len(w.found)*8 < len(w.seen) {
		slices.Sort(w.found)
		return
	}
	first, last := len(w.seen), -1
	for _, j := range w.found {
		k := int(j >> 6)
		w.seen[k] |= 1 << (j & 63)
		first, last = min(first, k), max(last, k)
	}
	w.found = w.found[:0]
	for k := first; k <= last; k++ {
		for m := w.seen[k]; m != 0; m &= m - 1 {
			w.found = append(w.found, int32(k<<6+bits.TrailingZeros64(m)))
		}
		w.seen[k] = 0
	}
}

// blockOf returns the number of the block that query i belongs to, given that of an earlier query.
func (p *problem) blockOf(i, k int) int {
	for i >= p.QueryBlocks[k+1] {
		k++
	}
	return k
}
