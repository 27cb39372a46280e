//go:build !purego

package simd

func sigmoidF32(dst, x []float32) {
	if level == Generic {
		sigmoidF32Generic(dst, x)
		return
	}
	if streams(dst, x) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, x).next(); ok; p, ok = p.next() {
			sigmoidF32(p.part, x[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			sigmoidF32AVX512(&dst[0], &x[0], n)
		case AVX2:
			sigmoidF32AVX2(&dst[0], &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}

func swishF32(dst, x []float32) {
	if level == Generic {
		swishF32Generic(dst, x)
		return
	}
	if streams(dst, x) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, x).next(); ok; p, ok = p.next() {
			swishF32(p.part, x[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			swishF32AVX512(&dst[0], &x[0], n)
		case AVX2:
			swishF32AVX2(&dst[0], &x[0], n)
		}
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
		switch level {
		case AVX512:
			softplusF32AVX512(&dst[0], &x[0], n)
		case AVX2:
			softplusF32AVX2(&dst[0], &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}

func tanhF32(dst, x []float32) {
	if level == Generic {
		tanhF32Generic(dst, x)
		return
	}
	if streams(dst, x) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, x).next(); ok; p, ok = p.next() {
			tanhF32(p.part, x[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			tanhF32AVX512(&dst[0], &x[0], n)
		case AVX2:
			tanhF32AVX2(&dst[0], &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}

func reluF32(dst, x []float32) {
	if level == Generic {
		reluGeneric(dst, x)
		return
	}
	if streams(dst, x) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, x).next(); ok; p, ok = p.next() {
			reluF32(p.part, x[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			reluF32AVX512(&dst[0], &x[0], n)
		case AVX2:
			reluF32AVX2(&dst[0], &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}
