//go:build !purego

package simd

func subF32(dst, x, y []float32) {
	if level == Generic {
		subGeneric(dst, x, y)
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		subF32NEON(&dst[0], &x[0], &y[0], n)
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func mulF32(dst, x, y []float32) {
	if level == Generic {
		mulGeneric(dst, x, y)
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		mulF32NEON(&dst[0], &x[0], &y[0], n)
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func divF32(dst, x, y []float32) {
	if level == Generic {
		divGeneric(dst, x, y)
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		divF32NEON(&dst[0], &x[0], &y[0], n)
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func sqrtF32(dst, x []float32) { sqrtGeneric(dst, x) }

func subF64(dst, x, y []float64) {
	if level == Generic {
		subGeneric(dst, x, y)
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		subF64NEON(&dst[0], &x[0], &y[0], n)
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func mulF64(dst, x, y []float64) {
	if level == Generic {
		mulGeneric(dst, x, y)
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		mulF64NEON(&dst[0], &x[0], &y[0], n)
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func divF64(dst, x, y []float64) {
	if level == Generic {
		divGeneric(dst, x, y)
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		divF64NEON(&dst[0], &x[0], &y[0], n)
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func sqrtF64(dst, x []float64) { sqrtGeneric(dst, x) }
