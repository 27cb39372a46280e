//go:build !purego

package simd

import "unsafe"

// rowsPiece is how many elements of a matrix one call of assembly goes through, some tens of microseconds, and
// rowsBuffer how many sums it gives back.
const (
	rowsPiece  = 1 << 17
	rowsBuffer = 64
)

// rowsAtOnce is how many rows of n elements one call takes, a multiple of 4.
func rowsAtOnce(n int) int { return min(rowsBuffer, (rowsPiece/n+4)&^3) }

func gemvF32(y, a []float32, lda int, x []float32, alpha float32, m, n int) {
	if level == Generic {
		gemvGeneric(y, a, lda, x, alpha, m, n)
		return
	}
	raceRead(x)
	raceWrite(y)
	var sums [rowsBuffer]float32
	step := rowsAtOnce(n)
	for i := 0; i < m; i += step {
		rows := min(step, m-i)
		dotRowsF32(sums[:rows], a[i*lda:], lda, x)
		for r, s := range sums[:rows] {
			y[i+r] += alpha * s
		}
	}
}

// dotRowsF32 sets dst[i] to the product of row i of a, of len(x) > 0 elements, and x. It must not be called at level Generic.
func dotRowsF32(dst, a []float32, lda int, x []float32) {
	if raceEnabled {
		rowsRace(a, lda, len(dst), len(x))
	}
	if level == AVX512 {
		dotRowsF32AVX512(&dst[0], &a[0], lda*int(unsafe.Sizeof(a[0])), &x[0], len(dst), len(x))
	} else {
		dotRowsF32AVX2(&dst[0], &a[0], lda*int(unsafe.Sizeof(a[0])), &x[0], len(dst), len(x))
	}
}

func gemvF64(y, a []float64, lda int, x []float64, alpha float64, m, n int) {
	if level == Generic {
		gemvGeneric(y, a, lda, x, alpha, m, n)
		return
	}
	raceRead(x)
	raceWrite(y)
	var sums [rowsBuffer]float64
	step := rowsAtOnce(n)
	for i := 0; i < m; i += step {
		rows := min(step, m-i)
		dotRowsF64(sums[:rows], a[i*lda:], lda, x)
		for r, s := range sums[:rows] {
			y[i+r] += alpha * s
		}
	}
}

// dotRowsF64 sets dst[i] to the product of row i of a, of len(x) > 0 elements, and x. It must not be called at level Generic.
func dotRowsF64(dst, a []float64, lda int, x []float64) {
	if raceEnabled {
		rowsRace(a, lda, len(dst), len(x))
	}
	if level == AVX512 {
		dotRowsF64AVX512(&dst[0], &a[0], lda*int(unsafe.Sizeof(a[0])), &x[0], len(dst), len(x))
	} else {
		dotRowsF64AVX2(&dst[0], &a[0], lda*int(unsafe.Sizeof(a[0])), &x[0], len(dst), len(x))
	}
}

// addRows4 adds four rows of a, weighted by w, to y.
func addRows4[T Float](y, a []T, lda int, w *[4]T) {
	size := int(unsafe.Sizeof(y[0]))
	to, from, by := unsafe.Pointer(&y[0]), unsafe.Pointer(&a[0]), unsafe.Pointer(&w[0])
	switch {
	case size == 4 && level == AVX512:
		addRows4F32AVX512((*float32)(to), (*float32)(from), lda*size, (*float32)(by), len(y))
	case size == 4:
		addRows4F32AVX2((*float32)(to), (*float32)(from), lda*size, (*float32)(by), len(y))
	case level == AVX512:
		addRows4F64AVX512((*float64)(to), (*float64)(from), lda*size, (*float64)(by), len(y))
	default:
		addRows4F64AVX2((*float64)(to), (*float64)(from), lda*size, (*float64)(by), len(y))
	}
}

// A tall matrix of few columns is multiplied from the left as a product with one row: it has the same bits and keeps the sums in
// registers, where gemvTRows loads and stores them for every four rows. On a Zen 3 it takes a third to four fifths of the time from
// gemvTall rows on and up to gemvNarrow columns.
const (
	gemvTall   = 64
	gemvNarrow = 128
)

func gemvTF32(y, a []float32, lda int, x []float32, alpha float32, m, n int) {
	gemvT(y, a, lda, x, alpha, m, n)
}

func gemvTF64(y, a []float64, lda int, x []float64, alpha float64, m, n int) {
	gemvT(y, a, lda, x, alpha, m, n)
}

func gemvT[T Float](y, a []T, lda int, x []T, alpha T, m, n int) {
	if level != Generic && alpha == 1 && m >= gemvTall && n <= gemvNarrow {
		gemmPlain(y, n, x, m, a, lda, 1, 1, 1, n, m)
		return
	}
	gemvTRows(y, a, lda, x, alpha, m, n)
}
