//go:build !purego

package simd

func scaleRowsF32(x, by []float32, c int) {
	if level == Generic || c == 0 {
		scaleRowsGeneric(x, by, c)
		return
	}
	if longRows(len(by), c) {
		for i, a := range by {
			row := x[i*c:][:c]
			scaleF32(row, a, row)
		}
		return
	}
	raceRead(by)
	raceWrite(x)
	normChanges(len(x), c, normLanes(), func(at, _, vecs, rows, tail int) {
		switch {
		case level == AVX512 && vecs == 2:
			scaleRows2F32AVX512(&x[at], &by[at/c], rows, 4*c, tail)
		case level == AVX512:
			scaleRows1F32AVX512(&x[at], &by[at/c], rows, 4*c, tail)
		case vecs == 2:
			scaleRows2F32AVX2(&x[at], &by[at/c], rows, 4*c, tail)
		default:
			scaleRows1F32AVX2(&x[at], &by[at/c], rows, 4*c, tail)
		}
	})
}

func scaleRowsF64(x, by []float64, c int) {
	if level == Generic || c == 0 {
		scaleRowsGeneric(x, by, c)
		return
	}
	if longRows(len(by), c) {
		for i, a := range by {
			row := x[i*c:][:c]
			scaleF64(row, a, row)
		}
		return
	}
	raceRead(by)
	raceWrite(x)
	normChanges(len(x), c, normLanes()/2, func(at, _, vecs, rows, tail int) {
		switch {
		case level == AVX512 && vecs == 2:
			scaleRows2F64AVX512(&x[at], &by[at/c], rows, 8*c, tail)
		case level == AVX512:
			scaleRows1F64AVX512(&x[at], &by[at/c], rows, 8*c, tail)
		case vecs == 2:
			scaleRows2F64AVX2(&x[at], &by[at/c], rows, 8*c, tail)
		default:
			scaleRows1F64AVX2(&x[at], &by[at/c], rows, 8*c, tail)
		}
	})
}

// longRows reports whether rows are multiplied one after the other, instead of all in blocks of two vectors of columns.
func longRows(rows, c int) bool { return c >= 512 || c >= 64*rows }
