//go:build !purego

package simd

func expF64(dst, x []float64) {
	if level == Generic {
		expF64Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		expF64NEON(&dst[0], &x[0], n)
		dst, x = dst[n:], x[n:]
	}
}

func logF64(dst, x []float64) {
	if level == Generic {
		logF64Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		logF64NEON(&dst[0], &x[0], n)
		dst, x = dst[n:], x[n:]
	}
}

// sinCosF64 is sinCosF32 for float64. Its kernel stops before a group of at most four elements.
func sinCosF64(s, c, x []float64) {
	if level == Generic {
		sinCosF64Generic(s, c, x)
		return
	}
	const group = 4
	raceRead(x)
	raceWrite(s)
	raceWrite(c)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		done := sinCosF64NEON(&s[0], &c[0], &x[0], n)
		s, c, x = s[done:], c[done:], x[done:]
		if done == n {
			continue
		}
		for range min(len(x), group) {
			if sinCosF64NEON(&s[0], &c[0], &x[0], 1) == 0 {
				sinCosF64Generic(s[:1], c[:1], x[:1])
			}
			s, c, x = s[1:], c[1:], x[1:]
		}
	}
}

func atan2F64(dst, y, x []float64) {
	if level == Generic {
		atan2F64Generic(dst, y, x)
		return
	}
	raceRead(y)
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		atan2F64NEON(&dst[0], &y[0], &x[0], n)
		dst, y, x = dst[n:], y[n:], x[n:]
	}
}
