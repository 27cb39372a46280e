package likelihood

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

const (
	gammaName     = "gamma"
	logNormalName = "log-normal"
)

func init() {
	registerPlain(gammaName, gammaLikelihood{})
	registerPlain(logNormalName, logNormalLikelihood{})
}

// leastPositive is the least value of the likelihoods of positive values: the least number of a float32.
const leastPositive = math.SmallestNonzeroFloat32

// expLimit bounds the logarithms that networks give, so that no parameter is infinite.
const expLimit = 20

// boundedExp is exp where its argument is within the limit.
func boundedExp(u float64) float64 { return math.Exp(max(-expLimit, min(expLimit, u))) }

// boundedSlope returns the derivative of boundedExp, of which v is the value.
func boundedSlope(u, v float64) float64 {
	if math.Abs(u) > expLimit {
		return 0
	}
	return v
}

// gammaLikelihood is for positive values, as populations and amounts are, that may come close to 0. Parameters: mean
// and shape, which is the
// mean squared over the variance.
type gammaLikelihood struct{}

func (gammaLikelihood) Name() string   { return gammaName }
func (gammaLikelihood) Outputs() int   { return 2 }
func (gammaLikelihood) Constants() int { return 0 }

func (gammaLikelihood) Parameters(params, raw []float64) {
	params[0], params[1] = shapeOf(raw[0]), boundedExp(raw[1])
}

func (gammaLikelihood) Moments(p []float64) (mean, std float64) { return p[0], p[0] / math.Sqrt(p[1]) }

func (gammaLikelihood) LogDensity(y float64, p []float64) float64 {
	mean, shape := p[0], p[1]
	log, _ := math.Lgamma(shape)
	return shape*math.Log(shape*y/mean) - math.Log(y) - shape*y/mean - log
}

func (gammaLikelihood) Gradient(d []float64, y float64, p, raw []float64) {
	mean, shape := p[0], p[1]
	d[0] = shape / mean * (y/mean - 1) * logistic(raw[0])
	d[1] = (math.Log(shape*y/mean) + 1 - y/mean - mathext.Digamma(shape)) * boundedSlope(raw[1], shape)
}

func (gammaLikelihood) Quantile(q float64, p []float64) float64 {
	return gammaQuantile(q, p[1]) * p[0] / p[1]
}

func (gammaLikelihood) Sample(rng *rand.Rand, p []float64) float64 {
	return max(leastPositive, math.Exp(logGamma(rng, p[1]))*p[0]/p[1])
}

func (gammaLikelihood) Support() (lo, hi float64) { return leastPositive, math.Inf(1) }

// Rescale knows units without an offset, which recipes give positive values.
func (gammaLikelihood) Rescale(p []float64, a Affine) { p[0] /= a.Factor }

// logNormalLikelihood is for positive values whose logarithm is normal. Parameters: mean and deviation of the logarithm.
type logNormalLikelihood struct{}

func (logNormalLikelihood) Name() string   { return logNormalName }
func (logNormalLikelihood) Outputs() int   { return 2 }
func (logNormalLikelihood) Constants() int { return 0 }

func (logNormalLikelihood) Parameters(params, raw []float64) {
	params[0], params[1] = raw[0], shapeOf(raw[1])
}

func (logNormalLikelihood) Moments(p []float64) (mean, std float64) {
	v := p[1] * p[1]
	mean = math.Exp(p[0] + v/2)
	return mean, mean * math.Sqrt(math.Expm1(v))
}

func (logNormalLikelihood) LogDensity(y float64, p []float64) float64 {
	log := math.Log(y)
	return logNormal(log, p[0], p[1]) - log
}

func (logNormalLikelihood) Gradient(d []float64, y float64, p, raw []float64) {
	z := (math.Log(y) - p[0]) / p[1]
	d[0], d[1] = z/p[1], (z*z-1)/p[1]*logistic(raw[1])
}

func (logNormalLikelihood) Quantile(q float64, p []float64) float64 {
	return math.Exp(normalQuantile(q, p[0], p[1]))
}

func (logNormalLikelihood) Sample(rng *rand.Rand, p []float64) float64 {
	return max(leastPositive, math.Exp(p[0]+p[1]*rng.NormFloat64()))
}

func (logNormalLikelihood) Support() (lo, hi float64) { return leastPositive, math.Inf(1) }

// Rescale knows units without an offset, which recipes give positive values.
func (logNormalLikelihood) Rescale(p []float64, a Affine) { p[0] -= math.Log(a.Factor) }
