package blas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

const (
	// symmetricBlock is how many rows of a symmetric matrix are written out at a time.
	symmetricBlock = 256
	// rankBlock is the size of the squares on the diagonal that SYRK and SYR2K compute whole.
	rankBlock = 64
	// solveBlock is the size of the triangles that TRSM and TRMM take row by row.
	solveBlock = 16
	// The numbers of multiplications below which SYMM, SYRK, SYR2K, and TRSM and TRMM are gonum's.
	smallSymmetric  = 7 * 7 * 7
	smallRank       = rankOrder * rankOrder * rankOrder
	rankOrder       = 12
	smallRank2      = 8 * 8 * 8
	smallTriangular = triangularOrder * triangularOrder * triangularOrder
	triangularOrder = 36
)

func isSymm[T simd.Float](s blas.Side, ul blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, c []T, ldc int) bool {
	if !validSide(s) || !validUplo(ul) || m <= 0 || n <= 0 || alpha == 0 {
		return false
	}
	k := n
	if s == blas.Left {
		k = m
	}
	return fits(len(a), k, k, lda) && fits(len(b), m, n, ldb) && fits(len(c), m, n, ldc)
}

// isGonumSymm reports whether SYMM takes less time by gonum's loops than by products: A is written out for few rows or columns.
func isGonumSymm(s blas.Side, m, n int) bool {
	if s == blas.Left {
		return m <= 5 || float64(m)*float64(n)*float64(max(m, n)) < smallSymmetric
	}
	return m == 1 || n == 1 || m == 2 && n <= 32 || float64(m)*float64(n)*float64(max(m, n)) < smallSymmetric
}

// symm is C = alpha·A·B + beta·C, or with B·A, for a symmetric A of which one triangle is given.
func symm[T simd.Float](s blas.Side, ul blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	k := n
	if s == blas.Left {
		k = m
	}
	whole, back := rent[T](min(k, symmetricBlock) * k)
	for lo := 0; lo < k; lo += symmetricBlock {
		rows := min(symmetricBlock, k-lo)
		writeOut(whole, ul, a, lda, k, lo, rows)
		if s == blas.Left {
			gemm(false, false, rows, n, k, alpha, whole, k, b, ldb, beta, c[lo*ldc:], ldc)
			continue
		}
		if lo > 0 {
			beta = 1
		}
		gemm(false, false, m, n, rows, alpha, b[lo:], ldb, whole, k, beta, c, ldc)
	}
	giveBack(back)
}

// writeOut writes rows of a symmetric matrix of order n.
func writeOut[T simd.Float](to []T, ul blas.Uplo, a []T, lda, n, first, rows int) {
	for i := first; i < first+rows; i++ {
		r := to[(i-first)*n:][:n]
		lo, hi := span(ul, n, i)
		copy(r[lo:hi], a[i*lda+lo:i*lda+hi])
	}
	// The other side is the transpose of columns, block by block.
	if ul == blas.Upper {
		transpose(to, n, a[first:], lda, first, rows)
	} else if next := first + rows; next < n {
		transpose(to[next:], n, a[next*lda+first:], lda, n-next, rows)
	}
	for i := range rows {
		for j := range i {
			if p, q := first+i, first+j; ul == blas.Upper {
				to[i*n+q] = a[q*lda+p]
			} else {
				to[j*n+p] = a[p*lda+q]
			}
		}
	}
}

func isRank[T simd.Float](ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, c []T, ldc int) bool {
	if !validUplo(ul) || !validTranspose(t) || n <= 0 || k <= 0 || alpha == 0 {
		return false
	}
	r, cols := n, k
	if isTransposed(t) {
		r, cols = k, n
	}
	return fits(len(a), r, cols, lda) && fits(len(c), n, n, ldc)
}

// isGonumRank and isGonumRank2 report whether SYRK and SYR2K take less time by gonum's loops: the products compute a whole square, and
// with few rows or terms little else.
func isGonumRank(t blas.Transpose, n, k int) bool {
	if !isTransposed(t) {
		return n > 1 && n <= rankOrder || float64(n)*float64(n)*float64(k) < smallRank
	}
	return k == 1 && n >= 4 || max(n, k) >= tinyRank && float64(n)*float64(n)*float64(k) < smallRank
}

func isGonumRank2(t blas.Transpose, n, k int) bool {
	if !isTransposed(t) {
		return n > 1 && n <= 4 || float64(n)*float64(n)*float64(k) < smallRank2
	}
	return n == 2 || k <= 2 && n >= 17 || float64(n)*float64(n)*float64(k) < smallRank2
}

// clearRank clears the lower triangle of C for gonum's SYRK with a transposed A and beta = 0, which multiplies C by 0 in version 0.17, so
// that NaN stays NaN. Wrong arguments are left for gonum to refuse.
func clearRank[T simd.Float](t blas.Transpose, n, k int, a []T, lda int, c []T, ldc int) {
	if !validTranspose(t) || k != 0 && !fits(len(a), k, n, lda) || !isTriangle(blas.Lower, n, c, ldc) {
		return
	}
	for i := range n {
		clear(c[i*ldc:][:i+1])
	}
}

// syrk is C = alpha·A·Aᵀ + beta·C, or with Aᵀ·A, in one triangle. It halves the matrix: two triangles and a rectangle.
func syrk[T simd.Float](ul blas.Uplo, t bool, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int) {
	if n <= rankBlock {
		square, back := rent[T](n * n)
		gemm(t, !t, n, n, k, alpha, a, lda, a, lda, 0, square, n)
		addTriangle(ul, n, square, beta, c, ldc)
		giveBack(back)
		return
	}
	h := half(n, rankBlock)
	from := h * lda
	if t {
		from = h
	}
	low := a[from:]
	syrk(ul, t, h, k, alpha, a, lda, beta, c, ldc)
	if ul == blas.Upper {
		gemm(t, !t, h, n-h, k, alpha, a, lda, low, lda, beta, c[h:], ldc)
	} else {
		gemm(t, !t, n-h, h, k, alpha, low, lda, a, lda, beta, c[h*ldc:], ldc)
	}
	syrk(ul, t, n-h, k, alpha, low, lda, beta, c[h*ldc+h:], ldc)
}

// half is where n is cut in two, at a multiple of the block.
func half(n, block int) int { return (n/2 + block - 1) / block * block }

// addTriangle is C = X + beta·C in one triangle.
func addTriangle[T simd.Float](ul blas.Uplo, n int, x []T, beta T, c []T, ldc int) {
	for i := range n {
		lo, hi := span(ul, n, i)
		to, from := c[i*ldc+lo:i*ldc+hi], x[i*n+lo:i*n+hi]
		if beta == 0 {
			copy(to, from)
			continue
		}
		for j, v := range from {
			to[j] = v + beta*to[j]
		}
	}
}

// addTranspose adds its transpose to a square matrix.
func addTranspose[T simd.Float](x []T, n int) {
	for i := range n {
		for j := range i + 1 {
			v := x[i*n+j] + x[j*n+i]
			x[i*n+j], x[j*n+i] = v, v
		}
	}
}

// syr2k is C = alpha·(A·Bᵀ + B·Aᵀ) + beta·C, or with Aᵀ·B + Bᵀ·A, in one triangle.
func syr2k[T simd.Float](ul blas.Uplo, t bool, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	if n <= rankBlock {
		square, back := rent[T](n * n)
		gemm(t, !t, n, n, k, alpha, a, lda, b, ldb, 0, square, n)
		addTranspose(square, n)
		addTriangle(ul, n, square, beta, c, ldc)
		giveBack(back)
		return
	}
	h := half(n, rankBlock)
	lowA, lowB := h*lda, h*ldb
	if t {
		lowA, lowB = h, h
	}
	syr2k(ul, t, h, k, alpha, a, lda, b, ldb, beta, c, ldc)
	if ul == blas.Upper {
		gemm(t, !t, h, n-h, k, alpha, a, lda, b[lowB:], ldb, beta, c[h:], ldc)
		gemm(t, !t, h, n-h, k, alpha, b, ldb, a[lowA:], lda, 1, c[h:], ldc)
	} else {
		gemm(t, !t, n-h, h, k, alpha, a[lowA:], lda, b, ldb, beta, c[h*ldc:], ldc)
		gemm(t, !t, n-h, h, k, alpha, b[lowB:], ldb, a, lda, 1, c[h*ldc:], ldc)
	}
	syr2k(ul, t, n-h, k, alpha, a[lowA:], lda, b[lowB:], ldb, beta, c[h*ldc+h:], ldc)
}

func isTriangular[T simd.Float](s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int,
	b []T, ldb int) bool {
	if !validSide(s) || !validUplo(ul) || !validTranspose(t) || !validDiag(d) || m <= 0 || n <= 0 || alpha == 0 {
		return false
	}
	k := n
	if s == blas.Left {
		k = m
	}
	return fits(len(a), k, k, lda) && fits(len(b), m, n, ldb)
}

// isGonumTriangular reports whether TRSM and TRMM are gonum's whatever the other arguments are: neither are they large, nor one element,
// nor a single row times a triangle.
func isGonumTriangular(s blas.Side, m, n int) bool {
	return m < triangularOrder && n < triangularOrder && (m > 1 || n > 1 && s != blas.Right)
}

// The fewest rows that TRSM and TRMM take by kernels where the triangle stands on the right.
const (
	rowsSolve    = 8
	rowsMultiply = 12
)

// isLarge reports whether TRSM and TRMM gain by kernels.
func isLarge(s blas.Side, m, n, rows int) bool {
	k := n
	if s == blas.Left {
		k = m
	}
	return (s == blas.Left || m >= rows) && float64(m)*float64(n)*float64(k) >= smallTriangular
}

// triangle is op(A), triangular of order n: the element [i, j] is a[i*lda+j], or a[j*lda+i] if it is transposed.
type triangle[T simd.Float] struct {
	a     []T
	lda   int
	n     int
	lower bool // op(A), not A
	trans bool
	unit  bool
}

// at is where the element [i, j] is.
func (t *triangle[T]) at(i, j int) int {
	if t.trans {
		i, j = j, i
	}
	return i*t.lda + j
}

// part is the triangle of rows and columns lo .. hi-1.
func (t *triangle[T]) part(lo, hi int) triangle[T] {
	p := *t
	p.a, p.n = t.a[t.at(lo, lo):], hi-lo
	return p
}

// eachPart calls f for pieces of B that do not depend on each other: columns where A stands on the left, rows where it stands on the right.
func eachPart[T simd.Float](s blas.Side, m, n int, b []T, ldb int, f func(m, n int, b []T)) {
	k, other, unit := m, n, pieceColumns
	if s == blas.Right {
		k, other, unit = n, m, pieceRows
	}
	step := pieces(other, unit, float64(other)*float64(k)*float64(k)/2)
	if step >= other {
		f(m, n, b)
		return
	}
	parallel.For(other, step, func(lo, hi int) {
		if s == blas.Right {
			f(hi-lo, n, b[lo*ldb:])
		} else {
			f(m, hi-lo, b[lo:])
		}
	})
}

func newTriangle[T simd.Float](s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, a []T, lda int) triangle[T] {
	k := n
	if s == blas.Left {
		k = m
	}
	return triangle[T]{a, lda, k, (ul == blas.Lower) != isTransposed(t), isTransposed(t), d == blas.Unit}
}

// trsm solves op(A)·X = alpha·B, or X·op(A) = alpha·B, in the place of B.
func trsm[T simd.Float](s blas.Side, t triangle[T], m, n int, alpha T, b []T, ldb int) {
	eachPart(s, m, n, b, ldb, func(m, n int, b []T) {
		scaleMatrix(b, ldb, alpha, m, n)
		if s == blas.Left {
			t.solveLeft(n, b, ldb)
		} else {
			t.solveRight(m, b, ldb)
		}
	})
}

// solveLeft solves op(A)·X = B. The first half of the unknowns is solved and taken out of the other half's equations.
func (t *triangle[T]) solveLeft(n int, b []T, ldb int) {
	if t.n <= solveBlock {
		t.solveRows(n, b, ldb)
		return
	}
	h := half(t.n, solveBlock)
	first, second := t.part(0, h), t.part(h, t.n)
	if t.lower {
		first.solveLeft(n, b, ldb)
		t.gemmSame(t.n-h, n, h, -1, t.a[t.at(h, 0):], b, ldb, b[h*ldb:])
		second.solveLeft(n, b[h*ldb:], ldb)
		return
	}
	second.solveLeft(n, b[h*ldb:], ldb)
	t.gemmSame(h, n, t.n-h, -1, t.a[t.at(0, h):], b[h*ldb:], ldb, b)
	first.solveLeft(n, b, ldb)
}

// gemmSame is C += alpha·op(A)·B for a part of the triangle's matrix and two parts of B.
func (t *triangle[T]) gemmSame(m, n, k int, alpha T, a []T, b []T, ldb int, c []T) {
	gemmPiece(t.trans, false, m, n, k, alpha, a, t.lda, b, ldb, 1, c, ldb)
}

// rows calls f for the rows of a small triangle, with their entries beside the diagonal. first is the first of these.
func (t *triangle[T]) rows(up bool, f func(i, first int, r []T, diag T)) {
	var buf [solveBlock]T
	for s := range t.n {
		i := s
		if !up {
			i = t.n - 1 - s
		}
		lo, hi := i+1, t.n
		if t.lower {
			lo, hi = 0, i
		}
		r := buf[:hi-lo]
		for j := range r {
			r[j] = t.a[t.at(i, lo+j)]
		}
		diag := T(1)
		if !t.unit {
			diag = t.a[t.at(i, i)]
		}
		f(i, lo, r, diag)
	}
}

// solveRows is solveLeft for a small triangle.
func (t *triangle[T]) solveRows(n int, b []T, ldb int) {
	t.rows(t.lower, func(i, first int, r []T, diag T) {
		x := b[i*ldb:][:n]
		if len(r) > 0 {
			simd.GemvT(x, b[first*ldb:], ldb, r, -1, 1, len(r), n)
		}
		if !t.unit {
			divide(x, diag)
		}
	})
}

// divide is x /= by. A reciprocal takes less time, but that of a subnormal number overflows, and 0 times it is NaN.
func divide[T simd.Float](x []T, by T) {
	if r := 1 / by; r-r == 0 {
		simd.Scale(x, r, x)
		return
	}
	for i := range x {
		x[i] /= by
	}
}

// solveRight solves X·op(A) = B. Small triangles are solved on the left, turned over.
func (t *triangle[T]) solveRight(m int, b []T, ldb int) {
	if t.n <= solveBlock {
		t.turned(m, b, ldb, (*triangle[T]).solveRows)
		return
	}
	h := half(t.n, solveBlock)
	first, second := t.part(0, h), t.part(h, t.n)
	if t.lower {
		second.solveRight(m, b[h:], ldb)
		gemmPiece(false, t.trans, m, h, t.n-h, -1, b[h:], ldb, t.a[t.at(h, 0):], t.lda, 1, b, ldb)
		first.solveRight(m, b, ldb)
		return
	}
	first.solveRight(m, b, ldb)
	gemmPiece(false, t.trans, m, t.n-h, h, -1, b, ldb, t.a[t.at(0, h):], t.lda, 1, b[h:], ldb)
	second.solveRight(m, b[h:], ldb)
}

// turned calls f for op(A)ᵀ and Bᵀ, in pieces of some rows of B.
func (t *triangle[T]) turned(m int, b []T, ldb int, f func(t *triangle[T], n int, b []T, ldb int)) {
	const most = 128
	u := *t
	u.trans, u.lower = !t.trans, !t.lower
	x, back := rent[T](solveBlock * most)
	for lo := 0; lo < m; lo += most {
		rows := min(most, m-lo)
		transpose(x, most, b[lo*ldb:], ldb, rows, t.n)
		f(&u, rows, x, most)
		transpose(b[lo*ldb:], ldb, x, most, t.n, rows)
	}
	giveBack(back)
}

// trmm is B = alpha·op(A)·B, or alpha·B·op(A).
func trmm[T simd.Float](s blas.Side, t triangle[T], m, n int, alpha T, b []T, ldb int) {
	eachPart(s, m, n, b, ldb, func(m, n int, b []T) {
		if s == blas.Left {
			t.mulLeft(n, b, ldb)
		} else {
			t.mulRight(m, b, ldb)
		}
		scaleMatrix(b, ldb, alpha, m, n)
	})
}

// mulLeft is B = op(A)·B, by halves as solveLeft.
func (t *triangle[T]) mulLeft(n int, b []T, ldb int) {
	if t.n <= solveBlock {
		t.mulRows(n, b, ldb)
		return
	}
	h := half(t.n, solveBlock)
	first, second := t.part(0, h), t.part(h, t.n)
	if t.lower {
		second.mulLeft(n, b[h*ldb:], ldb)
		t.gemmSame(t.n-h, n, h, 1, t.a[t.at(h, 0):], b, ldb, b[h*ldb:])
		first.mulLeft(n, b, ldb)
		return
	}
	first.mulLeft(n, b, ldb)
	t.gemmSame(h, n, t.n-h, 1, t.a[t.at(0, h):], b[h*ldb:], ldb, b)
	second.mulLeft(n, b[h*ldb:], ldb)
}

func (t *triangle[T]) mulRows(n int, b []T, ldb int) {
	t.rows(!t.lower, func(i, first int, r []T, diag T) {
		x := b[i*ldb:][:n]
		if !t.unit {
			simd.Scale(x, diag, x)
		}
		if len(r) > 0 {
			simd.GemvT(x, b[first*ldb:], ldb, r, 1, 1, len(r), n)
		}
	})
}

// mulRight is B = B·op(A).
func (t *triangle[T]) mulRight(m int, b []T, ldb int) {
	if t.n <= solveBlock {
		t.turned(m, b, ldb, (*triangle[T]).mulRows)
		return
	}
	h := half(t.n, solveBlock)
	first, second := t.part(0, h), t.part(h, t.n)
	if t.lower {
		first.mulRight(m, b, ldb)
		gemmPiece(false, t.trans, m, h, t.n-h, 1, b[h:], ldb, t.a[t.at(h, 0):], t.lda, 1, b, ldb)
		second.mulRight(m, b[h:], ldb)
		return
	}
	second.mulRight(m, b[h:], ldb)
	gemmPiece(false, t.trans, m, t.n-h, h, 1, b, ldb, t.a[t.at(0, h):], t.lda, 1, b[h:], ldb)
	first.mulRight(m, b, ldb)
}
