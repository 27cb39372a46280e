//go:build purego || !(amd64 || arm64)

package simd

func depthwiseF64(out, f, w []float64, offsets []int, index, pose []int32, c int, mean bool) {
	depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
}

func pointConvF64(p, f, w []float64, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGeneric(p, f, w, offsets, index, pose, ci, cm)
}

func pointConvGradFF64(df, dp, w []float64, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGradFGeneric(df, dp, w, offsets, index, pose, ci, cm)
}

func pointConvGradWF64(dw, dp, f []float64, offsets []int, row, index []int32, ci, cm int) {
	pointConvGradWGeneric(dw, dp, f, offsets, row, index, ci, cm)
}

func setConvF64(h []float64, t, x []float64, phi []float64, d, c int, gamma, scale float64) {
	setConvGeneric(h, t, x, phi, d, c, gamma, scale)
}

func setConvGradParamsF64(t, x []float64, phi, dh []float64, d, c int, gamma, scale float64) (dgamma, dscale float64) {
	return setConvGradParamsGeneric(t, x, phi, dh, d, c, gamma, scale)
}
