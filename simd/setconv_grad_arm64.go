//go:build !purego

package simd

// setConvGradParamsF32 and setConvGradParamsF64 are the portable kernel, whose exponentials are computed by Exp.
func setConvGradParamsF32(t, x []float64, phi, dh []float32, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	return setConvGradParamsGeneric(t, x, phi, dh, d, c, gamma, scale)
}

func setConvGradParamsF64(t, x []float64, phi, dh []float64, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	return setConvGradParamsGeneric(t, x, phi, dh, d, c, gamma, scale)
}
