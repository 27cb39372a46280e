package blas

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/equivcnp/equivcnp/simd"
)

// Numbers of elements by which calls are shared out, measured on Zen 3 and Emerald Rapids in turns with gonum. Vectors shorter than loop..
// are taken by plain loops, those below longKernel by kernels for short vectors, which are called without anything in between, and those
// from long.. on by kernels of package simd. Where there are no kernels for short vectors, what lies between is gonum's.
// With an increment, plain loops take what is shorter than strided.., and kernels the rest below longStrided.
const (
	short           = 8
	longKernel      = 256
	longSum         = 32
	loopDot32       = 8
	longDot32       = 64
	loopDot64       = 4
	longDot64       = 48
	loopAxpy32      = 4
	longAxpy32      = 8
	loopAxpy64      = 4
	longAxpy64      = 36
	loopScale32     = 4
	longScale32     = 12
	loopScale64     = 3
	longScale64     = 64
	loopSwap32      = 4
	loopSwap64      = 4
	loopRotate32    = 4
	loopRotate64    = 4
	loopAbs32       = 8
	loopAbs64       = 4
	longLargest32   = 48
	longLargest64   = 64
	longStrided     = 1 << 14
	longStridedAxpy = 160
	stridedDot32    = 4
	stridedDot64    = 4
	stridedAxpy32   = 4
	stridedAxpy64   = 4
	stridedScale32  = 4
	stridedScale64  = 3
	// chunk is how many elements the search for the largest one goes through a second time.
	chunk = 512
)

// isRow and areRows report whether one or two vectors of n elements are contiguous, not empty, and as long as their slices.
func isRow[T simd.Float](n int, x []T, incX int) bool { return incX == 1 && n > 0 && len(x) >= n }

func areRows[T simd.Float](n int, x []T, incX int, y []T, incY int) bool {
	return incX == 1 && incY == 1 && n > 0 && len(x) >= n && len(y) >= n
}

// isStrided and areStrided report whether one or two vectors of n elements with any increment are right and not empty. An increment of 0
// and, for one vector, a negative one is gonum's. They panic where the place of the last element overflows: gonum's own check
// passes there, and its kernels would read and write anywhere.
func isStrided[T simd.Float](n int, x []T, incX int) bool {
	if n <= 0 || incX <= 0 {
		return false
	}
	high, last := bits.Mul64(uint64(n-1), uint64(incX))
	if high|last>>(bits.UintSize-1) != 0 {
		panic("blas: insufficient length of x")
	}
	return last < uint64(len(x))
}

func areStrided(n, lenX, incX, lenY, incY int) bool {
	if n <= 0 || incX == 0 || incY == 0 {
		return false
	}
	highX, lastX := bits.Mul64(uint64(n-1), uint64(max(incX, -incX)))
	highY, lastY := bits.Mul64(uint64(n-1), uint64(max(incY, -incY)))
	if highX|highY|(lastX|lastY)>>(bits.UintSize-1) != 0 {
		panic("blas: insufficient length of x or y")
	}
	return lastX < uint64(lenX) && lastY < uint64(lenY)
}

// norm2 is the Euclidean norm, and false where squares leave the range or something is not finite.
func norm2[T simd.Float](x []T) (float64, bool) {
	if len(x) < longSum {
		return rootOf(shortSquares(x))
	}
	return rootOf(simd.SumSq(x))
}

func rootOf(s float64) (float64, bool) { return math.Sqrt(s), s >= 0x1p-900 && s <= 0x1p1000 }

func shortSquares[T simd.Float](x []T) float64 {
	var s0, s1 float64
	for len(x) >= 2 {
		s0 += float64(x[0]) * float64(x[0])
		s1 += float64(x[1]) * float64(x[1])
		x = x[2:]
	}
	if len(x) > 0 {
		s0 += float64(x[0]) * float64(x[0])
	}
	return s0 + s1
}

// strided2 is norm2 for an increment.
func strided2[T simd.Float](n int, x []T, incX int) (float64, bool) {
	var s0, s1 float64
	i := 0
	for ; n >= 2; n -= 2 {
		a, b := float64(x[i]), float64(x[i+incX])
		s0 += a * a
		s1 += b * b
		i += 2 * incX
	}
	if n > 0 {
		s0 += float64(x[i]) * float64(x[i])
	}
	return rootOf(s0 + s1)
}

// shortAbs is Σ |x|, stridedAbs the same for an increment.
func shortAbs[T simd.Float](x []T) float64 {
	var s0, s1 float64
	for len(x) >= 2 {
		s0 += math.Abs(float64(x[0]))
		s1 += math.Abs(float64(x[1]))
		x = x[2:]
	}
	if len(x) > 0 {
		s0 += math.Abs(float64(x[0]))
	}
	return s0 + s1
}

func stridedAbs[T simd.Float](n int, x []T, incX int) float64 {
	var s0, s1 float64
	i := 0
	for ; n >= 2; n -= 2 {
		s0 += math.Abs(float64(x[i]))
		s1 += math.Abs(float64(x[i+incX]))
		i += 2 * incX
	}
	if n > 0 {
		s0 += math.Abs(float64(x[i]))
	}
	return s0 + s1
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

// shortLargest and stridedLargest return the first index of the largest magnitude. As gonum's they take no notice of a NaN, unless it
// comes first.
func shortLargest[T simd.Float](x []T) int {
	at, most := 0, magnitude(x[0])
	for i, v := range x {
		if m := magnitude(v); m > most {
			at, most = i, m
		}
	}
	return at
}

func stridedLargest[T simd.Float](n int, x []T, incX int) int {
	at, most, k := 0, magnitude(x[0]), incX
	i := 1
	for ; i+1 < n; i += 2 {
		a, b := magnitude(x[k]), magnitude(x[k+incX])
		if a > most {
			at, most = i, a
		}
		if b > most {
			at, most = i+1, b
		}
		k += 2 * incX
	}
	if i < n && magnitude(x[k]) > most {
		at = i
	}
	return at
}

func magnitude[T simd.Float](v T) T { return T(math.Abs(float64(v))) }

func shortSwapOf[T simd.Float](x, y []T) {
	y = y[:len(x)]
	for i, v := range x {
		x[i], y[i] = y[i], v
	}
}

func stridedSwap[T simd.Float](n int, x []T, incX int, y []T, incY int) {
	i, j := start(n, incX), start(n, incY)
	for range n {
		x[i], y[j] = y[j], x[i]
		i += incX
		j += incY
	}
}

func stridedCopy[T simd.Float](n int, x []T, incX int, y []T, incY int) {
	i, j := start(n, incX), start(n, incY)
	for range n {
		y[j] = x[i]
		i += incX
		j += incY
	}
}

// shortRotateOf is (x, y) = (c·x + s·y, c·y - s·x).
func shortRotateOf[T simd.Float](x, y []T, c, s T) {
	y = y[:len(x)]
	for i, v := range x {
		w := y[i]
		x[i], y[i] = c*v+s*w, c*w-s*v
	}
}

func stridedRotate[T simd.Float](n int, x []T, incX int, y []T, incY int, c, s T) {
	i, j := start(n, incX), start(n, incY)
	for range n {
		v, w := x[i], y[j]
		x[i], y[j] = c*v+s*w, c*w-s*v
		i += incX
		j += incY
	}
}

// shortDot is Σ x·y.
func shortDot[T simd.Float](x, y []T) T {
	var s0, s1 T
	for len(x) >= 2 && len(y) >= 2 {
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		x, y = x[2:], y[2:]
	}
	if len(x) > 0 && len(y) > 0 {
		s0 += x[0] * y[0]
	}
	return s0 + s1
}

func stridedDot[T simd.Float](n int, x []T, incX int, y []T, incY int) (sum T) {
	i, j := start(n, incX), start(n, incY)
	for range n {
		sum += x[i] * y[j]
		i += incX
		j += incY
	}
	return sum
}

// dot is shortDot for a part of a matrix.
func dot[T simd.Float](x, y []T) T {
	if len(x) < short {
		return shortDot(x, y)
	}
	return T(simd.Dot(x, y))
}

// axpy is y += alpha·x for a part of a matrix, not empty.
func axpy[T simd.Float](y []T, alpha T, x []T) {
	switch {
	case len(x) >= longKernel || !fast():
		simd.Axpy(y, alpha, x)
	case unsafe.Sizeof(alpha) == 4:
		kernelAxpy32(len(x), float32(alpha), as[float32](x), as[float32](y))
	default:
		kernelAxpy64(len(x), float64(alpha), as[float64](x), as[float64](y))
	}
}

// axpyLoop is y += alpha·x.
func axpyLoop[T simd.Float](y []T, alpha T, x []T) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += alpha * v
	}
}

func stridedAxpy[T simd.Float](n int, alpha T, x []T, incX int, y []T, incY int) {
	i, j := start(n, incX), start(n, incY)
	for range n {
		y[j] += alpha * x[i]
		i += incX
		j += incY
	}
}

func scaleLoop[T simd.Float](x []T, alpha T) {
	for i := range x {
		x[i] *= alpha
	}
}

func stridedScale[T simd.Float](n int, alpha T, x []T, incX int) {
	i := 0
	for range n {
		x[i] *= alpha
		i += incX
	}
}
