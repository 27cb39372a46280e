//go:build !purego

package simd

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
