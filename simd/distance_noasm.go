//go:build purego || !(amd64 || arm64)

package simd

func rowSumsF32(dst, a []float32, lda int, x []float32, what rowMeasure) {
	rowSumsGeneric(dst, a, lda, x, what)
}

func rowSumsI8(dst []int32, a []int8, lda int, x []int8, what rowMeasure) {
	rowSumsI8Generic(dst, a, lda, x, what)
}
