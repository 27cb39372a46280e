package simd

// RotateF32 turns the points (x[i], y[i]): x[i], y[i] = c·x[i] + s·y[i], c·y[i] - s·x[i].
//
//   - Shape: len(x) == len(y); length 0 is fine.
//   - Aliasing: x and y must not overlap.
//   - Errors: panics if the lengths differ.
//   - Accuracy: two or three roundings, at most 2·u·(1 + u)·(|c·x| + |s·y|) from the exact value, u = 2^-24, or 2^-53 for float64.
func RotateF32(x, y []float32, c, s float32) {
	checkLen("RotateF32", "y", len(y), len(x))
	rotateF32(x, y, c, s)
}

// RotateF64 is RotateF32 for float64.
func RotateF64(x, y []float64, c, s float64) {
	checkLen("RotateF64", "y", len(y), len(x))
	rotateF64(x, y, c, s)
}

// SwapF32 exchanges x[i] and y[i] for every i, the bits of NaN included. x and y must not overlap, unless they are the same; it panics if
// the lengths differ.
func SwapF32(x, y []float32) {
	checkLen("SwapF32", "y", len(y), len(x))
	swapF32(x, y)
}

// SwapF64 is SwapF32 for float64.
func SwapF64(x, y []float64) {
	checkLen("SwapF64", "y", len(y), len(x))
	swapF64(x, y)
}
