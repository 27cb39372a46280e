package simd

// AddF32 sets dst[i] = x[i] + y[i] for every i. dst may be x or y itself; it panics if the lengths differ.
func AddF32(dst, x, y []float32) {
	checkLen("AddF32", "dst", len(dst), len(x))
	checkLen("AddF32", "y", len(y), len(x))
	addF32(dst, x, y)
}

// AddF64 is AddF32 for float64.
func AddF64(dst, x, y []float64) {
	checkLen("AddF64", "dst", len(dst), len(x))
	checkLen("AddF64", "y", len(y), len(x))
	addF64(dst, x, y)
}

// AxpyF32 adds a·x[i] to dst[i] for every i, with one or two roundings. dst may be x itself; it panics if the lengths
// differ.
func AxpyF32(dst []float32, a float32, x []float32) {
	checkLen("AxpyF32", "dst", len(dst), len(x))
	axpyF32(dst, a, x)
}

// AxpyF64 is AxpyF32 for float64.
func AxpyF64(dst []float64, a float64, x []float64) {
	checkLen("AxpyF64", "dst", len(dst), len(x))
	axpyF64(dst, a, x)
}

// ScaleF32 sets dst[i] = a·x[i] for every i. dst may be x itself; it panics if the lengths differ.
func ScaleF32(dst []float32, a float32, x []float32) {
	checkLen("ScaleF32", "dst", len(dst), len(x))
	scaleF32(dst, a, x)
}

// ScaleF64 is ScaleF32 for float64.
func ScaleF64(dst []float64, a float64, x []float64) {
	checkLen("ScaleF64", "dst", len(dst), len(x))
	scaleF64(dst, a, x)
}

// ScaleRowsF32 multiplies every row of a matrix by a number of its own: x[i, j] = by[i]·x[i, j].
//
//   - Shape: x is [rows, c], by has rows elements.
//   - Errors: panics if a length does not match.
//   - Accuracy: rounded once.
func ScaleRowsF32(x, by []float32, c int) {
	checkSize("ScaleRowsF32", "c", c)
	checkElements("ScaleRowsF32", "x", len(x), len(by), c)
	scaleRowsF32(x, by, c)
}

// ScaleRowsF64 is ScaleRowsF32 for float64.
func ScaleRowsF64(x, by []float64, c int) {
	checkSize("ScaleRowsF64", "c", c)
	checkElements("ScaleRowsF64", "x", len(x), len(by), c)
	scaleRowsF64(x, by, c)
}
