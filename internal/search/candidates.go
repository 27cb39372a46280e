package search

import "math"

// CandidateAxes is up to how many coordinates Candidates is fast.
const CandidateAxes = 3

// Candidates sets bit j of bits if, for every coordinate c, x[c, j] is within r[c] of u[c] on the circle of 2¹⁶ whole numbers.
// A radius of 2¹⁵ or more holds the whole circle.
//
// It is the filter of a search in two steps: it reads two bytes of a coordinate and takes a few cycles for 64 points,
// and an exact kernel looks at the candidates that it leaves. Angles are coordinates of which 2¹⁶ units make a turn.
// Others are rounded to a unit of one's choice and taken modulo 2¹⁶, which lets some points through that are far away,
// but holds none back that is near. A ball in a sum of two distances, |a| + |b| ≤ r, is the box |a+b| ≤ r, |a-b| ≤ r.
//
//   - Shape: x is [d, 64·len(bits)], len(u) == len(r) == d, d at least 1; d up to CandidateAxes is fast.
//   - Errors: a wrong length panics.
func Candidates(bits []uint64, x, u, r []uint16) {
	checkRoom("Candidates", "u", len(u), 1)
	checkLen("Candidates", "r", len(r), len(u))
	checkLen("Candidates", "x", len(x), 64*len(u)*len(bits))
	if len(bits) > 0 {
		candidates(bits, x, u, r)
	}
}

// window turns |u - x| ≤ r into hi - x ≤ width, all modulo 2¹⁶ and without sign.
func window(u, r uint16) (hi, width uint16) {
	if r >= 1<<15 {
		return u, math.MaxUint16
	}
	return u + r, 2 * r
}

func candidatesGeneric(words []uint64, x, u, r []uint16) {
	for w := range words {
		word := ^uint64(0)
		for c := range u {
			hi, width := window(u[c], r[c])
			row := x[64*(c*len(words)+w):][:64]
			out := uint64(0)
			for k, y := range row {
				// The subtraction's sign is set where the gap exceeds the width.
				out |= uint64(uint32(width)-uint32(hi-y)) >> 31 & 1 << k
			}
			word &^= out
		}
		words[w] = word
	}
}
