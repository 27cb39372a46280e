//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

func gemmF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	gemmGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmTNF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	gemmTNGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmNTF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	gemmNTGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	gemmGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmTNF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	gemmTNGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}

func gemmNTF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	gemmNTGeneric(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
}
