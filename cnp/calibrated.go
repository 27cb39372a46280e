package cnp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/layers"
)

// Calibrated returns a model with the parameters and the means of m. Around each mean it predicts a mixture of normals
// instead of one; their deviations are the model's times factors. A single factor makes the normal wider or narrower. With
// several mixtures, the predicted deviation selects one, or interpolates between the nearest two. An earlier calibration
// of m is replaced. It is for models of the normal likelihood, and for all but CNPs, whose
// least deviation is part of their function.
func Calibrated[T Float](m Model[T], mixtures ...Mixture) (Model[T], error) {
	return instance[func(Model[T], ...Mixture) (Model[T], error)](&calibratedInstances)(m, mixtures...)
}

var calibratedInstances = instances{calibrated[float32], calibrated[float64]}

func calibrated[T Float](m Model[T], mixtures ...Mixture) (Model[T], error) {
	if m == nil {
		return nil, errNoModel
	}
	c := m.Config()
	before, err := ParseLikelihood(&c)
	if err != nil {
		return nil, err
	}
	_, plain := likelihood.NormalSpread(before)
	if !plain && !likelihood.Scaled(before) {
		return nil, fmt.Errorf("%w: likelihood %s: only normal deviations are calibrated", ErrConfig, before.Name())
	}
	if c.Architecture == CNPCurve || c.Architecture == CNPImage {
		return nil, fmt.Errorf("%w: the deviations of a %s are not calibrated", ErrConfig, c.Architecture)
	}
	if len(mixtures) > 1 && c.HasUnits() {
		return nil, fmt.Errorf("%w: a model with units of its own takes one mixture", ErrConfig)
	}
	var nodes []string
	for _, mix := range mixtures {
		var parts []string
		if len(mix.Share) != len(mix.Factor) {
			return nil, fmt.Errorf("%w: calibrated by %d shares and %d factors", ErrConfig, len(mix.Share), len(mix.Factor))
		}
		for k, p := range mix.Share {
			parts = append(parts, fmt.Sprintf("%.6g*%.6g", p, mix.Factor[k]))
		}
		node := strings.Join(parts, ",")
		if len(mixtures) > 1 {
			node = fmt.Sprintf("%.6g@%s", mix.At, node)
		}
		nodes = append(nodes, node)
	}
	c.Likelihood = likelihood.ScalesName + ":" + strings.Join(nodes, ";")
	out, err := remade(m, c)
	if err != nil {
		return nil, err
	}
	copyByName(out, m)
	if plain {
		err = interleave(out, m, c.DimY)
	}
	return out, err
}

// interleave sets the last linear map of a model, which makes the numbers of one value after the other, to that of a normal model, which
// makes all means first.
func interleave[T Float](to, from Model[T], dy int) error {
	rows := func(to, mean, spread *layers.Linear[T], at int) {
		in := to.In
		for d := range dy {
			copy(to.Weight[2*d*in:], mean.Weight[d*in:(d+1)*in])
			copy(to.Weight[(2*d+1)*in:], spread.Weight[(at+d)*in:(at+d+1)*in])
			to.Bias[2*d], to.Bias[2*d+1] = mean.Bias[d], spread.Bias[at+d]
		}
	}
	switch to := to.(type) {
	case *EquivCNP[T]:
		own := from.(*EquivCNP[T]).head.maps.(*pairMaps[T])
		rows(to.head.raw(), own.mean, own.spread, 0)
	case *ConvCNP[T]:
		own := from.(*ConvCNP[T]).head.maps.(*pairMaps[T])
		rows(to.head.raw(), own.mean, own.spread, 0)
	case *ImageEquivCNP[T]:
		own := from.(*ImageEquivCNP[T]).last
		rows(to.last, own, own, dy)
	case *ImageConvCNP[T]:
		own := from.(*ImageConvCNP[T]).last
		rows(to.last, own, own, dy)
	default:
		return errors.New("cnp: Calibrated: a model of another package")
	}
	return nil
}

// KeepObserved returns a model with the parameters of m that keeps observed pixels (Config.KeepObserved) if keep is true,
// and predicts them like all others if it is false.
func KeepObserved[T Float](m Model[T], keep bool) (Model[T], error) {
	return instance[func(Model[T], bool) (Model[T], error)](&keepObservedInstances)(m, keep)
}

var keepObservedInstances = instances{keepObserved[float32], keepObserved[float64]}

func keepObserved[T Float](m Model[T], keep bool) (Model[T], error) {
	if m == nil {
		return nil, errNoModel
	}
	c := m.Config()
	c.KeepObserved = keep
	out, err := remade(m, c)
	if err != nil {
		return nil, err
	}
	copyByName(out, m)
	return out, nil
}

// remade returns a new model of m's group.
func remade[T Float](m Model[T], c Config) (Model[T], error) {
	if g := groupOf(m); g != nil {
		return newWithGroup[T](c, g, 0)
	}
	return newModel[T](c, 0)
}

// copyByName gives a model the parameters of another that have the same names.
func copyByName[T Float](to, from Model[T]) {
	known := map[string][]T{}
	for _, p := range from.State() {
		known[p.Name] = p.Data
	}
	for _, p := range to.State() {
		if data, ok := known[p.Name]; ok {
			copy(p.Data, data)
		}
	}
}

// Deviations returns the deviations that Calibrated's factors multiply: those that the model predicts, without the factors
// of an earlier calibration.
func (p *Prediction[T]) Deviations() []T {
	if !likelihood.Scaled(p.Likelihood) {
		return p.Std
	}
	out := make([]T, len(p.Mean))
	for i := range out {
		out[i] = p.Params[2*i+1]
	}
	return out
}
