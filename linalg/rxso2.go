package linalg

import "math"

// ScaleExp returns exp(a)·x, also where exp(a) alone overflows or loses digits as a subnormal number.
func ScaleExp(a, x float64) float64 {
	if a > -700 && a < 700 {
		return math.Exp(a) * x
	}
	if x == 0 && !math.IsNaN(a) {
		return x
	}
	h := math.Exp(a / 2)
	return h * (h * x)
}

// ComposeRxSO2 writes log(exp(a)·exp(b)), the angle in [-π, π]; dst may be a or b.
func ComposeRxSO2(dst, a, b *[2]float64) { *dst = [2]float64{a[0] + b[0], WrapAngle(a[1] + b[1])} }

// InverseRxSO2 writes the inverse of e = (r cos θ, r sin θ), which is conj(e)/|e|², scaled so that no square leaves the
// range; dst may be e. The origin gives NaN or ±Inf.
func InverseRxSO2(dst, e *[2]float64) {
	k := scaleExponent(e[:], 400)
	if k == badScale {
		k = 0
	}
	p := *e
	scalePow2(p[:], -k)
	d := sumOfProducts(p[0], p[0], p[1], p[1])
	*dst = [2]float64{math.Ldexp(p[0]/d, -k), math.Ldexp(-p[1]/d, -k)}
}

// ExpRxSO2 writes exp(a), a = (log r, θ): (r cos θ, r sin θ). Entries beyond the range of float64 become ±Inf or 0; an entry whose sine or
// cosine is 0 stays 0.
//
//go:noinline
func ExpRxSO2(dst, a *[2]float64) {
	s, c := math.Sincos(a[1])
	*dst = [2]float64{ScaleExp(a[0], c), ScaleExp(a[0], s)}
}

// LogRxSO2 writes the coordinates (log r, θ) of e, θ in (-π, π]. The origin, which is not in the group, has log r = -Inf.
//
//go:noinline
func LogRxSO2(dst, e *[2]float64) { *dst = [2]float64{logRadius(e[0], e[1]), Angle(e[0], e[1])} }

// logRadius is LogHypot with one rounding less. Where r is not next to 1 but log r is still small, the rounding of r
// would be visible in it.
func logRadius(x, y float64) float64 {
	if h := max(math.Abs(x), math.Abs(y)); h >= 0x1p-400 && h <= 0x1p400 {
		if s := ddProduct(x, x).add(ddProduct(y, y)); s.hi <= 0.5 || s.hi >= 1.5 {
			return 0.5 * (math.Log(s.hi) + s.lo/s.hi)
		}
	}
	return LogHypot(x, y)
}
