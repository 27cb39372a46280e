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
		if level == AVX512 {
			rotateF32AVX512(&x[0], &y[0], c, s, n)
		} else {
			rotateF32AVX2(&x[0], &y[0], c, s, n)
		}
		x, y = x[n:], y[n:]
	}
}

func swapF32(x, y []float32) {
	if level == Generic {
		swapGeneric(x, y)
		return
	}
	raceWrite(x)
	raceWrite(y)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		if level == AVX512 {
			swapF32AVX512(&x[0], &y[0], n)
		} else {
			swapF32AVX2(&x[0], &y[0], n)
		}
		x, y = x[n:], y[n:]
	}
}

func rotateF64(x, y []float64, c, s float64) {
	if level == Generic {
		rotateGeneric(x, y, c, s)
		return
	}
	raceWrite(x)
	raceWrite(y)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		if level == AVX512 {
			rotateF64AVX512(&x[0], &y[0], c, s, n)
		} else {
			rotateF64AVX2(&x[0], &y[0], c, s, n)
		}
		x, y = x[n:], y[n:]
	}
}

func swapF64(x, y []float64) {
	if level == Generic {
		swapGeneric(x, y)
		return
	}
	raceWrite(x)
	raceWrite(y)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		if level == AVX512 {
			swapF64AVX512(&x[0], &y[0], n)
		} else {
			swapF64AVX2(&x[0], &y[0], n)
		}
		x, y = x[n:], y[n:]
	}
}
