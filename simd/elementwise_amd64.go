//go:build !purego

package simd

func subF32(dst, x, y []float32) {
	if level == Generic {
		subGeneric(dst, x, y)
		return
	}
	if streams(dst, x) && streams(dst, y) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, y).next(); ok; p, ok = p.next() {
			subF32(p.part, x[p.at:p.end], y[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			subF32AVX512(&dst[0], &x[0], &y[0], n)
		case AVX2:
			subF32AVX2(&dst[0], &x[0], &y[0], n)
		}
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func mulF32(dst, x, y []float32) {
	if level == Generic {
		mulGeneric(dst, x, y)
		return
	}
	if streams(dst, x) && streams(dst, y) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, y).next(); ok; p, ok = p.next() {
			mulF32(p.part, x[p.at:p.end], y[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			mulF32AVX512(&dst[0], &x[0], &y[0], n)
		case AVX2:
			mulF32AVX2(&dst[0], &x[0], &y[0], n)
		}
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func divF32(dst, x, y []float32) {
	if level == Generic {
		divGeneric(dst, x, y)
		return
	}
	if streams(dst, x) && streams(dst, y) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, y).next(); ok; p, ok = p.next() {
			divF32(p.part, x[p.at:p.end], y[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			divF32AVX512(&dst[0], &x[0], &y[0], n)
		case AVX2:
			divF32AVX2(&dst[0], &x[0], &y[0], n)
		}
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func sqrtF32(dst, x []float32) {
	if level == Generic {
		sqrtGeneric(dst, x)
		return
	}
	if streams(dst, x) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, x).next(); ok; p, ok = p.next() {
			sqrtF32(p.part, x[p.at:p.end])
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
			sqrtF32AVX512(&dst[0], &x[0], n)
		case AVX2:
			sqrtF32AVX2(&dst[0], &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}

func subF64(dst, x, y []float64) {
	if level == Generic {
		subGeneric(dst, x, y)
		return
	}
	if streams(dst, x) && streams(dst, y) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, y).next(); ok; p, ok = p.next() {
			subF64(p.part, x[p.at:p.end], y[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			subF64AVX512(&dst[0], &x[0], &y[0], n)
		case AVX2:
			subF64AVX2(&dst[0], &x[0], &y[0], n)
		}
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func mulF64(dst, x, y []float64) {
	if level == Generic {
		mulGeneric(dst, x, y)
		return
	}
	if streams(dst, x) && streams(dst, y) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, y).next(); ok; p, ok = p.next() {
			mulF64(p.part, x[p.at:p.end], y[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			mulF64AVX512(&dst[0], &x[0], &y[0], n)
		case AVX2:
			mulF64AVX2(&dst[0], &x[0], &y[0], n)
		}
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func divF64(dst, x, y []float64) {
	if level == Generic {
		divGeneric(dst, x, y)
		return
	}
	if streams(dst, x) && streams(dst, y) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, y).next(); ok; p, ok = p.next() {
			divF64(p.part, x[p.at:p.end], y[p.at:p.end])
		}
		b.giveBack()
		return
	}
	raceRead(x)
	raceRead(y)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			divF64AVX512(&dst[0], &x[0], &y[0], n)
		case AVX2:
			divF64AVX2(&dst[0], &x[0], &y[0], n)
		}
		dst, x, y = dst[n:], x[n:], y[n:]
	}
}

func sqrtF64(dst, x []float64) {
	if level == Generic {
		sqrtGeneric(dst, x)
		return
	}
	if streams(dst, x) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, x).next(); ok; p, ok = p.next() {
			sqrtF64(p.part, x[p.at:p.end])
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
			sqrtF64AVX512(&dst[0], &x[0], n)
		case AVX2:
			sqrtF64AVX2(&dst[0], &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}
