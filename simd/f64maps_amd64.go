//go:build !purego

package simd

// The elementwise functions of float64 that are not in f64math.

func sigmoidF64(dst, x []float64) {
	if level == Generic {
		sigmoidF64Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			sigmoidF64AVX512(&dst[0], &x[0], n)
		case AVX2:
			sigmoidF64AVX2(&dst[0], &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}

func swishF64(dst, x []float64) {
	if level == Generic {
		swishF64Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			swishF64AVX512(&dst[0], &x[0], n)
		case AVX2:
			swishF64AVX2(&dst[0], &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}

func softplusF64(dst, x []float64) {
	if level == Generic {
		softplusF64Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			softplusF64AVX512(&dst[0], &x[0], n)
		case AVX2:
			softplusF64AVX2(&dst[0], &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}

func tanhF64(dst, x []float64) {
	if level == Generic {
		tanhF64Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			tanhF64AVX512(&dst[0], &x[0], n)
		case AVX2:
			tanhF64AVX2(&dst[0], &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}

func reluF64(dst, x []float64) {
	if level == Generic {
		reluGeneric(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			reluF64AVX512(&dst[0], &x[0], n)
		case AVX2:
			reluF64AVX2(&dst[0], &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}

func hypotF64(dst, x, y []float64) {
	if level == Generic {
		hypotF64Generic(dst, x, y)
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(y) > 0 {
		n := min(len(y), maxPiece)
		switch level {
		case AVX512:
			hypotF64AVX512(&dst[0], &x[0], &y[0], n)
		case AVX2:
			hypotF64AVX2(&dst[0], &x[0], &y[0], n)
		}
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func swishGradF64(dx, dy, x []float64) {
	if level == Generic {
		swishGradGeneric(dx, dy, x)
		return
	}
	raceRead(dy)
	raceRead(x)
	raceWrite(dx)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			swishGradF64AVX512(&dx[0], &dy[0], &x[0], n)
		case AVX2:
			swishGradF64AVX2(&dx[0], &dy[0], &x[0], n)
		}
		dx, dy, x = dx[n:], dy[n:], x[n:]
	}
}

func reluGradF64(dx, dy, y []float64) {
	if level == Generic {
		reluGradGeneric(dx, dy, y)
		return
	}
	raceRead(dy)
	raceRead(y)
	raceWrite(dx)
	for len(y) > 0 {
		n := min(len(y), maxPiece)
		switch level {
		case AVX512:
			reluGradF64AVX512(&dx[0], &dy[0], &y[0], n)
		case AVX2:
			reluGradF64AVX2(&dx[0], &dy[0], &y[0], n)
		}
		dx, dy, y = dx[n:], dy[n:], y[n:]
	}
}

func sigmoidGradF64(dx, dy, y []float64) {
	if level == Generic {
		sigmoidGradGeneric(dx, dy, y)
		return
	}
	raceRead(dy)
	raceRead(y)
	raceWrite(dx)
	for len(y) > 0 {
		n := min(len(y), maxPiece)
		switch level {
		case AVX512:
			sigmoidGradF64AVX512(&dx[0], &dy[0], &y[0], n)
		case AVX2:
			sigmoidGradF64AVX2(&dx[0], &dy[0], &y[0], n)
		}
		dx, dy, y = dx[n:], dy[n:], y[n:]
	}
}

func softplusGradF64(dx, dy, y []float64) {
	if level == Generic {
		softplusGradF64Generic(dx, dy, y)
		return
	}
	raceRead(dy)
	raceRead(y)
	raceWrite(dx)
	for len(y) > 0 {
		n := min(len(y), maxPiece)
		switch level {
		case AVX512:
			softplusGradF64AVX512(&dx[0], &dy[0], &y[0], n)
		case AVX2:
			softplusGradF64AVX2(&dx[0], &dy[0], &y[0], n)
		}
		dx, dy, y = dx[n:], dy[n:], y[n:]
	}
}
