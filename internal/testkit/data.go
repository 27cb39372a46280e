package testkit

import (
	"math"
	"math/rand/v2"
)

// Rand returns a generator with a fixed seed, for tests whose data must be the same every time.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5eed)) }

// Normal returns n standard normal numbers.
func Normal[T float32 | float64](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

// edges32 are the awkward numbers of float32, up to sign.
var edges32 = []float32{
	0, math.SmallestNonzeroFloat32, 0x1p-127, 0x1.fffffcp-127, 0x1p-126, 0x1p-24, 0x1p-23, 0.5, 0x1.fffffep-1, 1, 0x1.000002p0,
	math.Pi / 4, math.Pi / 2, math.Pi, 17.5, 20, 88.72283, 88.72284, 89, 103.972, 104, 110, 0x1p23, 0x1p24, 0x1p31, 1e8,
	math.MaxFloat32, float32(math.Inf(1)), float32(math.NaN()),
}

// edges64 are the awkward numbers of float64, up to sign.
var edges64 = []float64{
	0, math.SmallestNonzeroFloat64, 0x1p-1023, 0x1p-1022, 0x1p-53, 0x1p-52, 0.5, 0x1.fffffffffffffp-1, 1,
	0x1.0000000000001p0, math.Pi / 4, math.Pi / 2, math.Pi, 36.7, 700, 709.78, 709.79, 745.1, 745.2, 800, 0x1p52, 0x1p63, 1e154,
	math.MaxFloat64, math.Inf(1), math.NaN(),
}

// Edges returns the awkward numbers of T in both signs: zeros, subnormals, infinities, NaN, and both sides of the
// thresholds of common functions.
func Edges[T float32 | float64]() []T {
	var x []T
	add := func(v T) { x = append(x, v, -v) }
	if T(1)+T(0x1p-40) == 1 {
		for _, v := range edges32 {
			add(T(v))
		}
		return x
	}
	for _, v := range edges64 {
		add(T(v))
	}
	return x
}

// Awkward returns n numbers that often cause trouble: a quarter are edge values, a quarter random bit patterns, the
// others moderate numbers.
func Awkward[T float32 | float64](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		switch rng.IntN(4) {
		case 0:
			x[i] = Edge[T](rng)
		case 1:
			x[i] = Pattern[T](rng)
		default:
			x[i] = T(rng.NormFloat64() * math.Exp2(float64(rng.IntN(12)-5)))
		}
	}
	return x
}

// Edge returns one of the awkward numbers, in either sign.
func Edge[T float32 | float64](rng *rand.Rand) T {
	var v T
	switch p := any(&v).(type) {
	case *float32:
		*p = edges32[rng.IntN(len(edges32))]
	case *float64:
		*p = edges64[rng.IntN(len(edges64))]
	}
	if rng.IntN(2) == 0 {
		v = -v
	}
	return v
}

// Pattern returns a random bit pattern.
func Pattern[T float32 | float64](rng *rand.Rand) T {
	var v T
	switch p := any(&v).(type) {
	case *float32:
		*p = math.Float32frombits(rng.Uint32())
	case *float64:
		*p = math.Float64frombits(rng.Uint64())
	}
	return v
}

// SameBits reports whether two slices hold the same bit patterns. Any NaN counts as equal to any other NaN.
func SameBits[T float32 | float64](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	for i, v := range a {
		if v != v && b[i] != b[i] {
			continue
		}
		if v != b[i] || math.Signbit(float64(v)) != math.Signbit(float64(b[i])) {
			return false
		}
	}
	return true
}
