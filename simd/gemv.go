package simd

// GemvF32 computes y = alpha·A·x + beta·y.
//
//   - Shape: A is [m, n] with rows lda ≥ n apart, x [n], y [m]. Any size may be 0; with n = 0, y = beta·y.
//   - Aliasing: y must not overlap A or x.
//   - Errors: panics on a negative size, a stride below its row length, or a slice that does not have its length. With
//     beta = 0, y is not read.
//   - Accuracy: at most (n+8)·eps·(|alpha|·Σ|a·x| + |beta·y|) from the exact value, per element. An element depends on its row alone.
func GemvF32(y, a []float32, lda int, x []float32, alpha, beta float32, m, n int) {
	checkGemv("GemvF32", len(y), m, len(a), lda, len(x), n, m, n)
	gemvScale(y, beta)
	if m > 0 && n > 0 {
		gemvF32(y, a, lda, x, alpha, m, n)
	}
}

// GemvF64 is GemvF32 for float64.
func GemvF64(y, a []float64, lda int, x []float64, alpha, beta float64, m, n int) {
	checkGemv("GemvF64", len(y), m, len(a), lda, len(x), n, m, n)
	gemvScale(y, beta)
	if m > 0 && n > 0 {
		gemvF64(y, a, lda, x, alpha, m, n)
	}
}

// GemvTF32 computes y = alpha·Aᵀ·x + beta·y: a sum of the rows of A, weighted by x. A is [m, n] with rows lda ≥ n apart, x [m], y [n];
// otherwise it is like GemvF32, with sums of m terms. An element depends on its column alone. What stands between the rows of A does not
// matter, but may be read.
func GemvTF32(y, a []float32, lda int, x []float32, alpha, beta float32, m, n int) {
	checkGemv("GemvTF32", len(y), n, len(a), lda, len(x), m, m, n)
	gemvScale(y, beta)
	if m > 0 && n > 0 {
		gemvTF32(y, a, lda, x, alpha, m, n)
	}
}

// GemvTF64 is GemvTF32 for float64.
func GemvTF64(y, a []float64, lda int, x []float64, alpha, beta float64, m, n int) {
	checkGemv("GemvTF64", len(y), n, len(a), lda, len(x), m, m, n)
	gemvScale(y, beta)
	if m > 0 && n > 0 {
		gemvTF64(y, a, lda, x, alpha, m, n)
	}
}

// Gemv computes y = alpha·A·x + beta·y; see GemvF32.
func Gemv[T Float](y, a []T, lda int, x []T, alpha, beta T, m, n int) {
	switch y := any(y).(type) {
	case []float32:
		GemvF32(y, any(a).([]float32), lda, any(x).([]float32), float32(alpha), float32(beta), m, n)
	case []float64:
		GemvF64(y, any(a).([]float64), lda, any(x).([]float64), float64(alpha), float64(beta), m, n)
	default:
		unreachable("Gemv")
	}
}

// GemvT computes y = alpha·Aᵀ·x + beta·y; see GemvTF32.
func GemvT[T Float](y, a []T, lda int, x []T, alpha, beta T, m, n int) {
	switch y := any(y).(type) {
	case []float32:
		GemvTF32(y, any(a).([]float32), lda, any(x).([]float32), float32(alpha), float32(beta), m, n)
	case []float64:
		GemvTF64(y, any(a).([]float64), lda, any(x).([]float64), float64(alpha), float64(beta), m, n)
	default:
		unreachable("GemvT")
	}
}

func checkGemv(fn string, lenY, needY, lenA, lda, lenX, needX, m, n int) {
	checkSize(fn, "m", m)
	checkSize(fn, "n", n)
	checkMatrix(fn, "a", lenA, m, n, lda)
	checkLen(fn, "x", lenX, needX)
	checkLen(fn, "y", lenY, needY)
}

func gemvScale[T Float](y []T, beta T) {
	switch beta {
	case 0:
		clear(y)
	case 1:
	default:
		Scale(y, beta, y)
	}
}
