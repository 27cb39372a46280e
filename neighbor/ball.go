package neighbor

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

// queryGrain is the number of queries that are answered into one buffer.
const queryGrain = 64

// Ball finds, for every query, the points within opt.Radius of it, and the table of their relative poses.
//
//   - Shape: queries and points have any number of rows, 0 included, of one group with one alpha; they may be the same
//     set. A lift is a row.
//   - Order: rows ascend in index; poses are numbered in the order in which (query, point) first shows them.
//   - Exactness: the pairs are those of the group's Distance in float64, strictly below the radius, by any Method.
//   - Errors: ErrShape, ErrOption, ErrValue for a NaN radius or a coordinate that is not finite at an unmasked row,
//     ErrTooManyPairs; each names the argument and its position or size.
//   - Cost: time and memory grow with the number of pairs (for groups with bounds, and otherwise pairs of rows in
//     time, not in memory); about 8 bytes per pair and 24 per distinct pose remain.
func Ball(queries, points *group.Lifted, opt Options) (*Neighborhood, error) {
	p, err := newProblem("Ball", queries, points, opt)
	if err != nil {
		return nil, err
	}
	nb := &Neighborhood{
		Queries: queries.Rows(), Points: points.Rows(),
		Offsets: make([]int, queries.Rows()+1), PoseDim: group.PoseDim(p.g),
	}
	if p.Radius > 0 {
		s, err := p.newSearcher()
		if err != nil {
			return nil, err
		}
		if err := s.fill(nb); err != nil {
			return nil, err
		}
	}
	p.buildPoses(nb)
	return nb, nil
}

// fill finds all pairs. Each chunk of queries is answered into a buffer of its own, which is then copied to its place:
// counting first and filling in a second pass would save the copy and compute every distance twice.
func (s *searcher) fill(nb *Neighborhood) error {
	chunks := make([][]int32, (nb.Queries+queryGrain-1)/queryGrain)
	workers := runtime.GOMAXPROCS(0)
	scratches, pickers := make([]*scratch, workers), make([]picker, workers)
	var pairs atomic.Int64
	parallel.ForWorkers(nb.Queries, queryGrain, workers, func(worker, lo, hi int) {
		if scratches[worker] == nil {
			scratches[worker] = s.newScratch()
		}
		var out []int32
		k := 0
		for i := lo; i < hi; i++ {
			if !counts(s.QueryMask, i) {
				continue
			}
			k = s.blockOf(i, k)
			found := s.ball(scratches[worker], &s.blocks[k], i)
			if s.MaxNeighbors > 0 {
				found = pickers[worker].sample(found, s.MaxNeighbors, s.Seed, i)
			}
			if pairs.Add(int64(len(found))) > int64(s.MaxPairs) {
				return // the others stop at their next query, too
			}
			out = append(out, found...)
			nb.Offsets[i+1] = len(found)
		}
		chunks[lo/queryGrain] = out
	})
	if pairs.Load() > int64(s.MaxPairs) {
		return fmt.Errorf("neighbor: Ball: %w: radius %g gives more than MaxPairs = %d among %d queries and %d points",
			ErrTooManyPairs, s.Radius, s.MaxPairs, nb.Queries, nb.Points)
	}
	for i := range nb.Queries {
		nb.Offsets[i+1] += nb.Offsets[i]
	}
	nb.Index = make([]int32, nb.Offsets[nb.Queries])
	for c, out := range chunks {
		copy(nb.Index[nb.Offsets[c*queryGrain]:], out)
		chunks[c] = nil
	}
	return nil
}
