//go:build !purego

package simd

// matrixLevelF32 calls the current level's kernel, which is not Generic's; next is -1 if there is none.
func matrixLevelF32(op MatrixOp, dst, a, b *float32, n, stride int) (at, next int, hard uint64) {
	if level == AVX512 {
		return matrixF32AVX512(op, dst, a, b, n, stride)
	}
	return matrixF32AVX2(op, dst, a, b, n, stride)
}

// matrixLevelF64 is matrixLevelF32 for float64.
func matrixLevelF64(op MatrixOp, dst, a, b *float64, n, stride int) (at, next int, hard uint64) {
	if level == AVX512 {
		return matrixF64AVX512(op, dst, a, b, n, stride)
	}
	return matrixF64AVX2(op, dst, a, b, n, stride)
}

// log3x3Short is the logarithm of n matrices in float64 with the digits of float32.
func log3x3Short(dst, a *float64, n, stride int) (at, next int, hard uint64) {
	if level == AVX512 {
		return log3x3ShortF64AVX512(dst, a, a, n, stride)
	}
	return log3x3ShortF64AVX2(dst, a, a, n, stride)
}

// widen3x3 sets dst[64e+i] = src[stride·e+i] for the nine entries e of those matrices i whose bit is set in lanes.
func widen3x3(dst *[9 * 64]float64, src []float32, stride int, lanes uint64) {
	if level == AVX512 {
		widen3x3AVX512(&dst[0], &src[0], stride, lanes)
		return
	}
	widen3x3AVX2(&dst[0], &src[0], stride, lanes)
}

// narrow3x3 is the way back.
func narrow3x3(dst []float32, src *[9 * 64]float64, stride int, lanes uint64) {
	if level == AVX512 {
		narrow3x3AVX512(&dst[0], &src[0], stride, lanes)
		return
	}
	narrow3x3AVX2(&dst[0], &src[0], stride, lanes)
}
