package krige

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// Limits of the search for a period along the axes.
const (
	axialTables = 16   // of which periods are tried
	axialMost   = 8.0  // periods over the extent of the places
	axialStep   = 0.25 // of the number of periods over the extent
	axialTries  = 4    // periods that are fitted
)

// fillAxes keeps the differences along every axis, too.
func (e *evidence) fillAxes() {
	for i := range e.units {
		u := &e.units[i]
		u.features.growAxes(e.dim, tri(len(u.index)))
		u.fill(e.x, e.dim, len(u.features.q) > 1)
	}
}

// axials finds a period along every axis and fits a family with it: a covariance function of distance, multiplied by one that is periodic
// along each axis, as in fields on a lattice. Only tables that share the parameters are asked: one alone has some period by chance.
func (m *Model) axials(ctx context.Context, e *evidence, all *[]*family) {
	if ctx.Err() != nil || e.parts == nil {
		return
	}
	var from *family
	for _, f := range *all {
		if f.spec.second == noShape && f.spec.shape != rational && (from == nil || f.cost < from.cost) {
			from = f
		}
	}
	some := &evidence{dim: e.dim, prior: e.prior}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, i := range evenly(upTo(len(e.parts)), axialTables) {
		some.parts = append(some.parts, e.parts[i])
		lo, hi = min(lo, slices.Min(e.parts[i].x)), max(hi, slices.Max(e.parts[i].x))
	}
	if !(hi > lo) { // all values are of one place
		return
	}
	starts := some.axialStarts(ctx, from, hi-lo)
	if ctx.Err() != nil {
		return
	}
	for _, f := range starts {
		f.steps, f.tolerance = 8, 0.5
	}
	some.descend(ctx, starts...)
	best := starts[0]
	for _, f := range starts {
		if f.cost < best.cost {
			best = f
		}
	}
	best.steps, best.tolerance = 25, 0.05
	e.descend(ctx, best)
	*all = append(*all, best)
	// Without the period its waves had to be rough or noise: what is left may be smoother.
	wave := len(*all)
	for _, shape := range []shape{matern52, squared} {
		if shape == best.spec.shape {
			continue
		}
		s := *best.spec
		s.shape = shape
		*all = append(*all, &family{spec: &s, theta: best.theta, change: best.change, steps: 25, tolerance: 0.05})
	}
	e.descend(ctx, (*all)[wave:]...)
}

// axialStarts returns the periods that are most likely at some widths and lengths, each with the best of these.
func (e *evidence) axialStarts(ctx context.Context, from *family, extent float64) (best []*family) {
	var found []*family
	for k := 1.0; k <= axialMost; k += axialStep {
		s := *from.spec
		s.axial = extent / k
		found = append(found, &family{spec: &s, cost: math.Inf(1)})
	}
	parallel.For(len(found), 1, func(lo, hi int) {
		for _, f := range found[lo:hi] {
			for _, width := range []float64{0.03, 0.2, 1} {
				for _, longer := range []float64{0, 0.5, 1} {
					if ctx.Err() != nil {
						return
					}
					t := append(slices.Clone(from.theta), math.Log(width), 0)
					t[tLength] += longer // the length of what had to explain the periods, too, is too short
					if c := e.cost(f.spec, t); c < f.cost || f.theta == nil {
						f.theta, f.cost = t, c
					}
				}
			}
			f.change = -math.Log(float64(len(found)))
		}
	})
	for i, f := range found {
		if (i == 0 || f.cost <= found[i-1].cost) && (i+1 == len(found) || f.cost < found[i+1].cost) {
			best = append(best, f)
		}
	}
	slices.SortStableFunc(best, func(a, b *family) int { return cmp.Compare(a.cost, b.cost) })
	return best[:min(len(best), axialTries)]
}
