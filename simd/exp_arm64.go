//go:build !purego

package simd

// maxPiece is how many elements an elementwise function gives to assembly at a time: the scheduler cannot preempt it, and
// this many take some hundreds of microseconds at most.
const maxPiece = 1 << 16

func expF32(dst, x []float32) {
	if level == Generic {
		expF32Generic(dst, x)
		return
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		expF32NEON(&dst[0], &x[0], n)
		dst, x = dst[n:], x[n:]
	}
}
