package krige

import (
	"context"
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

// fitRobust fits the rows of a table on its own that are no outliers.
func fitRobust(ctx context.Context, x, y []float64, opt Options) (*Model, error) {
	return fitSifted(ctx, x, y, opt, fitPlain)
}
