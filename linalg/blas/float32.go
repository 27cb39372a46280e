package blas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/equivcnp/equivcnp/simd"
)

// The methods of one precision check whether a call is theirs, right and large enough. What is not goes to gonum, whose
// messages are the ones that callers know. Their comments name operations; gonum's documentation has the arguments.

// Sdot returns the sum of the products of x and y.
func (i Implementation) Sdot(n int, x []float32, incX int, y []float32, incY int) float32 {
	switch {
	case areRows(n, x, incX, y, incY):
		switch {
		case n < loopDot32:
			return shortDot(x[:n], y[:n])
		case n < longKernel && fast():
			return kernelDot32(n, x, y)
		case n >= longDot32:
			return simd.DotSingleF32(x[:n], y[:n])
		}
	case areStrided(n, len(x), incX, len(y), incY):
		switch {
		case n < stridedDot32:
			return stridedDot(n, x, incX, y, incY)
		case n < longStrided && fast():
			return kernelStridedDot32(n, &x[start(n, incX)], incX, &y[start(n, incY)], incY)
		}
	}
	return i.rest.Sdot(n, x, incX, y, incY)
}

// Dsdot returns the sum of the products of x and y, in float64.
func (i Implementation) Dsdot(n int, x []float32, incX int, y []float32, incY int) float64 {
	if n >= longSum && areRows(n, x, incX, y, incY) {
		return simd.DotF32(x[:n], y[:n])
	}
	return i.rest.Dsdot(n, x, incX, y, incY)
}

// Sdsdot returns alpha and the sum of the products of x and y, summed in float64.
func (i Implementation) Sdsdot(n int, alpha float32, x []float32, incX int, y []float32, incY int) float32 {
	if n >= longSum && areRows(n, x, incX, y, incY) {
		return alpha + float32(simd.DotF32(x[:n], y[:n]))
	}
	return i.rest.Sdsdot(n, alpha, x, incX, y, incY)
}

// Snrm2 returns the Euclidean norm of x.
func (i Implementation) Snrm2(n int, x []float32, incX int) float32 {
	if n == 1 && incX > 0 && len(x) > 0 {
		return max(x[0], -x[0])
	}
	if isRow(n, x, incX) {
		if s, ok := norm2(x[:n]); ok {
			return float32(s)
		}
	} else if isStrided(n, x, incX) {
		if s, ok := strided2(n, x, incX); ok {
			return float32(s)
		}
	}
	return i.rest.Snrm2(n, x, incX)
}

// Sasum returns the sum of the magnitudes of x.
func (i Implementation) Sasum(n int, x []float32, incX int) float32 {
	switch {
	case isRow(n, x, incX):
		switch {
		case n < loopAbs32:
			return float32(shortAbs(x[:n]))
		case n < longKernel && fast():
			return kernelAbs32(n, x)
		case n >= longSum:
			return float32(simd.SumAbsF32(x[:n]))
		}
	case isStrided(n, x, incX):
		return float32(stridedAbs(n, x, incX))
	}
	return i.rest.Sasum(n, x, incX)
}

// Isamax returns the index of the element of x of largest magnitude, the first of several.
func (i Implementation) Isamax(n int, x []float32, incX int) int {
	switch {
	case n == 1 && incX > 0 && len(x) > 0:
		return 0
	case isRow(n, x, incX):
		if n < longLargest32 {
			return shortLargest(x[:n])
		}
		if at, ok := largest(x[:n]); ok {
			return at
		}
	case isStrided(n, x, incX):
		return stridedLargest(n, x, incX)
	}
	return i.rest.Isamax(n, x, incX)
}

// Sswap exchanges x and y.
func (i Implementation) Sswap(n int, x []float32, incX int, y []float32, incY int) {
	switch {
	case areRows(n, x, incX, y, incY):
		switch {
		case n < loopSwap32:
			shortSwapOf(x[:n], y[:n])
		case n < longKernel && fast():
			kernelSwap32(n, x, y)
		default:
			simd.SwapF32(x[:n], y[:n])
		}
	case areStrided(n, len(x), incX, len(y), incY):
		stridedSwap(n, x, incX, y, incY)
	default:
		i.rest.Sswap(n, x, incX, y, incY)
	}
}

// Scopy copies x to y.
func (i Implementation) Scopy(n int, x []float32, incX int, y []float32, incY int) {
	switch {
	case areRows(n, x, incX, y, incY):
		copy(y[:n], x[:n])
	case areStrided(n, len(x), incX, len(y), incY):
		stridedCopy(n, x, incX, y, incY)
	default:
		i.rest.Scopy(n, x, incX, y, incY)
	}
}

// Saxpy adds alpha·x to y.
func (i Implementation) Saxpy(n int, alpha float32, x []float32, incX int, y []float32, incY int) {
	switch {
	case alpha == 0:
	case areRows(n, x, incX, y, incY):
		switch {
		case n < loopAxpy32:
			axpyLoop(y[:n], alpha, x[:n])
			return
		case n < longKernel && fast():
			kernelAxpy32(n, alpha, x, y)
			return
		case n >= longAxpy32:
			simd.AxpyF32(y[:n], alpha, x[:n])
			return
		}
	case areStrided(n, len(x), incX, len(y), incY):
		switch {
		case n < stridedAxpy32:
			stridedAxpy(n, alpha, x, incX, y, incY)
			return
		case n < longStridedAxpy && fast():
			kernelStridedAxpy32(n, alpha, &x[start(n, incX)], incX, &y[start(n, incY)], incY)
			return
		}
	}
	i.rest.Saxpy(n, alpha, x, incX, y, incY)
}

// Sscal multiplies x by alpha.
func (i Implementation) Sscal(n int, alpha float32, x []float32, incX int) {
	switch {
	case alpha == 0:
	case isRow(n, x, incX):
		switch {
		case n < loopScale32:
			scaleLoop(x[:n], alpha)
			return
		case n < longKernel && fast():
			kernelScale32(n, alpha, x)
			return
		case n >= longScale32:
			simd.ScaleF32(x[:n], alpha, x[:n])
			return
		}
	case isStrided(n, x, incX):
		switch {
		case n < stridedScale32:
			stridedScale(n, alpha, x, incX)
			return
		case n < longStrided && fast():
			kernelStridedScale32(n, alpha, &x[0], incX)
			return
		}
	}
	i.rest.Sscal(n, alpha, x, incX)
}

// Srot rotates the points (x, y): c·x + s·y and c·y - s·x.
func (i Implementation) Srot(n int, x []float32, incX int, y []float32, incY int, c, s float32) {
	switch {
	case areRows(n, x, incX, y, incY):
		switch {
		case n < loopRotate32:
			shortRotateOf(x[:n], y[:n], c, s)
		case n < longKernel && fast():
			kernelRotate32(n, x, y, c, s)
		default:
			simd.RotateF32(x[:n], y[:n], c, s)
		}
	case areStrided(n, len(x), incX, len(y), incY):
		stridedRotate(n, x, incX, y, incY, c, s)
	default:
		i.rest.Srot(n, x, incX, y, incY, c, s)
	}
}

// Sgemv computes y = alpha·op(A)·x + beta·y.
func (i Implementation) Sgemv(tA blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int,
	beta float32, y []float32, incY int) {
	if m*n < stridedMatrix32 && (incX != 1 && (!isTransposed(tA) || m*n < columnsGemv32) || incY != 1) {
		if incY == 1 && isTransposed(tA) && n > 0 && len(y) > n {
			y = y[:n] // gonum's function for float32 clears what is behind
		}
		i.rest.Sgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	switch {
	case incX != 1 || incY != 1:
		switch {
		case incY == 1 && isTransposed(tA) && isColumns(tA, m, n, alpha, a, lda, x, incX) && len(y) >= n:
			kernelGemm32(1, n, m, alpha, x, 0, incX, a, lda, beta, y, 0)
			return
		case m*n < stridedMatrix32 || !isGemv(tA, m, n, alpha, a, lda, x, incX, y, incY):
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
				kernelDots32(1, m, n, alpha, x, 0, a, lda, beta, y, 0)
				return
			}
		case validTranspose(tA) && len(x) >= m && len(y) >= n:
			kernelGemm32(1, n, m, alpha, x, 0, 1, a, lda, beta, y, 0)
			return
		}
	case uint(m*n) >= smallMatrix && isGemv(tA, m, n, alpha, a, lda, x, incX, y, incY):
		gemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	if incY == 1 && isTransposed(tA) && n > 0 && len(y) > n {
		y = y[:n] // gonum's function for float32 clears what is behind
	}
	i.rest.Sgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Sger adds alpha·x·yᵀ to A.
func (i Implementation) Sger(m, n int, alpha float32, x []float32, incX int, y []float32, incY int, a []float32, lda int) {
	if (uint(m*n) >= 3*smallRows && n >= shortGer || incX < 0 || incY < 0) && isGer(m, n, alpha, x, incX, y, incY, a, lda) {
		ger(m, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	i.rest.Sger(m, n, alpha, x, incX, y, incY, a, lda)
}

// Ssymv computes y = alpha·A·x + beta·y for a symmetric A.
func (i Implementation) Ssymv(ul blas.Uplo, n int, alpha float32, a []float32, lda int, x []float32, incX int, beta float32,
	y []float32, incY int) {
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
	i.rest.Ssymv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Ssyr adds alpha·x·xᵀ to a symmetric A.
func (i Implementation) Ssyr(ul blas.Uplo, n int, alpha float32, x []float32, incX int, a []float32, lda int) {
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
	i.rest.Ssyr(ul, n, alpha, x, incX, a, lda)
}

// Ssyr2 adds alpha·(x·yᵀ + y·xᵀ) to a symmetric A.
func (i Implementation) Ssyr2(ul blas.Uplo, n int, alpha float32, x []float32, incX int, y []float32, incY int, a []float32, lda int) {
	if n < rowsAxpy2 {
		i.rest.Ssyr2(ul, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	if (fast() || n*n >= smallRows) && alpha != 0 && isTriangle(ul, n, a, lda) && holds(len(x), n, incX) && holds(len(y), n, incY) {
		syr2(ul, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	i.rest.Ssyr2(ul, n, alpha, x, incX, y, incY, a, lda)
}

// Strmv computes x = op(A)·x for a triangular A.
func (i Implementation) Strmv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float32, lda int, x []float32, incX int) {
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
	i.rest.Strmv(ul, tA, d, n, a, lda, x, incX)
}

// Strsv solves op(A)·x = b for a triangular A; x holds b to begin with.
func (i Implementation) Strsv(ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []float32, lda int, x []float32, incX int) {
	if n > 1 && n < triangleOrder {
		i.rest.Strsv(ul, tA, d, n, a, lda, x, incX)
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
	i.rest.Strsv(ul, tA, d, n, a, lda, x, incX)
}

// Sgemm computes C = alpha·op(A)·op(B) + beta·C.
func (i Implementation) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	if isGonumProduct(tA, tB, m, n, k) || !isGemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, c, ldc) {
		i.rest.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
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
			kernelGemm32(m, n, k, alpha, a, down, across, b, ldb, beta, c, ldc)
			return
		}
	case isSmallDots(tA, m, n, k):
		smallProduct32(tA, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	gemm(isTransposed(tA), isTransposed(tB), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// smallProduct32 is GEMM by kernels, with a transposed B and few elements.
func smallProduct32(tA blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32,
	c []float32, ldc int) {
	switch {
	case isTransposed(tA) && m <= n && m*k <= smallTurned:
		var rows [smallTurned]float32
		turn(&rows, a, lda, k, m)
		kernelDots32(m, n, k, alpha, rows[:], k, b, ldb, beta, c, ldc)
	case isTransposed(tA) && n*k <= smallTurned:
		var turned [smallTurned]float32
		turn(&turned, b, ldb, n, k)
		kernelGemm32(m, n, k, alpha, a, 1, lda, turned[:], n, beta, c, ldc)
	case isTransposed(tA):
		row, back := rent[float32](k)
		for i := range m {
			gather(row, a[i:], lda)
			kernelDots32(1, n, k, alpha, row, k, b, ldb, beta, c[i*ldc:], ldc)
		}
		giveBack(back)
	case n == 1 && k >= longColumn:
		for i := range m {
			p := &c[i*ldc]
			*p = blend(alpha, kernelDot32(k, a[i*lda:], b), beta, *p)
		}
	default:
		kernelDots32(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Ssymm computes C = alpha·A·B + beta·C, or alpha·B·A + beta·C, for a symmetric A.
func (i Implementation) Ssymm(s blas.Side, ul blas.Uplo, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	if m == 1 && n == 1 && alpha != 0 && isSingle(a, lda) && isSingle(b, ldb) && isSingle(c, ldc) && validSide(s) &&
		validUplo(ul) {
		c[0] = blend(alpha, a[0]*b[0], beta, c[0])
		return
	}
	small := isSmallSymm(s, m, n)
	if !small && isGonumSymm(s, m, n) || !isSymm(s, ul, m, n, alpha, a, lda, b, ldb, c, ldc) {
		i.rest.Ssymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	if small {
		smallSymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	symm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Ssyrk computes C = alpha·op(A)·op(A)ᵀ + beta·C for a symmetric C.
func (i Implementation) Ssyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, beta float32,
	c []float32, ldc int) {
	if n > 1 && n <= rankOrder && !isTransposed(t) && !isSmallRank(t, n, k) {
		i.rest.Ssyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
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
		i.rest.Ssyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
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

// Ssyr2k computes C = alpha·(op(A)·op(B)ᵀ + op(B)·op(A)ᵀ) + beta·C for a symmetric C.
func (i Implementation) Ssyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, b []float32,
	ldb int, beta float32, c []float32, ldc int) {
	if n > 1 && n < 8 && k < 8 && !isSmallRank(t, n, k) {
		i.rest.Ssyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
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
		i.rest.Ssyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	if small {
		smallSyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	syr2k(ul, isTransposed(t), n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Strmm computes B = alpha·op(A)·B, or alpha·B·op(A), for a triangular A.
func (i Implementation) Strmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32,
	lda int, b []float32, ldb int) {
	if isGonumTriangular(s, m, n) {
		i.rest.Strmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
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
	i.rest.Strmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
}

// Strsm solves op(A)·X = alpha·B, or X·op(A) = alpha·B, for a triangular A. X takes the place of B.
func (i Implementation) Strsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32,
	lda int, b []float32, ldb int) {
	if isGonumTriangular(s, m, n) {
		i.rest.Strsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
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
	i.rest.Strsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
}
