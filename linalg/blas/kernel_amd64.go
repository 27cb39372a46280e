//go:build !purego

package blas

import (
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/race"
	"github.com/equivcnp/equivcnp/simd"
)

var level cpu.Level

func init() { cpu.Follow(&level) }

// fast reports whether the kernels for short vectors are there. The race detector sees what plain loops do.
func fast() bool { return !race.Enabled && level != cpu.Generic }

// These functions are called where fast and where the vectors hold n > 0 elements. They are inlined, so that a method
// makes one call of assembly, as gonum's do. For strided vectors the slices start at the first element that is used.

func kernelDot32(n int, x, y []float32) float32          { return shortDotF32AVX2(n, &x[0], &y[0]) }
func kernelDot64(n int, x, y []float64) float64          { return shortDotF64AVX2(n, &x[0], &y[0]) }
func kernelAbs32(n int, x []float32) float32             { return shortAbsF32AVX2(n, &x[0]) }
func kernelAbs64(n int, x []float64) float64             { return shortAbsF64AVX2(n, &x[0]) }
func kernelAxpy32(n int, a float32, x, y []float32)      { shortAxpyF32AVX2(n, a, &x[0], &y[0]) }
func kernelAxpy64(n int, a float64, x, y []float64)      { shortAxpyF64AVX2(n, a, &x[0], &y[0]) }
func kernelScale32(n int, a float32, x []float32)        { shortScaleF32AVX2(n, a, &x[0]) }
func kernelScale64(n int, a float64, x []float64)        { shortScaleF64AVX2(n, a, &x[0]) }
func kernelSwap32(n int, x, y []float32)                 { shortSwapF32AVX2(n, &x[0], &y[0]) }
func kernelSwap64(n int, x, y []float64)                 { shortSwapF64AVX2(n, &x[0], &y[0]) }
func kernelRotate32(n int, x, y []float32, c, s float32) { shortRotateF32AVX2(n, &x[0], &y[0], c, s) }
func kernelRotate64(n int, x, y []float64, c, s float64) { shortRotateF64AVX2(n, &x[0], &y[0], c, s) }

func kernelStridedDot32(n int, x *float32, incX int, y *float32, incY int) float32 {
	return stridedDotF32AVX2(n, x, incX, y, incY)
}

func kernelStridedDot64(n int, x *float64, incX int, y *float64, incY int) float64 {
	return stridedDotF64AVX2(n, x, incX, y, incY)
}

func kernelStridedAxpy32(n int, a float32, x *float32, incX int, y *float32, incY int) {
	stridedAxpyF32AVX2(n, a, x, incX, y, incY)
}

func kernelStridedAxpy64(n int, a float64, x *float64, incX int, y *float64, incY int) {
	stridedAxpyF64AVX2(n, a, x, incX, y, incY)
}

func kernelStridedScale32(n int, a float32, x *float32, incX int) { stridedScaleF32AVX2(n, a, x, incX) }
func kernelStridedScale64(n int, a float64, x *float64, incX int) { stridedScaleF64AVX2(n, a, x, incX) }

// kernelGemm32 computes C = alpha·op(A)·B + beta·C for sizes above 0; an element of op(A) lies at i·down + l·across.
func kernelGemm32(m, n, k int, alpha float32, a []float32, down, across int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	smallGemmF32AVX2(m, n, k, alpha, &a[0], down, across, &b[0], ldb, reads(beta), beta, &c[0], ldc)
}

func kernelGemm64(m, n, k int, alpha float64, a []float64, down, across int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	smallGemmF64AVX2(m, n, k, alpha, &a[0], down, across, &b[0], ldb, reads(beta), beta, &c[0], ldc)
}

// kernelDots32 computes C = alpha·A·Bᵀ + beta·C for sizes above 0.
func kernelDots32(m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	smallDotsF32AVX2(m, n, k, alpha, &a[0], lda, &b[0], ldb, reads(beta), beta, &c[0], ldc)
}

func kernelDots64(m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	smallDotsF64AVX2(m, n, k, alpha, &a[0], lda, &b[0], ldb, reads(beta), beta, &c[0], ldc)
}

// reads is the argument mode of these kernels: not 0 where C is read.
func reads[T simd.Float](beta T) int {
	if beta == 0 {
		return 0
	}
	return 1
}

// symmetricFour adds by[r]·a[r, j] to y[j] for four rows and n > 0 columns, and sets sums[r] to the row's product with x. What is left
// over of vectors comes first where head is not 0.
func symmetricFour[T simd.Float](n int, a []T, lda int, x, y []T, by, sums *[4]T, head int) {
	if unsafe.Sizeof(a[0]) == 4 {
		symmetricRowsF32AVX2(n, first[float32](a), lda, first[float32](x), first[float32](y), (*[4]float32)(unsafe.Pointer(by)),
			(*[4]float32)(unsafe.Pointer(sums)), head)
	} else {
		symmetricRowsF64AVX2(n, first[float64](a), lda, first[float64](x), first[float64](y), (*[4]float64)(unsafe.Pointer(by)),
			(*[4]float64)(unsafe.Pointer(sums)), head)
	}
}

func first[To, T simd.Float](x []T) *To { return (*To)(unsafe.Pointer(&x[0])) }
