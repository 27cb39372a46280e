package cnp

import (
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
)

// Prediction is the predictive distribution of new observations: mean and standard deviation of every value, and what a
// likelihood has for parameters beside them. Its methods give the rest: densities, quantiles, samples, covariances.
// NewPrediction makes one with room for a model's values.
type Prediction[T Float] struct {
	Mean, Std []T

	// Likelihood is the distribution of the values, never nil in predictions of models and plans. See Distribution.
	Likelihood Likelihood
	// Params [values, Likelihood.Outputs()] holds the parameters of every value, as Likelihood.Parameters makes them,
	// rounded to T. It is nil under a Gaussian, whose parameters are Mean and Std. A plan fills Params where there is
	// room for all values, and leaves it nil where it is nil: methods that need more than mean and standard deviation
	// then panic.
	Params []T
}

// NewPrediction returns a prediction with room for n values, and their parameters, of models of that configuration.
func NewPrediction[T Float](c *Config, n int) (*Prediction[T], error) {
	return instance[func(*Config, int) (*Prediction[T], error)](&newPredictionInstances)(c, n)
}

var newPredictionInstances = instances{newPredictionOf[float32], newPredictionOf[float64]}

func newPredictionOf[T Float](c *Config, n int) (*Prediction[T], error) {
	if n < 0 {
		return nil, fmt.Errorf("%w: a prediction of %d values", ErrShape, n)
	}
	l, err := ParseLikelihood(c)
	if err != nil {
		return nil, err
	}
	return newPrediction[T](l, n), nil
}

// newPrediction returns a prediction of n zeros, with room for their parameters.
func newPrediction[T Float](l Likelihood, n int) *Prediction[T] {
	p := &Prediction[T]{Mean: make([]T, n), Std: make([]T, n), Likelihood: l}
	if k := likelihood.Stored(l); k > 0 {
		p.Params = make([]T, n*k)
	}
	return p
}

// checkRoom reports a prediction that has no room for want values of a likelihood.
func (p *Prediction[T]) checkRoom(what string, l Likelihood, want int) error {
	if p == nil {
		return fmt.Errorf("%w: the prediction is nil", ErrShape)
	}
	if likelihood.Stored(l) > 0 && p.Params != nil && len(p.Params) != want*l.Outputs() {
		return fmt.Errorf("%w: the prediction has room for %d parameters, %s needs %d for each of %d values", ErrShape,
			len(p.Params), what, l.Outputs(), want)
	}
	if len(p.Mean) != want || len(p.Std) != want {
		return fmt.Errorf("%w: the prediction has room for %d means and %d standard deviations, %s needs %d of each", ErrShape, len(p.Mean),
			len(p.Std), what, want)
	}
	return nil
}

// copy makes p, which has the room, another prediction.
func (p *Prediction[T]) copy(from *Prediction[T]) {
	p.Likelihood = from.Likelihood
	copy(p.Mean, from.Mean)
	copy(p.Std, from.Std)
	copy(p.Params, from.Params)
}
