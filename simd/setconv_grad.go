package simd

import "fmt"

// The gradient of SetConvF32 to phi is a set convolution itself, with targets and points exchanged: SetConvF32(dphi, x, t,
// dh, d, c, gamma, scale).

// SetConvGradF32 returns the gradients of SetConvF32 to its two parameters, given the gradient dh to its result:
//
//		dscale = Σ_m Σ_n e_mn · (dh_m·phi_n)
//		dgamma = -scale · Σ_m Σ_n |t_m - x_n|² · e_mn · (dh_m·phi_n),   e_mn = exp(-gamma·|t_m - x_n|²)
//
//	  - Shape: dh is [targets, c], all others as in SetConvF32.
//	  - Errors: panics if a length does not match, d < 1 or c < 0. NaN anywhere gives NaN.
//	  - Accuracy: e and the dot products dh·phi are rounded to float32, all sums are in float64.
func SetConvGradF32(dh []float32, t, x []float64, phi []float32, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	checkSetConvGrad("SetConvGradF32", len(dh), len(t), len(x), len(phi), d, c)
	return setConvGradF32(dh, t, x, phi, d, c, gamma, scale)
}

// SetConvGradF64 is SetConvGradF32 for float64.
func SetConvGradF64(dh []float64, t, x []float64, phi []float64, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	checkSetConvGrad("SetConvGradF64", len(dh), len(t), len(x), len(phi), d, c)
	return setConvGradF64(dh, t, x, phi, d, c, gamma, scale)
}

func checkSetConvGrad(fn string, lenDH, lenT, lenX, lenPhi, d, c int) {
	if d < 1 {
		panic(fmt.Sprintf("simd: %s: d = %d, need at least 1", fn, d))
	}
	checkSize(fn, "c", c)
	checkLen(fn, "dh", lenDH, checkRows(fn, "t", lenT, d)*c)
	checkLen(fn, "phi", lenPhi, checkRows(fn, "x", lenX, d)*c)
}
