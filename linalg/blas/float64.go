package blas

import (
	"gonum.org/v1/gonum/blas"
)

// Ddot returns the sum of the products of x and y.
func (i Implementation) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	if !areRows(n, x, incX, y, incY, shortDot) {
		return i.rest.Ddot(n, x, incX, y, incY)
	}
	return dot(x[:n], y[:n])
}

// Dnrm2 returns the Euclidean norm of x.
func (i Implementation) Dnrm2(n int, x []float64, incX int) float64 {
	if isRow(n, x, incX, shortVector) {
		if s, ok := norm2(x[:n]); ok {
			return float64(s)
		}
	}
	return i.rest.Dnrm2(n, x, incX)
}

// Dasum returns the sum of the magnitudes of x.
func (i Implementation) Dasum(n int, x []float64, incX int) float64 {
	if !isRow(n, x, incX, shortDot) {
		return i.rest.Dasum(n, x, incX)
	}
	return absSum(x[:n])
}

// Idamax returns the index of the element of x of largest magnitude, the first of several.
func (i Implementation) Idamax(n int, x []float64, incX int) int {
	if isRow(n, x, incX, shortVector) {
		if at, ok := largest(x[:n]); ok {
			return at
		}
	}
	return i.rest.Idamax(n, x, incX)
}

// Dswap exchanges x and y.
func (i Implementation) Dswap(n int, x []float64, incX int, y []float64, incY int) {
	if !areRows(n, x, incX, y, incY, tinyVector) {
		i.rest.Dswap(n, x, incX, y, incY)
		return
	}
	swap(x[:n], y[:n])
}

// Daxpy adds alpha·x to y.
func (i Implementation) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	if alpha == 0 || !areRows(n, x, incX, y, incY, shortVector) {
		i.rest.Daxpy(n, alpha, x, incX, y, incY)
		return
	}
	axpy(y[:n], alpha, x[:n])
}

// Dscal multiplies x by alpha.
func (i Implementation) Dscal(n int, alpha float64, x []float64, incX int) {
	if alpha == 0 || !isRow(n, x, incX, shortVector) {
		i.rest.Dscal(n, alpha, x, incX)
		return
	}
	scale(x[:n], alpha)
}

// Drot rotates the points (x, y): c·x + s·y and c·y - s·x.
func (i Implementation) Drot(n int, x []float64, incX int, y []float64, incY int, c, s float64) {
	if !areRows(n, x, incX, y, incY, tinyVector) {
		i.rest.Drot(n, x, incX, y, incY, c, s)
		return
	}
	rotate(x[:n], y[:n], c, s)
}

// Dgemv computes y = alpha·op(A)·x + beta·y.
func (i Implementation) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int,
	beta float64, y []float64, incY int) {
	if !isGemv(tA, m, n, alpha, a, lda, x, incX, y, incY) {
		if incY == 1 && isTransposed(tA) && n > 0 && len(y) > n {
			y = y[:n] // gonum's function for float32 clears what is behind
		}
		i.rest.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	gemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Dger adds alpha·x·yᵀ to A.
func (i Implementation) Dger(m, n int, alpha float64, x []float64, incX int, y []float64, incY int, a []float64, lda int) {
	if !isGer(m, n, alpha, x, incX, y, incY, a, lda) {
		i.rest.Dger(m, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	ger(m, n, alpha, x, incX, y, incY, a, lda)
}

// Dsymv computes y = alpha·A·x + beta·y for a symmetric A.
func (i Implementation) Dsymv(ul blas.Uplo, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64,
	y []float64, incY int) {
	if alpha == 0 || !isTriangle(ul, n, a, lda, smallRows) || !holds(len(x), n, incX) || !holds(len(y), n, incY) {
		i.rest.Dsymv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	symv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Dsyr adds alpha·x·xᵀ to a symmetric A.
func (i Implementation) Dsyr(ul blas.Uplo, n int, alpha float64, x []float64, incX int, a []float64, lda int) {
	if alpha == 0 || !isTriangle(ul, n, a, lda, smallRows) || !holds(len(x), n, incX) {
		i.rest.Dsyr(ul, n, alpha, x, incX, a, lda)
		return
	}
	syr(ul, n, alpha, x, incX, a, lda)
}

// Dsyr2 adds alpha·(x·yᵀ + y·xᵀ) to a symmetric A.
func (i Implementation) Dsyr2(ul blas.Uplo, n int, alpha float64, x []float64, incX int, y []float64, incY int, a []float64, lda int) {
	if alpha == 0 || !isTriangle(ul, n, a, lda, smallRows) || !holds(len(x), n, incX) || !holds(len(y), n, incY) {
		i.rest.Dsyr2(ul, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	syr2(ul, n, alpha, x, incX, y, incY, a, lda)
}

// Dtrmv computes x = op(A)·x for a triangular A.
func (i Implementation) Dtrmv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	if !validTranspose(tA) || !validDiag(d) || !isTriangle(ul, n, a, lda, smallRows) || !holds(len(x), n, incX) {
		i.rest.Dtrmv(ul, tA, d, n, a, lda, x, incX)
		return
	}
	trmv(ul, tA, d, n, a, lda, x, incX)
}

// Dtrsv solves op(A)·x = b for a triangular A; x holds b to begin with.
func (i Implementation) Dtrsv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	if !validTranspose(tA) || !validDiag(d) || !isTriangle(ul, n, a, lda, smallTriangle) || !holds(len(x), n, incX) {
		i.rest.Dtrsv(ul, tA, d, n, a, lda, x, incX)
		return
	}
	trsv(ul, tA, d, n, a, lda, x, incX)
}

// Dgemm computes C = alpha·op(A)·op(B) + beta·C.
func (i Implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int,
	beta float64, c []float64, ldc int) {
	if !isGemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, c, ldc) {
		i.rest.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	gemm(isTransposed(tA), isTransposed(tB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dsymm computes C = alpha·A·B + beta·C, or alpha·B·A + beta·C, for a symmetric A.
func (i Implementation) Dsymm(s blas.Side, ul blas.Uplo, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int,
	beta float64, c []float64, ldc int) {
	if !isSymm(s, ul, m, n, alpha, a, lda, b, ldb, c, ldc) {
		i.rest.Dsymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	symm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dsyrk computes C = alpha·op(A)·op(A)ᵀ + beta·C for a symmetric C.
func (i Implementation) Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64,
	c []float64, ldc int) {
	if !isRank(ul, t, n, k, alpha, a, lda, c, ldc) {
		i.rest.Dsyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	syrk(ul, isTransposed(t), n, k, alpha, a, lda, beta, c, ldc)
}

// Dsyr2k computes C = alpha·(op(A)·op(B)ᵀ + op(B)·op(A)ᵀ) + beta·C for a symmetric C.
func (i Implementation) Dsyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, b []float64,
	ldb int, beta float64, c []float64, ldc int) {
	if !isRank(ul, t, n, k, alpha, a, lda, c, ldc) || !isRank(ul, t, n, k, alpha, b, ldb, c, ldc) {
		i.rest.Dsyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	syr2k(ul, isTransposed(t), n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dtrmm computes B = alpha·op(A)·B, or alpha·B·op(A), for a triangular A.
func (i Implementation) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64,
	lda int, b []float64, ldb int) {
	if !isTriangular(s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		i.rest.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	trmm(s, newTriangle(s, ul, tA, d, m, n, a, lda), m, n, alpha, b, ldb)
}

// Dtrsm solves op(A)·X = alpha·B, or X·op(A) = alpha·B, for a triangular A. X takes the place of B.
func (i Implementation) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64,
	lda int, b []float64, ldb int) {
	if !isTriangular(s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		i.rest.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	trsm(s, newTriangle(s, ul, tA, d, m, n, a, lda), m, n, alpha, b, ldb)
}
