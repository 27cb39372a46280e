package simd

// SetConvGradPhiF32 computes the gradient of SetConvF32 to phi: for every point n and channel j
//
//	dphi[n, j] = scale · Σ_m dh[m, j] · exp(-gamma·|t_m - x_n|²)
//
// which is the set convolution back from the targets to the points.
//
//   - Shape: dphi is [points, c], dh [targets, c]; t, x, d, gamma and scale as in SetConvF32.
//   - Aliasing, errors and accuracy: as SetConvF32, with targets and points exchanged.
func SetConvGradPhiF32(dphi []float32, t, x []float64, dh []float32, d, c int, gamma, scale float64) {
	checkSetConv("SetConvGradPhiF32", "dh", "dphi", len(dh), len(t), len(x), len(dphi), d, c)
	setConvF32(dphi, x, t, dh, d, c, gamma, scale)
}

// SetConvGradPhiF64 is SetConvGradPhiF32 for float64.
func SetConvGradPhiF64(dphi []float64, t, x []float64, dh []float64, d, c int, gamma, scale float64) {
	checkSetConv("SetConvGradPhiF64", "dh", "dphi", len(dh), len(t), len(x), len(dphi), d, c)
	setConvF64(dphi, x, t, dh, d, c, gamma, scale)
}

// SetConvGradParamsF32 returns the gradients of SetConvF32 to gamma and scale:
//
//	dgamma = -scale · Σ_mn |t_m - x_n|² · e_mn · Σ_j dh[m, j]·phi[n, j],  dscale = Σ_mn e_mn · Σ_j dh[m, j]·phi[n, j]
//
// with e_mn = exp(-gamma·|t_m - x_n|²). For gamma = 1/(2l²) the gradient to the length scale l is -dgamma/l³.
//
//   - Shape: dh is [targets, c]; t, x, phi, d, gamma and scale as in SetConvF32. Without targets, points or channels both are 0.
//   - Errors: as SetConvF32. A pair so distant that e is 0 in float32 adds 0 to both.
//   - Accuracy: terms are float32, summed over at most 128 points, and these sums are added in float64. Both are within
//     (c+150+max gamma·dist²)·eps·Σ|terms| of the exact value.
func SetConvGradParamsF32(t, x []float64, phi, dh []float32, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	checkSetConv("SetConvGradParamsF32", "dh", "phi", len(dh), len(t), len(x), len(phi), d, c)
	return setConvGradParamsF32(t, x, phi, dh, d, c, gamma, scale)
}

// SetConvGradParamsF64 is SetConvGradParamsF32 for float64.
func SetConvGradParamsF64(t, x []float64, phi, dh []float64, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	checkSetConv("SetConvGradParamsF64", "dh", "phi", len(dh), len(t), len(x), len(phi), d, c)
	return setConvGradParamsF64(t, x, phi, dh, d, c, gamma, scale)
}
