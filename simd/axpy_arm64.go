//go:build !purego

package simd

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
