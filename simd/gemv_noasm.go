//go:build purego || !(amd64 || arm64)

package simd

func gemvF32(y, a []float32, lda int, x []float32, alpha float32, m, n int) {
	gemvGeneric(y, a, lda, x, alpha, m, n)
}

func gemvF64(y, a []float64, lda int, x []float64, alpha float64, m, n int) {
	gemvGeneric(y, a, lda, x, alpha, m, n)
}

func gemvTF32(y, a []float32, lda int, x []float32, alpha float32, m, n int) {
	gemvTGeneric(y, a, lda, x, alpha, m, n)
}

func gemvTF64(y, a []float64, lda int, x []float64, alpha float64, m, n int) {
	gemvTGeneric(y, a, lda, x, alpha, m, n)
}
