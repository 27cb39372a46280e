//go:build !purego

package simd

func addF64(dst, x, y []float64) {
	if level == Generic {
		addGeneric(dst, x, y)
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		addF64NEON(&dst[0], &x[0], &y[0], n)
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
		axpyF64NEON(&dst[0], a, &x[0], n)
		dst, x = dst[n:], x[n:]
	}
}

func scaleF64(dst []float64, a float64, x []float64) {
	if level == Generic {
		scaleGeneric(dst, a, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		scaleF64NEON(&dst[0], a, &x[0], n)
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
	for piece := max(1, maxPiece/c); len(by) > 0; {
		n := min(len(by), piece)
		scaleRowsF64NEON(&x[0], &by[0], n, c)
		x, by = x[n*c:], by[n:]
	}
}
