package cnp

import (
	"math"

	"github.com/equivcnp/equivcnp/simd"
)

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

// deviations makes standard deviations of many raw numbers at a time, by kernels and in the network's precision.
type deviations[T Float] interface {
	// set makes deviations of the softplus v of raw numbers, in place.
	set(v []T)
	// grad returns the gradient to raw numbers, given their softplus v and the gradient to the deviations.
	grad(dStd, v []T) []T
}

// clamped makes the deviations that spread makes of single numbers.
type clamped[T Float] struct{ spread }

func (s clamped[T]) set(v []T) {
	for i := range v {
		v[i] = max(v[i], T(s.floor))
		if s.output == OutputVariance {
			v[i] = sqrt(v[i])
		}
	}
}

// grad is 0 where the floor acts: there the derivative of the clamp is 0, and nothing is learned.
func (s clamped[T]) grad(dStd, v []T) []T {
	d := make([]T, len(v))
	for i, x := range v {
		if x > T(s.floor) {
			d[i] = stdGrad(dStd[i], x, s.output)
		}
	}
	simd.SoftplusGrad(d, d, v)
	return d
}

// shifted makes those of CNPs: the floor is part of the parametrisation, floor + (1 - floor)·softplus, and no clamp.
type shifted[T Float] struct{ spread }

// of is the second output for a softplus v.
func (s shifted[T]) of(v T) T { return T(s.floor) + T(1-s.floor)*v }

func (s shifted[T]) set(v []T) {
	for i := range v {
		v[i] = s.of(v[i])
	}
	clamped[T]{spread{s.output, 0}}.set(v)
}

// grad is 0 where the softplus was rounded to 0 and there is no floor.
func (s shifted[T]) grad(dStd, v []T) []T {
	d := make([]T, len(v))
	for i, x := range v {
		if x := s.of(x); x > 0 {
			d[i] = T(1-s.floor) * stdGrad(dStd[i], x, s.output)
		}
	}
	simd.SoftplusGrad(d, d, v)
	return d
}

// stdGrad is the gradient to a second output v > 0, given that to the standard deviation.
func stdGrad[T Float](dStd, v T, o Output) T {
	if o == OutputVariance {
		return dStd / (2 * sqrt(v))
	}
	return dStd
}

func sqrt[T Float](x T) T { return T(math.Sqrt(float64(x))) }
