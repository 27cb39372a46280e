//go:build purego || !(amd64 || arm64)

package simd

func matrixF32(MatrixOp, []float32, []float32, []float32, int, int) (at, next int, hard uint64) {
	return 0, -1, 0
}

func matrixF64(MatrixOp, []float64, []float64, []float64, int, int) (at, next int, hard uint64) {
	return 0, -1, 0
}
