package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// BentName is the name of Bent. Names does not list it: interpolations have it, and no network is trained under it.
const BentName = "bent-normal"

// Bend is the scale on which values are normal.
type Bend int

const (
	Straight  Bend = iota // values themselves
	Root                  // their square roots
	Logarithm             // their logarithms
	Amount                // values themselves, which are never negative: means and quantiles below 0 are 0
)

func init() {
	likelihoods.make[BentName] = func(o Options, arg string) (Family, error) {
		if o.Architecture != "krige" || arg != "" {
			return nil, fmt.Errorf("%s is for interpolations, and takes no argument", BentName)
		}
		return Bent{}, nil
	}
}

// Bent is for values that are normal on one of several scales. Parameters: mean and standard deviation there, and the Bend.
type Bent struct{}

// Name implements Family.
func (Bent) Name() string { return BentName }

// Outputs implements Family.
func (Bent) Outputs() int { return 3 }

// Constants implements Family.
func (Bent) Constants() int { return 0 }

// Parameters copies raw: no network gives numbers for this family, so they are the parameters.
func (Bent) Parameters(params, raw []float64) { copy(params, raw) }

// Moments returns mean and standard deviation of the values.
func (Bent) Moments(p []float64) (mean, std float64) {
	v := p[1] * p[1]
	switch Bend(p[2]) {
	case Root:
		return p[0]*p[0] + v, math.Sqrt(4*p[0]*p[0]*v + 2*v*v)
	case Logarithm:
		mean = math.Exp(p[0] + v/2)
		return mean, mean * math.Sqrt(math.Expm1(v))
	case Amount:
		return max(0, p[0]), p[1]
	}
	return p[0], p[1]
}

// LogDensity returns the log-density of a value, -Inf where it has no root or logarithm.
func (Bent) LogDensity(y float64, p []float64) float64 {
	switch Bend(p[2]) {
	case Root:
		if y < 0 {
			return math.Inf(-1)
		}
		root := math.Sqrt(y)
		return logNormal(root, p[0], p[1]) - math.Log(2*math.Max(root, 1e-9)) // at 0 the slope is infinite
	case Logarithm:
		if y <= 0 {
			return math.Inf(-1)
		}
		log := math.Log(y)
		return logNormal(log, p[0], p[1]) - log
	}
	return logNormal(y, p[0], p[1])
}

// Gradient panics: nothing is trained under this family.
func (Bent) Gradient(_ []float64, _ float64, _, _ []float64) {
	panic("likelihood: " + BentName + " has no gradient: interpolations are not trained")
}

// Quantile returns the value whose scale's quantile is q.
func (Bent) Quantile(q float64, p []float64) float64 {
	return unbend(normalQuantile(q, p[0], p[1]), p[2])
}

// Sample draws a value.
func (Bent) Sample(rng *rand.Rand, p []float64) float64 {
	return unbend(p[0]+p[1]*rng.NormFloat64(), p[2])
}

// Support returns the support of all numbers: the bend alone knows which of them are possible.
func (Bent) Support() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

// unbend takes a number of a scale back to a value.
func unbend(v, bend float64) float64 {
	switch Bend(bend) {
	case Root:
		return max(v, 0) * max(v, 0)
	case Logarithm:
		return math.Exp(v)
	case Amount:
		return max(v, 0)
	}
	return v
}
