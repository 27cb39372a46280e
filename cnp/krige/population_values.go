package krige

import (
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
)

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
	switch {
	case len(y) == 0:
	case v == Logarithmic && !(slices.Min(y) > 0):
		return fmt.Errorf("%w: y: a value of %g has no logarithm", ErrInput, slices.Min(y))
	case v == Positive && !(slices.Min(y) >= 0):
		return fmt.Errorf("%w: y: a value of %g: amounts are never negative", ErrInput, slices.Min(y))
	}
	return nil
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
	out, mean, ok := p.bend.to(y)
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

// family returns the scale as package likelihood has it.
func (p *Population) family() likelihood.Bend {
	return (&Prediction{bend: p.bend, positive: p.amounts}).family()
}

// bentWaves is the family of values that are a mixture of normals on a scale.
var bentWaves = func() likelihood.Family {
	f, err := likelihood.Parse(fmt.Sprintf("%s:%d", likelihood.BentName, waveNormals),
		likelihood.Options{Architecture: string(PopulationArchitecture)})
	if err != nil {
		panic(err)
	}
	return f
}()

// unbend takes means and deviations of Gaussian processes on the population's scale, and what waves say unless v is nil, to those of
// values.
func (p *Population) unbend(v *waveView, t, mean, std []float64) {
	d := p.frame.dim
	for i := range mean {
		if v != nil {
			params := v.normals(t[i*d:(i+1)*d], p.frame, mean[i], std[i])
			mean[i], std[i] = bentWaves.Moments(append(params, float64(p.family())))
			continue
		}
		if mean[i], std[i] = p.bend.moments(mean[i], std[i]); p.amounts {
			mean[i] = max(0, mean[i])
		}
	}
}

// density is the logarithm of the density of a value given the mean and the deviation on the population's scale and, if v is not nil, the
// wave at place t.
func (p *Population) density(v *waveView, t []float64, y, mean, std float64) (float64, error) {
	bent, slope, ok := p.bent([]float64{y})
	if !ok {
		return math.Inf(-1), nil
	}
	out := logNormal(bent[0], mean, std*std)
	if v != nil {
		_, _, normal, err := p.normalise(nil, nil, []float64{y})
		if err != nil {
			return 0, err
		}
		wave := v.logDensity(t, normal[0]) - math.Log(p.frame.ys)
		out = logAdd(math.Log1p(-v.share)+out, math.Log(v.share)+wave)
	}
	return out + slope, nil
}
