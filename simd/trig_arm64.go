//go:build !purego

package simd

// sinCosGroup is the largest number of elements that sinCosF32NEON leaves undone when it stops at one out of range.
const sinCosGroup = 8

// sinCosF32 leaves arguments that are too large for assembly to the portable kernel. It goes through the group at which assembly
// stopped one by one, because ordinary elements in it must get the same bits as anywhere else.
func sinCosF32(s, c, x []float32) {
	if level == Generic {
		sinCosF32Generic(s, c, x)
		return
	}
	raceRead(x)
	raceWrite(s)
	raceWrite(c)
	for len(x) > 0 {
		n := min(len(x), maxPiece)
		done := sinCosF32NEON(&s[0], &c[0], &x[0], n)
		s, c, x = s[done:], c[done:], x[done:]
		if done == n {
			continue
		}
		for range min(len(x), sinCosGroup) {
			if sinCosF32NEON(&s[0], &c[0], &x[0], 1) == 0 {
				sinCosF32Generic(s[:1], c[:1], x[:1])
			}
			s, c, x = s[1:], c[1:], x[1:]
		}
	}
}
