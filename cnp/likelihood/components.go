package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

// MixtureName begins the name of the mixture of normals.
const MixtureName = "mixture"

// maxComponents bounds the normals of a mixture.
const maxComponents = 16

func init() {
	Register(MixtureName, func(o Options, arg string) (Family, error) {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 2 || n > maxComponents {
			return nil, fmt.Errorf("need a number of normals from 2 to %d, as in %s:3", maxComponents, MixtureName)
		}
		return components{o.Spread, n}, nil
	})
}

// Normals is a Family whose numbers can begin as those of one normal: numbers Means and Spreads of a value as its mean and its
// deviation, the others as they are.
type Normals interface {
	Family
	Means() []int
	Spreads() []int
}

// components is a mixture of n normals with shares, means and deviations of their own, for values that may be in one of several
// places: beside a jump whose place is not known, or where a wave may go up or down. The numbers of a value are, for each normal, a
// share's logarithm up to a constant, the mean and the number of which the spread makes the deviation; the parameters
// share, mean and deviation.
type components struct {
	spread Spread
	n      int
}

func (l components) Name() string { return fmt.Sprintf("%s:%d", MixtureName, l.n) }

func (l components) Outputs() int { return 3 * l.n }

func (components) Constants() int { return 0 }

func (l components) Means() []int { return l.every(1) }

func (l components) Spreads() []int { return l.every(2) }

// every lists number k of all normals.
func (l components) every(k int) []int {
	out := make([]int, l.n)
	for i := range out {
		out[i] = 3*i + k
	}
	return out
}

func (l components) Parameters(params, raw []float64) {
	most, sum := math.Inf(-1), 0.0
	for k := 0; k < len(raw); k += 3 {
		most = max(most, raw[k])
	}
	for k := 0; k < len(raw); k += 3 {
		params[k], params[k+1], params[k+2] = math.Exp(raw[k]-most), raw[k+1], l.spread.Std(raw[k+2])
		sum += params[k]
	}
	for k := 0; k < len(raw); k += 3 {
		params[k] /= sum
	}
}

func (components) Moments(p []float64) (mean, std float64) {
	for k := 0; k < len(p); k += 3 {
		mean += p[k] * p[k+1]
	}
	square := 0.0
	for k := 0; k < len(p); k += 3 {
		d := p[k+1] - mean
		square += p[k] * (p[k+2]*p[k+2] + d*d)
	}
	return mean, math.Sqrt(square)
}

func (components) LogDensity(y float64, p []float64) float64 {
	most := math.Inf(-1)
	for k := 0; k < len(p); k += 3 {
		if math.IsNaN(p[k]) {
			return math.NaN()
		}
		if p[k] > 0 {
			most = max(most, logNormal(y, p[k+1], p[k+2]))
		}
	}
	if math.IsInf(most, 0) || math.IsNaN(most) {
		return most
	}
	sum := 0.0
	for k := 0; k < len(p); k += 3 {
		if p[k] > 0 {
			sum += p[k] * math.Exp(logNormal(y, p[k+1], p[k+2])-most)
		}
	}
	return most + math.Log(sum)
}

func (l components) Gradient(d []float64, y float64, p, raw []float64) {
	log := l.LogDensity(y, p)
	for k := 0; k < len(p); k += 3 {
		z := (y - p[k+1]) / p[k+2]
		of := 0.0 // the probability that y is of this normal
		if p[k] > 0 {
			of = p[k] * math.Exp(logNormal(y, p[k+1], p[k+2])-log)
		}
		d[k], d[k+1], d[k+2] = of-p[k], of*z/p[k+2], of*(z*z-1)/p[k+2]*l.spread.Slope(raw[k+2], p[k+2])
	}
}

// Quantile lies between the least and the greatest of the normals' quantiles; bisection finds it.
func (l components) Quantile(q float64, p []float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for k := 0; k < len(p); k += 3 {
		if math.IsNaN(p[k]) {
			return math.NaN()
		}
		if p[k] > 0 {
			v := normalQuantile(q, p[k+1], p[k+2])
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if !(hi > lo) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return lo
	}
	// Beyond the middle it is probabilities above that are small, and told from 0.
	above := q > 0.5
	for range 100 {
		mid := lo + (hi-lo)/2
		if !(mid > lo && mid < hi) {
			break
		}
		sum := beside(mid, p, above)
		if above && sum <= 1-q || !above && sum >= q {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// beside returns the probability of values up to y, or above it.
func beside(y float64, p []float64, above bool) (sum float64) {
	for k := 0; k < len(p); k += 3 {
		z := (p[k+1] - y) / (p[k+2] * math.Sqrt2)
		if above {
			z = -z
		}
		sum += p[k] * math.Erfc(z) / 2
	}
	return sum
}

func (components) Sample(rng *rand.Rand, p []float64) float64 {
	u, at := rng.Float64(), 0
	for k := 0; k < len(p); k += 3 {
		if math.IsNaN(p[k]) {
			return math.NaN()
		}
		if u >= 0 && p[k] > 0 {
			at = k
		}
		u -= p[k]
	}
	return p[at+1] + p[at+2]*rng.NormFloat64()
}

func (components) Support() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }

func (components) Rescale(p []float64, a Affine) {
	for k := 0; k < len(p); k += 3 {
		p[k+1], p[k+2] = a.Undo(p[k+1]), p[k+2]/a.Factor
	}
}

// Observe gives every normal what Observed says, and a share by how well it predicted the observation.
func (components) Observe(p []float64, y, noise float64) {
	logs, most, sum := make([]float64, 0, maxComponents), math.Inf(-1), 0.0
	for k := 0; k < len(p); k += 3 {
		log := math.Log(p[k]) + logNormal(y, p[k+1], math.Hypot(p[k+2], noise))
		logs, most = append(logs, log), max(most, log)
		p[k+1], p[k+2] = Observed(p[k+1], p[k+2], y, noise)
	}
	if math.IsInf(most, -1) {
		return // all are too far to tell: the shares stay
	}
	for i, log := range logs {
		logs[i] = math.Exp(log - most)
		sum += logs[i]
	}
	for i, share := range logs {
		p[3*i] = share / sum
	}
}
