package cnp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// Likelihood is a family of predictive distributions of one value. A network gives each value Outputs numbers; Parameters makes the
// distribution's parameters of them, as many, and all other methods take these. A Likelihood has no state: any number of goroutines
// may use it.
//
// Normal is the one of the authors' models. RegisterLikelihood adds one of a user's own, under a name for configurations and model files.
// What a family can do besides, it says by the methods of Gaussian, JointLikelihood, Noisy, Observer and Rescaler.
type Likelihood interface {
	// Name is the name that ParseLikelihood knows the likelihood by.
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

// Gaussian is a Likelihood under which values are independent and normal, with mean and standard deviation as their
// parameters. A Prediction then has all of them in Mean and Std, and needs no Params.
type Gaussian interface {
	Likelihood
	Gaussian() // does nothing
}

// stored is how many parameters of each value a prediction keeps in Params.
func stored(l Likelihood) int {
	if _, ok := l.(Gaussian); ok {
		return 0
	}
	return l.Outputs()
}

// Noisy is a Likelihood that knows the function, which is normal, from the noise of its observations: the variance of a value is the sum
// of both's.
type Noisy interface {
	Likelihood
	// Parts are the standard deviations of function and noise.
	Parts(params []float64) (function, noise float64)
}

// Rescaler is a Likelihood whose distributions can be brought to other units. Under others, Config.Scaler leaves values as they are.
type Rescaler interface {
	Likelihood
	// Rescale makes the parameters of a value v those of a.Undo(v).
	Rescale(params []float64, a Affine)
}

// JointLikelihood is a Likelihood under which the values of a task are jointly normal, and depend on each other. Its
// own methods, those of Likelihood, are those of a single value. A task's values come one after the other, their
// parameters [n, Outputs], too.
type JointLikelihood interface {
	Likelihood
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

// objective is a likelihood with other losses than its own: those of Objective.
type objective interface {
	// under returns the likelihood whose densities and gradients are those of the objective.
	under(o Objective) (Likelihood, error)
}

// under is l with the losses of the objective.
func (o Objective) under(l Likelihood) (Likelihood, error) {
	if o.Noise == 0 && o.Beta == 0 {
		return l, nil
	}
	other, ok := l.(objective)
	if !ok {
		return nil, fmt.Errorf("%w: noise = %v, beta = %v: likelihood %s takes 0 for both", ErrConfig, o.Noise, o.Beta, l.Name())
	}
	return other.under(o)
}

// Suits reports whether models of a likelihood can be trained with the objective.
func (o Objective) Suits(l Likelihood) error {
	_, err := o.under(l)
	return err
}

var likelihoods = struct {
	sync.RWMutex
	names []string
	make  map[string]func(c *Config, arg string) (Likelihood, error)
}{make: map[string]func(*Config, string) (Likelihood, error){}}

// RegisterLikelihood makes a likelihood known under a name: Config.Likelihood is then the name, or the name, a colon and an argument.
// make gets the argument, "" without one, and the model's configuration. It panics if the name is taken.
func RegisterLikelihood(name string, make func(c *Config, arg string) (Likelihood, error)) {
	likelihoods.Lock()
	defer likelihoods.Unlock()
	if _, ok := likelihoods.make[name]; ok || name == "" || strings.Contains(name, ":") || make == nil {
		panic(fmt.Sprintf("cnp: RegisterLikelihood: %q is taken, or no name", name))
	}
	likelihoods.names, likelihoods.make[name] = append(likelihoods.names, name), make
}

// Likelihoods lists the names that are known.
func Likelihoods() []string {
	likelihoods.RLock()
	defer likelihoods.RUnlock()
	return slices.Clone(likelihoods.names)
}

// ParseLikelihood returns the likelihood of a configuration, whose Likelihood names it.
func ParseLikelihood(c *Config) (Likelihood, error) {
	if c == nil {
		return nil, fmt.Errorf("%w: nil", ErrConfig)
	}
	if n := len(c.Likelihood); n > maxLikelihood {
		return nil, fmt.Errorf("%w: likelihood has %d letters, need at most %d", ErrConfig, n, maxLikelihood)
	}
	said := c.Likelihood // in errors
	if len(said) > 100 {
		said = said[:100] + "..."
	}
	name, arg, _ := strings.Cut(c.Likelihood, ":")
	if name == "" {
		name = normalName
	}
	likelihoods.RLock()
	f := likelihoods.make[name]
	likelihoods.RUnlock()
	if f == nil {
		return nil, fmt.Errorf("%w: likelihood %q is none of %q", ErrConfig, said, Likelihoods())
	}
	l, err := f(c, arg)
	if err != nil {
		return nil, fmt.Errorf("%w: likelihood %q: %w", ErrConfig, said, err)
	}
	if n, k := l.Outputs(), l.Constants(); n < 1 || n > maxOutputs || k < 0 || k >= n {
		return nil, fmt.Errorf("%w: likelihood %q has %d outputs, %d of them constants: need 1 to %d, and at least one that is none",
			ErrConfig, said, n, k, maxOutputs)
	}
	return l, nil
}

// maxOutputs bounds the numbers of a value, maxLikelihood the letters of a likelihood's name, in which maxNodes lists
// of maxScales calibrated shares and factors have room.
const (
	maxOutputs    = 1 << 12
	maxLikelihood = 1 << 13
)

// CheckSupport reports the first of the values y [n, dy] that the likelihood cannot give, or that is not finite. Where mask is false
// (nil: nowhere) nothing is looked at.
func CheckSupport[T Float](l Likelihood, name string, y []T, mask []bool, dy int) error {
	lo, hi := l.Support()
	for i, v := range y {
		if f := float64(v); (!(f >= lo && f <= hi) || math.IsInf(f, 0)) && (mask == nil || mask[i]) {
			return fmt.Errorf("%w: %s%s of row %d is %v, likelihood %s is for values from %g to %g", ErrRange, name,
				ordinal(i%dy, dy), i/dy, v,
				l.Name(), lo, hi)
		}
	}
	return nil
}

// LogLikelihood is the sum over all values of log N(y; mean, std²), in float64. Where mask is false (nil: nowhere) a
// value does not count. It panics if the lengths differ. Prediction.LogDensity is that of any likelihood.
func LogLikelihood[T Float](mean, std, y []T, mask []bool) (sum float64, n int) {
	if len(std) != len(mean) || len(y) != len(mean) || (mask != nil && len(mask) != len(mean)) {
		panic(fmt.Sprintf("cnp: LogLikelihood: len(mean) = %d, len(std) = %d, len(y) = %d, len(mask) = %d",
			len(mean), len(std), len(y), len(mask)))
	}
	for i := range mean {
		if mask == nil || mask[i] {
			s := float64(std[i])
			z := (float64(y[i]) - float64(mean[i])) / s
			sum -= 0.5*z*z + math.Log(s) + 0.5*math.Log(2*math.Pi)
			n++
		}
	}
	return sum, n
}

// TargetLikelihood is a Likelihood under which the values of a target depend on each other, and those of different targets do not. Its own
// methods, those of Likelihood, are those of a single value, Parameters and Gradient of targets with one value only.
type TargetLikelihood interface {
	Likelihood
	// Values is how many a target has.
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

// Turning is a Likelihood whose numbers turn with the values that they are of: models with vectors need it.
type Turning interface {
	Likelihood
	// Turn adds to dst what the numbers raw of a target's values become when these are turned by the orthogonal matrix r [values, values];
	// both are [values, Outputs-Constants]. It is linear in raw, and turning by rᵀ is its transpose.
	Turn(dst, raw, r []float64, fields []Field)
}

// Observer is a Likelihood that can be told that the value was observed, with a noise; see Config.KeepObserved.
type Observer interface {
	Likelihood
	// Observe makes the parameters of a value those of the same value after it was observed as y, with a noise of that standard deviation.
	Observe(params []float64, y, noise float64)
}

// Objective changes the loss of Pass.Gradient. The zero value is the authors' loss.
type Objective struct {
	// Noise is the standard deviation of noise that the true values are assumed to have: the loss is the mean over all such
	// noise, in closed form. Standard deviations then learn not to fall below it. Noise that decreases during training keeps the
	// model from gaining likelihood by small deviations around poor means, where a single outlier would outweigh all other
	// values.
	Noise float64
	// Beta multiplies the gradient of every value by std^(2·Beta), from 0 to 1; the reported loss stays the likelihood. 0 is the
	// gradient of the likelihood, in which the values that are predicted best count most, and one outlier among them outweighs
	// all others; with 1, means learn as from the squared error. The optimum of every single value is the same for all Beta.
	// (Seitzer et al., On the pitfalls of heteroscedastic uncertainty estimation with probabilistic neural networks, ICLR 2022.)
	Beta float64
	// Tasks replaces B, the number that the sum is divided by; 0 keeps the number of tasks of the pass. For a step of several
	// passes, set it to the number of tasks of all of them.
	Tasks int
	// Counts says which of the true values count, as a mask says it besides; the others are not read, and LogLikelihood
	// leaves them out as well. Nil: all.
	Counts []bool
}

// ordinal numbers one of several, from 1.
func ordinal(i, of int) string {
	if of == 1 {
		return ""
	}
	return fmt.Sprint(i + 1)
}

const normalName = "normal"
