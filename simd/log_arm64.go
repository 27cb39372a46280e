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
		logF32NEON(&dst[0], &x[0], n)
		dst, x = dst[n:], x[n:]
	}
}
