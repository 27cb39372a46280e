//go:build !purego

package simd

// maxPiece is how many elements an elementwise function gives to assembly at a time: the scheduler cannot preempt it, and
// this many take some tens of microseconds at most.
const maxPiece = 1 << 16

func expF32(dst, x []float32) {
	if level == Generic {
		expF32Generic(dst, x)
		return
	}
	if streams(dst, x) {
		b := takeStreamBuffer()
		for p, ok := streamed(b, dst, x, x).next(); ok; p, ok = p.next() {
			expF32(p.part, x[p.at:p.end])
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
			expF32AVX512(&dst[0], &x[0], n)
		case AVX2:
			expF32AVX2(&dst[0], &x[0], n)
		}
		dst, x = dst[n:], x[n:]
	}
}
