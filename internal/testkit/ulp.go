package testkit

import "math"

// ULP32 returns the error of got in units in the last place of float32 at the exact value want: 0.5 at most for a correctly
// rounded result. NaN equals NaN. If want is beyond the largest float32, both infinity and the rounded want are right. If only one
// of the two numbers is NaN or infinite, the error is +Inf.
func ULP32(got float32, want float64) float64 {
	if r, ok := special(float64(got), float64(float32(want)), want); ok {
		return r
	}
	return math.Abs(float64(got)-want) / ulpAt(want, -126, 23)
}

// special handles NaN, infinities and overflow, where a difference means nothing; rounded is want in the precision of got.
func special(got, rounded, want float64) (ulp float64, ok bool) {
	switch {
	case math.IsNaN(want) || math.IsNaN(got):
		if math.IsNaN(want) && math.IsNaN(got) {
			return 0, true
		}
		return math.Inf(1), true
	case got == rounded && math.IsInf(got, 0):
		return 0, true
	case math.IsInf(got, 0) || math.IsInf(want, 0):
		return math.Inf(1), true
	}
	return 0, false
}

// ulpAt returns the distance of neighbouring floats around |x|, for a format with that smallest exponent and as many bits
// behind the point.
func ulpAt(x float64, minExp, bits int) float64 {
	e := minExp
	if x != 0 {
		e = max(math.Ilogb(x), minExp)
	}
	return math.Ldexp(1, e-bits)
}
