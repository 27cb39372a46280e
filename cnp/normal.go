package cnp

import (
	"fmt"
	"math"
	"math/rand/v2"
)

const normalName = "normal"

func init() {
	RegisterLikelihood(normalName, func(c *Config, arg string) (Likelihood, error) {
		switch arg {
		case "":
			return normal{spreadOf(c)}, nil
		case "noise":
			return noisyNormal{spread: spreadOf(c)}, nil
		}
		return nil, fmt.Errorf("need %s, or %[1]s:noise", normalName)
	})
}

// spread is how a raw number becomes a standard deviation: the softplus is the variance or the deviation, and never below floor.
type spread struct {
	output Output
	floor  float64
}

func spreadOf(c *Config) spread { return spread{c.Output, c.Floor} }

func softplus(u float64) float64 { return max(u, 0) + math.Log1p(math.Exp(-math.Abs(u))) }

// logistic is the derivative of softplus.
func logistic(u float64) float64 {
	if u >= 0 {
		return 1 / (1 + math.Exp(-u))
	}
	e := math.Exp(u)
	return e / (1 + e)
}

// std is the deviation for a raw number.
func (s spread) std(u float64) float64 {
	v := max(softplus(u), s.floor)
	if s.output == OutputVariance {
		return math.Sqrt(v)
	}
	return v
}

// least is the least deviation.
func (s spread) least() float64 {
	if s.output == OutputVariance {
		return math.Sqrt(s.floor)
	}
	return s.floor
}

// slope is the derivative of std. Where the floor acts it is 0.
func (s spread) slope(u, std float64) float64 {
	if !(softplus(u) > s.floor) {
		return 0
	}
	if s.output == OutputVariance {
		return logistic(u) / (2 * std)
	}
	return logistic(u)
}

// normal is the independent normal of the authors' models, parameters mean and standard deviation. Models compute it for many values
// at a time, by kernels (head); for a single value these are its definition. A CNP's has its floor elsewhere.
type normal struct{ spread spread }

func (normal) Name() string   { return normalName }
func (normal) Outputs() int   { return 2 }
func (normal) Constants() int { return 0 }

func (l normal) Parameters(params, raw []float64) {
	params[0], params[1] = raw[0], l.spread.std(raw[1])
}

func (normal) Observe(p []float64, y, noise float64) { p[0], p[1] = observed(p[0], p[1], y, noise) }

func (normal) Moments(p []float64) (mean, std float64) { return p[0], p[1] }

func (normal) LogDensity(y float64, p []float64) float64 { return logNormal(y, p[0], p[1]) }

func logNormal(y, mean, std float64) float64 {
	z := (y - mean) / std
	return -(0.5*z*z + math.Log(std) + 0.5*math.Log(2*math.Pi))
}

func (l normal) Gradient(d []float64, y float64, p, raw []float64) {
	z := (y - p[0]) / p[1]
	d[0], d[1] = z/p[1], (z*z-1)/p[1]*l.spread.slope(raw[1], p[1])
}

func (normal) Quantile(q float64, p []float64) float64 { return normalQuantile(q, p[0], p[1]) }

func normalQuantile(q, mean, std float64) float64 { return mean + std*math.Sqrt2*math.Erfinv(2*q-1) }

func (normal) Sample(rng *rand.Rand, p []float64) float64 { return p[0] + p[1]*rng.NormFloat64() }

func (normal) Support() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

func (normal) Rescale(p []float64, a Affine) { p[0], p[1] = a.Undo(p[0]), p[1]/a.Factor }

// noisyNormal is an independent normal that tells the function from the noise of its observations. The noise is a constant of each output
// channel, and must be: how a variance that may be anything everywhere is made up, independent values do not tell. Where the function
// is known well, near the context, all that is left is noise. Parameters: mean, and the standard deviations of function and noise.
type noisyNormal struct {
	spread spread
	loss   Objective
}

func (noisyNormal) Name() string   { return normalName + ":noise" }
func (noisyNormal) Outputs() int   { return 3 }
func (noisyNormal) Constants() int { return 1 }

func (l noisyNormal) Parameters(params, raw []float64) {
	params[0], params[1], params[2] = raw[0], l.spread.std(raw[1]), l.spread.std(raw[2])
}

func (noisyNormal) Moments(p []float64) (mean, std float64) { return p[0], math.Hypot(p[1], p[2]) }

func (l noisyNormal) LogDensity(y float64, p []float64) float64 {
	std := math.Hypot(p[1], p[2])
	e := l.loss.Noise / std
	return logNormal(y, p[0], std) - 0.5*e*e
}

func (l noisyNormal) Gradient(d []float64, y float64, p, raw []float64) {
	std := math.Hypot(p[1], p[2])
	z, e := (y-p[0])/std, l.loss.Noise/std
	g := 1 / std
	if l.loss.Beta != 0 {
		g *= math.Pow(std, 2*l.loss.Beta)
	}
	s := g * (z*z + e*e - 1) / std
	d[0], d[1], d[2] = g*z, s*p[1]*l.spread.slope(raw[1], p[1]), s*p[2]*l.spread.slope(raw[2], p[2])
}

func (noisyNormal) Quantile(q float64, p []float64) float64 {
	return normalQuantile(q, p[0], math.Hypot(p[1], p[2]))
}

func (noisyNormal) Sample(rng *rand.Rand, p []float64) float64 {
	return p[0] + math.Hypot(p[1], p[2])*rng.NormFloat64()
}

func (noisyNormal) Support() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

func (noisyNormal) Rescale(p []float64, a Affine) {
	p[0], p[1], p[2] = a.Undo(p[0]), p[1]/a.Factor, p[2]/a.Factor
}

func (noisyNormal) Parts(p []float64) (function, noise float64) { return p[1], p[2] }

func (l noisyNormal) under(o Objective) (Likelihood, error) { return noisyNormal{l.spread, o}, nil }
