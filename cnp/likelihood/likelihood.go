package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Family is a family of predictive distributions of one value. A network gives each value Outputs numbers; Parameters makes the
// distribution's parameters of them, as many, and all other methods take these. A Family has no state: any number of goroutines
// may use it.
//
// Normal is the one of the authors' models. Register adds one of a user's own, under a name for configurations and model files.
// What a family can do besides, it says by the methods of Gaussian, Joint, Noisy, Observer and Rescaler.
type Family interface {
	// Name is the name that Parse knows the likelihood by.
	Name() string
	// Outputs is the number of numbers that a value has. The last Constants of them are not the network's: they are learned once
	// for each output channel and are the same for all its values.
	Outputs() int
	Constants() int
	// Parameters sets params to the parameters for the numbers raw, both [Outputs].
	Parameters(params, raw []float64)
	// Moments are mean and standard deviation of the distribution with these parameters.
	Moments(params []float64) (mean, std float64)
	// LogDensity is the log-density at y, of a value that has a probability the logarithm of that.
	LogDensity(y float64, params []float64) float64
	// Gradient sets d [Outputs] to the gradient of LogDensity to raw; params are raw's parameters.
	Gradient(d []float64, y float64, params, raw []float64)
	// Quantile is the least value that the distribution does not exceed with probability p, from 0 to 1.
	Quantile(p float64, params []float64) float64
	// Sample draws a value.
	Sample(rng *rand.Rand, params []float64) float64
	// Support is the least and the greatest value that there may be.
	Support() (lo, hi float64)
}

// Gaussian is a Family under which values are independent and normal, with mean and standard deviation as their
// parameters. A Prediction then has all of them in Mean and Std, and needs no Params.
type Gaussian interface {
	Family
	Gaussian() // does nothing
}

// Stored returns the number of parameters of each value that a prediction keeps in Params.
func Stored(l Family) int {
	if _, ok := l.(Gaussian); ok {
		return 0
	}
	return l.Outputs()
}

// Noisy is a Family that knows the function, which is normal, from the noise of its observations: the variance of a value is the sum
// of both's.
type Noisy interface {
	Family
	// Parts are the standard deviations of function and noise.
	Parts(params []float64) (function, noise float64)
}

// Rescaler is a Family whose distributions can be brought to other units. Under others, cnp.Config.Scaler leaves values as they are.
type Rescaler interface {
	Family
	// Rescale makes the parameters of a value v those of a.Undo(v).
	Rescale(params []float64, a Affine)
}

// Joint is a Family under which the values of a task are jointly normal, and depend on each other. Its
// own methods, those of Family, are those of a single value. A task's values come one after the other, their
// parameters [n, Outputs], too.
type Joint interface {
	Family
	// LogDensityOf is the log-density of a task's values y [n].
	LogDensityOf(y, params []float64) float64
	// GradientOf returns LogDensityOf and sets d [n, Outputs] to its gradient to raw.
	GradientOf(d, y, params, raw []float64) float64
	// SampleOf draws a task's values, with the noise of observations or, if function is true, without it.
	SampleOf(dst []float64, rng *rand.Rand, params []float64, function bool)
	// Rank is the number of columns of the factor F, and Factors sets f [n, Rank] to F and diag [n] to D of the covariance F·Fᵀ + diag(D).
	Rank() int
	Factors(f, diag, params []float64)
}

// Target is a Family under which the values of a target depend on each other, and those of different targets do not. Its own
// methods, those of Family, are those of a single value, Parameters and Gradient of targets with one value only.
type Target interface {
	Family
	// Values returns the number of values of a target.
	Values() int
	// ParametersOf sets params [Values, Outputs] to the parameters of a target's values for the numbers raw.
	ParametersOf(params, raw []float64)
	// LogDensityOf is the log-density of a target's values y together; those that known, if there is any, does not name are left out.
	LogDensityOf(y, params []float64, known []bool) float64
	// GradientOf returns LogDensityOf and sets d [Values, Outputs] to its gradient to raw.
	GradientOf(d, y, params, raw []float64, known []bool) float64
	// SampleOf draws a target's values.
	SampleOf(dst []float64, rng *rand.Rand, params []float64)
	// CovarianceOf sets dst [Values, Values] to the covariance of a target's values.
	CovarianceOf(dst, params []float64)
}

// Turning is a Family whose numbers turn with the values that they are of: models with vectors need it.
type Turning interface {
	Family
	// Turn adds to dst what the numbers raw of a target's values become when these are turned by the orthogonal matrix r [values, values];
	// both are [values, Outputs-Constants]. It is linear in raw, and turning by rᵀ is its transpose.
	Turn(dst, raw, r []float64, fields []Field)
}

// Observer is a Family that can be told that the value was observed, with a noise; see cnp.Config.KeepObserved.
type Observer interface {
	Family
	// Observe makes the parameters of a value those of the same value after it was observed as y, with a noise of that standard deviation.
	Observe(params []float64, y, noise float64)
}

// Supported says in words what values between lo and hi are, the support of a family.
func Supported(lo, hi float64) string {
	if lo > 0 && lo < 1e-37 && math.IsInf(hi, 1) { // the least number of float32
		return "positive values"
	}
	return fmt.Sprintf("values from %g to %g", lo, hi)
}
