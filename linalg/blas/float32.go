package blas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/equivcnp/equivcnp/simd"
)

// The methods of one precision check whether a call is theirs, right and large enough. What is not goes to gonum, whose
// messages are the ones that callers know. Their comments name operations; gonum's documentation has the arguments.

// Sdot returns the sum of the products of x and y.
func (i Implementation) Sdot(n int, x []float32, incX int, y []float32, incY int) float32 {
	if !areRows(n, x, incX, y, incY, shortDot) {
		return i.rest.Sdot(n, x, incX, y, incY)
	}
	return dot(x[:n], y[:n])
}

// Dsdot returns the sum of the products of x and y, in float64.
func (i Implementation) Dsdot(n int, x []float32, incX int, y []float32, incY int) float64 {
	if !areRows(n, x, incX, y, incY, shortDot) {
		return i.rest.Dsdot(n, x, incX, y, incY)
	}
	return simd.DotF32(x[:n], y[:n])
}

// Sdsdot returns alpha and the sum of the products of x and y, summed in float64.
func (i Implementation) Sdsdot(n int, alpha float32, x []float32, incX int, y []float32, incY int) float32 {
	if !areRows(n, x, incX, y, incY, shortDot) {
		return i.rest.Sdsdot(n, alpha, x, incX, y, incY)
	}
	return alpha + float32(simd.DotF32(x[:n], y[:n]))
}

// Snrm2 returns the Euclidean norm of x.
func (i Implementation) Snrm2(n int, x []float32, incX int) float32 {
	if isRow(n, x, incX, shortVector) {
		if s, ok := norm2(x[:n]); ok {
			return float32(s)
		}
	}
	return i.rest.Snrm2(n, x, incX)
}

// Sasum returns the sum of the magnitudes of x.
func (i Implementation) Sasum(n int, x []float32, incX int) float32 {
	if !isRow(n, x, incX, shortDot) {
		return i.rest.Sasum(n, x, incX)
	}
	return absSum(x[:n])
}

// Isamax returns the index of the element of x of largest magnitude, the first of several.
func (i Implementation) Isamax(n int, x []float32, incX int) int {
	if isRow(n, x, incX, shortVector) {
		if at, ok := largest(x[:n]); ok {
			return at
		}
	}
	return i.rest.Isamax(n, x, incX)
}

// Sswap exchanges x and y.
func (i Implementation) Sswap(n int, x []float32, incX int, y []float32, incY int) {
	if !areRows(n, x, incX, y, incY, tinyVector) {
		i.rest.Sswap(n, x, incX, y, incY)
		return
	}
	swap(x[:n], y[:n])
}

// Saxpy adds alpha·x to y.
func (i Implementation) Saxpy(n int, alpha float32, x []float32, incX int, y []float32, incY int) {
	if alpha == 0 || !areRows(n, x, incX, y, incY, shortVector) {
		i.rest.Saxpy(n, alpha, x, incX, y, incY)
		return
	}
	axpy(y[:n], alpha, x[:n])
}

// Sscal multiplies x by alpha.
func (i Implementation) Sscal(n int, alpha float32, x []float32, incX int) {
	if alpha == 0 || !isRow(n, x, incX, shortVector) {
		i.rest.Sscal(n, alpha, x, incX)
		return
	}
	scale(x[:n], alpha)
}

// Srot rotates the points (x, y): c·x + s·y and c·y - s·x.
func (i Implementation) Srot(n int, x []float32, incX int, y []float32, incY int, c, s float32) {
	if !areRows(n, x, incX, y, incY, tinyVector) {
		i.rest.Srot(n, x, incX, y, incY, c, s)
		return
	}
	rotate(x[:n], y[:n], c, s)
}

// Sgemv computes y = alpha·op(A)·x + beta·y.
func (i Implementation) Sgemv(tA blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int,
	beta float32, y []float32, incY int) {
	if !isGemv(tA, m, n, alpha, a, lda, x, incX, y, incY) {
		if incY == 1 && isTransposed(tA) && n > 0 && len(y) > n {
			y = y[:n] // gonum's function for float32 clears what is behind
		}
		i.rest.Sgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	gemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Sger adds alpha·x·yᵀ to A.
func (i Implementation) Sger(m, n int, alpha float32, x []float32, incX int, y []float32, incY int, a []float32, lda int) {
	if !isGer(m, n, alpha, x, incX, y, incY, a, lda) {
		i.rest.Sger(m, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	ger(m, n, alpha, x, incX, y, incY, a, lda)
}

// Ssymv computes y = alpha·A·x + beta·y for a symmetric A.
func (i Implementation) Ssymv(ul blas.Uplo, n int, alpha float32, a []float32, lda int, x []float32, incX int, beta float32,
	y []float32, incY int) {
	if alpha == 0 || !isTriangle(ul, n, a, lda, smallRows) || !holds(len(x), n, incX) || !holds(len(y), n, incY) {
		i.rest.Ssymv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	symv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Ssyr adds alpha·x·xᵀ to a symmetric A.
func (i Implementation) Ssyr(ul blas.Uplo, n int, alpha float32, x []float32, incX int, a []float32, lda int) {
	if alpha == 0 || !isTriangle(ul, n, a, lda, smallRows) || !holds(len(x), n, incX) {
		i.rest.Ssyr(ul, n, alpha, x, incX, a, lda)
		return
	}
	syr(ul, n, alpha, x, incX, a, lda)
}

// Ssyr2 adds alpha·(x·yᵀ + y·xᵀ) to a symmetric A.
func (i Implementation) Ssyr2(ul blas.Uplo, n int, alpha float32, x []float32, incX int, y []float32, incY int, a []float32, lda int) {
	if alpha == 0 || !isTriangle(ul, n, a, lda, smallRows) || !holds(len(x), n, incX) || !holds(len(y), n, incY) {
		i.rest.Ssyr2(ul, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	syr2(ul, n, alpha, x, incX, y, incY, a, lda)
}

// Strmv computes x = op(A)·x for a triangular A.
func (i Implementation) Strmv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float32, lda int, x []float32, incX int) {
	if !validTranspose(tA) || !validDiag(d) || !isTriangle(ul, n, a, lda, smallRows) || !holds(len(x), n, incX) {
		i.rest.Strmv(ul, tA, d, n, a, lda, x, incX)
		return
	}
	trmv(ul, tA, d, n, a, lda, x, incX)
}

// Strsv solves op(A)·x = b for a triangular A; x holds b to begin with.
func (i Implementation) Strsv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float32, lda int, x []float32, incX int) {
	if !validTranspose(tA) || !validDiag(d) || !isTriangle(ul, n, a, lda, smallTriangle) || !holds(len(x), n, incX) {
		i.rest.Strsv(ul, tA, d, n, a, lda, x, incX)
		return
	}
	trsv(ul, tA, d, n, a, lda, x, incX)
}

// Sgemm computes C = alpha·op(A)·op(B) + beta·C.
func (i Implementation) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	if !isGemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, c, ldc) {
		i.rest.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	gemm(isTransposed(tA), isTransposed(tB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Ssymm computes C = alpha·A·B + beta·C, or alpha·B·A + beta·C, for a symmetric A.
func (i Implementation) Ssymm(s blas.Side, ul blas.Uplo, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	if !isSymm(s, ul, m, n, alpha, a, lda, b, ldb, c, ldc) {
		i.rest.Ssymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	symm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Ssyrk computes C = alpha·op(A)·op(A)ᵀ + beta·C for a symmetric C.
func (i Implementation) Ssyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, beta float32,
	c []float32, ldc int) {
	if !isRank(ul, t, n, k, alpha, a, lda, c, ldc) {
		i.rest.Ssyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	syrk(ul, isTransposed(t), n, k, alpha, a, lda, beta, c, ldc)
}

// Ssyr2k computes C = alpha·(op(A)·op(B)ᵀ + op(B)·op(A)ᵀ) + beta·C for a symmetric C.
func (i Implementation) Ssyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, b []float32,
	ldb int, beta float32, c []float32, ldc int) {
	if !isRank(ul, t, n, k, alpha, a, lda, c, ldc) || !isRank(ul, t, n, k, alpha, b, ldb, c, ldc) {
		i.rest.Ssyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	syr2k(ul, isTransposed(t), n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Strmm computes B = alpha·op(A)·B, or alpha·B·op(A), for a triangular A.
func (i Implementation) Strmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32,
	lda int, b []float32, ldb int) {
	if !isTriangular(s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		i.rest.Strmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	trmm(s, newTriangle(s, ul, tA, d, m, n, a, lda), m, n, alpha, b, ldb)
}

// Strsm solves op(A)·X = alpha·B, or X·op(A) = alpha·B, for a triangular A. X takes the place of B.
func (i Implementation) Strsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32,
	lda int, b []float32, ldb int) {
	if !isTriangular(s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		i.rest.Strsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	trsm(s, newTriangle(s, ul, tA, d, m, n, a, lda), m, n, alpha, b, ldb)
}
