package likelihood

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

const spikedBetaName = "spiked-beta"

func init() { registerPlain(spikedBetaName, spikedBeta{}) }

// spikedBeta is for shares, as that of the sky which clouds cover: a value is 0, or 1, each with some probability of its own, or it lies
// between them, and has a beta distribution then.
//
// Parameters: the logarithms of the odds of 0 and of 1, each against all that lies between, and the two shapes of the beta distribution.
type spikedBeta struct{}

func (spikedBeta) Name() string   { return spikedBetaName }
func (spikedBeta) Outputs() int   { return 4 }
func (spikedBeta) Constants() int { return 0 }

func (spikedBeta) Parameters(params, raw []float64) {
	params[0], params[1], params[2], params[3] = raw[0], raw[1], shapeOf(raw[2]), shapeOf(raw[3])
}

// logTotal returns log(1 + exp(a) + exp(b)).
func logTotal(a, b float64) float64 {
	m := max(0, a, b)
	return m + math.Log(math.Exp(-m)+math.Exp(a-m)+math.Exp(b-m))
}

// shares returns the probabilities of 0, of 1, and of all between.
func (spikedBeta) shares(p []float64) (zero, one, between float64) {
	t := logTotal(p[0], p[1])
	return math.Exp(p[0] - t), math.Exp(p[1] - t), math.Exp(-t)
}

func (l spikedBeta) Moments(p []float64) (mean, std float64) {
	zero, one, between := l.shares(p)
	a, b := p[2], p[3]
	m := a / (a + b)
	mean = between*m + one
	// The variance within the part between, and that of the three parts' means.
	v := between*m*(b/(a+b))/(a+b+1) + zero*mean*mean + one*(1-mean)*(1-mean) + between*(m-mean)*(m-mean)
	return mean, math.Sqrt(v)
}

func (spikedBeta) LogDensity(y float64, p []float64) float64 {
	t := logTotal(p[0], p[1])
	switch y {
	case 0:
		return p[0] - t
	case 1:
		return p[1] - t
	}
	return -t + (p[2]-1)*math.Log(y) + (p[3]-1)*math.Log1p(-y) - mathext.Lbeta(p[2], p[3])
}

func (l spikedBeta) Gradient(d []float64, y float64, p, raw []float64) {
	zero, one, _ := l.shares(p)
	d[0], d[1], d[2], d[3] = -zero, -one, 0, 0
	switch y {
	case 0:
		d[0]++
	case 1:
		d[1]++
	default:
		both := mathext.Digamma(p[2] + p[3])
		d[2] = (math.Log(y) + both - mathext.Digamma(p[2])) * logistic(raw[2])
		d[3] = (math.Log1p(-y) + both - mathext.Digamma(p[3])) * logistic(raw[3])
	}
}

func (l spikedBeta) Quantile(q float64, p []float64) float64 {
	zero, one, between := l.shares(p)
	switch {
	case q <= zero:
		return 0
	case q > 1-one:
		return 1
	}
	return mathext.InvRegIncBeta(p[2], p[3], max(0, min(1, (q-zero)/between)))
}

func (l spikedBeta) Sample(rng *rand.Rand, p []float64) float64 {
	zero, one, _ := l.shares(p)
	switch u := rng.Float64(); {
	case u < zero:
		return 0
	case u < zero+one:
		return 1
	}
	return logistic(logGamma(rng, p[2]) - logGamma(rng, p[3])) // x/(x + z) of two gamma distributions
}

func (spikedBeta) Support() (lo, hi float64) { return 0, 1 }
