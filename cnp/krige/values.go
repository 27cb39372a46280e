package krige

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/likelihood"
)

const (
	// Plain values may be any numbers, and their predictions are normal.
	Plain Values = iota
	// Logarithmic values are positive, and their logarithms are normal.
	Logarithmic
	// Positive values are amounts, which are never negative. Fit takes them as they are, or their square roots or
	// logarithms: whichever makes values most likely given the others.
	Positive
)

// PopulationArchitecture is that of PopulationRegressor's configuration. Model files have it, whose Config.Own holds the populations.
const PopulationArchitecture cnp.Architecture = "population"

// bends are the scales on which values of a kind may be normal.
func (v Values) bends() []bend {
	switch v {
	case Logarithmic:
		return []bend{logarithm}
	case Positive:
		return []bend{straight, root, logarithm}
	}
	return []bend{straight}
}

// check refuses values that are not of this kind.
func (v Values) check(y []float64) error {
	for i, a := range y {
		switch {
		case v == Logarithmic && !(a > 0):
			return fmt.Errorf("%w: y: row %d: a value of %g has no logarithm", ErrInput, i, a)
		case v == Positive && !(a >= 0):
			return fmt.Errorf("%w: y: row %d: a value of %g: amounts are never negative", ErrInput, i, a)
		}
	}
	return nil
}

// bend takes values to a scale on which they are closer to normal, and back.
type bend int

const (
	straight bend = iota
	root
	logarithm
)

func (b bend) String() string { return [...]string{"", "square root", "logarithm"}[b] }

// zeroRoot is the square root whose slope values of 0 have, as that at 0 is infinite. Amounts are recorded to a step, the smallest positive
// one, and a 0 is an amount below half of it: the mean density over these is that of slope 1/sqrt(step/2).
func zeroRoot(y []float64) float64 {
	step := math.Inf(1)
	for _, v := range y {
		if v > 0 {
			step = min(step, v)
		}
	}
	if math.IsInf(step, 1) {
		return likelihood.ZeroRoot
	}
	return math.Sqrt(step) / math.Sqrt(8)
}

// to returns the bent values and the mean logarithm of the slope there, that of zero at 0; ok is false where they have none.
func (b bend) to(y []float64, zero float64) (out []float64, slope float64, ok bool) {
	out = slices.Clone(y)
	for i, v := range y {
		switch b {
		case root:
			if v < 0 {
				return nil, 0, false
			}
			if out[i] = math.Sqrt(v); v == 0 {
				slope -= math.Log(2 * zero)
			} else {
				slope -= math.Log(2 * out[i])
			}
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

// moments takes mean and standard deviation of a normal distribution to those of its values taken back, of which the largest known, on
// the scale, limits what a value counts for: see likelihood.Bent.
func (b bend) moments(mean, std, largest float64) (m, s float64) {
	scale := [...]likelihood.Bend{likelihood.Straight, likelihood.Root, likelihood.Logarithm}[b]
	return likelihood.Bent{}.Moments([]float64{mean, std, float64(scale), likelihood.ZeroRoot, largest})
}

// Prediction is a prediction of new values at targets, noise included.
//
// Where values are amounts and their logarithms are normal, a value counts in Mean and Std for at most twice the largest value known, or
// twice the median where that is larger. The tail beyond, of which a table says nothing, would otherwise decide both of them alone.
// Quantile and LogDensity are those of the whole distribution.
type Prediction struct {
	Mean, Std []float64

	mean, std []float64 // of the normal distribution of bent values
	bend      bend
	positive  bool
	zero      float64 // zeroRoot of the table
	largest   float64 // value of the table, bent
}

// family returns the bend of package likelihood.
func (p *Prediction) family() likelihood.Bend {
	switch {
	case p.bend == root:
		return likelihood.Root
	case p.bend == logarithm:
		return likelihood.Logarithm
	case p.positive:
		return likelihood.Amount
	}
	return likelihood.Straight
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

// LogDensity returns the mean log density of values at the targets, and how many there are; NaN is a value that is not known. Where square
// roots are normal, a value of 0 is any amount below half the smallest positive one of the table. It panics if there are not as many values
// as targets.
func (p *Prediction) LogDensity(y []float64) (mean float64, n int) {
	if len(y) != len(p.mean) {
		panic(fmt.Sprintf("krige: LogDensity: len(y) = %d, need %d", len(y), len(p.mean)))
	}
	for i, v := range y {
		if math.IsNaN(v) {
			continue
		}
		n++
		bent, slope, ok := p.bend.to([]float64{v}, p.zero)
		if !ok {
			mean = math.Inf(-1)
			continue
		}
		std := p.std[i] // whose square may be beyond float64 where it is not
		mean += logNormal((bent[0]-p.mean[i])/std, 0, 1) - math.Log(std) + slope
	}
	return mean / float64(max(1, n)), n
}

// logNormal is the log density of a normal distribution.
func logNormal(y, mean, variance float64) float64 {
	d := y - mean
	return -0.5*(d*d/variance+math.Log(variance)) - 0.5*math.Log(2*math.Pi)
}

// rounding is the variance of the rounding error of values that are multiples of a step, over their own variance: 0 where
// they are not, at most 1/12.
func rounding(y []float64) float64 {
	sorted := slices.Clone(y)
	slices.Sort(sorted)
	step := math.Inf(1)
	for i, v := range sorted[1:] {
		if d := v - sorted[i]; d > 4./grid {
			step = min(step, d)
		}
	}
	if math.IsInf(step, 1) {
		return 0
	}
	ties := 0
	for i, v := range sorted[1:] {
		if d := v - sorted[i]; d < step/2 {
			ties++
		} else if f := d / step; math.Abs(f-math.Round(f)) > 8./grid/step*(1+f) {
			return 0
		}
	}
	if ties < len(y)/10 || len(y) < 8 {
		return 0
	}
	_, sd := moments(y)
	return min(1, step*step/(sd*sd)) / 12
}
