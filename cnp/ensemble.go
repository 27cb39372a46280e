package cnp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/chain"
	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/layers"
)

// An ensemble is several models, trained from different seeds for example, that predict as one: each value has the mixture of
// their distributions, with equal weights. Its mean is the mean of theirs, and its variance holds how much they disagree.

// CurveEnsemble predicts curves by several models.
type CurveEnsemble[T Float] struct{ members []Regressor[T] }

// ImageEnsemble completes images by several models.
type ImageEnsemble[T Float] struct{ members []Completer[T] }

// Ensemble makes one model of several, a CurveEnsemble or an ImageEnsemble. They must have the same inputs and outputs.
// A single model stays as it is.
func Ensemble[T Float](models ...Model[T]) (Model[T], error) {
	return instance[func(...Model[T]) (Model[T], error)](&ensembleInstances)(models...)
}

var ensembleInstances = instances{ensemble[float32], ensemble[float64]}

func ensemble[T Float](models ...Model[T]) (Model[T], error) {
	if len(models) == 0 {
		return nil, fmt.Errorf("%w: an ensemble of no models", ErrConfig)
	}
	for i, m := range models {
		if m == nil {
			return nil, fmt.Errorf("%w: model %d of the ensemble is nil", ErrConfig, i)
		}
	}
	if len(models) == 1 {
		return models[0], nil
	}
	first := models[0].Config()
	curves, images := &CurveEnsemble[T]{}, &ImageEnsemble[T]{}
	for i, m := range models {
		c := m.Config()
		if c.Architecture.Image() != first.Architecture.Image() || c.DimX != first.DimX || c.DimY != first.DimY ||
			!slices.Equal(c.Auxiliary, first.Auxiliary) ||
			!slices.Equal(c.Static, first.Static) {
			return nil, fmt.Errorf("%w: model %d of the ensemble (%s, %d coordinates, %d outputs) does not fit the "+
				"first one (%s, %d, %d)", ErrConfig,
				i, c.Architecture, c.DimX, c.DimY, first.Architecture, first.DimX, first.DimY)
		}
		if r, ok := m.(Regressor[T]); ok {
			curves.members = append(curves.members, r)
		}
		if r, ok := m.(Completer[T]); ok {
			images.members = append(images.members, r)
		}
	}
	switch len(models) {
	case len(curves.members):
		return curves, nil
	case len(images.members):
		return images, nil
	}
	return nil, fmt.Errorf("%w: an ensemble needs models that all regress curves, or all complete images", ErrConfig)
}

// Config returns that of the first model.
func (e *CurveEnsemble[T]) Config() Config { return e.members[0].Config() }

// Config returns that of the first model.
func (e *ImageEnsemble[T]) Config() Config { return e.members[0].Config() }

// State lists the parameters of all models.
func (e *CurveEnsemble[T]) State() []layers.Param[T] { return statesOf(e.members) }

// State lists the parameters of all models.
func (e *ImageEnsemble[T]) State() []layers.Param[T] { return statesOf(e.members) }

// Members returns the models.
func (e *CurveEnsemble[T]) Members() []Regressor[T] { return slices.Clone(e.members) }

// Members returns the models.
func (e *ImageEnsemble[T]) Members() []Completer[T] { return slices.Clone(e.members) }

// Members returns the models of an ensemble, and of every other model that model.
func Members[T Float](m Model[T]) (all []Model[T]) {
	return instance[func(Model[T]) []Model[T]](&membersInstances)(m)
}

var membersInstances = instances{members[float32], members[float64]}

func members[T Float](m Model[T]) (all []Model[T]) {
	switch m := m.(type) {
	case *CurveEnsemble[T]:
		for _, one := range m.members {
			all = append(all, one)
		}
		return all
	case *ImageEnsemble[T]:
		for _, one := range m.members {
			all = append(all, one)
		}
		return all
	}
	return []Model[T]{m}
}

func statesOf[T Float, M Model[T]](members []M) (all []layers.Param[T]) {
	for i, m := range members {
		for _, p := range m.State() {
			p.Name = fmt.Sprintf("member%d.%s", i, p.Name)
			all = append(all, p)
		}
	}
	return all
}

// Predict implements Regressor. A point out of one member's reach is out of the ensemble's.
func (e *CurveEnsemble[T]) Predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	return mixed(ctx, len(e.members), func(ctx context.Context, i int) (*Prediction[T], error) { return e.members[i].Predict(ctx, b) })
}

// Plan makes plans of all members, which share the memory of the options.
func (e *CurveEnsemble[T]) Plan(ctx context.Context, s Shape, opt PlanOptions) (Plan[T], error) {
	return planMembers[T](ctx, e.members, s, opt)
}

// Plan makes plans of all members, which share the memory of the options.
func (e *ImageEnsemble[T]) Plan(ctx context.Context, s Shape, opt PlanOptions) (Plan[T], error) {
	return planMembers[T](ctx, e.members, s, opt)
}

// Complete implements Completer.
func (e *ImageEnsemble[T]) Complete(ctx context.Context, im *Images[T]) (*Prediction[T], error) {
	return mixed(ctx, len(e.members), func(ctx context.Context, i int) (*Prediction[T], error) { return e.members[i].Complete(ctx, im) })
}

// mixed returns the mixture of so many predictions. A point out of one's reach is out of the mixture's.
func mixed[T Float](ctx context.Context, n int, predict func(ctx context.Context, i int) (*Prediction[T], error)) (*Prediction[T], error) {
	report := progress(ctx)
	var all []*Prediction[T]
	var outside *OutsideError
	for i := range n {
		p, err := predict(WithProgress(ctx, func(done, total int) { report(i*total+done, n*total) }), i)
		var own *OutsideError
		switch {
		case p != nil && errors.As(err, &own):
			if outside == nil {
				outside = &OutsideError{Where: own.Where}
			}
			outside.join(own)
		case err != nil:
			return nil, err
		}
		all = append(all, p)
	}
	if outside != nil {
		return mix(all...), outside
	}
	return mix(all...), nil
}

// Mix returns the mixture, with equal weights, of predictions of the same values. Values that a prediction knows jointly are
// taken each on its own. It panics if the numbers of values differ, or if there is no prediction.
func Mix[T Float](all ...*Prediction[T]) *Prediction[T] {
	return instance[func(...*Prediction[T]) *Prediction[T]](&mixInstances)(all...)
}

var mixInstances = instances{mix[float32], mix[float64]}

func mix[T Float](all ...*Prediction[T]) *Prediction[T] {
	var members []Likelihood
	n, outputs := len(all[0].Mean), 0
	each := make([]*Prediction[T], len(all))
	for i, p := range all {
		if each[i] = p.Marginals(); len(p.Mean) != n {
			panic(fmt.Sprintf("cnp: Mix: prediction %d has %d values, the first one %d", i, len(p.Mean), n))
		}
		members = append(members, each[i].Distribution())
		outputs += each[i].Distribution().Outputs()
	}
	out := &Prediction[T]{Mean: make([]T, n), Std: make([]T, n), Likelihood: likelihood.EqualParts(members...),
		Params: make([]T, 0, n*outputs)}
	var buffer []float64
	for v := range n {
		// By the members' own means and deviations, which a padded value has, too.
		mean, square := 0.0, 0.0
		for _, p := range each {
			buffer = p.params(v, buffer)
			for _, x := range buffer {
				out.Params = append(out.Params, T(x))
			}
			mean += float64(p.Mean[v])
		}
		mean /= float64(len(each))
		for _, p := range each {
			d, s := float64(p.Mean[v])-mean, float64(p.Std[v])
			square += d*d + s*s
		}
		out.Mean[v], out.Std[v] = T(mean), T(math.Sqrt(square/float64(len(each))))
	}
	return out
}

// sample draws whole samples by one member each, in turns: sample s by member s modulo their number.
func sampleByMember[T Float](members int, opt SampleOptions, draw func(member int, opt SampleOptions) ([]T, error)) ([]T, error) {
	var out []T
	var outside error
	per := 0
	for k := range min(members, max(1, opt.Samples)) {
		own := opt
		own.Samples = (opt.Samples - k + members - 1) / members
		own.Seed = chain.Scramble(opt.Seed + uint64(k))
		if k == 0 {
			own.Seed = opt.Seed // of one sample, the first member's own
		}
		own.Seeds = slices.Clone(opt.Seeds)
		for i, s := range own.Seeds {
			if k > 0 {
				own.Seeds[i] = chain.Scramble(s + uint64(k))
			}
		}
		drawn, err := draw(k, own)
		if drawn == nil {
			return nil, err
		}
		if err != nil {
			outside = err
		}
		if out == nil {
			per = len(drawn) / max(1, own.Samples)
			out = make([]T, opt.Samples*per)
		}
		for j := range own.Samples {
			copy(out[(j*members+k)*per:][:per], drawn[j*per:])
		}
	}
	return out, outside
}
