//go:build !purego

package simd

func addF32(dst, x, y []float32) {
	if level == Generic {
		addGeneric(dst, x, y)
		return
	}
	if streams(dst, x) && streams(dst, y) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, y).next(); ok; p, ok = p.next() {
			addF32(p.part, x[p.at:p.end], y[p.at:p.end])
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
			addF32AVX512(&dst[0], &x[0], &y[0], n)
		case AVX2:
			addF32AVX2(&dst[0], &x[0], &y[0], n)
		}
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func axpyF32(dst []float32, a float32, x []float32) {
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
			axpyF32AVX512(&dst[0], a, &x[0], n)
		case AVX2:
			axpyF32AVX2(&dst[0], a, &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}

func scaleF32(dst []float32, a float32, x []float32) {
	if level == Generic {
		scaleGeneric(dst, a, x)
		return
	}
	if streams(dst, x) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, x).next(); ok; p, ok = p.next() {
			scaleF32(p.part, a, x[p.at:p.end])
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
			scaleF32AVX512(&dst[0], a, &x[0], n)
		case AVX2:
			scaleF32AVX2(&dst[0], a, &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}

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
