package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// NormalName is the name of the independent normal.
const NormalName = "normal"

func init() {
	Register(NormalName, func(o Options, arg string) (Family, error) {
		switch arg {
		case "":
			return normal{o.Spread}, nil
		case "noise":
			return noisyNormal{spread: o.Spread}, nil
		}
		return nil, fmt.Errorf("need %s, or %[1]s:noise", NormalName)
	})
}

// normal is the independent normal of the authors' models, parameters mean and standard deviation. Models compute it for many values
// at a time, by kernels (normalLink); for a single value these are its definition. A CNP's has its floor elsewhere.
type normal struct{ spread Spread }

// Normal is the independent normal distribution, for predictions that no model makes.
var Normal Family = normal{}

// NormalSpread returns the spread of the independent normal of the authors' models, and whether l is that one.
func NormalSpread(l Family) (s Spread, ok bool) {
	n, ok := l.(normal)
	return n.spread, ok
}

func (normal) Name() string { return NormalName }

func (normal) Outputs() int { return 2 }

func (normal) Constants() int { return 0 }

func (l normal) Parameters(params, raw []float64) {
	params[0], params[1] = raw[0], l.spread.Std(raw[1])
}

func (normal) Observe(p []float64, y, noise float64) { p[0], p[1] = Observed(p[0], p[1], y, noise) }

func (normal) Moments(p []float64) (mean, std float64) { return p[0], p[1] }

func (normal) LogDensity(y float64, p []float64) float64 { return logNormal(y, p[0], p[1]) }

func logNormal(y, mean, std float64) float64 {
	z := (y - mean) / std
	return -(0.5*z*z + math.Log(std) + 0.5*math.Log(2*math.Pi))
}

func (l normal) Gradient(d []float64, y float64, p, raw []float64) {
	z := (y - p[0]) / p[1]
	d[0], d[1] = z/p[1], (z*z-1)/p[1]*l.spread.Slope(raw[1], p[1])
}

func (normal) Quantile(q float64, p []float64) float64 { return normalQuantile(q, p[0], p[1]) }

func normalQuantile(q, mean, std float64) float64 { return mean + std*math.Sqrt2*math.Erfinv(2*q-1) }

func (normal) Sample(rng *rand.Rand, p []float64) float64 { return p[0] + p[1]*rng.NormFloat64() }

func (normal) Support() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

func (normal) Rescale(p []float64, a Affine) { p[0], p[1] = a.Undo(p[0]), p[1]/a.Factor }

func (normal) Gaussian() {}

func (l normal) under(Objective) (Family, error) { return l, nil }

// noisyNormal is an independent normal that tells the function from the noise of its observations. The noise is a constant of each output
// channel, and must be: how a variance that may be anything everywhere is made up, independent values do not tell. Where the function
// is known well, near the context, all that is left is noise. Parameters: mean, and the standard deviations of function and noise.
type noisyNormal struct {
	spread Spread
	loss   Objective
}

func (noisyNormal) Name() string { return NormalName + ":noise" }

func (noisyNormal) Outputs() int { return 3 }

func (noisyNormal) Constants() int { return 1 }

func (l noisyNormal) Parameters(params, raw []float64) {
	params[0], params[1], params[2] = raw[0], l.spread.Std(raw[1]), l.spread.Std(raw[2])
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
	d[0], d[1], d[2] = g*z, s*p[1]*l.spread.Slope(raw[1], p[1]), s*p[2]*l.spread.Slope(raw[2], p[2])
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

func (l noisyNormal) under(o Objective) (Family, error) { return noisyNormal{l.spread, o}, nil }

// Observed returns mean and deviation of a normal value after it was observed as y with a noise.
func Observed(mean, std, y, noise float64) (float64, float64) {
	gain := std * std / (std*std + noise*noise)
	return mean + gain*(y-mean), noise * math.Sqrt(gain)
}
