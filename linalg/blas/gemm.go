package blas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

const (
	// smallProduct is the number of multiplications below which GEMM is gonum's, but for the smallest.
	smallProduct = 5 * 5 * 5
	// splitProduct is how many multiplications a piece has at least that a goroutine takes, and mostPieces how many pieces there are.
	splitProduct = 1 << 22
	mostPieces   = 32
	// pieceRows and pieceColumns divide the numbers of rows and columns of a piece: whole tiles of every level.
	pieceRows    = 84
	pieceColumns = 64
)

// pieces returns how many of n rows or columns make a piece of a product of that many multiplications.
func pieces(n, unit int, work float64) int {
	count := min(int(work/splitProduct), mostPieces)
	if count < 2 {
		return n
	}
	return ((n+count-1)/count + unit - 1) / unit * unit
}

func isGemm[T simd.Float](tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, c []T, ldc int) bool {
	if !validTranspose(tA) || !validTranspose(tB) || m <= 0 || n <= 0 || k <= 0 || alpha == 0 {
		return false
	}
	ar, ac, br, bc := m, k, k, n
	if isTransposed(tA) {
		ar, ac = k, m
	}
	if isTransposed(tB) {
		br, bc = n, k
	}
	return fits(len(a), ar, ac, lda) && fits(len(b), br, bc, ldb) && fits(len(c), m, n, ldc)
}

// gemm is C = alpha·op(A)·op(B) + beta·C for sizes above 0, cut along the longer side of C.
func gemm[T simd.Float](tA, tB bool, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	work := float64(m) * float64(n) * float64(k)
	if tA && tB {
		// There is no kernel for both: B is turned over.
		turned, back := rent[T](k * n)
		transpose(turned, n, b, ldb, n, k)
		b, ldb, tB = turned, n, false
		defer giveBack(back)
	}
	if n >= m {
		step := pieces(n, pieceColumns, work)
		if step >= n {
			gemmPiece(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
			return
		}
		parallel.For(n, step, func(lo, hi int) {
			from := lo
			if tB {
				from = lo * ldb
			}
			gemmPiece(tA, tB, m, hi-lo, k, alpha, a, lda, b[from:], ldb, beta, c[lo:], ldc)
		})
		return
	}
	step := pieces(m, pieceRows, work)
	if step >= m {
		gemmPiece(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	parallel.For(m, step, func(lo, hi int) {
		from := lo * lda
		if tA {
			from = lo
		}
		gemmPiece(tA, tB, hi-lo, n, k, alpha, a[from:], lda, b, ldb, beta, c[lo*ldc:], ldc)
	})
}

// gemmPiece is gemm on one goroutine; not both factors are transposed.
func gemmPiece[T simd.Float](tA, tB bool, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	switch {
	case tA:
		simd.GemmTN(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
	case tB:
		simd.GemmNT(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
	default:
		simd.Gemm(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
	}
}

// transpose writes the transpose of x [rows, cols] into to [cols, rows], in blocks that stay in the first-level cache.
func transpose[T simd.Float](to []T, ldt int, x []T, ldx, rows, cols int) {
	const block = 16
	for i := 0; i < rows; i += block {
		for j := 0; j < cols; j += block {
			for p := i; p < min(i+block, rows); p++ {
				for q, v := range x[p*ldx+j : p*ldx+min(j+block, cols)] {
					to[(j+q)*ldt+p] = v
				}
			}
		}
	}
}
