//go:build !purego

package simd

import "math"

// sinCosMaxAsmF32 is the largest argument that the assembly can reduce; beyond, and for NaN, the portable twin takes over.
const sinCosMaxAsmF32 = 100000

func sinCosF32(s, c, x []float32) {
	if level == Generic {
		sinCosF32Generic(s, c, x)
		return
	}
	raceRead(x)
	raceWrite(s)
	raceWrite(c)
	for len(x) > 0 {
		done := sinCosPieceF32(s, c, x[:min(len(x), maxPiece)])
		s, c, x = s[done:], c[done:], x[done:]
		if done == 0 {
			n := min(len(x), sinCosRare)
			sinCosRareF32(s[:n], c[:n], x[:n])
			s, c, x = s[n:], c[n:], x[n:]
		}
	}
}

// sinCosPieceF32 returns how many elements it has computed: it stops before a group that has an x out of range.
func sinCosPieceF32(s, c, x []float32) (done int) {
	if level == AVX512 {
		return sinCosF32AVX512(&s[0], &c[0], &x[0], len(x))
	}
	return sinCosF32AVX2(&s[0], &c[0], &x[0], len(x))
}

// sinCosRare is how many elements are handled together when some are out of the assembly's range. It is larger than the groups
// that the assembly examines, so that it always covers the group at which that stopped.
const sinCosRare = 64

// sinCosRareF32 computes up to sinCosRare elements of which some are out of range. The others are computed by assembly, as
// everywhere, because the result of an element must not depend on its neighbours. s or c may be x.
func sinCosRareF32(s, c, x []float32) {
	var buf, near [sinCosRare]float32
	all := buf[:copy(buf[:], x)]
	inRange := near[:copy(near[:], x)]
	for i, v := range inRange {
		if !inSinCosRange(v) {
			inRange[i] = 0
		}
	}
	sinCosPieceF32(s, c, inRange)
	for i, v := range all {
		if !inSinCosRange(v) {
			sinCosF32Generic(s[i:i+1], c[i:i+1], all[i:i+1])
		}
	}
}

func inSinCosRange(x float32) bool {
	return math.Float32frombits(math.Float32bits(x)&^(1<<31)) <= sinCosMaxAsmF32
}
