//go:build !purego

package simd

func addF64(dst, x, y []float64) {
	if level == Generic {
		addGeneric(dst, x, y)
		return
	}
	if streams(dst, x) && streams(dst, y) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, y).next(); ok; p, ok = p.next() {
			addF64(p.part, x[p.at:p.end], y[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			addF64AVX512(&dst[0], &x[0], &y[0], n)
		case AVX2:
			addF64AVX2(&dst[0], &x[0], &y[0], n)
		}
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func axpyF64(dst []float64, a float64, x []float64) {
	if level == Generic {
		axpyGeneric(dst, a, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			axpyF64AVX512(&dst[0], a, &x[0], n)
		case AVX2:
			axpyF64AVX2(&dst[0], a, &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}

func scaleF64(dst []float64, a float64, x []float64) {
	if level == Generic {
		scaleGeneric(dst, a, x)
		return
	}
	if streams(dst, x) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, x).next(); ok; p, ok = p.next() {
			scaleF64(p.part, a, x[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			scaleF64AVX512(&dst[0], a, &x[0], n)
		case AVX2:
			scaleF64AVX2(&dst[0], a, &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
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
