package krige

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Values says what kind of numbers the values are.
type Values int

const (
	// Plain values may be any numbers, and their predictions are normal.
	Plain Values = iota
	// Logarithmic values are positive, and their logarithms are normal.
	Logarithmic
	// Positive values are amounts, which are never negative. Fit takes them as they are, or their square roots or
	// logarithms: whichever makes values most likely given the others.
	Positive
)

// bend takes values to a scale on which they are closer to normal, and back.
type bend int

const (
	straight bend = iota
	root
	logarithm
)

func (b bend) String() string { return [...]string{"", "square root", "logarithm"}[b] }

// to returns the bent values and the mean logarithm of the slope there; ok is false where they have none.
func (b bend) to(y []float64) (out []float64, slope float64, ok bool) {
	out = slices.Clone(y)
	for i, v := range y {
		switch b {
		case root:
			if v < 0 {
				return nil, 0, false
			}
			// Values of zero have an infinite slope: what counts is that of a small one.
			out[i] = math.Sqrt(v)
			slope -= math.Log(2 * math.Max(out[i], 1e-9))
		case logarithm:
			if !(v > 0) {
				return nil, 0, false
			}
			out[i] = math.Log(v)
			slope -= out[i]
		}
	}
	return out, slope / float64(len(y)), true
}

// from takes a number back.
func (b bend) from(v float64) float64 {
	switch b {
	case root:
		return max(v, 0) * max(v, 0)
	case logarithm:
		return math.Exp(v)
	}
	return v
}

// moments takes mean and standard deviation of a normal distribution to those of its values taken back.
func (b bend) moments(mean, std float64) (m, s float64) {
	v := std * std
	switch b {
	case root:
		return mean*mean + v, math.Sqrt(4*mean*mean*v + 2*v*v)
	case logarithm:
		m = math.Exp(mean + v/2)
		return m, m * math.Sqrt(math.Expm1(v))
	}
	return mean, std
}

// Prediction is a prediction of new values at targets, noise included.
type Prediction struct {
	Mean, Std []float64

	mean, std []float64 // of the normal distribution of bent values
	bend      bend
	positive  bool
}

// Quantile returns the quantile q, from 0 to 1, at each target.
func (p *Prediction) Quantile(q float64) []float64 {
	z := math.Sqrt2 * math.Erfinv(2*q-1)
	out := make([]float64, len(p.mean))
	for i := range out {
		if out[i] = p.bend.from(p.mean[i] + z*p.std[i]); p.positive {
			out[i] = max(out[i], 0)
		}
	}
	return out
}

// LogDensity returns the mean log density of values at the targets, and how many there are; NaN is a value that is not known.
func (p *Prediction) LogDensity(y []float64) (mean float64, n int) {
	for i, v := range y {
		if math.IsNaN(v) {
			continue
		}
		n++
		bent, slope, ok := p.bend.to([]float64{v})
		if !ok {
			mean = math.Inf(-1)
			continue
		}
		mean += logNormal(bent[0], p.mean[i], p.std[i]*p.std[i]) + slope
	}
	return mean / float64(max(1, n)), n
}

// Fit fits a table: x [n, Dim] and y [n]. The context stops it early.
func Fit(ctx context.Context, x, y []float64, opt Options) (*Model, error) {
	if err := opt.check(x, y); err != nil {
		return nil, err
	}
	bends := []bend{straight}
	switch opt.Values {
	case Logarithmic:
		bends = []bend{logarithm}
	case Positive:
		if lo := slices.Min(y); lo < 0 {
			return nil, fmt.Errorf("%w: y: a value of %g: amounts are never negative", ErrInput, lo)
		}
		bends = []bend{straight, root, logarithm}
	}
	var best *Model
	likeliest := math.Inf(-1)
	for _, b := range bends {
		bent, slope, ok := b.to(y)
		if !ok {
			if len(bends) == 1 {
				return nil, fmt.Errorf("%w: y: a value of %g has no logarithm", ErrInput, slices.Min(y))
			}
			continue
		}
		m, err := fitPlain(ctx, x, bent, opt)
		if err != nil {
			return nil, err
		}
		m.bend = b
		if m.frame.ys == 0 {
			return m, nil
		}
		// Of the values themselves, not of bent ones over their deviation.
		if l := m.report.LogDensity - math.Log(m.frame.ys) + slope; best == nil || l > likeliest {
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
	p := &Prediction{mean: mean, std: std, bend: m.bend, positive: m.opt.Values == Positive, Mean: slices.Clone(mean),
		Std: slices.Clone(std)}
	for i := range p.Mean {
		if p.Mean[i], p.Std[i] = m.bend.moments(mean[i], std[i]); p.positive {
			p.Mean[i] = max(0, p.Mean[i])
		}
	}
	return p, nil
}

// Predict returns mean and standard deviation of a new value at each target [nt, Dim], noise included.
func (m *Model) Predict(ctx context.Context, targets []float64) (mean, std []float64, err error) {
	p, err := m.At(ctx, targets)
	if err != nil {
		return nil, nil, err
	}
	return p.Mean, p.Std, nil
}
