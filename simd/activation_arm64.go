//go:build !purego

package simd

func sigmoidF32(dst, x []float32) {
	if level == Generic {
		sigmoidF32Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		sigmoidF32NEON(&dst[0], &x[0], n)
		dst, x = dst[n:], x[n:]
	}
}

func swishF32(dst, x []float32) {
	if level == Generic {
		swishF32Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		swishF32NEON(&dst[0], &x[0], n)
		dst, x = dst[n:], x[n:]
	}
}

func softplusF32(dst, x []float32) {
	if level == Generic {
		softplusF32Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		softplusF32NEON(&dst[0], &x[0], n)
		dst, x = dst[n:], x[n:]
	}
}

func tanhF32(dst, x []float32) {
	if level == Generic {
		tanhF32Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		tanhF32NEON(&dst[0], &x[0], n)
		dst, x = dst[n:], x[n:]
	}
}

func reluF32(dst, x []float32) {
	if level == Generic {
		reluGeneric(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		reluF32NEON(&dst[0], &x[0], n)
		dst, x = dst[n:], x[n:]
	}
}
