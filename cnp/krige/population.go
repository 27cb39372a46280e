package krige

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
)

// Population is a random process that many tables were drawn from, each on its own: a mixture of Gaussian processes, whose covariances and
// shares were estimated from some of them, and of waves, if the tables have any. Coordinates and values of all tables have one unit. Values
// that are positive may be their logarithms' or their square roots' population.
//
// Waves are tables of one waveform, each at a wave vector and a phase of its own, as light curves of variable stars, tides or heartbeats:
// y = level + gain · g(<w, x> - phase) + a residual. The waveform g, which may jump, the distributions of wave vectors, and how levels,
// gains and residuals differ, are learned from the tables. Where tables are likelier as waves they count as such.
//
// A table of three values says nothing about its covariance; a hundred other tables do. Unlike Shared, which tables of any level and unit
// can share, a population knows both beforehand, and its tables may differ in their covariance.
type Population struct {
	opt     Options
	frame   *frame
	kernels []populationKernel
	axial   bool // kernels may have a period along the axes
	waves   *waves

	bend    bend // the scale that frame, kernels and waves are of
	amounts bool // values are never negative
}

// populationKernel is one covariance function of a population, in units of the signal's variance.
type populationKernel struct {
	spec   *spec
	theta  []float64
	kernel *kernel
	atoms  []atom
}

// atom is a prior of level and variance: the variance is inverse gamma, the level normal.
type atom struct {
	share        float64
	shape, scale float64
	level2       float64 // variance of the level over the signal's
}

// Values says what kind of numbers the values of its tables are: Positive if they are amounts, whose scale may be any.
func (p *Population) Values() Values {
	switch {
	case p.amounts:
		return Positive
	case p.bend == logarithm:
		return Logarithmic
	}
	return Plain
}

// Scale says on which scale the values are those of the population: "", "square root" or "logarithm".
func (p *Population) Scale() string { return p.bend.String() }

// straight reports whether predictions are those of the population's own numbers.
func (p *Population) straight() bool { return p.bend == straight && !p.amounts }

// checkValues refuses values of a table that are not on the population's scale.
func (p *Population) checkValues(y []float64) error {
	if p.bend == logarithm {
		return Logarithmic.check(y)
	}
	return p.Values().check(y)
}

// bent takes values to the population's scale. slope is the sum of the logarithms of the slopes there; ok is false if a value is not on it.
func (p *Population) bent(y []float64) (out []float64, slope float64, ok bool) {
	if p.bend == straight {
		return slices.Clone(y), 0, true
	}
	out, mean, ok := p.bend.to(y, likelihood.ZeroRoot)
	if len(y) > 0 {
		slope = mean * float64(len(y))
	}
	return out, slope, ok
}

// back takes a number of the population's scale back to a value.
func (p *Population) back(v float64) float64 {
	if v = p.bend.from(v); p.amounts {
		v = max(0, v)
	}
	return v
}

// Limits of the tables that a population is estimated from.
const (
	populationTables = 64  // at most
	populationValues = 8   // of a table, at least
	populationMost   = 160 // values of a table that count, at most
	populationOwn    = 4   // covariances that each table proposes
	populationLarge  = 640 // values of a table, beyond which half of those that count lie close together
)

// FitPopulation estimates a population from tables drawn from it: xs[i] [n, Dim] and ys[i] [n] are table i. Of many tables some, and of
// large ones some values, stand for all. It returns nil if fewer than eight tables have eight values each. A period that is the same along
// every axis is found, other seasons are not. Waves are found that have at most 64 periods along the longest side of the tables' places
// where these have one coordinate, 8 with two, 4 with three, and 2.5 with more.
//
// Where Values are Logarithmic, the values' logarithms are of the population; where they are Positive, whichever of values, square roots
// and logarithms makes the tables likeliest. Densities are those of the values themselves.
func FitPopulation(ctx context.Context, xs, ys [][]float64, opt Options) (*Population, error) {
	if len(xs) != len(ys) {
		return nil, fmt.Errorf("%w: coordinates of %d tables, values of %d", ErrInput, len(xs), len(ys))
	}
	if opt.Drift > 0 {
		return nil, fmt.Errorf("%w: a population has no drift", ErrInput)
	}
	if opt.Robust {
		return nil, fmt.Errorf("%w: a population is not robust: what is an outlier, each table says", ErrInput)
	}
	if opt.MaximumLikelihood {
		return nil, fmt.Errorf("%w: a population has no likeliest covariance alone", ErrInput)
	}
	var some []int
	for i := range xs {
		if len(xs[i])+len(ys[i]) == 0 {
			continue
		}
		err := opt.check(xs[i], ys[i])
		if err == nil {
			err = opt.Values.check(ys[i])
		}
		if err != nil {
			return nil, fmt.Errorf("table %d: %w", i, err)
		}
		if _, sd := moments(ys[i]); len(ys[i]) >= populationValues && sd > 0 {
			some = append(some, i)
		}
	}
	if len(some) < populationValues {
		return nil, nil
	}
	some = evenly(some, populationTables)
	var best *populationFit
	for _, b := range opt.Values.bends() {
		f, err := newPopulationFit(ctx, xs, ys, some, opt, b)
		if err != nil {
			return nil, err
		}
		if f != nil && (best == nil || f.density > best.density) {
			best = f
		}
	}
	if best == nil { // rounding leaves no table a density
		return nil, nil
	}
	p := best.p
	if !opt.Sphere {
		p.learnWaves(ctx, best.candidates, best.large, best.tables, best.gauss)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.axial = slices.ContainsFunc(p.kernels, func(k populationKernel) bool { return k.spec.axial > 0 })
	return p, nil
}

// populationFit is a population of Gaussian processes alone, and what it was estimated from.
type populationFit struct {
	p          *Population
	candidates []*candidate
	tables     []*evidence
	large      []*waveTable
	gauss      []float64 // logarithms of the densities of the tables
	density    float64   // mean logarithm of that of a value as it was before it was bent
}

// newPopulationFit estimates the covariances of some tables on a scale, nil where a value is not on it or no table has a density.
func newPopulationFit(ctx context.Context, xs, ys [][]float64, some []int, opt Options, b bend) (*populationFit, error) {
	amounts := opt.Values == Positive
	opt.Values = Plain
	var x, y, steps []float64
	bent := make([][]float64, len(some))
	var slopes float64
	var values []float64
	for _, i := range some {
		values = append(values, ys[i]...)
	}
	zero := zeroRoot(values)
	for k, i := range some {
		v, slope, ok := b.to(ys[i], zero)
		if !ok {
			return nil, nil
		}
		bent[k], slopes = v, slopes+slope*float64(len(v))
		x, y = append(x, xs[i]...), append(y, v...)
	}
	p := &Population{opt: opt, frame: newFrame(x, y, &opt), axial: !opt.Sphere && !opt.DifferentUnits, bend: b, amounts: amounts}
	f := &populationFit{p: p}
	all := &Model{opt: opt, frame: p.frame, axial: p.axial}
	joint := &evidence{dim: p.frame.dim}
	for k, i := range some {
		m := &Model{opt: opt, frame: p.frame}
		m.x, m.y, _ = p.frame.table(xs[i], bent[k])
		f.large = append(f.large, newWaveTable(m.x, m.y, p.frame.dim, waveValues))
		m.thin(populationMost)
		e := m.evidence()
		if p.axial {
			e.fillAxes()
		}
		f.tables, steps, all.n = append(f.tables, e), append(steps, e.prior.spacing), all.n+m.n
	}
	slices.Sort(steps)
	joint.prior.spacing, joint.parts = steps[len(steps)/2], f.tables
	families := all.families(ctx, joint)
	if err := ctx.Err(); err != nil { // families have not found their modes
		return nil, err
	}
	members := all.integrate(joint, families)
	members = append(members, p.own(ctx, f.tables)...)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.candidates = p.candidates(ctx, members, f.tables)
	f.gauss = p.choose(f.candidates, len(f.tables), nil)
	if err := ctx.Err(); err != nil || len(p.kernels) == 0 {
		return nil, err
	}
	for _, v := range f.gauss {
		f.density += v / float64(all.n)
	}
	f.density += slopes/float64(len(y)) - math.Log(p.frame.ys)
	return f, nil
}

// own are the covariances that each table proposes.
func (p *Population) own(ctx context.Context, tables []*evidence) (members []*member) {
	own := make([][]*member, len(tables))
	parallel.For(len(tables), 1, func(lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			// What one table proposes has no season: a curve of few values has one by chance.
			alone := &evidence{dim: tables[i].dim, prior: tables[i].prior, parts: tables[i : i+1]}
			m := &Model{opt: p.opt, frame: p.frame, n: len(tables[i].y)}
			families := m.families(ctx, alone)
			if ctx.Err() != nil {
				return
			}
			found := m.integrate(alone, families)
			own[i] = found[:min(len(found), populationOwn)]
		}
	})
	for _, found := range own {
		members = append(members, found...)
	}
	return members
}

// thin leaves at most n rows, from all over the table. Of a large table these lie far from each other, and say nothing about lengths
// below their distances: there half of them are neighbours of one point.
func (m *Model) thin(n int) {
	d := m.frame.dim
	rows := evenly(upTo(len(m.y)), n)
	if len(m.y) > populationLarge {
		rows = rows[:0]
		var w neighbor.NearestWorkspace
		centre := len(m.y) / 2
		around, _ := newTree(m.x, d).KNearestWithin(nil, nil, m.x[centre*d:(centre+1)*d], n/2, math.Inf(1), &w)
		for _, i := range around {
			rows = append(rows, int(i))
		}
		for _, i := range evenly(upTo(len(m.y)), n-n/2) {
			if !slices.Contains(rows, i) {
				rows = append(rows, i)
			}
		}
	}
	var x, y []float64
	for _, i := range rows {
		x, y = append(x, m.x[i*d:(i+1)*d]...), append(y, m.y[i])
	}
	m.x, m.y, m.n = x, y, len(y)
}

// Priors of level and variance that are tried for every covariance.
var (
	populationShapes = []float64{2, 8, 1000}
	populationLevels = []float64{0, 0.3, 3}
)

// rounds is how often shares are estimated anew. From equal shares, few rounds leave some to every covariance that explains a table
// about as well as the best one: the tables are a sample of the population.
const rounds = 30

// candidate is a covariance with a prior of level and variance, and what the logarithms of the densities of tables are with it.
type candidate struct {
	*member
	atom
	log []float64
}

// candidates are the covariances, each with several priors of level and variance.
func (p *Population) candidates(ctx context.Context, members []*member, tables []*evidence) (out []*candidate) {
	of := make([][]sums, len(members)) // by covariance and table
	parallel.For(len(members), 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			kernel := members[k].spec.kernel(members[k].theta)
			for _, t := range tables {
				s, ok := t.sums(kernel)
				if !ok || ctx.Err() != nil {
					of[k] = nil
					break
				}
				of[k] = append(of[k], s)
			}
		}
	})
	for k := range members {
		if of[k] == nil {
			continue
		}
		// The variance that tables have in the mean, and that of the one which proposed the covariance or is likest to it.
		var log float64
		best, most := 0, math.Inf(-1)
		for t, s := range of[k] {
			log += math.Log(s.spread()) / float64(len(tables))
			if d := s.density(); d/float64(s.n) > most {
				best, most = t, d/float64(s.n)
			}
		}
		for _, v := range []float64{math.Exp(log), of[k][best].spread()} {
			for _, a := range populationShapes {
				for _, l := range populationLevels {
					c := &candidate{member: members[k], atom: atom{shape: a, scale: v * (a - 1), level2: l}}
					for t := range tables {
						c.log = append(c.log, c.density(&of[k][t]))
					}
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// choose sets the covariances and their shares to those that make the tables likely, by expectation maximization, and returns the
// logarithms of the densities of the tables. Where the tables may be waves, of these densities, the share of the waves is set, too.
func (p *Population) choose(candidates []*candidate, tables int, waves []float64) []float64 {
	if len(candidates) == 0 {
		return nil
	}
	n := len(candidates)
	if waves != nil {
		n++
	}
	logs, likely := make([][]float64, tables), make([][]float64, tables) // by table and candidate
	for t := range likely {
		row := make([]float64, 0, n)
		for _, c := range candidates {
			row = append(row, c.log[t])
		}
		if waves != nil {
			row = append(row, waves[t])
		}
		logs[t], likely[t] = row, exponentials(row)
	}
	share := shares(likely, n)
	if waves != nil {
		p.waves.share = share[n-1]
	}
	var kernels []populationKernel
	var last *member
	for i, c := range candidates {
		if share[i] == 0 {
			continue
		}
		if c.member != last { // candidates of one covariance follow each other
			kernels = append(kernels, populationKernel{spec: c.spec, theta: c.theta, kernel: c.spec.kernel(c.theta)})
			last = c.member
		}
		c.share = share[i]
		k := &kernels[len(kernels)-1]
		k.atoms = append(k.atoms, c.atom)
	}
	if len(kernels) > 0 || waves == nil {
		p.kernels = kernels
	}
	density := make([]float64, tables)
	for t, row := range logs {
		density[t] = math.Inf(-1)
		for i, v := range row {
			if share[i] > 0 {
				density[t] = logAdd(density[t], math.Log(share[i])+v)
			}
		}
	}
	return density
}

// shares returns how often tables were drawn from each of n candidates, given how likely a table is under each of them
// [tables, n]: the most likely shares, without candidates that no table would miss.
func shares(likely [][]float64, n int) []float64 {
	share := make([]float64, n)
	for c := range share {
		share[c] = 1 / float64(n)
	}
	for range rounds {
		next := make([]float64, n)
		for _, row := range likely {
			var total float64
			for c, l := range row {
				total += share[c] * l
			}
			for c, l := range row {
				next[c] += share[c] * l / total / float64(len(likely))
			}
		}
		share = next
	}
	var total float64
	for c, s := range share {
		if s*float64(len(likely)) < 0.02 {
			share[c] = 0
		}
		total += share[c]
	}
	for c := range share {
		share[c] /= total
	}
	return share
}

// level returns the posterior mean of the level and its variance over the signal's.
func (a *atom) level(s *sums) (mean, variance float64) {
	if a.level2 == 0 {
		return 0, 0
	}
	variance = 1 / (s.ones + 1/a.level2)
	return s.y1 * variance, variance
}

// rest is the sum of squares that the level leaves.
func (a *atom) rest(s *sums) float64 {
	mean, _ := a.level(s)
	return max(0, s.yy-mean*s.y1)
}

// density is the logarithm of the density of values with these sums: a multivariate Student t.
func (a *atom) density(s *sums) float64 {
	n := float64(s.n) / 2
	l0, _ := math.Lgamma(a.shape)
	l1, _ := math.Lgamma(a.shape + n)
	return l1 - l0 + a.shape*math.Log(a.scale) - (a.shape+n)*math.Log(a.scale+a.rest(s)/2) - n*math.Log(2*math.Pi) - s.logdet -
		0.5*math.Log1p(a.level2*s.ones)
}

// variance is the mean of the posterior of the signal's variance.
func (a *atom) variance(s *sums) float64 {
	return (a.scale + a.rest(s)/2) / (a.shape + float64(s.n)/2 - 1)
}

// populationRoom holds the factorization of a covariance matrix: that of the context first, the targets behind it.
type populationRoom struct {
	u     unit
	a     []float64
	right []float64
	w     scratch
}

// factor factors the covariance of the points, and whitens the values y, zeros behind them, and a constant.
func (r *populationRoom) factor(k *kernel, y []float64) bool {
	m := len(r.u.index)
	if r.a == nil {
		r.a, r.right = make([]float64, tri(m)), make([]float64, 2*m)
	}
	copy(r.right, y)
	clear(r.right[len(y):m])
	for i := range m {
		r.right[m+i] = 1
	}
	return r.u.factor(r.a, k, &r.w, r.right)
}

// sums are those of the first n points.
func (r *populationRoom) sums(n int) (s sums) {
	m := len(r.u.index)
	for i := range n {
		z, one := r.right[i], r.right[m+i]
		s.logdet -= math.Log(r.a[tri(i)+i])
		s.yy, s.y1, s.ones = s.yy+z*z, s.y1+z*one, s.ones+one*one
	}
	s.n = n
	return s
}

// LogDensity returns the logarithm of the joint density of values [nt] at targets [nt, Dim], given a table, which may be empty. It takes
// time with the third power of the number of values, table and targets together, which may be 4,096 at most. It is exact of Gaussian
// processes. The evidences of waves, whose quotient it is, are estimated by importance sampling (always with the same seed). Each of the
// two logarithms has a standard error of about 0.05 nats with up to 250 values, and of up to some nats with 500 values without noise.
func (p *Population) LogDensity(ctx context.Context, x, y, targets, values []float64) (float64, error) {
	if err := p.check(x, y, targets); err != nil {
		return 0, err
	}
	if n := len(y) + len(values); n > populationJoint {
		return 0, fmt.Errorf("%w: a joint density of %d values; at most %d are possible", ErrInput, n, populationJoint)
	}
	if len(values)*p.opt.Dim != len(targets) {
		return 0, fmt.Errorf("%w: %d values at %d coordinates of targets", ErrInput, len(values), len(targets))
	}
	_, slope, ok := p.bent(values)
	if !ok {
		return math.Inf(-1), nil
	}
	at, t, all, err := p.normalise(x, targets, slices.Concat(y, values))
	if err != nil {
		return 0, err
	}
	at = slices.Concat(at, t)
	given, together := math.Inf(-1), math.Inf(-1)
	r := p.room(at, len(all))
	for k := range p.kernels {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if !r.factor(p.kernels[k].kernel, all) {
			continue
		}
		before, after := r.sums(len(y)), r.sums(len(all))
		for i := range p.kernels[k].atoms {
			a := &p.kernels[k].atoms[i]
			given = logAdd(given, math.Log(a.share)+a.density(&before))
			together = logAdd(together, math.Log(a.share)+a.density(&after))
		}
	}
	if p.waves != nil {
		before, after, err := p.waveEvidences(ctx, at, all, len(y))
		if err != nil {
			return 0, err
		}
		given, together = logAdd(given, before), logAdd(together, after)
	}
	if math.IsInf(given, -1) { // for want of a factor, as where all are far from the population's tables
		return 0, fmt.Errorf("%w: no covariance of the table and the targets is positive definite in float64", ErrInput)
	}
	return together - given + slope - float64(len(values))*math.Log(p.frame.ys), nil
}

// Predict returns mean and standard deviation of new values at targets [nt, Dim], noise included, given a table, which may be empty. Up to
// 1,024 values all count for every target, and time grows with their number's third power; in larger tables a target is predicted from 192
// values near it. Of waves these are the moments of a mixture; see LogDensities. A wave is found from at most 512 values of a table.
func (p *Population) Predict(ctx context.Context, x, y, targets []float64) (mean, std []float64, err error) {
	mean, std, v, err := p.predict(ctx, x, y, targets)
	if err != nil || v == nil && p.straight() {
		return mean, std, err
	}
	t, err := p.frame.places("targets", targets)
	if err != nil {
		return nil, nil, err
	}
	if !p.straight() {
		p.unbend(v, t, mean, std)
	} else {
		p.mix(v, t, mean, std)
	}
	return mean, std, checkRange(mean, std)
}

// predict predicts by the Gaussian processes, and finds out which wave the table may be.
func (p *Population) predict(ctx context.Context, x, y, targets []float64) (mean, std []float64, v *waveView, err error) {
	if mean, std, err = p.gaussian(ctx, x, y, targets); err != nil {
		return nil, nil, nil, err
	}
	v, err = p.wave(ctx, x, y)
	return mean, std, v, err
}

// wave finds out which wave a table may be, nil if the population has none.
func (p *Population) wave(ctx context.Context, x, y []float64) (*waveView, error) {
	if p.waves == nil {
		return nil, nil
	}
	if err := p.check(x, y, nil); err != nil {
		return nil, err
	}
	at, _, values, err := p.normalise(x, nil, y)
	if err != nil {
		return nil, err
	}
	return p.view(ctx, at, values)
}

// gaussian predicts by the Gaussian processes.
func (p *Population) gaussian(ctx context.Context, x, y, targets []float64) (mean, std []float64, err error) {
	if err := p.check(x, y, targets); err != nil {
		return nil, nil, err
	}
	if len(y) > populationExact {
		mean, std, err = p.predictLarge(ctx, x, y, targets)
	} else {
		d := p.opt.Dim
		chunk := max(1, populationRoomOf/max(1, len(y)))
		for lo := 0; lo < len(targets) || lo == 0; lo += chunk * d {
			m, s, err := p.predictExact(ctx, x, y, targets[lo:min(lo+chunk*d, len(targets))])
			if err != nil {
				return nil, nil, err
			}
			mean, std = append(mean, m...), append(std, s...)
		}
		err = checkRange(mean, std)
	}
	if err != nil {
		return nil, nil, err
	}
	return mean, std, nil
}

// predictExact predicts from all values of a table.
func (p *Population) predictExact(ctx context.Context, x, y, targets []float64) (mean, std []float64, err error) {
	d, n, nt := p.frame.dim, len(y), len(targets)/p.opt.Dim
	at, t, values, err := p.normalise(x, targets, y)
	if err != nil {
		return nil, nil, err
	}
	mean, std = make([]float64, nt), make([]float64, nt)
	weights, most := make([]float64, 0, len(p.kernels)), math.Inf(-1)
	r := p.room(at, n)
	var f features
	f.grow(d, n*nt, p.aniso())
	if p.axial {
		f.growAxes(d, n*nt)
	}
	for i := range nt {
		for j := range n {
			f.set(i*n+j, t[i*d:(i+1)*d], at[j*d:(j+1)*d])
		}
	}
	cov := make([]float64, n*nt)
	moments := make([][2]float64, 0, len(p.kernels)*nt) // of each atom at each target
	for k := range p.kernels {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		kernel := p.kernels[k].kernel
		if !r.factor(kernel, values) {
			continue
		}
		s := r.sums(n)
		kernel.covariances(cov, &f, &r.w)
		z, one := r.right[:n], r.right[n:2*n]
		atoms, first := p.kernels[k].atoms, len(moments)
		for i := range atoms {
			w := math.Log(atoms[i].share) + atoms[i].density(&s)
			weights, most = append(weights, w), max(most, w)
		}
		moments = append(moments, make([][2]float64, len(atoms)*nt)...)
		for i := range nt {
			row := cov[i*n : (i+1)*n]
			forward(r.a, row, n)
			var zr, or, rr, x2 float64
			for j, v := range row {
				zr, or, rr = zr+v*z[j], or+v*one[j], rr+v*v
			}
			for _, v := range t[i*d : (i+1)*d] {
				x2 += v * v
			}
			v := max(0, kernel.variance()+kernel.slope2*x2-rr) + kernel.noise
			for j := range atoms {
				level, doubt := atoms[j].level(&s)
				moments[first+j*nt+i] = [2]float64{zr + (1-or)*level, atoms[j].variance(&s) * (v + (1-or)*(1-or)*doubt)}
			}
		}
	}
	var total float64
	for i, w := range weights {
		weights[i] = math.Exp(w - most)
		total += weights[i]
	}
	for a, w := range weights {
		w /= total
		for i, m := range moments[a*nt : (a+1)*nt] {
			mean[i] += w * m[0]
			std[i] += w * (m[1] + m[0]*m[0])
		}
	}
	for i := range mean {
		if len(weights) == 0 { // no covariance could be factored: nothing is known but the population's values
			std[i] = 1
		}
		v := max(std[i]-mean[i]*mean[i], 1e-14)
		mean[i], std[i] = p.frame.y0+p.frame.ys*mean[i], p.frame.ys*math.Sqrt(v)
	}
	return mean, std, nil
}

// normalise takes a table's places, targets and values to the population's frame.
func (p *Population) normalise(x, targets, y []float64) (at, t, values []float64, err error) {
	if at, err = p.frame.places("x", x); err != nil {
		return nil, nil, nil, err
	}
	if t, err = p.frame.places("targets", targets); err != nil {
		return nil, nil, nil, err
	}
	values, _, ok := p.bent(y)
	if !ok {
		return nil, nil, nil, p.checkValues(y)
	}
	for i, v := range values {
		if values[i] = normalised(v, p.frame.y0, p.frame.ys); !(math.Abs(values[i]) <= farthest) {
			return nil, nil, nil, fmt.Errorf("%w: a value of %g: that is more than %g deviations of the population", ErrInput, y[i],
				farthest)
		}
	}
	return at, t, values, nil
}

func (p *Population) aniso() bool { return !p.frame.sphere && (p.frame.dim == 2 || p.frame.dim == 3) }

func (p *Population) room(at []float64, n int) *populationRoom {
	r := &populationRoom{u: unit{index: upTo(n)}}
	if p.axial {
		r.u.features.growAxes(p.frame.dim, tri(n))
	}
	r.u.fill(at, p.frame.dim, p.aniso())
	return r
}

// check reports what is no table or no targets.
func (p *Population) check(x, y, targets []float64) error {
	if p.opt.Dim == 0 {
		return fmt.Errorf("%w: the population is empty: FitPopulation or UnmarshalJSON fills one", ErrInput)
	}
	if len(y) > 0 || len(x) > 0 {
		if err := errors.Join(p.opt.check(x, y), p.checkValues(y)); err != nil {
			return err
		}
	}
	if len(targets)%p.opt.Dim != 0 {
		return fmt.Errorf("%w: %d numbers are no targets of %d coordinates", ErrInput, len(targets), p.opt.Dim)
	}
	if err := errors.Join(checkFinite("targets", targets, p.opt.Dim), p.opt.checkSphere("targets", targets)); err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	return nil
}
