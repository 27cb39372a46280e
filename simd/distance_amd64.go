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
	step, n := rowsAtOnce(len(x)), len(x)
	for i := 0; i < len(dst); i += step {
		m := min(step, len(dst)-i)
		to, from := &dst[i], &a[i*lda]
		switch {
		case what == dotProduct && level == AVX512:
			dotRowsF32AVX512(to, from, 4*lda, &x[0], m, n)
		case what == dotProduct:
			dotRowsF32AVX2(to, from, 4*lda, &x[0], m, n)
		case what == squaredL2 && level == AVX512:
			squaresRowsF32AVX512(to, from, 4*lda, &x[0], m, n)
		case what == squaredL2:
			squaresRowsF32AVX2(to, from, 4*lda, &x[0], m, n)
		case level == AVX512:
			absoluteRowsF32AVX512(to, from, 4*lda, &x[0], m, n)
		default:
			absoluteRowsF32AVX2(to, from, 4*lda, &x[0], m, n)
		}
	}
}
