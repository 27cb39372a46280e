package cnp

import (
	"math"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/simd"
)

// deviations makes standard deviations of many raw numbers at a time, by kernels and in the network's precision.
type deviations[T Float] interface {
	// set makes deviations of the softplus v of raw numbers, in place.
	set(v []T)
	// grad returns the gradient to raw numbers, given their softplus v and the gradient to the deviations.
	grad(dStd, v []T) []T
}

// clamped makes the deviations that spread makes of single numbers.
type clamped[T Float] struct{ likelihood.Spread }

func (s clamped[T]) set(v []T) {
	for i := range v {
		v[i] = max(v[i], T(s.Floor))
		if s.Output == OutputVariance {
			v[i] = sqrt(v[i])
		}
	}
}

// grad is 0 where the floor acts: there the derivative of the clamp is 0, and nothing is learned.
func (s clamped[T]) grad(dStd, v []T) []T {
	d := make([]T, len(v))
	for i, x := range v {
		if x > T(s.Floor) {
			d[i] = stdGrad(dStd[i], x, s.Output)
		}
	}
	simd.SoftplusGrad(d, d, v)
	return d
}

// shifted makes those of CNPs: the floor is part of the parametrisation, floor + (1 - floor)·softplus, and no clamp.
type shifted[T Float] struct{ likelihood.Spread }

// of is the second output for a softplus v.
func (s shifted[T]) of(v T) T { return T(s.Floor) + T(1-s.Floor)*v }

func (s shifted[T]) set(v []T) {
	for i := range v {
		v[i] = s.of(v[i])
	}
	clamped[T]{likelihood.Spread{Output: s.Output}}.set(v)
}

// grad is 0 where the softplus was rounded to 0 and there is no floor.
func (s shifted[T]) grad(dStd, v []T) []T {
	d := make([]T, len(v))
	for i, x := range v {
		if x := s.of(x); x > 0 {
			d[i] = T(1-s.Floor) * stdGrad(dStd[i], x, s.Output)
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
