package simd

// GemmF32 computes C = alpha·A·B + beta·C.
//
//   - Shape: A is [m, k] with rows lda ≥ k apart, B [k, n] with ldb ≥ n, C [m, n] with ldc ≥ n. What stands between the rows does
//     not matter, and stays; between those of B it may be read. Any size may be 0; with k = 0, C = beta·C.
//   - Aliasing: C must not overlap A or B.
//   - Errors: panics on a negative size, a stride below its row length, or a slice that is too short. With beta = 0, C is not
//     read, so NaN there does not matter; NaN and Inf in A and B always count, alpha = 0 included.
//   - Accuracy: at most (k+8)·eps·(|alpha|·Σ|a·b| + |beta·c|) from the exact value, per element.
func GemmF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	if checkGemm("GemmF32", len(c), ldc, len(a), lda, len(b), ldb, m, n, k, false, false) {
		gemmF32(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
	}
}

// GemmF64 is GemmF32 for float64.
func GemmF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	if checkGemm("GemmF64", len(c), ldc, len(a), lda, len(b), ldb, m, n, k, false, false) {
		gemmF64(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
	}
}

// GemmTNF32 computes C = alpha·Aᵀ·B + beta·C, where A is given as [k, m] with rows lda ≥ m apart. Otherwise it is like GemmF32.
// It computes the gradient of a matrix product with respect to its weights; k is then the number of rows of the batch. With n = 1, what
// stands between the rows of A may be read.
func GemmTNF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	if checkGemm("GemmTNF32", len(c), ldc, len(a), lda, len(b), ldb, m, n, k, true, false) {
		gemmTNF32(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
	}
}

// GemmTNF64 is GemmTNF32 for float64.
func GemmTNF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	if checkGemm("GemmTNF64", len(c), ldc, len(a), lda, len(b), ldb, m, n, k, true, false) {
		gemmTNF64(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
	}
}

// GemmNTF32 computes C = alpha·A·Bᵀ + beta·C, where B is given as [n, k] with rows ldb ≥ k apart. Otherwise it is like GemmF32.
// It computes the gradient of a matrix product with respect to its input. For a single row of A, GemvF32 is several times faster: with
// B as its matrix it computes that row of C.
func GemmNTF32(c []float32, ldc int, a []float32, lda int, b []float32, ldb int, alpha, beta float32, m, n, k int) {
	if checkGemm("GemmNTF32", len(c), ldc, len(a), lda, len(b), ldb, m, n, k, false, true) {
		gemmNTF32(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
	}
}

// GemmNTF64 is GemmNTF32 for float64.
func GemmNTF64(c []float64, ldc int, a []float64, lda int, b []float64, ldb int, alpha, beta float64, m, n, k int) {
	if checkGemm("GemmNTF64", len(c), ldc, len(a), lda, len(b), ldb, m, n, k, false, true) {
		gemmNTF64(c, ldc, a, lda, b, ldb, alpha, beta, m, n, k)
	}
}

// checkGemm checks the shapes that all matrix products share, and reports whether C has elements: without them the other size may be
// anything, and no loop may run over it. ta and tb say which factor is given transposed.
func checkGemm(fn string, lenC, ldc, lenA, lda, lenB, ldb, m, n, k int, ta, tb bool) bool {
	checkSize(fn, "m", m)
	checkSize(fn, "n", n)
	checkSize(fn, "k", k)
	checkMatrix(fn, "c", lenC, m, n, ldc)
	if ta {
		checkMatrix(fn, "a", lenA, k, m, lda)
	} else {
		checkMatrix(fn, "a", lenA, m, k, lda)
	}
	if tb {
		checkMatrix(fn, "b", lenB, n, k, ldb)
	} else {
		checkMatrix(fn, "b", lenB, k, n, ldb)
	}
	return m > 0 && n > 0
}
