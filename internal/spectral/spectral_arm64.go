//go:build !purego

package spectral

func forwardKernel(dst, between, in, src *float32, place *int32, n, stride, odd int) {
	forwardNEON(dst, between, in, src, place, n, stride, odd)
}

func backKernel(dst, between, back, src, scale, check *float32, place *int32, n, stride, odd int) {
	backNEON(dst, between, back, src, scale, check, place, n, stride, odd)
}

func linesKernel(dst, src *float32, n, dstStride, srcStride int, add bool) {
	if add {
		addLinesNEON(dst, src, n, dstStride, srcStride)
	} else {
		linesNEON(dst, src, n, dstStride, srcStride)
	}
}

func sumsKernel(dst, x, k *float32, taps, rows, stride, tapStride, slotStride, slots, add int) {
	sumsNEON(dst, x, k, taps, rows, stride, tapStride, slotStride, slots, add)
}
