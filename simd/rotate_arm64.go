//go:build !purego

package simd

func rotateF32(x, y []float32, c, s float32) {
	if level == Generic {
		rotateGeneric(x, y, c, s)
		return
	}
	raceWrite(x)
	raceWrite(y)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		rotateF32NEON(&x[0], &y[0], c, s, n)
		x, y = x[n:], y[n:]
	}
}

func swapF32(x, y []float32) { swapGeneric(x, y) }

func rotateF64(x, y []float64, c, s float64) {
	if level == Generic {
		rotateGeneric(x, y, c, s)
		return
	}
	raceWrite(x)
	raceWrite(y)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		rotateF64NEON(&x[0], &y[0], c, s, n)
		x, y = x[n:], y[n:]
	}
}

func swapF64(x, y []float64) { swapGeneric(x, y) }
