//go:build !purego

package simd

// matrixLevelF32 calls the kernel of an operation; next is -1 if there is none.
func matrixLevelF32(op MatrixOp, dst, a, b *float32, n, stride int) (at, next int, hard uint64) {
	return matrixF32NEON(op, dst, a, b, n, stride)
}

// matrixLevelF64 is matrixLevelF32 for float64.
func matrixLevelF64(op MatrixOp, dst, a, b *float64, n, stride int) (at, next int, hard uint64) {
	return matrixF64NEON(op, dst, a, b, n, stride)
}
