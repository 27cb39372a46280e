//go:build purego || !amd64

package blas

import "github.com/equivcnp/equivcnp/simd"

// fast reports whether the kernels for short vectors are there: where it is false, what follows is never called.
func fast() bool { return false }

func kernelDot32(n int, x, y []float32) float32          { return none[float32]() }
func kernelDot64(n int, x, y []float64) float64          { return none[float64]() }
func kernelAbs32(n int, x []float32) float32             { return none[float32]() }
func kernelAbs64(n int, x []float64) float64             { return none[float64]() }
func kernelAxpy32(n int, a float32, x, y []float32)      { none[float32]() }
func kernelAxpy64(n int, a float64, x, y []float64)      { none[float64]() }
func kernelScale32(n int, a float32, x []float32)        { none[float32]() }
func kernelScale64(n int, a float64, x []float64)        { none[float64]() }
func kernelSwap32(n int, x, y []float32)                 { none[float32]() }
func kernelSwap64(n int, x, y []float64)                 { none[float64]() }
func kernelRotate32(n int, x, y []float32, c, s float32) { none[float32]() }
func kernelRotate64(n int, x, y []float64, c, s float64) { none[float64]() }

func kernelStridedDot32(n int, x *float32, incX int, y *float32, incY int) float32 {
	return none[float32]()
}
func kernelStridedDot64(n int, x *float64, incX int, y *float64, incY int) float64 {
	return none[float64]()
}

func kernelStridedAxpy32(n int, a float32, x *float32, incX int, y *float32, incY int) {
	none[float32]()
}
func kernelStridedAxpy64(n int, a float64, x *float64, incX int, y *float64, incY int) {
	none[float64]()
}

func kernelStridedScale32(n int, a float32, x *float32, incX int) { none[float32]() }
func kernelStridedScale64(n int, a float64, x *float64, incX int) { none[float64]() }

func kernelGemm32(m, n, k int, alpha float32, a []float32, down, across int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	none[float32]()
}

func kernelGemm64(m, n, k int, alpha float64, a []float64, down, across int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	none[float64]()
}

func kernelDots32(m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	none[float32]()
}

func kernelDots64(m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	none[float64]()
}

func symmetricFour[T simd.Float](n int, a []T, lda int, x, y []T, by, sums *[4]T, head int) {
	none[T]()
}

func none[T simd.Float]() T { panic("blas: no kernels for short vectors") }
