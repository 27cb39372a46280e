package blas

import (
	"unsafe"

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

// isGonumProduct reports whether a product is gonum's: without kernels all that are small, with them those of few terms with both factors
// transposed.
func isGonumProduct(tA, tB blas.Transpose, m, n, k int) bool {
	if max(m, n, k) < tinyProduct {
		return false
	}
	if fast() {
		return k <= 2 && isTransposed(tA) && isTransposed(tB) && (min(m, n) <= 12 || m*n*k <= 200)
	}
	return float64(m)*float64(n)*float64(k) < smallProduct
}

// isSmallGemm reports whether a product takes less time by the kernel that copies nothing than by blocks, isSmallDots the same of the one
// for a transposed B. All of B is read for each row of C, so it must stay in a near cache.
func isSmallGemm(m, n, k int) bool {
	work := float64(m) * float64(n) * float64(k)
	return work <= smallWork || m == 2 && work < 1<<13 || (m == 1 || m <= 5 && k <= 8 || k <= 3) && work <= thinWork
}

func isSmallDots(tA blas.Transpose, m, n, k int) bool {
	work := float64(m) * float64(n) * float64(k)
	if isTransposed(tA) {
		return min(m, n)*k <= smallTurned && (m <= 8 || n <= 8) && work <= smallWork || m <= 4 && work <= thinWork
	}
	return work <= smallWork || (m <= 4 || (n <= 4 || m*n <= 85) && k > 3) && work <= thinWork
}

const (
	// smallWork is how many multiplications a product has at most for these kernels, and thinWork if it has few rows or columns.
	smallWork = 800
	thinWork  = 1 << 15
	// smallTurned is how many elements a matrix has at most that is turned over on the stack.
	smallTurned = 64
	// longColumn is from how many elements on a column of C is computed one by one, as their sums are long.
	longColumn = 16
)

// turn writes the transpose of x [rows, cols].
func turn[T simd.Float](to *[smallTurned]T, x []T, ldx, rows, cols int) {
	for i := range rows {
		at := i
		for _, v := range x[i*ldx:][:cols] {
			to[at&(smallTurned-1)] = v
			at += rows
		}
	}
}

// smallGemm is C = alpha·op(A)·B + beta·C by a kernel, and smallDots the same with Bᵀ; see kernelGemm32 and kernelDots32.
func smallGemm[T simd.Float](m, n, k int, alpha T, a []T, down, across int, b []T, ldb int, beta T, c []T, ldc int) {
	if unsafe.Sizeof(alpha) == 4 {
		kernelGemm32(m, n, k, float32(alpha), as[float32](a), down, across, as[float32](b), ldb, float32(beta), as[float32](c), ldc)
	} else {
		kernelGemm64(m, n, k, float64(alpha), as[float64](a), down, across, as[float64](b), ldb, float64(beta), as[float64](c), ldc)
	}
}

func smallDots[T simd.Float](m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	if unsafe.Sizeof(alpha) == 4 {
		kernelDots32(m, n, k, float32(alpha), as[float32](a), lda, as[float32](b), ldb, float32(beta), as[float32](c), ldc)
	} else {
		kernelDots64(m, n, k, float64(alpha), as[float64](a), lda, as[float64](b), ldb, float64(beta), as[float64](c), ldc)
	}
}

// as is x itself, whose type only its caller knows.
func as[To, T simd.Float](x []T) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// stridedGemv is gemv for vectors with increments of at most stridedRow elements.
func stridedGemv[T simd.Float](t blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int) {
	var bufX, bufY [stridedRow]T
	lx, ly := n, m
	if isTransposed(t) {
		lx, ly = m, n
	}
	vx, vy := bufX[:lx], bufY[:ly]
	gather(vx, x, incX)
	if beta != 0 {
		gather(vy, y, incY)
	}
	if isTransposed(t) {
		smallGemm(1, n, m, alpha, vx, 0, 1, a, lda, beta, vy, 0)
	} else {
		smallDots(1, m, n, alpha, vx, 0, a, lda, beta, vy, 0)
	}
	scatter(y, vy, incY)
}

// isSingle and isFirst report whether a matrix and a vector of one element are right.
func isSingle[T simd.Float](a []T, lda int) bool { return len(a) > 0 && lda > 0 }
func isFirst[T simd.Float](x []T, incX int) bool { return len(x) > 0 && incX != 0 }

// isSmallSymm reports whether a product by a symmetric matrix is for smallSymm.
func isSmallSymm(s blas.Side, m, n int) bool {
	k := n
	if s == blas.Left {
		k = m
	}
	few := m == 1 && n <= 3 || n == 1 && m <= 3 // gonum's loops take less time
	if s == blas.Left {
		few = m == 1 || m == 2 && n <= 2
	}
	return fast() && !few && uint(k) <= symmetricRow && uint(m*n) <= symmetricRow*symmetricRow
}

// symmetricRow is how many rows a symmetric matrix has at most that is written out on the stack.
const symmetricRow = 8

// smallSymm is symm by a kernel, for a matrix that is written out on the stack.
func smallSymm[T simd.Float](s blas.Side, ul blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	var whole [symmetricRow * symmetricRow]T
	k := n
	if s == blas.Left {
		k = m
	}
	for i := range k {
		lo, hi := span(ul, k, i)
		for j := lo; j < hi; j++ {
			v := a[i*lda+j]
			whole[i*k+j], whole[j*k+i] = v, v
		}
	}
	if s == blas.Left {
		smallGemm(m, n, k, alpha, whole[:], k, 1, b, ldb, beta, c, ldc)
	} else {
		smallGemm(m, n, k, alpha, b, ldb, 1, whole[:], k, beta, c, ldc)
	}
}

// isSmallRank reports whether syrk and syr2k are for smallSyrk and smallSyr2k.
func isSmallRank(t blas.Transpose, n, k int) bool {
	return fast() && n <= symmetricRow && (n > 4 || n == 4 && isTransposed(t)) && k > 1 && k <= 8*symmetricRow
}

// smallSyrk is syrk by a kernel that computes the whole square.
func smallSyrk[T simd.Float](ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int) {
	var square [symmetricRow * symmetricRow]T
	smallSquare(&square, t, n, k, alpha, a, lda, a, lda)
	addTriangle(ul, n, square[:], beta, c, ldc)
}

func smallSyr2k[T simd.Float](ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	var square [symmetricRow * symmetricRow]T
	smallSquare(&square, t, n, k, alpha, a, lda, b, ldb)
	addTranspose(square[:], n)
	addTriangle(ul, n, square[:], beta, c, ldc)
}

// smallSquare is alpha·op(A)·op(B)ᵀ.
func smallSquare[T simd.Float](to *[symmetricRow * symmetricRow]T, t blas.Transpose, n, k int, alpha T, a []T, lda int, b []T, ldb int) {
	if isTransposed(t) {
		smallGemm(n, n, k, alpha, a, 1, lda, b, ldb, 0, to[:], n)
	} else {
		smallDots(n, n, k, alpha, a, lda, b, ldb, 0, to[:], n)
	}
}

// rowTriangle is below how many elements trmm and trsm take a single row of B as a vector.
const rowTriangle = 16

// stridedRow is how many elements with an increment are copied to the stack.
const stridedRow = 64

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
