package blas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/equivcnp/equivcnp/simd"
)

// What is too small for kernels is computed here, by loops that are written once for all flags: an element of a matrix lies at
// i·rows + j·cols, with these two exchanged where it is transposed. For so few elements a call of gonum's costs more than they do.

// The numbers of rows and columns below which these loops take less time than gonum's and than kernels.
const (
	rowsSymv    = 20
	rowsSyr     = 8
	rowsTrmv    = 10
	tinyProduct = 3
	tinyRank    = 8 // of op(A)·op(A)ᵀ with rows of A far apart
)

// strides is how far apart the elements of op(A) are, down and across.
func strides(t blas.Transpose, ld int) (down, across int) {
	if isTransposed(t) {
		return 1, ld
	}
	return ld, 1
}

// blend is alpha·s + beta·y; with beta = 0, y is not looked at.
func blend[T simd.Float](alpha, s, beta, y T) T {
	if beta == 0 {
		return alpha * s
	}
	return alpha*s + beta*y
}

// far is Σ x·y over n elements that are some way apart.
func far[T simd.Float](n int, x []T, ix int, y []T, iy int) (s T) {
	i, j := 0, 0
	for range n {
		s += x[i] * y[j]
		i += ix
		j += iy
	}
	return s
}

// tinySymv is symv for vectors without increments.
func tinySymv[T simd.Float](ul blas.Uplo, n int, alpha T, a []T, lda int, x []T, beta T, y []T) {
	x, y = x[:n], y[:n]
	switch beta {
	case 0:
		clear(y)
	case 1:
	default:
		scaleLoop(y, beta)
	}
	for i, v := range x {
		r, lo := row(ul, a, lda, n, i)
		xr, yr := x[lo:][:len(r)], y[lo:][:len(r)]
		s := v * a[i*lda+i]
		v *= alpha
		for j, w := range r {
			s += w * xr[j]
			yr[j] += v * w
		}
		y[i] += alpha * s
	}
}

// tinySyr is syr for a vector without an increment.
func tinySyr[T simd.Float](ul blas.Uplo, n int, alpha T, x []T, a []T, lda int) {
	for i, v := range x[:n] {
		lo, hi := span(ul, n, i)
		axpyLoop(a[i*lda+lo:i*lda+hi], alpha*v, x[lo:hi])
	}
}

func tinyGemm[T simd.Float](tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	da, aa := strides(tA, lda)
	db, ab := strides(tB, ldb)
	for i := range m {
		for j := range n {
			p := &c[i*ldc+j]
			*p = blend(alpha, far(k, a[i*da:], aa, b[j*ab:], db), beta, *p)
		}
	}
}

func tinySyrk[T simd.Float](ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int) {
	down, across := strides(t, lda)
	for i := range n {
		lo, hi := span(ul, n, i)
		for j := lo; j < hi; j++ {
			p := &c[i*ldc+j]
			*p = blend(alpha, far(k, a[i*down:], across, a[j*down:], across), beta, *p)
		}
	}
}
