package simd

// ErfF32 sets dst[i] to the error function 2/√π·∫exp(-t²)dt from 0 to x[i], to 1 ULP. dst may be x itself; it panics if the lengths differ.
func ErfF32(dst, x []float32) {
	checkLen("ErfF32", "dst", len(dst), len(x))
	if len(x) > 0 {
		erfF32(dst, x)
	}
}

// ErfF64 is ErfF32 for float64, to 2 ULP.
func ErfF64(dst, x []float64) {
	checkLen("ErfF64", "dst", len(dst), len(x))
	if len(x) > 0 {
		erfF64(dst, x)
	}
}

// GELUF32 sets dst[i] = x[i]·Φ(x[i]), Φ the distribution function of the standard normal distribution, to 2 ULP; not
// the approximation by tanh. dst may be x itself; it panics if the lengths differ.
func GELUF32(dst, x []float32) {
	checkLen("GELUF32", "dst", len(dst), len(x))
	if len(x) > 0 {
		geluF32(dst, x)
	}
}

// GELUF64 is GELUF32 for float64, to 5 ULP.
func GELUF64(dst, x []float64) {
	checkLen("GELUF64", "dst", len(dst), len(x))
	if len(x) > 0 {
		geluF64(dst, x)
	}
}

// Expm1F32 sets dst[i] = exp(x[i]) - 1, accurate near 0, to 1 ULP. dst may be x itself; it panics if the lengths differ.
func Expm1F32(dst, x []float32) {
	checkLen("Expm1F32", "dst", len(dst), len(x))
	if len(x) > 0 {
		expm1F32(dst, x)
	}
}

// Expm1F64 is Expm1F32 for float64, to 2 ULP.
func Expm1F64(dst, x []float64) {
	checkLen("Expm1F64", "dst", len(dst), len(x))
	if len(x) > 0 {
		expm1F64(dst, x)
	}
}

// Log1pF32 sets dst[i] = ln(1 + x[i]), accurate near 0, to 1 ULP; NaN below -1. dst may be x itself; it panics if the lengths differ.
func Log1pF32(dst, x []float32) {
	checkLen("Log1pF32", "dst", len(dst), len(x))
	if len(x) > 0 {
		log1pF32(dst, x)
	}
}

// Log1pF64 is Log1pF32 for float64, to 2 ULP.
func Log1pF64(dst, x []float64) {
	checkLen("Log1pF64", "dst", len(dst), len(x))
	if len(x) > 0 {
		log1pF64(dst, x)
	}
}

// PowF32 sets dst[i] to x[i] to the power of y[i], to 1 ULP, with the special values of math.Pow. dst may be x or y
// itself; it panics if the lengths differ.
func PowF32(dst, x, y []float32) {
	checkLen("PowF32", "dst", len(dst), len(x))
	checkLen("PowF32", "y", len(y), len(x))
	if len(x) > 0 {
		powF32(dst, x, y)
	}
}

// PowF64 is PowF32 for float64, to 2 ULP.
func PowF64(dst, x, y []float64) {
	checkLen("PowF64", "dst", len(dst), len(x))
	checkLen("PowF64", "y", len(y), len(x))
	if len(x) > 0 {
		powF64(dst, x, y)
	}
}

// SoftmaxF32 sets every row of dst to exp(x)/Σ exp(x) over that row of x.
//
//   - Shape: dst and x are [rows, c].
//   - Aliasing: dst may be x itself.
//   - Errors: panics if a length does not match. A row with NaN or +Inf, or of nothing but -Inf, becomes NaN.
//   - Accuracy: no exponential overflows, because the largest element m of the row is subtracted first. The error is
//     below 4 ULP, and that of the subtraction: at most eps/2·(|x-m| + the mean of |x-m| over the row), relative (TestSumsAccuracy).
func SoftmaxF32(dst, x []float32, c int) {
	checkLen("SoftmaxF32", "dst", len(dst), len(x))
	checkSize("SoftmaxF32", "c", c)
	checkRows("SoftmaxF32", "x", len(x), c)
	softmax(dst, x, c)
}

// SoftmaxF64 is SoftmaxF32 for float64, whose sum adds its own error, that of SumF64: up to 5 ULP in all in rows of 64.
func SoftmaxF64(dst, x []float64, c int) {
	checkLen("SoftmaxF64", "dst", len(dst), len(x))
	checkSize("SoftmaxF64", "c", c)
	checkRows("SoftmaxF64", "x", len(x), c)
	softmax(dst, x, c)
}

// SoftmaxGradF32 sets every row of dx to y·(dy - Σ y·dy), the gradient of y = softmax(x) where dy is that of its result.
//
//   - Shape: dx, dy and y are [rows, c].
//   - Aliasing: dx may be dy itself or y itself.
//   - Errors: panics if a length does not match.
//   - Accuracy: within 3·eps·y·(|dy| + |Σ y·dy|) of the exact value for the given y (TestSoftmaxGrad).
func SoftmaxGradF32(dx, dy, y []float32, c int) {
	checkGrad("SoftmaxGradF32", "y", len(dx), len(dy), len(y))
	checkSize("SoftmaxGradF32", "c", c)
	checkRows("SoftmaxGradF32", "y", len(y), c)
	softmaxGrad(dx, dy, y, c)
}

// SoftmaxGradF64 is SoftmaxGradF32 for float64, whose sums add their own error, that of DotF64.
func SoftmaxGradF64(dx, dy, y []float64, c int) {
	checkGrad("SoftmaxGradF64", "y", len(dx), len(dy), len(y))
	checkSize("SoftmaxGradF64", "c", c)
	checkRows("SoftmaxGradF64", "y", len(y), c)
	softmaxGrad(dx, dy, y, c)
}

// LogSumExpF32 returns ln Σ exp(x[i]), without overflow on the way: -Inf for no elements, NaN if any is. The error is at most
// 2·eps, that of the subtraction as in SoftmaxF32, and the rounding of the result to float64.
func LogSumExpF32(x []float32) float64 { return logSumExp(x) }

// LogSumExpF64 is LogSumExpF32 for float64.
func LogSumExpF64(x []float64) float64 { return logSumExp(x) }

// ArgMaxF32 returns the index of the largest element, the first of several: -1 for no elements, and that of the first NaN if there is any.
func ArgMaxF32(x []float32) int {
	return argMaxF32(x)
}

// ArgMaxF64 is ArgMaxF32 for float64.
func ArgMaxF64(x []float64) int {
	return argMaxF64(x)
}

// ArgMinF32 returns the index of the smallest element, the first of several: -1 for no elements, and that of the first NaN if there is any.
func ArgMinF32(x []float32) int { return argMin(x) }

// ArgMinF64 is ArgMinF32 for float64.
func ArgMinF64(x []float64) int { return argMin(x) }
