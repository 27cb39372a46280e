//go:build purego || !(amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

func gemmPackedF32(c []float32, ldc int, a []float32, lda int, b *Packed[float32], bias []float32, act Activation, m int) {
	gemmPackedGeneric(c, ldc, a, lda, b, bias, act, m)
}

func gemmPackedF64(c []float64, ldc int, a []float64, lda int, b *Packed[float64], bias []float64, act Activation, m int) {
	gemmPackedGeneric(c, ldc, a, lda, b, bias, act, m)
}
