//go:build purego || !(amd64 || arm64)

package spectral

func forward(dst, _, in []float32, t *transform) { forwardGeneric(dst, in, t) }

func spreadForward(dst, _, in, src []float32, place []int32, t *transform, n, c, stride int) {
	spread(in, src, place, n, c, stride)
	forwardGeneric(dst, in, t)
}

func inverseGather(dst, _, back, src, scale, check []float32, t *transform, n, c, stride int) {
	inverseGeneric(back, src, t)
	gather(dst, back, scale, check, t.place, n, c, stride)
}

func lines(dst []float32, dstStride int, src []float32, srcStride, n int, add bool) {
	linesGeneric(dst, dstStride, src, srcStride, n, add)
}

func convolve(dst, x, k []float32, taps, rows, slots int, o kernelOrder, add bool) {
	convolveGeneric(dst, x, k, taps, rows, slots, o, add)
}

// Fast reports whether transforms are faster than the sums that they replace: the portable ones are not.
func Fast() bool { return false }
