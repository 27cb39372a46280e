//go:build !purego

package simd

// rowSumsF32 computes sums of no empty rows.
func rowSumsF32(dst, a []float32, lda int, x []float32, what rowMeasure) {
	if level == Generic {
		rowSumsGeneric(dst, a, lda, x, what)
		return
	}
	raceRead(x)
	raceWrite(dst)
	if raceEnabled {
		rowsRace(a, lda, len(dst), len(x))
	}
	for i := range dst {
		switch what {
		case dotProduct:
			dst[i] = dotRowF32NEON(&a[i*lda], &x[0], len(x))
		case squaredL2:
			dst[i] = squaresRowF32NEON(&a[i*lda], &x[0], len(x))
		default:
			dst[i] = absoluteRowF32NEON(&a[i*lda], &x[0], len(x))
		}
	}
}

// rowSumsI8 computes sums of no empty rows.
func rowSumsI8(dst []int32, a []int8, lda int, x []int8, what rowMeasure) {
	const least = 16
	if level == Generic || len(x) < least {
		rowSumsI8Generic(dst, a, lda, x, what)
		return
	}
	raceRead(x)
	if raceEnabled {
		rowsRace(a, lda, len(dst), len(x))
	}
	for i := range dst {
		switch row := &a[i*lda]; what {
		case dotProduct:
			dst[i] = dotRowI8NEON(row, &x[0], len(x))
		case squaredL2:
			dst[i] = squaresRowI8NEON(row, &x[0], len(x))
		default:
			dst[i] = absoluteRowI8NEON(row, &x[0], len(x))
		}
	}
}
