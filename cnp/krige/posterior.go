package krige

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// fit fits a table that is normalised.
func (m *Model) fit(ctx context.Context) error {
	m.exact = m.isExact()
	e := m.evidence()
	families := m.families(ctx, e)
	if err := ctx.Err(); err != nil {
		return err
	}
	wanderers := m.wandering(ctx, e, families)
	if err := ctx.Err(); err != nil {
		return err
	}
	m.wanders = wanderWeight(families, wanderers)
	m.members = e.estimated(m.wander(m.integrate(e, families), m.integrate(e, wanderers)))
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.prepare(ctx)
}

// prepare makes a model whose members are known ready to predict.
func (m *Model) prepare(ctx context.Context) error {
	if m.exact {
		m.factorAll()
		m.weighBeyond()
	} else {
		if m.opt.Drift > 0 {
			m.estimateDrift()
		}
		if err := m.newLocal(ctx); err != nil {
			return err
		}
	}
	return m.combine(ctx)
}

// weighBeyond makes the weights of what is left of the members add up to 1, within the series and beyond its ends.
func (m *Model) weighBeyond() {
	var near, beyond float64
	for _, b := range m.members {
		near, beyond = near+b.weight, beyond+b.beyond
	}
	if near == 0 { // none is left that predicts within
		for _, b := range m.members {
			b.weight = b.beyond
		}
		near = beyond
	}
	if !slices.ContainsFunc(m.members, func(b *member) bool { return b.weight == 0 }) {
		m.wanders = 0
	}
	for _, b := range m.members {
		if b.weight /= near; m.wanders > 0 {
			b.beyond /= beyond
		} else {
			b.beyond = b.weight
		}
	}
	if m.wanders > 0 {
		m.step = spacing(m.x, 1)
	}
}

func (m *Model) isExact() bool { return m.n <= exactSpace || m.frame.dim == 1 && m.n <= exactLine }

// families finds the modes of the families that a table may be of, and their evidences.
func (m *Model) families(ctx context.Context, e *evidence) []*family {
	base := spec{dim: m.frame.dim, shape: matern32, different: m.opt.DifferentUnits}
	base.aniso = !m.frame.sphere && (base.dim == 2 || base.dim == 3) && m.n >= 16
	var all []*family
	add := func(s spec, start []float64, steps int) *family {
		f := &family{spec: &s, theta: start, steps: steps, tolerance: 0.02}
		all = append(all, f)
		return f
	}
	with := func(s shape, from *family) *family {
		t := base
		t.shape = s
		return add(t, from.theta, 8)
	}
	// Families that do not begin with each other's modes descend side by side: a descent has few evaluations at a time.
	first := add(base, e.start(&base), 20)
	e.descend(ctx, first)
	rough, smooth := with(matern12, first), with(matern52, first)
	e.descend(ctx, rough, smooth)
	best := likeliest(first, rough, smooth)
	if m.turns(&base) {
		s := *best.spec
		s.turned = true
		turned := add(s, slices.Insert(slices.Clone(best.theta), tFirst+s.dim-1, 0, 0, 0), 20)
		gain := turnedGain
		if s.different {
			gain = turnedDifferent
		}
		if e.descend(ctx, turned); turned.cost < best.cost-gain {
			base.turned = true
			best, smooth = e.turn(ctx, turned, with)
		} else if s.different {
			all = all[:len(all)-1]
		}
	}
	wave := len(all)
	if best == smooth || m.n < 100 {
		with(squared, smooth)
	}
	with(rational, best)
	if m.n >= 30 && !m.opt.MaximumLikelihood {
		two := *best.spec
		two.second = matern32
		if two.shape == matern12 {
			two.shape = matern32
		}
		add(two, e.extend(&two, best), 12)
	}
	e.descend(ctx, all[wave:]...)
	if m.axial {
		m.axials(ctx, e, &all)
	}
	if base.dim == 1 && !m.opt.MaximumLikelihood && e.parts == nil {
		m.seasons(ctx, e, &all, best)
	}
	if m.opt.MaximumLikelihood {
		return []*family{likeliest(all...)}
	}
	return e.likely(ctx, all)
}

// turns reports whether anisotropy of any direction is tried in space.
func (m *Model) turns(s *spec) bool {
	return s.aniso && s.dim == 3 && m.n >= 30 && !m.opt.MaximumLikelihood
}

// By how much the cost of anisotropy of any direction has to be lower than that along the axes before every family has it. Axes of
// different units seldom mix: of 15 tables of such inputs one was fitted so, and was predicted no better. Layers that dip gain tens.
const (
	turnedGain      = 1.0
	turnedDifferent = 6.0
)

// turn adds the other shapes of Matérn families, from the mode of the first one that has anisotropy of any direction.
func (e *evidence) turn(ctx context.Context, turned *family, with func(s shape, from *family) *family) (best, smooth *family) {
	var all, others []*family
	for _, s := range []shape{matern12, matern32, matern52} {
		f := turned
		if s != turned.spec.shape {
			f = with(s, turned)
			others = append(others, f)
		}
		all = append(all, f)
	}
	e.descend(ctx, others...)
	return likeliest(all...), all[2]
}

// likeliest returns the first of the families whose cost is least.
func likeliest(all ...*family) *family {
	return slices.MinFunc(all, func(a, b *family) int { return cmp.Compare(a.cost, b.cost) })
}

// likely returns those of some families that may have weight, and sets their evidence.
func (e *evidence) likely(ctx context.Context, all []*family) []*family {
	least := math.Inf(1)
	for _, f := range all {
		least = min(least, f.cost-f.change)
	}
	all = slices.DeleteFunc(all, func(f *family) bool { return !(f.cost-f.change < least+9) })
	parallel.For(len(all), 1, func(lo, hi int) {
		for _, f := range all[lo:hi] {
			if ctx.Err() == nil {
				f.laplace(f.of(e))
			}
		}
	})
	return all
}

// descend takes families from their starts to modes, side by side; those for which no time is left have no likelihood.
func (e *evidence) descend(ctx context.Context, all ...*family) {
	parallel.For(len(all), 1, func(lo, hi int) {
		for _, f := range all[lo:hi] {
			if f.cost = math.Inf(1); ctx.Err() == nil {
				f.theta, f.cost = f.of(e).mode(f.spec, f.theta, f.steps, f.tolerance)
			}
		}
	})
}

// start is the best of some lengths and amounts of noise.
func (e *evidence) start(s *spec) []float64 {
	mean, _ := e.prior.normals(s)
	var tries [][]float64
	short := max(2*e.prior.spacing, 0.02)
	for _, length := range []float64{short, math.Sqrt(short * 0.6), 0.6, 2} {
		for _, noise := range []float64{0.02, 0.5} {
			t := slices.Clone(mean)
			t[tLength], t[tNoise] = math.Log(length), math.Log(noise)
			tries = append(tries, t)
		}
	}
	costs := e.costs(s, tries)
	best := 0
	for i, c := range costs {
		if c < costs[best] {
			best = i
		}
	}
	return tries[best]
}

// extend starts a larger family from the mode of a smaller one.
func (e *evidence) extend(s *spec, from *family) []float64 {
	mean, _ := e.prior.normals(s)
	copy(mean, from.theta[:min(len(mean), len(from.theta))])
	return mean
}

// sizes returns how many points of a family's posterior are evaluated, and how many members a mixture has at most.
func (m *Model) sizes() (points, members int) {
	switch {
	case m.opt.MaximumLikelihood:
		return 0, 1
	case m.n <= 60:
		return 32, 24
	case m.n <= 160:
		return 16, 12
	case m.n <= 320:
		return 8, 6
	}
	return 0, 3
}

// integrate chooses the members of the mixture: points around the modes of the families, by their weights in the posterior.
func (m *Model) integrate(e *evidence, families []*family) []*member {
	points, most := m.sizes()
	best := math.Inf(-1)
	for _, f := range families {
		best = max(best, f.evidence)
	}
	var members []*member
	for _, f := range families {
		if f.evidence < best-4 {
			continue
		}
		mass := math.Exp(f.evidence - best)
		thetas, weights := f.around(f.of(e), points)
		for i, t := range thetas {
			members = append(members, &member{spec: f.spec, theta: t, weight: mass * weights[i]})
		}
	}
	byWeight(members)
	members = members[:min(len(members), most)]
	var total float64
	for _, b := range members {
		total += b.weight
	}
	for i, b := range members {
		if b.weight < 0.004*total {
			members = members[:i]
			break
		}
	}
	total = 0
	for _, b := range members {
		total += b.weight
	}
	for _, b := range members {
		b.weight /= total
	}
	return members
}

// byWeight puts the heaviest members first.
func byWeight(members []*member) {
	slices.SortStableFunc(members, func(a, b *member) int { return cmp.Compare(b.weight, a.weight) })
}

// estimated sets the level and the variance of members by a table, and leaves out those that it has no likelihood of.
func (e *evidence) estimated(members []*member) []*member {
	return slices.DeleteFunc(members, func(b *member) bool {
		b.kernel = b.spec.kernel(b.theta)
		s, ok := e.sums(b.kernel)
		b.level, b.variance, b.ones, b.drift = s.level(), s.spread(), s.ones, s.found
		return !ok || e.drift.d > 0 && s.found == nil
	})
}

// evidence is the likelihood of a table: that of all values where it is small, otherwise that of blocks.
func (m *Model) evidence() *evidence {
	d := m.frame.dim
	e := &evidence{x: m.x, y: m.y, drift: m.drift, dim: d,
		prior: prior{spacing: spacing(m.x, d), flat: m.opt.MaximumLikelihood}}
	switch {
	case m.n <= 200 || m.opt.MaximumLikelihood && m.exact:
		e.units = []unit{{index: upTo(m.n)}}
	case d == 1:
		e.units = lineUnits(m.n)
	default:
		e.units = blockUnits(m.x, d)
	}
	aniso := !m.frame.sphere && (d == 2 || d == 3)
	for i := range e.units {
		e.units[i].fill(m.x, d, aniso)
		e.seen += len(e.units[i].index) - e.units[i].given
	}
	return e
}
