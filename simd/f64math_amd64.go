//go:build !purego

package simd

import "math"

// sinCosMaxAsmF64 is the largest argument that the assembly can reduce; beyond, and for NaN, the portable twin takes over.
const sinCosMaxAsmF64 = 1e9

// sinCosF64 is sinCosF32 for float64.
func sinCosF64(s, c, x []float64) {
	if level == Generic {
		sinCosF64Generic(s, c, x)
		return
	}
	raceRead(x)
	raceWrite(s)
	raceWrite(c)
	for len(x) > 0 {
		done := sinCosPieceF64(s, c, x[:min(len(x), maxPiece)])
		s, c, x = s[done:], c[done:], x[done:]
		if done == 0 {
			n := min(len(x), sinCosRare)
			sinCosRareF64(s[:n], c[:n], x[:n])
			s, c, x = s[n:], c[n:], x[n:]
		}
	}
}

// sinCosPieceF64 returns how many elements it has computed: it stops before a group that has an x out of range.
func sinCosPieceF64(s, c, x []float64) (done int) {
	if level == AVX512 {
		return sinCosF64AVX512(&s[0], &c[0], &x[0], len(x))
	}
	return sinCosF64AVX2(&s[0], &c[0], &x[0], len(x))
}

// sinCosRareF64 is sinCosRareF32 for float64.
func sinCosRareF64(s, c, x []float64) {
	var buf, near [sinCosRare]float64
	all := buf[:copy(buf[:], x)]
	inRange := near[:copy(near[:], x)]
	for i, v := range inRange {
		if !(math.Abs(v) <= sinCosMaxAsmF64) {
			inRange[i] = 0
		}
	}
	sinCosPieceF64(s, c, inRange)
	for i, v := range all {
		if !(math.Abs(v) <= sinCosMaxAsmF64) {
			sinCosF64Generic(s[i:i+1], c[i:i+1], all[i:i+1])
		}
	}
}
