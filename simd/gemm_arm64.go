//go:build !purego

package simd

import "unsafe"

// gemmRows computes the rows of C in as many columns as a tile has, or fewer: alpha·(start + A·B) + beta·C.
func gemmRows[T Float](c *T, ldc int, a *T, lda int, b *T, ldb int, start *T, alpha, beta T, m, n, k int) {
	if unsafe.Sizeof(alpha) == 8 {
		gemmF64NEON((*float64)(unsafe.Pointer(c)), ldc, (*float64)(unsafe.Pointer(a)), lda, (*float64)(unsafe.Pointer(b)), ldb,
			(*float64)(unsafe.Pointer(start)), float64(alpha), float64(beta), m, n, k)
		return
	}
	gemmF32NEON((*float32)(unsafe.Pointer(c)), ldc, (*float32)(unsafe.Pointer(a)), lda, (*float32)(unsafe.Pointer(b)), ldb,
		(*float32)(unsafe.Pointer(start)), float32(alpha), float32(beta), m, n, k)
}

// gemmTransposed computes a tile of C: alpha·Aᵀ·B + beta·C.
func gemmTransposed[T Float](c *T, ldc int, a *T, lda int, b *T, ldb int, alpha, beta T, m, n, k int) {
	if unsafe.Sizeof(alpha) == 8 {
		gemmTNF64NEON((*float64)(unsafe.Pointer(c)), ldc, (*float64)(unsafe.Pointer(a)), lda, (*float64)(unsafe.Pointer(b)), ldb,
			float64(alpha), float64(beta), m, n, k)
		return
	}
	gemmTNF32NEON((*float32)(unsafe.Pointer(c)), ldc, (*float32)(unsafe.Pointer(a)), lda, (*float32)(unsafe.Pointer(b)), ldb,
		float32(alpha), float32(beta), m, n, k)
}
