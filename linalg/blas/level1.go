package blas

import (
	"math"

	"github.com/equivcnp/equivcnp/simd"
)

// Below these lengths gonum's loops are as fast, because nothing is dispatched.
const (
	shortVector = 32
	// chunk is how many elements go through a buffer on the stack.
	chunk = 512
)

// long1 and long2 report whether one or two vectors are for this package: contiguous, long and of the right length.
func long1[T simd.Float](n int, x []T, incX int) bool {
	return incX == 1 && n >= shortVector && len(x) >= n
}

func long2[T simd.Float](n int, x []T, incX int, y []T, incY int) bool {
	return incX == 1 && incY == 1 && n >= shortVector && len(x) >= n && len(y) >= n
}

// norm2 is the Euclidean norm, and false where squares leave the range or something is not finite.
func norm2[T simd.Float](x []T) (float64, bool) {
	s := simd.SumSq(x)
	return math.Sqrt(s), s >= 0x1p-900 && s <= 0x1p1000
}

func absSum[T simd.Float](x []T) T {
	var s [8]T
	for len(x) >= 8 {
		v := (*[8]T)(x)
		for i, w := range v {
			s[i] += max(w, -w)
		}
		x = x[8:]
	}
	for i, w := range x {
		s[i] += max(w, -w)
	}
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}

// largest returns the first index of the largest magnitude, and false if there is a NaN.
func largest[T simd.Float](x []T) (int, bool) {
	most, block := T(-1), 0
	for lo := 0; lo < len(x); lo += chunk {
		a, b := simd.MinMax(x[lo:min(lo+chunk, len(x))])
		if a != a {
			return 0, false
		}
		if m := max(-a, b); m > most {
			most, block = m, lo
		}
	}
	for i, v := range x[block:min(block+chunk, len(x))] {
		if v == most || v == -most {
			return block + i, true
		}
	}
	return 0, false
}

func swap[T simd.Float](x, y []T) {
	var buf [chunk]T
	for len(x) > 0 {
		n := copy(buf[:], x)
		copy(x, y[:n])
		copy(y, buf[:n])
		x, y = x[n:], y[n:]
	}
}

// rotate is (x, y) = (c·x + s·y, c·y - s·x).
func rotate[T simd.Float](x, y []T, c, s T) {
	var buf [chunk]T
	for len(x) > 0 {
		n := min(len(x), chunk)
		a, b, t := x[:n], y[:n], buf[:n]
		simd.Scale(t, c, a)
		simd.Axpy(t, s, b)
		simd.Scale(b, c, b)
		simd.Axpy(b, -s, a)
		copy(a, t)
		x, y = x[n:], y[n:]
	}
}

// dot is Σ x·y.
func dot[T simd.Float](x, y []T) T { return T(simd.Dot(x, y)) }
