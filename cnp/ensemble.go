package cnp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

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
			return nil, fmt.Errorf("%w: model %d of the ensemble (%s, %d coordinates, %d outputs) does not fit the first one (%s, %d, %d)", ErrConfig,
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

// mixed is the mixture of so many predictions. A point out of one's reach is out of the mixture's.
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
		return Mix(all...), outside
	}
	return Mix(all...), nil
}

// Mix is the mixture, with equal weights, of predictions of the same values. Values that a prediction knows jointly are
// taken each on its own. It panics if the numbers of values differ, or if there is no prediction.
func Mix[T Float](all ...*Prediction[T]) *Prediction[T] {
	var l equalParts
	n, outputs := len(all[0].Mean), 0
	each := make([]*Prediction[T], len(all))
	for i, p := range all {
		if each[i] = p.Marginals(); len(p.Mean) != n {
			panic(fmt.Sprintf("cnp: Mix: prediction %d has %d values, the first one %d", i, len(p.Mean), n))
		}
		l.members = append(l.members, each[i].Distribution())
		outputs += each[i].Distribution().Outputs()
	}
	out := &Prediction[T]{Mean: make([]T, n), Std: make([]T, n), Likelihood: l, Params: make([]T, 0, n*outputs)}
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

// equalParts is the likelihood of an ensemble: parameters are those of its members, one after the other.
type equalParts struct{ members []Likelihood }

// Name implements Likelihood. No configuration can name it: an ensemble is not trained as one.
func (l equalParts) Name() string { return "mixture" }

func (l equalParts) Outputs() int {
	n := 0
	for _, m := range l.members {
		n += m.Outputs()
	}
	return n
}

func (equalParts) Constants() int { return 0 }

// Parameters implements Likelihood: no network gives numbers for it, so they are the parameters.
func (equalParts) Parameters(params, raw []float64) { copy(params, raw) }

// each calls f for every member with its parameters.
func (l equalParts) each(params []float64, f func(m Likelihood, params []float64)) {
	for _, m := range l.members {
		n := m.Outputs()
		f(m, params[:n])
		params = params[n:]
	}
}

func (l equalParts) Moments(params []float64) (mean, std float64) {
	square, n := 0.0, float64(len(l.members))
	l.each(params, func(m Likelihood, p []float64) {
		a, _ := m.Moments(p)
		mean += a / n
	})
	l.each(params, func(m Likelihood, p []float64) {
		a, s := m.Moments(p)
		square += (s*s + (a-mean)*(a-mean)) / n
	})
	return mean, math.Sqrt(square)
}

func (l equalParts) LogDensity(y float64, params []float64) float64 {
	logs := make([]float64, 0, 8)
	most := math.Inf(-1)
	l.each(params, func(m Likelihood, p []float64) {
		v := m.LogDensity(y, p)
		logs, most = append(logs, v), max(most, v)
	})
	if math.IsInf(most, 0) || math.IsNaN(most) {
		return most
	}
	sum := 0.0
	for _, v := range logs {
		sum += math.Exp(v - most)
	}
	return most + math.Log(sum/float64(len(logs)))
}

// Gradient panics: an ensemble's members are trained one by one.
func (equalParts) Gradient(_ []float64, _ float64, _, _ []float64) {
	panic("cnp: an ensemble has no gradient: train its members")
}

// Quantile lies between the least and the greatest of the members' quantiles; bisection finds it.
func (l equalParts) Quantile(q float64, params []float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	l.each(params, func(m Likelihood, p []float64) {
		v := m.Quantile(q, p)
		lo, hi = min(lo, v), max(hi, v)
	})
	if !(hi > lo) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return lo
	}
	// The least value that is not exceeded with probability q: hi always is, lo never.
	if l.below(lo, params) >= q {
		return lo
	}
	for range 64 {
		mid := lo + (hi-lo)/2
		if !(mid > lo && mid < hi) {
			break
		}
		if l.below(mid, params) >= q {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// below is the probability of values up to y.
func (l equalParts) below(y float64, params []float64) float64 {
	sum := 0.0
	l.each(params, func(m Likelihood, p []float64) { sum += probability(m, y, p) })
	return sum / float64(len(l.members))
}

// probability is that of values up to y, from the quantiles of a likelihood.
func probability(l Likelihood, y float64, params []float64) float64 {
	switch l.(type) {
	case normal, noisyNormal:
		mean, std := l.Moments(params)
		return math.Erfc((mean-y)/(std*math.Sqrt2)) / 2
	}
	lo, hi := 0.0, 1.0
	for range 60 {
		if mid := (lo + hi) / 2; l.Quantile(mid, params) <= y {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func (l equalParts) Sample(rng *rand.Rand, params []float64) float64 {
	k, v := rng.IntN(len(l.members)), 0.0
	l.each(params, func(m Likelihood, p []float64) {
		if k == 0 {
			v = m.Sample(rng, p)
		}
		k--
	})
	return v
}

func (l equalParts) Support() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, m := range l.members {
		a, b := m.Support()
		lo, hi = min(lo, a), max(hi, b)
	}
	return lo, hi
}

// sample draws whole samples by one member each, in turns: sample s by member s modulo their number.
func sampleByMember[T Float](members int, opt SampleOptions, draw func(member int, opt SampleOptions) ([]T, error)) ([]T, error) {
	var out []T
	var outside error
	per := 0
	for k := range min(members, max(1, opt.Samples)) {
		own := opt
		own.Samples = (opt.Samples - k + members - 1) / members
		own.Seed = scramble(opt.Seed + uint64(k))
		if k == 0 {
			own.Seed = opt.Seed // of one sample, the first member's own
		}
		own.Seeds = slices.Clone(opt.Seeds)
		for i, s := range own.Seeds {
			if k > 0 {
				own.Seeds[i] = scramble(s + uint64(k))
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
