//go:build !purego

package simd

func addF32(dst, x, y []float32) {
	if level == Generic {
		addGeneric(dst, x, y)
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		addF32NEON(&dst[0], &x[0], &y[0], n)
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
		axpyF32NEON(&dst[0], a, &x[0], n)
		dst, x = dst[n:], x[n:]
	}
}

func scaleF32(dst []float32, a float32, x []float32) {
	if level == Generic {
		scaleGeneric(dst, a, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		scaleF32NEON(&dst[0], a, &x[0], n)
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
	for piece := max(1, maxPiece/c); len(by) > 0; {
		n := min(len(by), piece)
		scaleRowsF32NEON(&x[0], &by[0], n, c)
		x, by = x[n*c:], by[n:]
	}
}
