package krige

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// fitPlain fits a table whose values are taken as they are.
func fitPlain(ctx context.Context, x, y []float64, opt Options) (*Model, error) {
	x, z := opt.split(x)
	m := &Model{opt: opt, n: len(y)}
	y = m.prepareDrift(y, z)
	m.frame = newFrame(x, y, &opt)
	if m.frame.ys == 0 { // one value, or equal ones: they have no unit, so that their own magnitude has to do
		return m, nil
	}
	m.take(x, y, z)
	if err := m.fit(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

// predict sets mean and variance at normalised targets.
func (m *Model) predict(ctx context.Context, t places, mean, variance []float64) error {
	err := m.processes(ctx, t, mean, variance, m.outside)
	if err == nil {
		m.mix.apply(t.x, mean, variance)
	}
	return err
}

// processes sets mean and variance of the mixture of Gaussian processes alone, by the weights that members have at places which lie so much
// outside a series.
func (m *Model) processes(ctx context.Context, t places, mean, variance []float64, outside func(at float64) float64) error {
	if m.exact {
		return m.predictExact(ctx, t, mean, variance, outside)
	}
	return m.local.predict(ctx, t, mean, variance)
}

// Fit fits a table: x [n, Dim] and y [n]. The context stops it early.
func Fit(ctx context.Context, x, y []float64, opt Options) (*Model, error) {
	if err := opt.check(x, y); err != nil {
		return nil, err
	}
	if err := opt.Values.check(y); err != nil {
		return nil, err
	}
	var best *Model
	likeliest, zero := math.Inf(-1), zeroRoot(y)
	for _, b := range opt.Values.bends() {
		bent, slope, ok := b.to(y, zero)
		if !ok {
			continue
		}
		fit := fitPlain
		if opt.Robust {
			fit = fitRobust
		}
		m, err := fit(ctx, x, bent, opt)
		if err != nil {
			return nil, err
		}
		m.bend, m.zero = b, zero
		if m.frame.ys == 0 {
			return m, nil
		}
		// Of the values themselves, not of bent ones over their deviation.
		out := m.report.Outliers
		_, sd := moments(takeRows(bent, 1, others(out, len(bent))))
		l := m.withOutliers(m.report.LogDensity-math.Log(sd)) + slope
		if len(out) > 0 {
			_, slope, _ = b.to(takeRows(y, 1, others(out, len(y))), zero)
		}
		m.scaled = math.Log(sd) - slope
		if best == nil || l > likeliest {
			best, likeliest = m, l
		}
	}
	best.report.Bend = best.bend.String()
	return best, nil
}

// At returns the prediction at each target [nt, Dim].
func (m *Model) At(ctx context.Context, targets []float64) (*Prediction, error) {
	mean, std, err := m.normal(ctx, targets)
	if err != nil {
		return nil, err
	}
	return m.prediction(mean, std)
}

// prediction is that of normal distributions of bent values.
func (m *Model) prediction(mean, std []float64) (*Prediction, error) {
	p := &Prediction{mean: mean, std: std, bend: m.bend, positive: m.opt.Values == Positive, zero: m.zero,
		largest: m.largest(), Mean: slices.Clone(mean), Std: slices.Clone(std)}
	for i := range p.Mean {
		if p.Mean[i], p.Std[i] = m.bend.moments(mean[i], std[i], p.largest); p.positive {
			p.Mean[i] = max(0, p.Mean[i])
		}
	}
	if err := checkRange(p.Mean, p.Std); err != nil { // the exponential of a logarithm may be
		return nil, err
	}
	return p, nil
}

// Predict returns mean and standard deviation of a new value at each target [nt, Dim], noise included; see Prediction.
func (m *Model) Predict(ctx context.Context, targets []float64) (mean, std []float64, err error) {
	p, err := m.At(ctx, targets)
	if err != nil {
		return nil, nil, err
	}
	return p.Mean, p.Std, nil
}

// largest is the largest bent value.
func (m *Model) largest() float64 {
	if len(m.y) == 0 { // equal ones
		return m.frame.y0
	}
	return m.frame.y0 + m.frame.ys*slices.Max(m.y)
}

// magnitude is that of the values; logarithms are of the order of 1 at least, whatever the unit of the values.
func (m *Model) magnitude() float64 {
	v := math.Abs(m.frame.y0)
	if m.bend == logarithm {
		v = max(v, 1)
	}
	return v
}

// normal returns mean and standard deviation of the normal distributions of bent values.
func (m *Model) normal(ctx context.Context, targets []float64) (mean, std []float64, err error) {
	nt, err := m.checkTargets(targets)
	if err != nil {
		return nil, nil, err
	}
	mean, std = make([]float64, nt), make([]float64, nt)
	if m.frame.ys == 0 {
		m.equal(mean, std)
		m.addSlopes(mean, targets)
		return mean, std, checkRange(mean, std)
	}
	t, err := m.places(targets)
	if err != nil {
		return nil, nil, err
	}
	if err := m.predict(ctx, t, mean, std); err != nil {
		return nil, nil, err
	}
	least := 0.0
	if !m.opt.NoCheck && !m.opt.MaximumLikelihood {
		least = fewDeviation(m.n, m.frame.ys, m.magnitude())
	}
	for i := range mean {
		mean[i], std[i] = m.frame.y0+m.frame.ys*mean[i], max(least, m.frame.ys*math.Sqrt(std[i]))
	}
	m.addSlopes(mean, targets)
	return mean, std, checkRange(mean, std)
}

// checkTargets refuses numbers that are no targets, and returns how many they are.
func (m *Model) checkTargets(targets []float64) (n int, err error) {
	d := m.opt.Dim
	if d == 0 {
		return 0, fmt.Errorf("%w: the model is empty: Fit makes one", ErrInput)
	}
	if len(targets)%d != 0 {
		return 0, fmt.Errorf("%w: %d numbers are no targets of %d coordinates", ErrInput, len(targets), d)
	}
	if err := errors.Join(checkFinite("targets", targets, d), m.opt.checkSphere("targets", targets)); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return len(targets) / d, nil
}

// equal predicts from a table of equal values.
func (m *Model) equal(mean, std []float64) {
	for i := range mean {
		mean[i], std[i] = m.frame.y0, equalDeviation(m.n, max(1, math.Abs(m.frame.y0)))
	}
}

// places normalises targets.
func (m *Model) places(targets []float64) (t places, err error) {
	x, z := m.opt.split(targets)
	if t.x, err = m.frame.places("targets", x); err != nil || z == nil {
		return t, err
	}
	t.z = m.columns.normalised(z)
	for i, v := range t.z {
		if d := m.opt.Drift; !(math.Abs(v) <= farthest) {
			return t, fmt.Errorf("%w: targets: row %d, column %d is %g: that is more than %g deviations of the table's column from its "+
				"mean", ErrInput, i/d, m.opt.Dim-d+i%d, z[i], farthest)
		}
	}
	return t, nil
}

// checkRange refuses predictions that are no numbers: of values near the largest ones, or far away from them.
func checkRange(mean, std []float64) error {
	for i, v := range mean {
		if math.IsNaN(v-v) || math.IsNaN(std[i]-std[i]) {
			return fmt.Errorf("%w: targets: row %d: the prediction %v ± %v is beyond float64", ErrInput, i, v, std[i])
		}
	}
	return nil
}
