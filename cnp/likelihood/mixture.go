package likelihood

import (
	"math"
	"math/rand/v2"
)

// EqualParts returns the mixture, with equal weights, of families: its parameters are theirs, one after the other.
func EqualParts(members ...Family) Family { return equalParts{members} }

// equalParts is the likelihood of an ensemble: parameters are those of its members, one after the other.
type equalParts struct{ members []Family }

// Name implements Family. No configuration can name it: an ensemble is not trained as one.
func (l equalParts) Name() string { return "mixture" }

func (l equalParts) Outputs() int {
	n := 0
	for _, m := range l.members {
		n += m.Outputs()
	}
	return n
}

func (equalParts) Constants() int { return 0 }

// Parameters implements Family: no network gives numbers for it, so they are the parameters.
func (equalParts) Parameters(params, raw []float64) { copy(params, raw) }

// each calls f for every member with its parameters.
func (l equalParts) each(params []float64, f func(m Family, params []float64)) {
	for _, m := range l.members {
		n := m.Outputs()
		f(m, params[:n])
		params = params[n:]
	}
}

func (l equalParts) Moments(params []float64) (mean, std float64) {
	square, n := 0.0, float64(len(l.members))
	l.each(params, func(m Family, p []float64) {
		a, _ := m.Moments(p)
		mean += a / n
	})
	l.each(params, func(m Family, p []float64) {
		a, s := m.Moments(p)
		square += (s*s + (a-mean)*(a-mean)) / n
	})
	return mean, math.Sqrt(square)
}

func (l equalParts) LogDensity(y float64, params []float64) float64 {
	logs := make([]float64, 0, 8)
	most := math.Inf(-1)
	l.each(params, func(m Family, p []float64) {
		v := m.LogDensity(y, p)
		logs, most = append(logs, v), max(most, v)
	})
	if math.IsInf(most, 0) || math.IsNaN(most) {
		return most
	}
	sum := 0.0
	for _, v := range logs {
		sum += math.Exp(v - most)
	}
	return most + math.Log(sum/float64(len(logs)))
}

// Gradient panics: an ensemble's members are trained one by one.
func (equalParts) Gradient(_ []float64, _ float64, _, _ []float64) {
	panic("likelihood: an ensemble has no gradient: train its members")
}

// Quantile lies between the least and the greatest of the members' quantiles; bisection finds it.
func (l equalParts) Quantile(q float64, params []float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	l.each(params, func(m Family, p []float64) {
		v := m.Quantile(q, p)
		lo, hi = min(lo, v), max(hi, v)
	})
	if !(hi > lo) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return lo
	}
	// The least value that is not exceeded with probability q: hi always is, lo never.
	if l.below(lo, params) >= q {
		return lo
	}
	for range 64 {
		mid := lo + (hi-lo)/2
		if !(mid > lo && mid < hi) {
			break
		}
		if l.below(mid, params) >= q {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// below returns the probability of values up to y.
func (l equalParts) below(y float64, params []float64) float64 {
	sum := 0.0
	l.each(params, func(m Family, p []float64) { sum += probability(m, y, p) })
	return sum / float64(len(l.members))
}

// probability returns that of values up to y, from the quantiles of a likelihood.
func probability(l Family, y float64, params []float64) float64 {
	switch l.(type) {
	case normal, noisyNormal:
		mean, std := l.Moments(params)
		return math.Erfc((mean-y)/(std*math.Sqrt2)) / 2
	case components:
		return beside(y, params, false)
	}
	lo, hi := 0.0, 1.0
	for range 60 {
		if mid := (lo + hi) / 2; l.Quantile(mid, params) <= y {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func (l equalParts) Sample(rng *rand.Rand, params []float64) float64 {
	k, v := rng.IntN(len(l.members)), 0.0
	l.each(params, func(m Family, p []float64) {
		if k == 0 {
			v = m.Sample(rng, p)
		}
		k--
	})
	return v
}

func (l equalParts) Support() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, m := range l.members {
		a, b := m.Support()
		lo, hi = min(lo, a), max(hi, b)
	}
	return lo, hi
}
