//go:build goexperiment.simd && go1.27 && !purego

package simd

import "unsafe"

// gemmRows computes the rows of C in as many columns as a tile has, or fewer: alpha·(start + A·B) + beta·C.
func gemmRows[T Float](c *T, ldc int, a *T, lda int, b *T, ldb int, start *T, alpha, beta T, m, n, k int) {
	gemmStrided(c, ldc, a, lda, 1, b, ldb, start, alpha, beta, m, n, k)
}

// gemmTransposed computes a tile of C: alpha·Aᵀ·B + beta·C.
func gemmTransposed[T Float](c *T, ldc int, a *T, lda int, b *T, ldb int, alpha, beta T, m, n, k int) {
	var start [gemmTile]T
	gemmStrided(c, ldc, a, 1, lda, b, ldb, &start[0], alpha, beta, m, n, k)
}

// gemmStrided chooses the kernel of a type. Element [i, p] of A is a[i*rs+p*cs].
func gemmStrided[T Float](c *T, ldc int, a *T, rs, cs int, b *T, ldb int, start *T, alpha, beta T, m, n, k int) {
	if unsafe.Sizeof(alpha) == 8 {
		gemmF64WASM128((*float64)(unsafe.Pointer(c)), ldc, (*float64)(unsafe.Pointer(a)), rs, cs, (*float64)(unsafe.Pointer(b)), ldb,
			(*float64)(unsafe.Pointer(start)), float64(alpha), float64(beta), m, n, k)
		return
	}
	gemmF32WASM128((*float32)(unsafe.Pointer(c)), ldc, (*float32)(unsafe.Pointer(a)), rs, cs, (*float32)(unsafe.Pointer(b)), ldb,
		(*float32)(unsafe.Pointer(start)), float32(alpha), float32(beta), m, n, k)
}

// gemmPart adds the first columns of a tile's row to beta times those of C, or sets them if beta is 0.
func gemmPart[T Float](c, row []T, beta T) {
	row = row[:len(c)]
	if beta == 0 {
		copy(c, row)
		return
	}
	for j, v := range row {
		c[j] = v + beta*c[j]
	}
}
