package blas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

const (
	// The numbers of elements below which level 2 is gonum's, measured on Zen 5: one call of a kernel does a matrix times a vector, and
	// blocks of a triangle; a call for each row must have long rows to gain.
	smallMatrix = 32 * 32
	// kernelMatrix is below how many elements the kernels for small products take less time, and thinMatrix with fewer than 16 rows or
	// columns, of which too few sums run side by side.
	kernelMatrix  = 1 << 16
	thinMatrix    = 1 << 12
	smallTriangle = triangleOrder * triangleOrder
	triangleOrder = 48
	smallRows     = 96 * 96
	shortGer      = 96 // columns
	// With kernels, SYMV by four rows, SYR and SYR2 take less time from so many rows on.
	foursSymv = 20
	rowsAxpy  = 36
	rowsAxpy2 = 48
	// splitMatrix is how many elements a piece has that a goroutine takes.
	splitMatrix = 1 << 16
)

// grain is how many rows of that many elements make a piece, a multiple of 4.
func grain(elements int) int { return (splitMatrix/max(1, elements) + 4) &^ 3 }

// isSmallMatrix reports whether a matrix is right, not empty, and for kernels for small products. It is inlined, and strides are far from
// an overflow.
func isSmallMatrix[T simd.Float](m, n int, a []T, lda int) bool {
	return uint(m-1) < kernelMatrix && uint(n-1) < kernelMatrix && m*n < kernelMatrix && (m*n < thinMatrix || min(m, n) >= 16) &&
		lda >= n && lda <= len(a) && (m-1)*lda+n <= len(a)
}

// isGemv reports whether the arguments of a GEMV are right, and its sizes and alpha are not 0.
func isGemv[T simd.Float](t blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int, y []T, incY int) bool {
	if m <= 0 || n <= 0 || alpha == 0 || !validTranspose(t) || !fits(len(a), m, n, lda) {
		return false
	}
	lx, ly := n, m
	if isTransposed(t) {
		lx, ly = m, n
	}
	return holds(len(x), lx, incX) && holds(len(y), ly, incY)
}

// gemv is y = alpha·op(A)·x + beta·y.
func gemv[T simd.Float](t blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int) {
	lx, ly := n, m
	if isTransposed(t) {
		lx, ly = m, n
	}
	vx, backX := contiguous(x, lx, incX)
	vy, backY := contiguous(y, ly, incY)
	switch {
	case m*n <= splitMatrix && isTransposed(t):
		simd.GemvT(vy, a, lda, vx, alpha, beta, m, n)
	case m*n <= splitMatrix:
		simd.Gemv(vy, a, lda, vx, alpha, beta, m, n)
	case !isTransposed(t):
		parallel.For(m, grain(n), func(lo, hi int) { simd.Gemv(vy[lo:hi], a[lo*lda:], lda, vx, alpha, beta, hi-lo, n) })
	default:
		gemvT(vy, m, n, alpha, a, lda, vx, beta)
	}
	if backX != nil {
		giveBack(backX)
	}
	if backY != nil {
		scatter(y, vy, incY)
		giveBack(backY)
	}
}

// Numbers of elements from which GEMV of vectors with increments is done by kernels for small products: of a transposed matrix where only x
// has one, and of others on copies of the vectors. What is smaller is gonum's.
const (
	columnsGemv32   = 4
	columnsGemv64   = 45
	stridedMatrix32 = 16
	stridedMatrix64 = 640
)

// isColumns reports whether a product with a transposed matrix is right and for a kernel, which takes a positive increment of x as it is.
func isColumns[T simd.Float](t blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int) bool {
	return fast() && (t == blas.Trans || t == blas.ConjTrans) && max(m, n) <= stridedRow && isSmallMatrix(m, n, a, lda) && alpha != 0 &&
		incX > 0 && incX <= len(x) && (m-1)*incX < len(x)
}

const (
	// sumRows is how many rows of a matrix a goroutine sums up at least, where sums of columns are cut into parts, and
	// mostSums how many parts there are at most. The parts are added in the end, which is less than a hundredth of the work.
	sumRows  = 128
	mostSums = 32
)

// gemvT is y = alpha·Aᵀ·x + beta·y for a large matrix: parts of the rows, whose memory is contiguous, or columns where rows are few.
func gemvT[T simd.Float](y []T, m, n int, alpha T, a []T, lda int, x []T, beta T) {
	parts := min(m/sumRows, mostSums, m*n/splitMatrix)
	if parts < 2 {
		parallel.For(n, max(256, grain(m)), func(lo, hi int) { simd.GemvT(y[lo:hi], a[lo:], lda, x, alpha, beta, m, hi-lo) })
		return
	}
	step := (m + parts - 1) / parts
	parts = (m + step - 1) / step
	sums, back := rent[T](parts * n)
	parallel.For(m, step, func(lo, hi int) {
		simd.GemvT(sums[lo/step*n:][:n], a[lo*lda:], lda, x[lo:hi], alpha, 0, hi-lo, n)
	})
	parallel.For(n, max(256, grain(parts)), func(lo, hi int) {
		to := y[lo:hi]
		if beta == 0 {
			copy(to, sums[lo:hi])
		} else {
			for i, v := range sums[lo:hi] {
				to[i] = beta*to[i] + v
			}
		}
		for p := 1; p < parts; p++ {
			simd.Add(to, to, sums[p*n+lo:p*n+hi])
		}
	})
	giveBack(back)
}

// isGer is isGemv for GER. All with a negative increment is this package's, because version 0.17 of gonum reads such vectors from the wrong
// end.
func isGer[T simd.Float](m, n int, alpha T, x []T, incX int, y []T, incY int, a []T, lda int) bool {
	return m > 0 && n > 0 && alpha != 0 && fits(len(a), m, n, lda) && holds(len(x), m, incX) && holds(len(y), n, incY)
}

// ger is A += alpha·x·yᵀ.
func ger[T simd.Float](m, n int, alpha T, x []T, incX int, y []T, incY int, a []T, lda int) {
	vy, back := contiguous(y, n, incY)
	at := start(m, incX)
	parallel.For(m, grain(n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			axpy(a[i*lda:][:n], alpha*x[at+i*incX], vy)
		}
	})
	if back != nil {
		giveBack(back)
	}
}

// row is the part of row i of a triangle that lies beside the diagonal, and where it begins.
func row[T simd.Float](ul blas.Uplo, a []T, lda, n, i int) (r []T, lo int) {
	if ul == blas.Upper {
		return a[i*lda+i+1 : i*lda+n], i + 1
	}
	return a[i*lda : i*lda+i], 0
}

// isTriangle reports whether a triangle is right and not empty.
func isTriangle[T simd.Float](ul blas.Uplo, n int, a []T, lda int) bool {
	return n > 0 && validUplo(ul) && fits(len(a), n, n, lda)
}

// symv is y = alpha·A·x + beta·y. Every row of the triangle is read once, for its own element of y and for those of its columns.
func symv[T simd.Float](ul blas.Uplo, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int) {
	vx, backX := contiguous(x, n, incX)
	vy, backY := contiguous(y, n, incY)
	scaleTo(vy, beta)
	done := 0
	if fast() {
		done = symvFours(ul, n, alpha, a, lda, vx, vy)
	}
	for i := done; i < n; i++ {
		r, lo := row(ul, a, lda, n, i)
		s := vx[i] * a[i*lda+i]
		if len(r) > 0 {
			s += dot(r, vx[lo:lo+len(r)])
			simd.Axpy(vy[lo:lo+len(r)], alpha*vx[i], r)
		}
		vy[i] += alpha * s
	}
	if backX != nil {
		giveBack(backX)
	}
	if backY != nil {
		scatter(y, vy, incY)
		giveBack(backY)
	}
}

// symvFours adds what the first rows make of alpha·A·x to y, four at a time, and returns how many these are: all but up to four.
func symvFours[T simd.Float](ul blas.Uplo, n int, alpha T, a []T, lda int, x, y []T) (done int) {
	x, y = x[:n], y[:n]
	for ; done+4 < n; done += 4 {
		x0, x1, x2, x3 := x[done], x[done+1], x[done+2], x[done+3]
		by, sums := [4]T{alpha * x0, alpha * x1, alpha * x2, alpha * x3}, [4]T{}
		if ul == blas.Upper {
			symmetricFour(n-done-4, a[done*lda+done+4:], lda, x[done+4:], y[done+4:], &by, &sums, 1)
		} else if done > 0 {
			symmetricFour(done, a[done*lda:], lda, x, y, &by, &sums, 0)
		}
		// The square on the diagonal, of which one triangle is given.
		r0, r1, r2, r3 := a[done*lda+done:][:4], a[(done+1)*lda+done:][:4], a[(done+2)*lda+done:][:4], a[(done+3)*lda+done:][:4]
		var d01, d02, d03, d12, d13, d23 T
		if ul == blas.Upper {
			d01, d02, d03, d12, d13, d23 = r0[1], r0[2], r0[3], r1[2], r1[3], r2[3]
		} else {
			d01, d02, d03, d12, d13, d23 = r1[0], r2[0], r3[0], r2[1], r3[1], r3[2]
		}
		y[done] += alpha * (sums[0] + r0[0]*x0 + d01*x1 + d02*x2 + d03*x3)
		y[done+1] += alpha * (sums[1] + d01*x0 + r1[1]*x1 + d12*x2 + d13*x3)
		y[done+2] += alpha * (sums[2] + d02*x0 + d12*x1 + r2[2]*x2 + d23*x3)
		y[done+3] += alpha * (sums[3] + d03*x0 + d13*x1 + d23*x2 + r3[3]*x3)
	}
	return done
}

// syr is A += alpha·x·xᵀ in one triangle, syr2 A += alpha·(x·yᵀ + y·xᵀ).
func syr[T simd.Float](ul blas.Uplo, n int, alpha T, x []T, incX int, a []T, lda int) {
	vx, back := contiguous(x, n, incX)
	for i := range n {
		lo, hi := span(ul, n, i)
		axpy(a[i*lda+lo:i*lda+hi], alpha*vx[i], vx[lo:hi])
	}
	if back != nil {
		giveBack(back)
	}
}

func syr2[T simd.Float](ul blas.Uplo, n int, alpha T, x []T, incX int, y []T, incY int, a []T, lda int) {
	vx, backX := contiguous(x, n, incX)
	vy, backY := contiguous(y, n, incY)
	for i := range n {
		lo, hi := span(ul, n, i)
		to := a[i*lda+lo : i*lda+hi]
		axpy(to, alpha*vx[i], vy[lo:hi])
		axpy(to, alpha*vy[i], vx[lo:hi])
	}
	for _, p := range []*[]T{backX, backY} {
		if p != nil {
			giveBack(p)
		}
	}
}

// span is which columns of row i belong to a triangle.
func span(ul blas.Uplo, n, i int) (lo, hi int) {
	if ul == blas.Upper {
		return i, n
	}
	return 0, i + 1
}

// triangleBlock is how many rows of a triangle are taken one by one; what lies beside them is a matrix.
const triangleBlock = 32

// blocksOf calls f for blocks of [0, n), downwards or upwards.
func blocksOf(n int, up bool, f func(lo, hi int)) {
	if up {
		for lo := 0; lo < n; lo += triangleBlock {
			f(lo, min(lo+triangleBlock, n))
		}
		return
	}
	for lo := (n - 1) / triangleBlock * triangleBlock; lo >= 0; lo -= triangleBlock {
		f(lo, min(lo+triangleBlock, n))
	}
}

// trmv is x = op(A)·x.
func trmv[T simd.Float](ul blas.Uplo, t blas.Transpose, d blas.Diag, n int, a []T, lda int, x []T, incX int) {
	v, back := contiguous(x, n, incX)
	upper, trans := ul == blas.Upper, isTransposed(t)
	// An element is overwritten when nothing needs its old value any more.
	blocksOf(n, upper != trans, func(lo, hi int) {
		diag := a[lo*lda+lo:]
		if trans {
			// What the block adds to the others, from its old values.
			if upper && hi < n {
				simd.GemvT(v[hi:], a[lo*lda+hi:], lda, v[lo:hi], 1, 1, hi-lo, n-hi)
			} else if !upper && lo > 0 {
				simd.GemvT(v[:lo], a[lo*lda:], lda, v[lo:hi], 1, 1, hi-lo, lo)
			}
			trmvBlock(upper, trans, d, hi-lo, diag, lda, v[lo:hi])
			return
		}
		trmvBlock(upper, trans, d, hi-lo, diag, lda, v[lo:hi])
		if upper && hi < n {
			simd.Gemv(v[lo:hi], a[lo*lda+hi:], lda, v[hi:], 1, 1, hi-lo, n-hi)
		} else if !upper && lo > 0 {
			simd.Gemv(v[lo:hi], a[lo*lda:], lda, v[:lo], 1, 1, hi-lo, lo)
		}
	})
	if back != nil {
		scatter(x, v, incX)
		giveBack(back)
	}
}

// trmvBlock is trmv for a small triangle.
func trmvBlock[T simd.Float](upper, trans bool, d blas.Diag, n int, a []T, lda int, x []T) {
	for s := range n {
		i := s
		if upper == trans {
			i = n - 1 - s
		}
		lo, hi := 0, i
		if upper {
			lo, hi = i+1, n
		}
		r, xi := a[i*lda+lo:i*lda+hi], x[i]
		if d == blas.NonUnit {
			xi *= a[i*lda+i]
		}
		if trans {
			for j, v := range r {
				x[lo+j] += v * x[i]
			}
		} else {
			for j, v := range r {
				xi += v * x[lo+j]
			}
		}
		x[i] = xi
	}
}

// trsv solves op(A)·x = b, x = b to begin with.
func trsv[T simd.Float](ul blas.Uplo, t blas.Transpose, d blas.Diag, n int, a []T, lda int, x []T, incX int) {
	v, back := contiguous(x, n, incX)
	upper, trans := ul == blas.Upper, isTransposed(t)
	blocksOf(n, upper == trans, func(lo, hi int) {
		diag := a[lo*lda+lo:]
		if trans {
			trsvBlock(upper, trans, d, hi-lo, diag, lda, v[lo:hi])
			if upper && hi < n {
				simd.GemvT(v[hi:], a[lo*lda+hi:], lda, v[lo:hi], -1, 1, hi-lo, n-hi)
			} else if !upper && lo > 0 {
				simd.GemvT(v[:lo], a[lo*lda:], lda, v[lo:hi], -1, 1, hi-lo, lo)
			}
			return
		}
		if upper && hi < n {
			simd.Gemv(v[lo:hi], a[lo*lda+hi:], lda, v[hi:], -1, 1, hi-lo, n-hi)
		} else if !upper && lo > 0 {
			simd.Gemv(v[lo:hi], a[lo*lda:], lda, v[:lo], -1, 1, hi-lo, lo)
		}
		trsvBlock(upper, trans, d, hi-lo, diag, lda, v[lo:hi])
	})
	if back != nil {
		scatter(x, v, incX)
		giveBack(back)
	}
}

// trsvBlock is trsv for a small triangle.
func trsvBlock[T simd.Float](upper, trans bool, d blas.Diag, n int, a []T, lda int, x []T) {
	for s := range n {
		i := s
		if upper != trans {
			i = n - 1 - s
		}
		lo, hi := 0, i
		if upper {
			lo, hi = i+1, n
		}
		r, xi := a[i*lda+lo:i*lda+hi], x[i]
		if !trans {
			for j, v := range r {
				xi -= v * x[lo+j]
			}
		}
		if d == blas.NonUnit {
			xi /= a[i*lda+i]
		}
		x[i] = xi
		if trans {
			for j, v := range r {
				x[lo+j] -= v * xi
			}
		}
	}
}
