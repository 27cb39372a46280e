//go:build !purego

package simd

import "unsafe"

func gemvF32(y, a []float32, lda int, x []float32, alpha float32, m, n int) {
	if level == Generic {
		gemvGeneric(y, a, lda, x, alpha, m, n)
		return
	}
	raceRead(x)
	raceWrite(y)
	if raceEnabled {
		rowsRace(a, lda, m, n)
	}
	for i := range m {
		y[i] += alpha * dotRowF32NEON(&a[i*lda], &x[0], n)
	}
}

func gemvF64(y, a []float64, lda int, x []float64, alpha float64, m, n int) {
	if level == Generic {
		gemvGeneric(y, a, lda, x, alpha, m, n)
		return
	}
	raceRead(x)
	raceWrite(y)
	if raceEnabled {
		rowsRace(a, lda, m, n)
	}
	for i := range m {
		y[i] += alpha * dotRowF64NEON(&a[i*lda], &x[0], n)
	}
}

// addRows4 adds four rows of a, weighted by w, to y.
func addRows4[T Float](y, a []T, lda int, w *[4]T) {
	size := int(unsafe.Sizeof(y[0]))
	to, from, by := unsafe.Pointer(&y[0]), unsafe.Pointer(&a[0]), unsafe.Pointer(&w[0])
	if size == 4 {
		addRows4F32NEON((*float32)(to), (*float32)(from), lda*size, (*float32)(by), len(y))
	} else {
		addRows4F64NEON((*float64)(to), (*float64)(from), lda*size, (*float64)(by), len(y))
	}
}

func gemvTF32(y, a []float32, lda int, x []float32, alpha float32, m, n int) {
	gemvTRows(y, a, lda, x, alpha, m, n)
}

func gemvTF64(y, a []float64, lda int, x []float64, alpha float64, m, n int) {
	gemvTRows(y, a, lda, x, alpha, m, n)
}
