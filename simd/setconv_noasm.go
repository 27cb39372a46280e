//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

func setConvF32(h []float32, t, x []float64, phi []float32, d, c int, gamma, scale float64) {
	setConvGeneric(h, t, x, phi, d, c, gamma, scale)
}

func setConvGradParamsF32(t, x []float64, phi, dh []float32, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	return setConvGradParamsGeneric(t, x, phi, dh, d, c, gamma, scale)
}
