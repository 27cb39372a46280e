package neighbor

import (
	"fmt"
	"math"
	"runtime"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

// KNearest finds, for every query, the k points that are nearest in the group's distance.
//
//   - Shape: index and dist are [queries, k]. Row i lists its points by ascending (distance, index). Where there are
//     fewer than k, the rest of the row is -1 and +Inf, as are the rows of masked queries.
//   - Options: masks, blocks and Method mean the same as in Ball; Radius, MaxNeighbors and MergeTolerance are ignored.
//   - Exactness: distances are the group's, in float64, by any Method. A point at distance NaN (coordinates whose
//     differences overflow) is nobody's neighbour.
//   - Errors: ErrOption if k is negative, ErrTooManyPairs if queries·k exceeds MaxPairs, else those of Ball.
func KNearest(queries, points *group.Lifted, k int, opt Options) (index []int32, dist []float64, err error) {
	opt.Radius = 0 // not read, so not refused either
	p, err := newProblem("KNearest", queries, points, opt)
	if err != nil {
		return nil, nil, err
	}
	rows := queries.Rows()
	if k < 0 {
		return nil, nil, fmt.Errorf("neighbor: KNearest: %w: k = %d is negative", ErrOption, k)
	}
	if k > 0 && rows > p.MaxPairs/k {
		return nil, nil, fmt.Errorf("neighbor: KNearest: %w: %d queries of k = %d make more than MaxPairs = %d", ErrTooManyPairs,
			rows, k, p.MaxPairs)
	}
	s, err := p.newSearcher()
	if err != nil {
		return nil, nil, err
	}
	index, dist = make([]int32, rows*k), make([]float64, rows*k)
	for i := range index {
		index[i], dist[i] = -1, math.Inf(1)
	}
	workers := runtime.GOMAXPROCS(0)
	scratches, bests := make([]*scratch, workers), make([]nearest, workers)
	parallel.ForWorkers(rows, queryGrain, workers, func(worker, lo, hi int) {
		if scratches[worker] == nil {
			scratches[worker] = s.newScratch()
		}
		w, best := scratches[worker], &bests[worker]
		at := 0
		for i := lo; i < hi; i++ {
			if !counts(s.QueryMask, i) {
				continue
			}
			at = s.blockOf(i, at)
			b := &s.blocks[at]
			best.reset(min(k, len(b.rows)))
			r := s.reach(w, b, i, k)
			s.visit(w, b, i, r, func(lo int, d []float64) {
				for n, x := range d {
					best.offer(x, b.rows[lo+n])
				}
			})
			best.sort()
			copy(index[i*k:], best.index)
			copy(dist[i*k:], best.dist)
		}
	})
	return index, dist, nil
}

// reach returns a radius within which query i certainly has its k nearest points. The largest distance of any k points is such a
// radius, and a small one if the points are near; it takes the nearest points in bounding coordinates. The next larger number
// makes the strict ball contain the farthest of them.
func (s *searcher) reach(w *scratch, b *block, i, k int) float64 {
	if b.tree == nil || k >= b.tree.n {
		return math.Inf(1)
	}
	ai, qi := s.queries.Row(i)
	s.bound.BoundCoords(w.center, ai, qi)
	c := b.tree.checkQuery("KNearest", w.center)
	w.near.reset(k)
	b.tree.descend(&w.near, &c, 0, 0, math.Inf(1))
	if !w.near.full() { // a centre that is not finite finds none
		return math.Inf(1)
	}
	r := 0.0
	for _, n := range w.near.index {
		aj, qj := s.points.Row(int(b.ascending[n]))
		distances(s.g, s.fast, w.dist[:1], ai, qi, aj, qj, w.pose)
		if math.IsNaN(w.dist[0]) {
			return math.Inf(1)
		}
		r = max(r, w.dist[0])
	}
	return math.Nextafter(r, math.Inf(1))
}
