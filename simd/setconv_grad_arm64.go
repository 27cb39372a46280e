//go:build !purego

package simd

// setConvGradParamsF32 is the portable kernel, whose exponentials are computed by ExpF32.
func setConvGradParamsF32(t, x []float64, phi, dh []float32, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	return setConvGradParamsGeneric(t, x, phi, dh, d, c, gamma, scale)
}
