package simd

import "fmt"

// Run is one product of GemmRunsF32: N rows of A, from row A on, times the matrix number B, are the N rows of C from row C on.
type Run struct{ C, A, B, N int }

// GemmRunsF32 computes C[run.C+i] = A[run.A+i]·B[run.B] + beta·C[run.C+i] for the rows i = 0 .. run.N-1 of every run, one run
// after the other: many products of a few rows each, at little more than the price of their arithmetic.
//
//   - Shape: C has rows of n elements, A rows of k, and B matrices [k, n], each without gaps. Several runs may name the same
//     rows of C; they add up if beta is 1.
//   - Aliasing: C must not overlap A or B.
//   - Errors: panics on a negative size, on slices that do not hold whole rows and matrices, and on a run that reaches beyond
//     them; then nothing is written. With beta = 0, C is not read.
//   - Accuracy: each run has the bits of GemmF32.
func GemmRunsF32(c, a, b []float32, runs []Run, beta float32, n, k int) {
	checkGemmRuns("GemmRunsF32", len(c), len(a), len(b), runs, n, k)
	gemmRunsF32(c, a, b, runs, beta, n, k)
}

// GemmRunsF64 is GemmRunsF32 for float64.
func GemmRunsF64(c, a, b []float64, runs []Run, beta float64, n, k int) {
	checkGemmRuns("GemmRunsF64", len(c), len(a), len(b), runs, n, k)
	gemmRunsF64(c, a, b, runs, beta, n, k)
}

// gemmFunc is a product of matrices.
type gemmFunc[T Float] func(c []T, ldc int, a []T, lda int, b []T, ldb int, alpha, beta T, m, n, k int)

// checkGemmRuns checks that the runs stay within the rows and matrices that the slices hold.
func checkGemmRuns(fn string, lenC, lenA, lenB int, runs []Run, n, k int) {
	checkSize(fn, "n", n)
	checkSize(fn, "k", k)
	rowsC, rowsA, matrices := checkRows(fn, "c", lenC, n), checkRows(fn, "a", lenA, k), 0
	if k == 0 {
		checkLen(fn, "b", lenB, 0)
	} else { // k·n may be larger than an int, so rows first
		matrices = checkRows(fn, "b", lenB, n) / k
		checkLen(fn, "b", lenB, matrices*k*n)
	}
	// Rows without elements need no memory, so any number of them exists.
	if n == 0 {
		rowsC, matrices = maxRunRows, maxRunRows
	}
	if k == 0 {
		rowsA, matrices = maxRunRows, maxRunRows
	}
	for i := range runs {
		r := &runs[i]
		// These differences cannot overflow, as no number in them is negative.
		if r.N|r.C|r.A|r.B < 0 || r.N > rowsC || r.C > rowsC-r.N || r.N > rowsA || r.A > rowsA-r.N || r.B >= matrices {
			panic(fmt.Sprintf("simd: %s: runs[%d] = %+v leaves %d rows of c, %d of a, or %d matrices", fn, i, *r, rowsC, rowsA, matrices))
		}
	}
}

// maxRunRows stands for any number of rows.
const maxRunRows = int(^uint(0) >> 1)

// gemmRunsGeneric defines GemmRuns by single products; the runs have been checked.
func gemmRunsGeneric[T Float](gemm gemmFunc[T], c, a, b []T, runs []Run, beta T, n, k int) {
	for _, r := range runs {
		if r.N > 0 && n > 0 {
			gemm(c[r.C*n:(r.C+r.N)*n], n, a[r.A*k:(r.A+r.N)*k], k, b[r.B*k*n:(r.B+1)*k*n], n, 1, beta, r.N, n, k)
		}
	}
}
