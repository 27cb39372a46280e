package krige

import (
	"context"
	"math"
	"slices"
)

// Beyond the ends of a series, what may have gone on wandering returns to a level or a line too soon by the families that say best how the
// values lie among each other: these are judged by one step at a time, and a process that returns within some years, as it did before,
// fits steps as well as one that never does. So up to half of the weight there is that of processes that stay where they are: a random
// walk, in the form of a Matérn function of smoothness 1/2 whose length is many times that of the series, alone, smoothed or with a smooth
// part, each also with the season that was found. Within the series, where all of them say the same, they have no weight.
//
// On 216 series of R (bench/results/one-table.md) forecasts gain 0.025 ± 0.008 nats a value by it, 0.033 ± 0.009 with Positive.

// The weight of processes that wander beyond the ends of a series, which falls by e for every wanderBehind nats that their evidence is more
// than wanderBehind behind that of the others; below wanderLeast there are none.
const (
	wanderShare  = 0.5
	wanderBehind = 6.0
	wanderLeast  = 0.004
	wanderValues = 20 // so many values at least
)

// wandering fits the families of a series that wanders: with the season of the others, if they have one.
func (m *Model) wandering(ctx context.Context, e *evidence, others []*family) []*family {
	if m.frame.dim != 1 || !m.exact || m.n < wanderValues || m.opt.MaximumLikelihood || e.parts != nil || ctx.Err() != nil {
		return nil
	}
	var all []*family
	for _, s := range []spec{{shape: matern12}, {shape: matern12, second: matern32}, {shape: glide}} {
		s.dim, s.wanders = 1, true
		all = append(all, &family{spec: &s, theta: e.mean(&s), steps: 12, tolerance: 0.02})
	}
	e.descend(ctx, all...)
	var season *family
	for _, f := range others {
		if f.spec.period > 0 && (season == nil || f.cost-f.change < season.cost-season.change) {
			season = f
		}
	}
	if season != nil {
		for _, f := range slices.Clone(all) {
			s := *f.spec
			s.period, s.long = season.spec.period, season.spec.long
			theta := season.of(e).mean(&s)
			copy(theta, f.theta)
			copy(theta[s.seasonAt():], season.theta[season.spec.seasonAt():])
			theta[s.seasonAt()] -= math.Log(wanderVariance)
			if s.long > 0 {
				theta[s.longAt()] -= math.Log(wanderVariance)
			}
			all = append(all, &family{spec: &s, units: season.units, theta: theta, steps: 12, tolerance: 0.02,
				change: season.of(e).cost(f.spec, f.theta) - f.cost})
		}
		e.descend(ctx, all[3:]...)
	}
	return e.likely(ctx, all)
}

// mean is the prior's mean.
func (e *evidence) mean(s *spec) []float64 {
	mean, _ := e.prior.normals(s)
	return mean
}

// wander adds members that wander to those that are to predict within the series, and shares the weight beyond its ends.
func (m *Model) wander(members, wanderers []*member) []*member {
	if m.wanders == 0 {
		return members
	}
	for _, b := range members {
		b.beyond = (1 - m.wanders) * b.weight
	}
	for _, b := range wanderers {
		b.weight, b.beyond = 0, m.wanders*b.weight
	}
	return append(members, wanderers...)
}

// wanderWeight is the share of families that wander, whose evidence is so far behind that of the others.
func wanderWeight(others, wanderers []*family) float64 {
	if len(wanderers) == 0 {
		return 0
	}
	most := func(all []*family) float64 {
		v := math.Inf(-1)
		for _, f := range all {
			v = max(v, f.evidence)
		}
		return v
	}
	behind := most(others) - most(wanderers)
	if share := wanderShare * math.Exp(-max(0, behind-wanderBehind)/wanderBehind); share >= wanderLeast {
		return share
	}
	return 0
}
