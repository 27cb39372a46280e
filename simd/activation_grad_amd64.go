//go:build !purego

package simd

func swishGradF32(dx, dy, x []float32) {
	if level == Generic {
		swishGradGeneric(dx, dy, x)
		return
	}
	if streams(dx, dy) && streams(dx, x) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dx, dy, x).next(); ok; p, ok = p.next() {
			swishGradF32(p.part, dy[p.at:p.end], x[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(dy)
	raceRead(x)
	raceWrite(dx)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			swishGradF32AVX512(&dx[0], &dy[0], &x[0], n)
		case AVX2:
			swishGradF32AVX2(&dx[0], &dy[0], &x[0], n)
		}
		dx, dy, x = dx[n:], dy[n:], x[n:]
	}
}

func reluGradF32(dx, dy, y []float32) {
	if level == Generic {
		reluGradGeneric(dx, dy, y)
		return
	}
	if streams(dx, dy) && streams(dx, y) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dx, dy, y).next(); ok; p, ok = p.next() {
			reluGradF32(p.part, dy[p.at:p.end], y[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(dy)
	raceRead(y)
	raceWrite(dx)
	for len(y) > 0 {
		n := min(len(y), maxPiece)
		switch level {
		case AVX512:
			reluGradF32AVX512(&dx[0], &dy[0], &y[0], n)
		case AVX2:
			reluGradF32AVX2(&dx[0], &dy[0], &y[0], n)
		}
		dx, dy, y = dx[n:], dy[n:], y[n:]
	}
}

func sigmoidGradF32(dx, dy, y []float32) {
	if level == Generic {
		sigmoidGradGeneric(dx, dy, y)
		return
	}
	if streams(dx, dy) && streams(dx, y) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dx, dy, y).next(); ok; p, ok = p.next() {
			sigmoidGradF32(p.part, dy[p.at:p.end], y[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(dy)
	raceRead(y)
	raceWrite(dx)
	for len(y) > 0 {
		n := min(len(y), maxPiece)
		switch level {
		case AVX512:
			sigmoidGradF32AVX512(&dx[0], &dy[0], &y[0], n)
		case AVX2:
			sigmoidGradF32AVX2(&dx[0], &dy[0], &y[0], n)
		}
		dx, dy, y = dx[n:], dy[n:], y[n:]
	}
}

func softplusGradF32(dx, dy, y []float32) {
	if level == Generic {
		softplusGradF32Generic(dx, dy, y)
		return
	}
	if streams(dx, dy) && streams(dx, y) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dx, dy, y).next(); ok; p, ok = p.next() {
			softplusGradF32(p.part, dy[p.at:p.end], y[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(dy)
	raceRead(y)
	raceWrite(dx)
	for len(y) > 0 {
		n := min(len(y), maxPiece)
		switch level {
		case AVX512:
			softplusGradF32AVX512(&dx[0], &dy[0], &y[0], n)
		case AVX2:
			softplusGradF32AVX2(&dx[0], &dy[0], &y[0], n)
		}
		dx, dy, y = dx[n:], dy[n:], y[n:]
	}
}
