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
