package blas

import (
	"math"

	"github.com/equivcnp/equivcnp/simd"
)

// Vectors of fewer than tinyVector elements are taken by plain loops, whose call costs less than checking the arguments twice. From there
// to shortVector (shortDot for sums) gonum's assembly, which is not dispatched, is as fast. Measured on Zen 5, in turns with gonum.
const (
	tinyVector  = 8
	shortVector = 32
	shortDot    = 96
	// chunk is the number of elements that go through a buffer on the stack, shortBuffered the length from which clearing one is
	// worth it.
	chunk         = 512
	shortBuffered = 256
)

// isRow and areRows report whether one or two vectors are for this package: contiguous, long enough for n elements, and of a length that
// gains. Everything else is gonum's, panics included.
func isRow[T simd.Float](n int, x []T, incX, least int) bool {
	return incX == 1 && n > 0 && (n < tinyVector || n >= least) && len(x) >= n
}

func areRows[T simd.Float](n int, x []T, incX int, y []T, incY, least int) bool {
	return incX == 1 && incY == 1 && n > 0 && (n < tinyVector || n >= least) && len(x) >= n && len(y) >= n
}

// norm2 is the Euclidean norm, and false where squares leave the range or something is not finite.
func norm2[T simd.Float](x []T) (float64, bool) {
	if len(x) < tinyVector {
		var s float64
		for _, v := range x {
			s += float64(v) * float64(v)
		}
		return math.Sqrt(s), s >= 0x1p-900 && s <= 0x1p1000
	}
	s := simd.SumSq(x)
	return math.Sqrt(s), s >= 0x1p-900 && s <= 0x1p1000
}

// absSum is Σ |x|.
func absSum[T simd.Float](x []T) (sum T) {
	if len(x) < tinyVector {
		for _, v := range x {
			sum += max(v, -v)
		}
		return sum
	}
	var buf [chunk]T
	for len(x) > 0 {
		n := min(len(x), chunk)
		simd.Abs(buf[:n], x[:n])
		sum += T(simd.Sum(buf[:n]))
		x = x[n:]
	}
	return sum
}

// largest returns the first index of the largest magnitude, and false if there is a NaN.
func largest[T simd.Float](x []T) (int, bool) {
	if len(x) < tinyVector {
		at, most := 0, T(-1)
		for i, v := range x {
			if v = max(v, -v); v > most {
				at, most = i, v
			} else if v != v {
				return 0, false
			}
		}
		return at, true
	}
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
	if len(x) < shortBuffered {
		y = y[:len(x)]
		for i, v := range x {
			x[i], y[i] = y[i], v
		}
		return
	}
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
	if len(x) < shortBuffered {
		y = y[:len(x)]
		for i, v := range x {
			w := y[i]
			x[i], y[i] = c*v+s*w, c*w-s*v
		}
		return
	}
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
func dot[T simd.Float](x, y []T) (sum T) {
	if len(x) >= tinyVector {
		return T(simd.Dot(x, y))
	}
	y = y[:len(x)]
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// axpy is y += alpha·x, scale x *= alpha.
func axpy[T simd.Float](y []T, alpha T, x []T) {
	if len(x) >= tinyVector {
		simd.Axpy(y, alpha, x)
		return
	}
	y = y[:len(x)]
	for i, v := range x {
		y[i] += alpha * v
	}
}

func scale[T simd.Float](x []T, alpha T) {
	if len(x) >= tinyVector {
		simd.Scale(x, alpha, x)
		return
	}
	for i := range x {
		x[i] *= alpha
	}
}
