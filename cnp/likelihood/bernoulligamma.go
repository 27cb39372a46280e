package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

const bernoulliGammaName = "bernoulli-gamma"

func init() { registerPlain(bernoulliGammaName, bernoulliGamma{}) }

// registerPlain registers a likelihood that takes no argument.
func registerPlain(name string, l Family) {
	Register(name, func(_ Options, arg string) (Family, error) {
		if arg != "" {
			return nil, fmt.Errorf("%s takes no argument", name)
		}
		return l, nil
	})
}

// leastShape keeps the parameters of gamma and beta distributions away from 0, where they are none.
const leastShape = 1e-4

func shapeOf(u float64) float64 { return softplus(u) + leastShape }

// bernoulliGamma is for amounts that are often none at all, as those of rain in a day: with some probability a value is positive, and
// has a gamma distribution then, else it is 0.
//
// Parameters: the logarithm of the odds of a positive value, and mean and shape of the gamma distribution.
type bernoulliGamma struct{}

func (bernoulliGamma) Name() string   { return bernoulliGammaName }
func (bernoulliGamma) Outputs() int   { return 3 }
func (bernoulliGamma) Constants() int { return 0 }

func (bernoulliGamma) Parameters(params, raw []float64) {
	params[0], params[1], params[2] = raw[0], shapeOf(raw[1]), shapeOf(raw[2])
}

func (bernoulliGamma) Moments(p []float64) (mean, std float64) {
	wet, dry := logistic(p[0]), logistic(-p[0])
	return wet * p[1], p[1] * math.Sqrt(wet*(1/p[2]+dry))
}

func (bernoulliGamma) LogDensity(y float64, p []float64) float64 {
	if y == 0 {
		return -softplus(p[0])
	}
	mean, shape := p[1], p[2]
	log, _ := math.Lgamma(shape)
	return -softplus(-p[0]) + shape*math.Log(shape/mean) + (shape-1)*math.Log(y) - shape*y/mean - log
}

func (bernoulliGamma) Gradient(d []float64, y float64, p, raw []float64) {
	if y == 0 {
		d[0], d[1], d[2] = -logistic(p[0]), 0, 0
		return
	}
	mean, shape := p[1], p[2]
	d[0] = logistic(-p[0])
	d[1] = shape / mean * (y/mean - 1) * logistic(raw[1])
	d[2] = (math.Log(shape*y/mean) + 1 - y/mean - mathext.Digamma(shape)) * logistic(raw[2])
}

func (bernoulliGamma) Quantile(q float64, p []float64) float64 {
	wet, dry := logistic(p[0]), logistic(-p[0])
	if q <= dry {
		return 0
	}
	return gammaQuantile(min(1, (q-dry)/wet), p[2]) * p[1] / p[2]
}

func (bernoulliGamma) Sample(rng *rand.Rand, p []float64) float64 {
	if rng.Float64() >= logistic(p[0]) {
		return 0
	}
	return math.Exp(logGamma(rng, p[2])) * p[1] / p[2]
}

func (bernoulliGamma) Support() (lo, hi float64) { return 0, math.Inf(1) }

// gammaQuantile returns the quantile q of a gamma distribution with scale 1.
func gammaQuantile(q, shape float64) float64 {
	switch {
	case q <= 0:
		return 0
	case q >= 1:
		return math.Inf(1)
	}
	return mathext.GammaIncRegInv(shape, q)
}

// logGamma draws the logarithm of a value of a gamma distribution with scale 1: for small shapes the value itself is often smaller than any
// float64. (Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.)
func logGamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return logGamma(rng, shape+1) + math.Log(1-rng.Float64())/shape
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-rng.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return math.Log(d * v)
		}
	}
}
