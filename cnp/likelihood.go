package cnp

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
)

// ParseLikelihood returns the likelihood of a configuration, whose Likelihood names it.
func ParseLikelihood(c *Config) (Likelihood, error) {
	if c == nil {
		return nil, fmt.Errorf("%w: nil", ErrConfig)
	}
	return likelihood.Parse(c.Likelihood, likelihood.Options{Spread: spreadOf(c), Values: max(1, c.DimY),
		Architecture: string(c.Architecture), Image: c.Architecture.Image()})
}

func spreadOf(c *Config) likelihood.Spread {
	return likelihood.Spread{Output: c.Output, Floor: c.Floor}
}

// CheckSupport reports the first of the values y [n, dy] that the likelihood cannot give, or that is not finite. Where mask is false
// (nil: nowhere) nothing is looked at.
func CheckSupport[T Float](l Likelihood, name string, y []T, mask []bool, dy int) error {
	return instance[func(Likelihood, string, []T, []bool, int) error](&checkSupportInstances)(l, name, y, mask, dy)
}

var checkSupportInstances = instances{checkSupport[float32], checkSupport[float64]}

func checkSupport[T Float](l Likelihood, name string, y []T, mask []bool, dy int) error {
	if l == nil {
		return fmt.Errorf("%w: no likelihood", ErrConfig)
	}
	lo, hi := l.Support()
	for i, v := range y {
		if f := float64(v); (!(f >= lo && f <= hi) || math.IsInf(f, 0)) && (mask == nil || mask[i]) {
			return fmt.Errorf("%w: %s%s of row %d is %v, likelihood %s is for %s", ErrRange, name, ordinal(i%dy, dy), i/dy, v,
				l.Name(), likelihood.Supported(lo, hi))
		}
	}
	return nil
}

// LogLikelihood returns the sum over all values of log N(y; mean, std²), in float64. Where mask is false (nil: nowhere) a
// value does not count. It panics if the lengths differ. Prediction.LogDensity is that of any likelihood.
func LogLikelihood[T Float](mean, std, y []T, mask []bool) (sum float64, n int) {
	return instance[func([]T, []T, []T, []bool) (float64, int)](&logLikelihoodInstances)(mean, std, y, mask)
}

var logLikelihoodInstances = instances{logLikelihood[float32], logLikelihood[float64]}

func logLikelihood[T Float](mean, std, y []T, mask []bool) (sum float64, n int) {
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

// ordinal numbers one of several, from 1.
func ordinal(i, of int) string {
	if of == 1 {
		return ""
	}
	return fmt.Sprint(i + 1)
}
