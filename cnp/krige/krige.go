package krige

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// MaxDim is the largest number of coordinates.
const MaxDim = 8

// ErrInput is wrapped by every error about a table or its targets.
var ErrInput = errors.New("krige: input")

// Options say how a table is read and fitted. The zero value, with Dim set, is the default.
type Options struct {
	Dim            int       // number of coordinates, from 1 to MaxDim
	Sphere         bool      // coordinates are latitude and longitude in degrees; Dim is 2
	DifferentUnits bool      // axes have units of their own, as degrees beside metres
	Periods        []float64 // one coordinate: periods of seasons, in its unit, to be tried besides those that are found
	NoCheck        bool      // leave standard deviations as the model has them, see Report
	Values         Values    // what kind of numbers the values are
}

// Model is a fitted table. It is immutable, and any number of goroutines may use it.
type Model struct {
	opt     Options
	bend    bend
	frame   *frame
	n       int
	x, y    []float64 // normalised, in canonical order
	order   []int     // rows of the caller's table
	members []*member
	exact   bool
	local   *local
	mix     *mixture
	report  Report
}

// fitPlain fits a table whose values are taken as they are.
func fitPlain(ctx context.Context, x, y []float64, opt Options) (*Model, error) {
	m := &Model{opt: opt, n: len(y), frame: newFrame(x, y, &opt)}
	if m.frame.ys == 0 { // one value, or equal ones: they have no unit, so that their own magnitude has to do
		return m, nil
	}
	m.x, m.y, m.order = m.frame.table(x, y)
	if err := m.fit(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

func (o *Options) check(x, y []float64) error {
	d := o.Dim
	switch {
	case d < 1 || d > MaxDim:
		return fmt.Errorf("%w: %d coordinates: need 1 to %d", ErrInput, d, MaxDim)
	case o.Sphere && d != 2:
		return fmt.Errorf("%w: %d coordinates: points of the sphere have 2, latitude and longitude", ErrInput, d)
	case len(x) != len(y)*d:
		return fmt.Errorf("%w: %d coordinates for %d values of %d each", ErrInput, len(x), len(y), d)
	case len(y) == 0:
		return fmt.Errorf("%w: no values: without any nothing is known, not even their scale", ErrInput)
	}
	if err := errors.Join(checkFinite("x", x, d), checkFinite("y", y, 1), o.checkSphere(x)); err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	for _, p := range o.Periods {
		if d != 1 || !(p > 0) || math.IsInf(p, 0) {
			return fmt.Errorf("%w: period %g: need a positive number, and one coordinate", ErrInput, p)
		}
	}
	return nil
}

func (o *Options) checkSphere(x []float64) error {
	for i := 0; o.Sphere && i+1 < len(x); i += 2 {
		if !(math.Abs(x[i]) <= 90) {
			return fmt.Errorf("x: row %d: latitude %g: need -90 to 90 degrees", i/2, x[i])
		}
	}
	return nil
}

// normal returns mean and standard deviation of the normal distributions of bent values.
func (m *Model) normal(ctx context.Context, targets []float64) (mean, std []float64, err error) {
	d := m.opt.Dim
	if len(targets)%d != 0 {
		return nil, nil, fmt.Errorf("%w: %d numbers are no targets of %d coordinates", ErrInput, len(targets), d)
	}
	if err := errors.Join(checkFinite("targets", targets, d), m.opt.checkSphere(targets)); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	nt := len(targets) / d
	mean, std = make([]float64, nt), make([]float64, nt)
	if m.frame.ys == 0 {
		for i := range mean {
			mean[i], std[i] = m.frame.y0, max(1, math.Abs(m.frame.y0))/float64(m.n)
		}
		return mean, std, nil
	}
	if err := m.predict(ctx, m.frame.coordinates(targets), mean, std); err != nil {
		return nil, nil, err
	}
	for i := range mean {
		mean[i], std[i] = m.frame.y0+m.frame.ys*mean[i], m.frame.ys*math.Sqrt(std[i])
	}
	return mean, std, nil
}

// predict sets mean and variance at normalised targets.
func (m *Model) predict(ctx context.Context, t, mean, variance []float64) error {
	var err error
	if m.exact {
		err = m.predictExact(ctx, t, mean, variance)
	} else {
		err = m.local.predict(ctx, t, mean, variance)
	}
	if err == nil {
		m.mix.apply(t, mean, variance)
	}
	return err
}

// Report returns what the fit found out about itself.
func (m *Model) Report() Report { return m.report }
