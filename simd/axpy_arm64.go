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
