package blas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/simd"
)

const (
	// smallProduct is the number of multiplications below which GEMM is gonum's where there are no kernels for it, but for the smallest.
	smallProduct = 5 * 5 * 5
	// splitProduct is how many multiplications a piece has at least that a goroutine takes, and mostPieces how many pieces there are.
	splitProduct = 1 << 21
	mostPieces   = 32
	// pieceRows and pieceColumns divide the numbers of rows and columns of a piece: whole tiles of every level.
	pieceRows    = 84
	pieceColumns = 64
)

// pieces returns how many of n rows or columns make a piece of a product of that many multiplications.
func pieces(n, unit int, work float64) int {
	return part(n, unit, min(int(work/splitProduct), mostPieces))
}

// part returns how many of n rows or columns make each of so many pieces.
func part(n, unit, count int) int {
	if count < 2 {
		return n
	}
	return min(n, ((n+count-1)/count+unit-1)/unit*unit)
}

// cut returns the rows and columns of a piece of C: the longer side is cut and, where that does not make enough pieces, the other one in
// pieces of at least two units. What a piece reads of A and B it copies for itself.
func cut(m, n int, work float64) (rows, columns int) {
	count := min(int(work/splitProduct), mostPieces)
	if n >= m {
		columns = part(n, pieceColumns, count)
		return part(m, pieceRows, min(count*columns/n, m/(2*pieceRows))), columns
	}
	rows = part(m, pieceRows, count)
	return rows, part(n, pieceColumns, min(count*rows/m, n/(2*pieceColumns)))
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

// gemm is C = alpha·op(A)·op(B) + beta·C for sizes above 0, piece by piece.
func gemm[T simd.Float](tA, tB bool, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	if tA && tB {
		// There is no kernel for both: the smaller one is turned over.
		turned, back := rent[T](k * min(m, n))
		defer giveBack(back)
		if m < n {
			transpose(turned, k, a, lda, k, m)
			a, lda, tA = turned, k, false
		} else {
			transpose(turned, n, b, ldb, n, k)
			b, ldb, tB = turned, n, false
		}
	}
	rows, columns := cut(m, n, float64(m)*float64(n)*float64(k))
	if rows >= m && columns >= n {
		gemmPiece(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	across := (n + columns - 1) / columns
	parallel.For(across*((m+rows-1)/rows), 1, func(piece, _ int) {
		i, j := piece/across*rows, piece%across*columns
		fromA, fromB := i*lda, j
		if tA {
			fromA = i
		}
		if tB {
			fromB = j * ldb
		}
		gemmPiece(tA, tB, min(rows, m-i), min(columns, n-j), k, alpha, a[fromA:], lda, b[fromB:], ldb, beta, c[i*ldc+j:], ldc)
	})
}

// gemmPiece is gemm on one goroutine; not both factors are transposed.
func gemmPiece[T simd.Float](tA, tB bool, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	switch {
	case tB && m == 1: // without a copy of B; a piece's rows follow from the sizes, so this does
		simd.Gemv(c[:n], b, ldb, a[:k], alpha, beta, n, k)
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
