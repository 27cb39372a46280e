package simd

// The dispatchers of kernels that are portable Go on every machine. The others are in files of their own, by family and
// architecture (exp_amd64.go and exp_noasm.go), with a switch on the current level. Callers have checked shapes and sizes.

func depthwiseF64(out, f, w []float64, offsets []int, index, pose []int32, c int, mean bool) {
	depthwiseGeneric(out, f, w, offsets, index, pose, c, mean)
}

func pointConvF64(p, f, w []float64, offsets []int, index, pose []int32, ci, cm int) {
	pointConvGeneric(p, f, w, offsets, index, pose, ci, cm)
}

func setConvF64(h []float64, t, x []float64, phi []float64, d, c int, gamma, scale float64) {
	setConvGeneric(h, t, x, phi, d, c, gamma, scale)
}
