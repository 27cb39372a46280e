//go:build !purego

package simd

func logF32(dst, x []float32) {
	if level == Generic {
		logF32Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		switch level {
		case AVX512:
			logF32AVX512(&dst[0], &x[0], n)
		case AVX2:
			logF32AVX2(&dst[0], &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}
