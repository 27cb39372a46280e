// Package stdlink makes the standard deviations of many normal distributions from a network's raw numbers, by kernels.
package stdlink

import (
	"math"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// Link makes standard deviations of many raw numbers at a time, by kernels and in the network's precision.
type Link[T layers.Float] interface {
	// Set makes deviations of the softplus v of raw numbers, in place.
	Set(v []T)
	// Grad returns the gradient to raw numbers, given their softplus v and the gradient to the deviations.
	Grad(dStd, v []T) []T
}

// Clamped makes the deviations that a likelihood.Spread makes of single numbers.
type Clamped[T layers.Float] struct{ likelihood.Spread }

// Set clamps the softplus at the floor, and takes its root where it is a variance.
func (s Clamped[T]) Set(v []T) {
	for i := range v {
		v[i] = max(v[i], T(s.Floor))
		if s.Output == likelihood.OutputVariance {
			v[i] = sqrt(v[i])
		}
	}
}

// Grad returns 0 where the floor acts: there the derivative of the clamp is 0, and nothing is learned.
func (s Clamped[T]) Grad(dStd, v []T) []T {
	d := make([]T, len(v))
	for i, x := range v {
		if x > T(s.Floor) {
			d[i] = stdGrad(dStd[i], x, s.Output)
		}
	}
	simd.SoftplusGrad(d, d, v)
	return d
}

// Shifted makes the deviations of CNPs: the floor is part of the parametrisation, floor + (1 - floor)·softplus, and no clamp.
type Shifted[T layers.Float] struct{ likelihood.Spread }

// of is the second output for a softplus v.
func (s Shifted[T]) of(v T) T { return T(s.Floor) + T(1-s.Floor)*v }

// Set shifts the softplus by the floor, and takes its root where it is a variance.
func (s Shifted[T]) Set(v []T) {
	for i := range v {
		v[i] = s.of(v[i])
	}
	Clamped[T]{likelihood.Spread{Output: s.Output}}.Set(v)
}

// Grad returns 0 where the softplus was rounded to 0 and there is no floor.
func (s Shifted[T]) Grad(dStd, v []T) []T {
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
func stdGrad[T layers.Float](dStd, v T, o likelihood.Output) T {
	if o == likelihood.OutputVariance {
		return dStd / (2 * sqrt(v))
	}
	return dStd
}

func sqrt[T layers.Float](x T) T { return T(math.Sqrt(float64(x))) }
