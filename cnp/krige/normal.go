package krige

import (
	"context"
	"errors"
	"fmt"
	"math"
)

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
