//go:build !purego

package spectral

import (
	"github.com/equivcnp/equivcnp/internal/cpu"
)

func forwardKernel(dst, between, in, src *float32, place *int32, n, stride, odd int) {
	if level == cpu.AVX512 {
		forwardAVX512(dst, between, in, src, place, n, stride, odd)
	} else {
		forwardAVX2(dst, between, in, src, place, n, stride, odd)
	}
}

func backKernel(dst, between, back, src, scale, check *float32, place *int32, n, stride, odd int) {
	if level == cpu.AVX512 {
		backAVX512(dst, between, back, src, scale, check, place, n, stride, odd)
	} else {
		backAVX2(dst, between, back, src, scale, check, place, n, stride, odd)
	}
}

func linesKernel(dst, src *float32, n, dstStride, srcStride int, add bool) {
	switch {
	case level == cpu.AVX512 && add:
		addLinesAVX512(dst, src, n, dstStride, srcStride)
	case level == cpu.AVX512:
		linesAVX512(dst, src, n, dstStride, srcStride)
	case add:
		addLinesAVX2(dst, src, n, dstStride, srcStride)
	default:
		linesAVX2(dst, src, n, dstStride, srcStride)
	}
}

func sumsKernel(dst, x, k *float32, taps, rows, stride, tapStride, slotStride, slots, add int) {
	if level == cpu.AVX512 {
		sumsAVX512(dst, x, k, taps, rows, stride, tapStride, slotStride, slots, add)
	} else {
		sumsAVX2(dst, x, k, taps, rows, stride, tapStride, slotStride, slots, add)
	}
}
