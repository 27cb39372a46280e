package simd

// The derivatives of the activations, as the backward pass of a layer needs them: dx = dy·f'(x). Those that can be computed from
// the activation's result y take y, so that the pre-activation need not be kept.

// SwishGradF32 sets dx[i] = dy[i]·swish'(x[i]) for every i, with swish'(x) = s·(1 + x·(1 - s)) and s = sigmoid(x).
//
//   - Shape: all lengths are equal; length 0 is fine.
//   - Aliasing: dx may be dy itself or x itself.
//   - Errors: panics if the lengths differ. NaN gives NaN; the derivative is 0 at -Inf and 1 at +Inf.
//   - Accuracy: the derivative, which lies between -0.1 and 1.1, is within 4·eps (TestAccuracy).
func SwishGradF32(dx, dy, x []float32) {
	checkGrad("SwishGradF32", "x", len(dx), len(dy), len(x))
	swishGradF32(dx, dy, x)
}

// SwishGradF64 is SwishGradF32 for float64.
func SwishGradF64(dx, dy, x []float64) {
	checkGrad("SwishGradF64", "x", len(dx), len(dy), len(x))
	swishGradF64(dx, dy, x)
}

// ReLUGradF32 sets dx[i] = dy[i] where y[i] = max(x[i], 0) is above 0, and 0 elsewhere. It selects and does not multiply, so a
// NaN in dy where the result is 0 is harmless; where y is NaN, dx is dy. dx may be dy itself or y itself; it panics if the lengths
// differ.
func ReLUGradF32(dx, dy, y []float32) {
	checkGrad("ReLUGradF32", "y", len(dx), len(dy), len(y))
	reluGradF32(dx, dy, y)
}

// ReLUGradF64 is ReLUGradF32 for float64.
func ReLUGradF64(dx, dy, y []float64) {
	checkGrad("ReLUGradF64", "y", len(dx), len(dy), len(y))
	reluGradF64(dx, dy, y)
}

// SigmoidGradF32 sets dx[i] = dy[i]·y[i]·(1 - y[i]), the derivative of y = sigmoid(x). dx may be dy itself or y itself; it
// panics if the lengths differ.
func SigmoidGradF32(dx, dy, y []float32) {
	checkGrad("SigmoidGradF32", "y", len(dx), len(dy), len(y))
	sigmoidGradF32(dx, dy, y)
}

// SigmoidGradF64 is SigmoidGradF32 for float64.
func SigmoidGradF64(dx, dy, y []float64) {
	checkGrad("SigmoidGradF64", "y", len(dx), len(dy), len(y))
	sigmoidGradF64(dx, dy, y)
}

// SoftplusGradF32 sets dx[i] = dy[i]·(1 - exp(-y[i])), the derivative of y = softplus(x), which is sigmoid(x).
//
//   - Aliasing: dx may be dy itself or y itself.
//   - Errors: panics if the lengths differ. NaN gives NaN. A softplus y is never negative; the formula still holds for negative
//     y down to -87, and smaller y are treated as -87.
//   - Accuracy: for y ≥ 0 the derivative is within 2 ULP, also where y, and so the derivative, is tiny
//     (TestAccuracy); the product with dy is rounded once more.
func SoftplusGradF32(dx, dy, y []float32) {
	checkGrad("SoftplusGradF32", "y", len(dx), len(dy), len(y))
	softplusGradF32(dx, dy, y)
}

// SoftplusGradF64 is SoftplusGradF32 for float64; smaller y than -709 may be treated as -709.
func SoftplusGradF64(dx, dy, y []float64) {
	checkGrad("SoftplusGradF64", "y", len(dx), len(dy), len(y))
	softplusGradF64(dx, dy, y)
}

// TanhGradF32 sets dx[i] = dy[i]·(1 - y[i])·(1 + y[i]), the derivative of y = tanh(x). dx may be dy itself or y itself; it panics if
// the lengths differ. The factor is within 2 ULP, also where y is next to ±1.
func TanhGradF32(dx, dy, y []float32) {
	checkGrad("TanhGradF32", "y", len(dx), len(dy), len(y))
	tanhGrad(dx, dy, y)
}

// TanhGradF64 is TanhGradF32 for float64.
func TanhGradF64(dx, dy, y []float64) {
	checkGrad("TanhGradF64", "y", len(dx), len(dy), len(y))
	tanhGrad(dx, dy, y)
}

// GELUGradF32 sets dx[i] = dy[i]·gelu'(x[i]) for every i, with gelu'(x) = Φ(x) + x·φ(x), where Φ and φ are the distribution function
// and the density of the standard normal distribution.
//
//   - Shape: all lengths are equal; length 0 is fine.
//   - Aliasing: dx may be dy itself or x itself.
//   - Errors: panics if the lengths differ. NaN gives NaN; the derivative is 0 at -Inf and 1 at +Inf.
//   - Accuracy: the derivative, which lies between -0.13 and 1.13, is within 4·eps (TestAccuracy).
func GELUGradF32(dx, dy, x []float32) {
	checkGrad("GELUGradF32", "x", len(dx), len(dy), len(x))
	geluGrad(dx, dy, x)
}

// GELUGradF64 is GELUGradF32 for float64.
func GELUGradF64(dx, dy, x []float64) {
	checkGrad("GELUGradF64", "x", len(dx), len(dy), len(x))
	geluGrad(dx, dy, x)
}

func checkGrad(fn, arg string, dx, dy, x int) {
	checkLen(fn, "dx", dx, x)
	checkLen(fn, "dy", dy, x)
}
