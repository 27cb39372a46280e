//go:build !purego

package simd

func scaleRowsF32(x, by []float32, c int) {
	if level == Generic || c == 0 {
		scaleRowsGeneric(x, by, c)
		return
	}
	raceRead(by)
	raceWrite(x)
	normBlocks(len(x), c, normLanes(), func(at, _, vecs, rows, tail int) {
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
	raceRead(by)
	raceWrite(x)
	normBlocks(len(x), c, normLanes()/2, func(at, _, vecs, rows, tail int) {
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
