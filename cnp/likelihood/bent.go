package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
)

// BentName is the name of Bent, and with a number of normals that of a mixture of them. Names does not list it: interpolations and
// populations have it, and no network is trained under it.
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
		mixed := o.Architecture == "population"
		switch n, err := strconv.Atoi(arg); {
		case o.Architecture != "krige" && !mixed:
			return nil, fmt.Errorf("%s is for interpolations and populations", BentName)
		case arg == "":
			return Bent{}, nil
		case !mixed || err != nil || n < 2 || n > maxComponents:
			return nil, fmt.Errorf("%s takes no argument, or that of a population a number of normals from 2 to %d", BentName,
				maxComponents)
		default:
			return bentComponents{components{n: n}}, nil
		}
	}
}

// Bent is for values that are normal on one of several scales. Parameters: mean and standard deviation there, the Bend, the root whose
// slope counts for a value of 0 on the scale of roots (its own slope is infinite), and the largest value known, on the scale: see
// [Bent.Moments].
type Bent struct{}

// Parameters of Bent where nothing is known of values: the root of 0, and the largest value, which limits nothing.
const (
	ZeroRoot  = 1e-9
	Unlimited = math.MaxFloat32
)

// Name implements Family.
func (Bent) Name() string { return BentName }

// Outputs implements Family.
func (Bent) Outputs() int { return 5 }

// Constants implements Family.
func (Bent) Constants() int { return 0 }

// Parameters copies raw: no network gives numbers for this family, so they are the parameters.
func (Bent) Parameters(params, raw []float64) { copy(params, raw) }

// Moments returns mean and standard deviation of the values. Where logarithms are normal, a value counts for at most twice the largest
// one known, or twice the median where that is larger: both grow with the exponential of the variance, and where logarithms are uncertain
// they would be those of values that nothing is known of. Where they are certain, that changes no bit.
func (Bent) Moments(p []float64) (mean, std float64) {
	if Bend(p[2]) == Logarithm {
		return limitedMoments(p[0], p[1], p[4])
	}
	mean, std = unbentMoments(p[0], p[1], p[2])
	if Bend(p[2]) == Amount {
		mean = max(0, mean)
	}
	return mean, std
}

// excess is how many times the largest value known one counts for at most. Beyond the largest value amounts with a heavy tail are twice as
// large on average (those whose squares have no mean any more).
const excess = 2

func limitedMoments(mean, std, largest float64) (m, s float64) {
	limit := math.Log(excess) + max(largest, mean)
	a := (mean - limit) / std
	if a+2*std < -8 {
		return unbentMoments(mean, std, float64(Logarithm))
	}
	beyond := 0.5 * math.Erfc(-a/math.Sqrt2)
	first, second := below(a, std, 1)+beyond, below(a, std, 2)+beyond
	unit := math.Exp(limit)
	return unit * first, unit * math.Sqrt(max(0, second-float64(first*first)))
}

// below is the part of moment k, 1 or 2, that values below 1 have where their logarithms are normal, of mean a std and this deviation.
func below(a, std, k float64) float64 {
	z := a + k*std
	if z < 25 {
		return math.Exp(k*std*(z+a)/2) * 0.5 * math.Erfc(z/math.Sqrt2)
	}
	z2 := z * z // erfc by its asymptotic series, as the exponential alone may overflow
	return math.Exp(-a*a/2) / (z * math.Sqrt(2*math.Pi)) * (1 - (1-(3-15/z2)/z2)/z2)
}

// unbentMoments returns mean and standard deviation of values that are normal on a scale. Roots below 0 are those of values of 0.
func unbentMoments(mean, std, bend float64) (m, s float64) {
	v := std * std
	switch Bend(bend) {
	case Root:
		a := mean / std
		if !(a < 8) { // a normal of this mean is not below 0 but with a probability of 1e-15
			return mean*mean + v, math.Sqrt(4*mean*mean*v + 2*v*v)
		}
		// The second and the fourth moment of a normal of deviation 1, cut at 0.
		above, density := 0.5*math.Erfc(-a/math.Sqrt2), math.Exp(-a*a/2)/math.Sqrt(2*math.Pi)
		second := max(0, (a*a+1)*above+a*density)
		fourth := (a*a*a*a+6*a*a+3)*above + (a*a+5)*a*density
		return v * second, v * math.Sqrt(max(0, fourth-second*second))
	case Logarithm:
		m = math.Exp(mean + v/2)
		return m, m * math.Sqrt(math.Expm1(v))
	}
	return mean, std
}

// LogDensity returns the log-density of a value, -Inf where it has no root or logarithm.
func (Bent) LogDensity(y float64, p []float64) float64 {
	bent, slope, ok := bendValue(y, p[2], p[3])
	if !ok {
		return math.Inf(-1)
	}
	return logNormal(bent, p[0], p[1]) + slope
}

// bendValue takes a value to its scale. slope is the logarithm of the slope there; zero is the root whose slope
// one of 0 has; ok is false where a value has no root or logarithm.
func bendValue(y, bend, zero float64) (bent, slope float64, ok bool) {
	switch Bend(bend) {
	case Root:
		if y < 0 {
			return 0, 0, false
		}
		root := math.Sqrt(y)
		if y == 0 {
			return root, -math.Log(2 * zero), true
		}
		return root, -math.Log(2 * root), true
	case Logarithm:
		if y <= 0 {
			return 0, 0, false
		}
		log := math.Log(y)
		return log, -log, true
	}
	return y, 0, true
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

// bentComponents is for values that are a mixture of n normals on one of several scales. Parameters: those of the mixture there, and the
// Bend.
type bentComponents struct{ of components }

func (l bentComponents) Name() string { return fmt.Sprintf("%s:%d", BentName, l.of.n) }

func (l bentComponents) Outputs() int { return l.of.Outputs() + 1 }

func (bentComponents) Constants() int { return 0 }

func (bentComponents) Parameters(params, raw []float64) { copy(params, raw) }

// split returns the parameters of the mixture and the bend.
func (bentComponents) split(p []float64) (of []float64, bend float64) {
	return p[:len(p)-1], p[len(p)-1]
}

func (l bentComponents) Moments(p []float64) (mean, std float64) {
	of, bend := l.split(p)
	unbent := make([]float64, len(of))
	for k := 0; k < len(of); k += 3 {
		unbent[k] = of[k]
		unbent[k+1], unbent[k+2] = unbentMoments(of[k+1], of[k+2], bend)
	}
	mean, std = l.of.Moments(unbent)
	if Bend(bend) == Amount {
		mean = max(0, mean)
	}
	return mean, std
}

func (l bentComponents) LogDensity(y float64, p []float64) float64 {
	of, bend := l.split(p)
	bent, slope, ok := bendValue(y, bend, ZeroRoot)
	if !ok {
		return math.Inf(-1)
	}
	return l.of.LogDensity(bent, of) + slope
}

func (bentComponents) Gradient(_ []float64, _ float64, _, _ []float64) {
	panic("likelihood: " + BentName + " has no gradient: populations are not trained")
}

func (l bentComponents) Quantile(q float64, p []float64) float64 {
	of, bend := l.split(p)
	return unbend(l.of.Quantile(q, of), bend)
}

func (l bentComponents) Sample(rng *rand.Rand, p []float64) float64 {
	of, bend := l.split(p)
	return unbend(l.of.Sample(rng, of), bend)
}

func (bentComponents) Support() (lo, hi float64) { return math.Inf(-1), math.Inf(1) }
