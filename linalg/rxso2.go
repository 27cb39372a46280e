package linalg

import "math"

// ExpRxSO2 writes exp(a), a = (log r, θ): the rotation by θ, scaled by r. Entries beyond the range of float64 become
// ±Inf or 0; an entry whose sine or cosine is 0 stays 0.
func ExpRxSO2(dst *[4]float64, a *[2]float64) {
	s, c := math.Sincos(a[1])
	s, c = ScaleExp(a[0], s), ScaleExp(a[0], c)
	*dst = [4]float64{c, -s, s, c}
}

// LogRxSO2 writes the coordinates (log r, θ) of the rotation-scaling m, θ in (-π, π]. The zero matrix, which is not in
// the group, has log r = -Inf.
func LogRxSO2(dst *[2]float64, m *[4]float64) {
	n := nanOf(m[1], m[3])
	*dst = [2]float64{LogHypot(m[0], m[2]) + n, Angle(m[0], m[2]) + n}
}

// ScaleExp is exp(a)·x, also where exp(a) alone overflows or loses digits as a subnormal number.
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
