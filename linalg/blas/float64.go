package blas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/equivcnp/equivcnp/simd"
)

// Ddot returns the sum of the products of x and y.
func (i Implementation) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	switch {
	case areRows(n, x, incX, y, incY):
		switch {
		case n < loopDot64:
			return shortDot(x[:n], y[:n])
		case n < longKernel && fast():
			return kernelDot64(n, x, y)
		case n >= longDot64:
			return simd.DotF64(x[:n], y[:n])
		}
	case areStrided(n, len(x), incX, len(y), incY):
		switch {
		case n < stridedDot64:
			return stridedDot(n, x, incX, y, incY)
		case n < longStrided && fast():
			return kernelStridedDot64(n, &x[start(n, incX)], incX, &y[start(n, incY)], incY)
		}
	}
	return i.rest.Ddot(n, x, incX, y, incY)
}

// Dnrm2 returns the Euclidean norm of x.
func (i Implementation) Dnrm2(n int, x []float64, incX int) float64 {
	if n == 1 && incX > 0 && len(x) > 0 {
		return max(x[0], -x[0])
	}
	if isRow(n, x, incX) {
		if s, ok := norm2(x[:n]); ok {
			return float64(s)
		}
	} else if isStrided(n, x, incX) {
		if s, ok := strided2(n, x, incX); ok {
			return float64(s)
		}
	}
	return i.rest.Dnrm2(n, x, incX)
}

// Dasum returns the sum of the magnitudes of x.
func (i Implementation) Dasum(n int, x []float64, incX int) float64 {
	switch {
	case isRow(n, x, incX):
		switch {
		case n < loopAbs64:
			return float64(shortAbs(x[:n]))
		case n < longKernel && fast():
			return kernelAbs64(n, x)
		case n >= longSum:
			return float64(simd.SumAbsF64(x[:n]))
		}
	case isStrided(n, x, incX):
		return float64(stridedAbs(n, x, incX))
	}
	return i.rest.Dasum(n, x, incX)
}

// Idamax returns the index of the element of x of largest magnitude, the first of several.
func (i Implementation) Idamax(n int, x []float64, incX int) int {
	switch {
	case n == 1 && incX > 0 && len(x) > 0:
		return 0
	case isRow(n, x, incX):
		if n < longLargest64 {
			return shortLargest(x[:n])
		}
		if at, ok := largest(x[:n]); ok {
			return at
		}
	case isStrided(n, x, incX):
		return stridedLargest(n, x, incX)
	}
	return i.rest.Idamax(n, x, incX)
}

// Dswap exchanges x and y.
func (i Implementation) Dswap(n int, x []float64, incX int, y []float64, incY int) {
	switch {
	case areRows(n, x, incX, y, incY):
		switch {
		case n < loopSwap64:
			shortSwapOf(x[:n], y[:n])
		case n < longKernel && fast():
			kernelSwap64(n, x, y)
		default:
			simd.SwapF64(x[:n], y[:n])
		}
	case areStrided(n, len(x), incX, len(y), incY):
		stridedSwap(n, x, incX, y, incY)
	default:
		i.rest.Dswap(n, x, incX, y, incY)
	}
}

// Dcopy copies x to y.
func (i Implementation) Dcopy(n int, x []float64, incX int, y []float64, incY int) {
	switch {
	case areRows(n, x, incX, y, incY):
		copy(y[:n], x[:n])
	case areStrided(n, len(x), incX, len(y), incY):
		stridedCopy(n, x, incX, y, incY)
	default:
		i.rest.Dcopy(n, x, incX, y, incY)
	}
}

// Daxpy adds alpha·x to y.
func (i Implementation) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	switch {
	case alpha == 0:
	case areRows(n, x, incX, y, incY):
		switch {
		case n < loopAxpy64:
			axpyLoop(y[:n], alpha, x[:n])
			return
		case n < longKernel && fast():
			kernelAxpy64(n, alpha, x, y)
			return
		case n >= longAxpy64:
			simd.AxpyF64(y[:n], alpha, x[:n])
			return
		}
	case areStrided(n, len(x), incX, len(y), incY):
		switch {
		case n < stridedAxpy64:
			stridedAxpy(n, alpha, x, incX, y, incY)
			return
		case n < longStridedAxpy && fast():
			kernelStridedAxpy64(n, alpha, &x[start(n, incX)], incX, &y[start(n, incY)], incY)
			return
		}
	}
	i.rest.Daxpy(n, alpha, x, incX, y, incY)
}

// Dscal multiplies x by alpha.
func (i Implementation) Dscal(n int, alpha float64, x []float64, incX int) {
	switch {
	case alpha == 0:
	case isRow(n, x, incX):
		switch {
		case n < loopScale64:
			scaleLoop(x[:n], alpha)
			return
		case n < longKernel && fast():
			kernelScale64(n, alpha, x)
			return
		case n >= longScale64:
			simd.ScaleF64(x[:n], alpha, x[:n])
			return
		}
	case isStrided(n, x, incX):
		switch {
		case n < stridedScale64:
			stridedScale(n, alpha, x, incX)
			return
		case n < longStrided && fast():
			kernelStridedScale64(n, alpha, &x[0], incX)
			return
		}
	}
	i.rest.Dscal(n, alpha, x, incX)
}

// Drot rotates the points (x, y): c·x + s·y and c·y - s·x.
func (i Implementation) Drot(n int, x []float64, incX int, y []float64, incY int, c, s float64) {
	switch {
	case areRows(n, x, incX, y, incY):
		switch {
		case n < loopRotate64:
			shortRotateOf(x[:n], y[:n], c, s)
		case n < longKernel && fast():
			kernelRotate64(n, x, y, c, s)
		default:
			simd.RotateF64(x[:n], y[:n], c, s)
		}
	case areStrided(n, len(x), incX, len(y), incY):
		stridedRotate(n, x, incX, y, incY, c, s)
	default:
		i.rest.Drot(n, x, incX, y, incY, c, s)
	}
}

// Dgemv computes y = alpha·op(A)·x + beta·y.
func (i Implementation) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int,
	beta float64, y []float64, incY int) {
	if m*n < stridedMatrix64 && (incX != 1 && (!isTransposed(tA) || m*n < columnsGemv64) || incY != 1) {
		if incY == 1 && isTransposed(tA) && n > 0 && len(y) > n {
			y = y[:n] // gonum's function for float32 clears what is behind
		}
		i.rest.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	switch {
	case incX != 1 || incY != 1:
		switch {
		case incY == 1 && isTransposed(tA) && isColumns(tA, m, n, alpha, a, lda, x, incX) && len(y) >= n:
			kernelGemm64(1, n, m, alpha, x, 0, incX, a, lda, beta, y, 0)
			return
		case m*n < stridedMatrix64 || !isGemv(tA, m, n, alpha, a, lda, x, incX, y, incY):
		case fast() && uint(m*n) < kernelMatrix && max(m, n) <= stridedRow:
			stridedGemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
			return
		case m*n >= smallMatrix:
			gemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
			return
		}
	case fast() && isSmallMatrix(m, n, a, lda) && alpha != 0:
		switch {
		case tA == blas.NoTrans:
			if len(x) >= n && len(y) >= m {
				kernelDots64(1, m, n, alpha, x, 0, a, lda, beta, y, 0)
				return
			}
		case validTranspose(tA) && len(x) >= m && len(y) >= n:
			kernelGemm64(1, n, m, alpha, x, 0, 1, a, lda, beta, y, 0)
			return
		}
	case uint(m*n) >= smallMatrix && isGemv(tA, m, n, alpha, a, lda, x, incX, y, incY):
		gemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	if incY == 1 && isTransposed(tA) && n > 0 && len(y) > n {
		y = y[:n] // gonum's function for float32 clears what is behind
	}
	i.rest.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Dger adds alpha·x·yᵀ to A.
func (i Implementation) Dger(m, n int, alpha float64, x []float64, incX int, y []float64, incY int, a []float64, lda int) {
	if (uint(m*n) >= 3*smallRows && n >= shortGer || incX < 0 || incY < 0) && isGer(m, n, alpha, x, incX, y, incY, a, lda) {
		ger(m, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	i.rest.Dger(m, n, alpha, x, incX, y, incY, a, lda)
}

// Dsymv computes y = alpha·A·x + beta·y for a symmetric A.
func (i Implementation) Dsymv(ul blas.Uplo, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64,
	y []float64, incY int) {
	switch {
	case n == 1 && alpha != 0 && isSingle(a, lda) && isFirst(x, incX) && isFirst(y, incY) && validUplo(ul):
		y[0] = blend(alpha, a[0]*x[0], beta, y[0])
		return
	case n < rowsSymv:
		if incX == 1 && incY == 1 && alpha != 0 && isTriangle(ul, n, a, lda) && len(x) >= n && len(y) >= n {
			tinySymv(ul, n, alpha, a, lda, x, beta, y)
			return
		}
	case (fast() && n >= foursSymv || n*n >= smallRows) && alpha != 0 && isTriangle(ul, n, a, lda) && holds(len(x), n, incX) &&
		holds(len(y), n, incY):
		symv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	i.rest.Dsymv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Dsyr adds alpha·x·xᵀ to a symmetric A.
func (i Implementation) Dsyr(ul blas.Uplo, n int, alpha float64, x []float64, incX int, a []float64, lda int) {
	switch {
	case n < rowsSyr:
		if incX == 1 && alpha != 0 && isTriangle(ul, n, a, lda) && len(x) >= n {
			tinySyr(ul, n, alpha, x, a, lda)
			return
		}
	case (fast() && n >= rowsAxpy || n*n >= smallRows) && alpha != 0 && isTriangle(ul, n, a, lda) && holds(len(x), n, incX):
		syr(ul, n, alpha, x, incX, a, lda)
		return
	}
	i.rest.Dsyr(ul, n, alpha, x, incX, a, lda)
}

// Dsyr2 adds alpha·(x·yᵀ + y·xᵀ) to a symmetric A.
func (i Implementation) Dsyr2(ul blas.Uplo, n int, alpha float64, x []float64, incX int, y []float64, incY int, a []float64, lda int) {
	if n < rowsAxpy2 {
		i.rest.Dsyr2(ul, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	if (fast() || n*n >= smallRows) && alpha != 0 && isTriangle(ul, n, a, lda) && holds(len(x), n, incX) && holds(len(y), n, incY) {
		syr2(ul, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	i.rest.Dsyr2(ul, n, alpha, x, incX, y, incY, a, lda)
}

// Dtrmv computes x = op(A)·x for a triangular A.
func (i Implementation) Dtrmv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	switch {
	case n == 1 && isSingle(a, lda) && isFirst(x, incX) && validUplo(ul) && validTranspose(tA) && validDiag(d):
		if d == blas.NonUnit {
			x[0] *= a[0]
		}
		return
	case n < rowsTrmv:
		if incX == 1 && validTranspose(tA) && validDiag(d) && isTriangle(ul, n, a, lda) && len(x) >= n {
			trmvBlock(ul == blas.Upper, isTransposed(tA), d, n, a, lda, x[:n])
			return
		}
	case n*n >= smallRows && validTranspose(tA) && validDiag(d) && isTriangle(ul, n, a, lda) && holds(len(x), n, incX):
		trmv(ul, tA, d, n, a, lda, x, incX)
		return
	}
	i.rest.Dtrmv(ul, tA, d, n, a, lda, x, incX)
}

// Dtrsv solves op(A)·x = b for a triangular A; x holds b to begin with.
func (i Implementation) Dtrsv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float64, lda int, x []float64, incX int) {
	if n > 1 && n < triangleOrder {
		i.rest.Dtrsv(ul, tA, d, n, a, lda, x, incX)
		return
	}
	switch {
	case n == 1 && isSingle(a, lda) && isFirst(x, incX) && validUplo(ul) && validTranspose(tA) && validDiag(d):
		if d == blas.NonUnit {
			x[0] /= a[0]
		}
		return
	case n*n >= smallTriangle && validTranspose(tA) && validDiag(d) && isTriangle(ul, n, a, lda) && holds(len(x), n, incX):
		trsv(ul, tA, d, n, a, lda, x, incX)
		return
	}
	i.rest.Dtrsv(ul, tA, d, n, a, lda, x, incX)
}

// Dgemm computes C = alpha·op(A)·op(B) + beta·C.
func (i Implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int,
	beta float64, c []float64, ldc int) {
	if isGonumProduct(tA, tB, m, n, k) || !isGemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, c, ldc) {
		i.rest.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	switch {
	case max(m, n, k) < tinyProduct && (isTransposed(tA) && isTransposed(tB) || !fast()):
		tinyGemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	case !fast():
	case !isTransposed(tB):
		if isSmallGemm(m, n, k) {
			down, across := strides(tA, lda)
			kernelGemm64(m, n, k, alpha, a, down, across, b, ldb, beta, c, ldc)
			return
		}
	case isSmallDots(tA, m, n, k):
		smallProduct64(tA, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	gemm(isTransposed(tA), isTransposed(tB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// smallProduct64 is GEMM by kernels, with a transposed B and few elements.
func smallProduct64(tA blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64,
	c []float64, ldc int) {
	switch {
	case isTransposed(tA) && m <= n && m*k <= smallTurned:
		var rows [smallTurned]float64
		turn(&rows, a, lda, k, m)
		kernelDots64(m, n, k, alpha, rows[:], k, b, ldb, beta, c, ldc)
	case isTransposed(tA) && n*k <= smallTurned:
		var turned [smallTurned]float64
		turn(&turned, b, ldb, n, k)
		kernelGemm64(m, n, k, alpha, a, 1, lda, turned[:], n, beta, c, ldc)
	case isTransposed(tA):
		row, back := rent[float64](k)
		for i := range m {
			gather(row, a[i:], lda)
			kernelDots64(1, n, k, alpha, row, k, b, ldb, beta, c[i*ldc:], ldc)
		}
		giveBack(back)
	case n == 1 && k >= longColumn:
		for i := range m {
			p := &c[i*ldc]
			*p = blend(alpha, kernelDot64(k, a[i*lda:], b), beta, *p)
		}
	default:
		kernelDots64(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dsymm computes C = alpha·A·B + beta·C, or alpha·B·A + beta·C, for a symmetric A.
func (i Implementation) Dsymm(s blas.Side, ul blas.Uplo, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int,
	beta float64, c []float64, ldc int) {
	if m == 1 && n == 1 && alpha != 0 && isSingle(a, lda) && isSingle(b, ldb) && isSingle(c, ldc) && validSide(s) &&
		validUplo(ul) {
		c[0] = blend(alpha, a[0]*b[0], beta, c[0])
		return
	}
	small := isSmallSymm(s, m, n)
	if !small && isGonumSymm(s, m, n) || !isSymm(s, ul, m, n, alpha, a, lda, b, ldb, c, ldc) {
		i.rest.Dsymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	if small {
		smallSymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	symm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dsyrk computes C = alpha·op(A)·op(A)ᵀ + beta·C for a symmetric C.
func (i Implementation) Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64,
	c []float64, ldc int) {
	if n > 1 && n <= rankOrder && !isTransposed(t) && !isSmallRank(t, n, k) {
		i.rest.Dsyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	if n == 1 && k == 1 && alpha != 0 && isSingle(a, lda) && isSingle(c, ldc) && validUplo(ul) && validTranspose(t) {
		c[0] = blend(alpha, a[0]*a[0], beta, c[0])
		return
	}
	small := isSmallRank(t, n, k)
	if !small && isGonumRank(t, n, k) || !isRank(ul, t, n, k, alpha, a, lda, c, ldc) {
		if beta == 0 && ul == blas.Lower && isTransposed(t) {
			clearRank(t, n, k, a, lda, c, ldc)
		}
		i.rest.Dsyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	if small {
		smallSyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	if max(n, k) < tinyRank {
		tinySyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	syrk(ul, isTransposed(t), n, k, alpha, a, lda, beta, c, ldc)
}

// Dsyr2k computes C = alpha·(op(A)·op(B)ᵀ + op(B)·op(A)ᵀ) + beta·C for a symmetric C.
func (i Implementation) Dsyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, b []float64,
	ldb int, beta float64, c []float64, ldc int) {
	if n > 1 && n < 8 && k < 8 && !isSmallRank(t, n, k) {
		i.rest.Dsyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	if n == 1 && k == 1 && alpha != 0 && isSingle(a, lda) && isSingle(b, ldb) && isSingle(c, ldc) && validUplo(ul) &&
		validTranspose(t) {
		c[0] = blend(alpha, 2*a[0]*b[0], beta, c[0])
		return
	}
	small := isSmallRank(t, n, k)
	if !small && isGonumRank2(t, n, k) || !isRank(ul, t, n, k, alpha, a, lda, c, ldc) ||
		!isRank(ul, t, n, k, alpha, b, ldb, c, ldc) {
		i.rest.Dsyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	if small {
		smallSyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	syr2k(ul, isTransposed(t), n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dtrmm computes B = alpha·op(A)·B, or alpha·B·op(A), for a triangular A.
func (i Implementation) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64,
	lda int, b []float64, ldb int) {
	if isGonumTriangular(s, m, n) {
		i.rest.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	switch {
	case m == 1 && n == 1:
		if alpha != 0 && isSingle(a, lda) && isSingle(b, ldb) && validSide(s) && validUplo(ul) && validTranspose(tA) &&
			validDiag(d) {
			if b[0] *= alpha; d == blas.NonUnit {
				b[0] *= a[0]
			}
			return
		}
	case m == 1 && s == blas.Right && n < rowTriangle:
		if isTriangular(s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
			scaleLoop(b[:n], alpha)
			trmvBlock(ul == blas.Upper, !isTransposed(tA), d, n, a, lda, b[:n]) // the row is a column times the transpose
			return
		}
	case isLarge(s, m, n, rowsMultiply) && isTriangular(s, ul, tA, d, m, n, alpha, a, lda, b, ldb):
		trmm(s, newTriangle(s, ul, tA, d, m, n, a, lda), m, n, alpha, b, ldb)
		return
	}
	i.rest.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
}

// Dtrsm solves op(A)·X = alpha·B, or X·op(A) = alpha·B, for a triangular A. X takes the place of B.
func (i Implementation) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64,
	lda int, b []float64, ldb int) {
	if isGonumTriangular(s, m, n) {
		i.rest.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	switch {
	case m == 1 && n == 1:
		if alpha != 0 && isSingle(a, lda) && isSingle(b, ldb) && validSide(s) && validUplo(ul) && validTranspose(tA) &&
			validDiag(d) {
			if b[0] *= alpha; d == blas.NonUnit {
				b[0] /= a[0]
			}
			return
		}
	case m == 1 && s == blas.Right && n < rowTriangle:
		if isTriangular(s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
			scaleLoop(b[:n], alpha)
			trsvBlock(ul == blas.Upper, !isTransposed(tA), d, n, a, lda, b[:n]) // the row is a column times the transpose
			return
		}
	case isLarge(s, m, n, rowsSolve) && isTriangular(s, ul, tA, d, m, n, alpha, a, lda, b, ldb):
		trsm(s, newTriangle(s, ul, tA, d, m, n, a, lda), m, n, alpha, b, ldb)
		return
	}
	i.rest.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
}
