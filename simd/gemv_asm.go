//go:build !purego && (amd64 || arm64)

package simd

// gemvColumns is how many columns gemvTRows takes at a time: the sums stay in the first-level cache.
const gemvColumns = 2048

// gemvTRows adds alpha·Aᵀ·x to y, four rows of A at a time. Rows that are left over are added one by one, in the same order.
func gemvTRows[T Float](y, a []T, lda int, x []T, alpha T, m, n int) {
	if level == Generic {
		gemvTGeneric(y, a, lda, x, alpha, m, n)
		return
	}
	if raceEnabled {
		raceRead(x)
		raceWrite(y)
		rowsRace(a, lda, m, n)
	}
	for j := 0; j < n; j += gemvColumns {
		to := y[j:min(j+gemvColumns, n)]
		i := 0
		for ; i+4 <= m; i += 4 {
			addRows4(to, a[i*lda+j:], lda, &[4]T{alpha * x[i], alpha * x[i+1], alpha * x[i+2], alpha * x[i+3]})
		}
		for ; i < m; i++ {
			Axpy(to, alpha*x[i], a[i*lda+j:][:len(to)])
		}
	}
}

// rowsRace announces that the rows of a matrix are read.
func rowsRace[T Float | int8](a []T, lda, m, n int) {
	for i := range m {
		raceRead(a[i*lda:][:n])
	}
}
