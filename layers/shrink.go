package layers

import (
	"math"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
)

// Shrink returns the neighbourhood of a smaller radius, given that of a larger one between the same points, which has no
// bound on the number of neighbours. The result is that of neighbor.Ball at the smaller radius: the same pairs, and poses in the
// order of first use. It costs a fraction of a search.
func Shrink(n *neighbor.Neighborhood, queries, points *group.Lifted, radius float64) *neighbor.Neighborhood {
	// A pair's distance is that of its pose, but for what merging poses changed. Where that could decide, it is computed again.
	const blur = 1e-6
	const out, in, unsure = 0, 1, 2
	g, e := points.Group, n.PoseDim
	near := make([]uint8, n.NumPoses())
	for p := range near {
		d := g.Distance(n.Poses[p*e : (p+1)*e])
		switch b := blur * (1 + math.Abs(radius)); {
		case math.Abs(d-radius) < b:
			near[p] = unsure
		case d < radius:
			near[p] = in
		}
	}
	keep, size := make([]bool, n.Pairs()), make([]int, n.Queries+1)
	parallel.For(n.Queries, rowGrain, func(lo, hi int) {
		pose := make([]float64, e)
		for i := lo; i < hi; i++ {
			ai, qi := queries.Row(i)
			for k := n.Offsets[i]; k < n.Offsets[i+1]; k++ {
				ok := near[n.Pose[k]] == in
				if near[n.Pose[k]] == unsure {
					aj, qj := points.Row(int(n.Index[k]))
					g.RelativePose(pose, ai, qi, aj, qj)
					ok = g.Distance(pose) < radius
				}
				if keep[k] = ok; ok {
					size[i+1]++
				}
			}
		}
	})
	for i := range n.Queries {
		size[i+1] += size[i]
	}
	s := &neighbor.Neighborhood{Queries: n.Queries, Points: n.Points, Offsets: size, PoseDim: e,
		Index: make([]int32, size[n.Queries]), Pose: make([]int32, size[n.Queries])}
	number, at := make([]int32, n.NumPoses()), 0 // from 1; 0: not used yet
	for k, ok := range keep {
		if !ok {
			continue
		}
		p := n.Pose[k]
		if number[p] == 0 {
			s.Poses = append(s.Poses, n.Poses[int(p)*e:(int(p)+1)*e]...)
			s.Count = append(s.Count, 0)
			number[p] = int32(len(s.Count))
		}
		s.Index[at], s.Pose[at] = n.Index[k], number[p]-1
		s.Count[number[p]-1]++
		at++
	}
	return s
}
