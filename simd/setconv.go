package simd

import "fmt"

// SetConvF32 evaluates a set of weighted points at new places through a radial basis function: for every target m and channel j
//
//	h[m, j] = scale · Σ_n phi[n, j] · exp(-gamma·|t_m - x_n|²)
//
// With gamma = 1/(2l²) this is the set convolution of a ConvCNP with length scale l.
//
//   - Shape: h is [targets, c], t [targets, d], x [points, d], phi [points, c]; d is at least 1. Without points, h = 0.
//   - Units: gamma is in 1/(coordinate unit)².
//   - Aliasing: h must not overlap phi.
//   - Errors: panics if a length does not match, d < 1 or c < 0. NaN in t or x gives NaN, in phi it reaches its channel.
//   - Accuracy: squared distances are computed in float64 and only gamma·dist² is rounded to float32. An element is within
//     (points+8+max gamma·dist²)·eps·scale·Σ|phi·exp| of the exact value, the maximum taken over the pairs.
func SetConvF32(h []float32, t, x []float64, phi []float32, d, c int, gamma, scale float64) {
	checkSetConv("SetConvF32", "h", "phi", len(h), len(t), len(x), len(phi), d, c)
	setConvF32(h, t, x, phi, d, c, gamma, scale)
}

// SetConvF64 is SetConvF32 for float64, where the rounding of squared distances counts, too: (points+8+(d+3)/2·max gamma·dist²)·eps.
func SetConvF64(h []float64, t, x []float64, phi []float64, d, c int, gamma, scale float64) {
	checkSetConv("SetConvF64", "h", "phi", len(h), len(t), len(x), len(phi), d, c)
	setConvF64(h, t, x, phi, d, c, gamma, scale)
}

// checkSetConv checks the two feature arrays, given by name and length, against the coordinates.
func checkSetConv(fn, h, phi string, lenH, lenT, lenX, lenPhi, d, c int) {
	if d < 1 {
		panic(fmt.Sprintf("simd: %s: d = %d, need at least 1", fn, d))
	}
	checkSize(fn, "c", c)
	checkElements(fn, h, lenH, checkRows(fn, "t", lenT, d), c)
	checkElements(fn, phi, lenPhi, checkRows(fn, "x", lenX, d), c)
}
