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

// rowSumsI8 computes sums of no empty rows, four at a time: where fewer are left, the last one stands for those that are missing.
func rowSumsI8(dst []int32, a []int8, lda int, x []int8, what rowMeasure) {
	const rows, least = 4, 16
	n := len(x)
	if level == Generic || n < least {
		rowSumsI8Generic(dst, a, lda, x, what)
		return
	}
	raceRead(x)
	if raceEnabled {
		rowsRace(a, lda, len(dst), n)
	}
	var sums [rows]int32
	for i := 0; i < len(dst); i += rows {
		last := len(dst) - 1
		a0, a1, a2, a3 := &a[i*lda], &a[min(i+1, last)*lda], &a[min(i+2, last)*lda], &a[min(i+3, last)*lda]
		switch what {
		case dotProduct:
			dotRows4I8AVX2(&sums[0], a0, a1, a2, a3, &x[0], n)
		case squaredL2:
			squaresRows4I8AVX2(&sums[0], a0, a1, a2, a3, &x[0], n)
		default:
			absoluteRows4I8AVX2(&sums[0], a0, a1, a2, a3, &x[0], n)
		}
		copy(dst[i:], sums[:])
	}
}
