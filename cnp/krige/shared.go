package krige

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
)

// Shared is what several tables of one kind have in common, as the days of one network: the covariance's shape, length
// scales, anisotropy, and noise over signal. Each table has a level and a variance of its own, and coefficients of a drift that differ
// among tables as much as they seem to.
//
// A table of thirty values hardly tells a length scale. Ten of them do.
type Shared struct {
	opt     Options
	frame   *frame
	members []*member // spec, theta and weight alone
}

// Limits of the tables that shared parameters are estimated from.
const (
	sharedTables = 64  // at most
	sharedValues = 4   // of a table, at least
	sharedWork   = 2e7 // cubes of the numbers of values, added up
)

// sharedReach is how far a row may lie from the mean of its table, in the unit of the tables that share. Wider tables are fitted alone:
// trends as steep as those of the others would be variances so large that the inverse of a covariance matrix loses what is left of them.
const sharedReach = 100

// FitShared estimates what tables have in common: xs[i] [n, Dim] and ys[i] [n] are table i. Tables of fewer than four
// values, or of equal ones, count for nothing, and of many tables some stand for all. Without two that count it returns
// nil. Seasons are not shared.
func FitShared(ctx context.Context, xs, ys [][]float64, opt Options) (*Shared, error) {
	if len(xs) != len(ys) {
		return nil, fmt.Errorf("%w: coordinates of %d tables, values of %d", ErrInput, len(xs), len(ys))
	}
	if opt.Values != Plain || opt.MaximumLikelihood {
		return nil, fmt.Errorf("%w: tables share the covariance of plain values alone", ErrInput)
	}
	var some []int
	for i := range xs {
		if err := opt.check(xs[i], ys[i]); err != nil && len(ys[i]) > 0 {
			return nil, fmt.Errorf("table %d: %w", i, err)
		}
		if _, sd := moments(ys[i]); len(ys[i]) >= sharedValues && sd > 0 {
			some = append(some, i)
		}
	}
	if opt.Robust {
		return fitSharedRobust(ctx, xs, ys, opt)
	}
	some = affordable(some, ys)
	if len(some) < 2 {
		return nil, nil
	}
	var x, y []float64
	for _, i := range some {
		at, _ := opt.split(xs[i])
		x = append(x, fromMean(at, &opt)...)
		mean, sd := moments(ys[i])
		for _, v := range ys[i] {
			y = append(y, (v-mean)/sd)
		}
	}
	if opt.Drift > 0 {
		var err error
		if opt.slopes, err = slopesOf(ctx, xs, ys, some, opt); err != nil {
			return nil, err
		}
	}
	s := &Shared{opt: opt, frame: newFrame(x, y, &opt)}
	joint := &evidence{dim: s.frame.dim}
	all := &Model{opt: opt, frame: s.frame}
	var steps []float64
	for _, i := range some {
		m := s.table(xs[i], ys[i])
		e := m.evidence()
		joint.parts, steps, all.n = append(joint.parts, e), append(steps, e.prior.spacing), all.n+m.n
	}
	slices.Sort(steps)
	joint.prior.spacing = steps[len(steps)/2]
	families := all.families(ctx, joint)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.members = all.integrate(joint, families)
	return s, ctx.Err()
}

// fromMean are a table's coordinates less their means, so that distances between tables do not count for their unit. Points of the sphere
// stay where they are.
func fromMean(x []float64, opt *Options) []float64 {
	if opt.Sphere {
		return x
	}
	d := opt.Dim - opt.Drift
	means := (&frame{dim: d}).means(x)
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = min(max(v-means[i%d], -math.MaxFloat64), math.MaxFloat64)
	}
	return out
}

// affordable takes tables all over the list, as many as the work allows.
func affordable(some []int, ys [][]float64) []int {
	for n := min(len(some), sharedTables); n >= 2; n-- {
		var work float64
		out := make([]int, n)
		for k := range out {
			out[k] = some[k*(len(some)-1)/(n-1)]
			v := math.Min(float64(len(ys[out[k]])), 200)
			work += v * v * v
		}
		if work <= sharedWork || n == 2 {
			return out
		}
	}
	return nil
}

// table is a table that is normalised: coordinates in the unit of those of all tables, values by its own moments. Its origin is its own
// mean. A level and a trend are the same from any origin, but with a far one variances are small differences of large numbers.
func (s *Shared) table(x, y []float64) *Model {
	x, z := s.opt.split(x)
	f := *s.frame
	m := &Model{opt: s.opt, n: len(y), frame: &f}
	y = m.prepareDrift(y, z)
	f.centre = f.means(x)
	if f.y0, f.ys = moments(y); f.ys > 0 {
		m.take(x, y, z)
	}
	return m
}

// Fit fits a table with the shared parameters.
func (s *Shared) Fit(ctx context.Context, x, y []float64) (*Model, error) {
	if err := s.opt.check(x, y); err != nil {
		return nil, err
	}
	if s.opt.Robust {
		return fitSifted(ctx, x, y, s.opt, s.fit)
	}
	return s.fit(ctx, x, y, s.opt)
}

// fit fits a table as it is, with all the shared options or without the check.
func (s *Shared) fit(ctx context.Context, x, y []float64, opt Options) (*Model, error) {
	opt.Robust = false
	m := s.table(x, y)
	m.opt = opt
	if m.frame.ys == 0 {
		return m, nil
	}
	if slices.ContainsFunc(m.x, func(v float64) bool { return !(math.Abs(v) <= sharedReach) }) {
		return Fit(ctx, x, y, opt)
	}
	m.exact = m.isExact()
	members := make([]*member, len(s.members))
	for i, b := range s.members {
		members[i] = &member{spec: b.spec, theta: b.theta, weight: b.weight}
	}
	m.members = m.evidence().estimated(members)
	if len(m.members) == 0 { // no likelihood: the table is unlike the others
		return Fit(ctx, x, y, opt)
	}
	return m, m.prepare(ctx)
}

// judgedTables is how many tables are fitted alone, too, to find out whether sharing helps.
const judgedTables = 12

// Helps compares predictions of every value from the others, with shared parameters and with each table's own, over some of
// the tables. gain is the mean gain of log density, nats a value, spread its standard error over tables. What a table was
// fitted to alone judges itself a little too well, so that a loss within the error is none.
func (s *Shared) Helps(ctx context.Context, xs, ys [][]float64) (gain, spread float64, err error) {
	if len(xs) != len(ys) {
		return 0, 0, fmt.Errorf("%w: coordinates of %d tables, values of %d", ErrInput, len(xs), len(ys))
	}
	var gains, n []float64
	var values float64
	step := max(1, len(xs)/judgedTables)
	for i := 0; i < len(xs); i += step {
		if len(ys[i]) < sharedValues {
			continue
		}
		together, err := s.Fit(ctx, xs[i], ys[i])
		if err != nil {
			return 0, 0, err
		}
		opt := s.opt
		opt.slopes = nil
		alone, err := Fit(ctx, xs[i], ys[i], opt)
		if err != nil {
			return 0, 0, err
		}
		gains, n = append(gains, together.density()-alone.density()), append(n, float64(len(ys[i])))
		values += n[len(n)-1]
	}
	for i, g := range gains {
		gain += g * n[i] / values
	}
	for i, g := range gains {
		spread += (g - gain) * (g - gain) * n[i] * n[i] / values / values
	}
	return gain, math.Sqrt(spread), nil
}

// density is the mean log density of values given the others, in the table's units where a drift makes the unit of values.
func (m *Model) density() float64 {
	if m.opt.Drift == 0 && !m.opt.Robust {
		return m.report.LogDensity
	}
	return m.overall()
}

// fitSharedRobust is FitShared of tables without their outliers.
func fitSharedRobust(ctx context.Context, xs, ys [][]float64, opt Options) (*Shared, error) {
	xs, ys, err := siftAll(ctx, xs, ys, opt)
	if err != nil {
		return nil, err
	}
	opt.Robust = false
	s, err := FitShared(ctx, xs, ys, opt)
	if s != nil {
		s.opt.Robust = true
	}
	return s, err
}

// siftAll returns tables without their outliers, of which each is one by what all tables have in common.
func siftAll(ctx context.Context, xs, ys [][]float64, opt Options) (keptX, keptY [][]float64, err error) {
	opt.Robust, opt.NoCheck = false, true
	near := make([][]float64, len(ys))
	for i, y := range ys {
		if near[i] = y; len(y) > 0 {
			near[i] = clipped(y)
		}
	}
	s, err := FitShared(ctx, xs, near, opt)
	if s == nil || err != nil {
		return xs, ys, err
	}
	keptX, keptY = slices.Clone(xs), slices.Clone(ys)
	errs := make([]error, len(xs))
	parallel.For(len(xs), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			kept, _, err := sift(ctx, xs[i], ys[i], s.opt, s.fit)
			if errs[i] = err; err == nil {
				keptX[i], keptY[i] = takeRows(xs[i], opt.Dim, kept), takeRows(ys[i], 1, kept)
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, nil, err
		}
	}
	return keptX, keptY, nil
}

// slopesOf estimates them from some tables, each of which is fitted alone, by a random effect: coefficients of tables differ by more than
// the errors of each (Paule and Mandel, Consensus values and weighting factors, 1982). A column that varies in fewer than three is not
// known.
func slopesOf(ctx context.Context, xs, ys [][]float64, some []int, opt Options) (*slopes, error) {
	opt.NoCheck, opt.slopes = true, nil
	found, errs := make([][]Coefficient, len(some)), make([]error, len(some))
	parallel.For(len(some), 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			if m, err := Fit(ctx, xs[some[k]], ys[some[k]], opt); err != nil {
				errs[k] = err
			} else {
				found[k] = m.Report().Drift
			}
		}
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s := &slopes{make([]float64, opt.Drift), slices.Repeat([]float64{math.Inf(1)}, opt.Drift)}
	for c := range opt.Drift {
		var of []Coefficient
		for _, f := range found {
			if f != nil && f[c].Std > 0 {
				of = append(of, f[c])
			}
		}
		if len(of) >= 3 {
			s.mean[c], s.std[c] = randomEffect(of)
		}
	}
	return s, nil
}

// randomEffect returns mean and deviation of what is estimated with errors.
func randomEffect(of []Coefficient) (mean, std float64) {
	at := func(between float64) (mean, doubt, excess float64) {
		var total float64
		for _, c := range of {
			w := 1 / (c.Std*c.Std + between)
			total, mean = total+w, mean+w*c.Mean
		}
		mean /= total
		for _, c := range of {
			excess += (c.Mean - mean) * (c.Mean - mean) / (c.Std*c.Std + between)
		}
		return mean, 1 / total, excess - float64(len(of)-1)
	}
	lo, hi := 0.0, 0.0
	for _, c := range of {
		hi = max(hi, 4*(c.Mean-of[0].Mean)*(c.Mean-of[0].Mean))
	}
	if _, _, excess := at(lo); excess > 0 {
		for range 60 {
			middle := (lo + hi) / 2
			if _, _, excess := at(middle); excess > 0 {
				lo = middle
			} else {
				hi = middle
			}
		}
	}
	mean, doubt, _ := at(lo)
	return mean, math.Sqrt(lo + doubt)
}
