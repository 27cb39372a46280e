//go:build !purego

package simd

// setConvGradParamsF32 is portable but for the exponential, which the portable kernel leaves to ExpF32.
func setConvGradParamsF32(t, x []float64, phi, dh []float32, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	return setConvGradParamsGeneric(t, x, phi, dh, d, c, gamma, scale)
}
