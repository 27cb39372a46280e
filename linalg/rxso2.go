package linalg

import "math"

// ExpRxSO2 writes exp(a), a = (log r, θ): the rotation by θ, scaled by r. Entries beyond the range of float64 become
// ±Inf or 0; an entry whose sine or cosine is 0 stays 0.
func ExpRxSO2(dst *[4]float64, a *[2]float64) {
	var e [2]float64
	expRxSO2(&e, a)
	*dst = [4]float64{e[0], -e[1], e[1], e[0]}
}

// LogRxSO2 writes the coordinates (log r, θ) of the rotation-scaling m, θ in (-π, π]. The zero matrix, which is not in
// the group, has log r = -Inf.
func LogRxSO2(dst *[2]float64, m *[4]float64) {
	n := nanOf(m[1], m[3])
	logRxSO2(dst, &[2]float64{m[0] + n, m[2] + n})
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

// ComposeRxSO2 writes log(exp(a)·exp(b)), the angle in [-π, π]; dst may be a or b.
func ComposeRxSO2(dst, a, b *[2]float64) { *dst = [2]float64{a[0] + b[0], WrapAngle(a[1] + b[1])} }

// InverseRxSO2 writes the inverse of the rotation-scaling m; dst may be m. The zero matrix gives NaN or ±Inf.
func InverseRxSO2(dst, m *[4]float64) {
	var e [2]float64
	inverseRxSO2(&e, &[2]float64{m[0], m[2]})
	*dst = [4]float64{e[0], -e[1], e[1], e[0]}
}

// ActRxSO2 writes m·x; dst may be x.
func ActRxSO2(dst *[2]float64, m *[4]float64, x *[2]float64) { ActSO2(dst, m, x) }

// HatRxSO2 writes the algebra element [[log r, -θ], [θ, log r]].
func HatRxSO2(dst *[4]float64, a *[2]float64) { *dst = [4]float64{a[0], -a[1], a[1], a[0]} }

// VeeRxSO2 undoes HatRxSO2; it reads the first column.
func VeeRxSO2(dst *[2]float64, m *[4]float64) { *dst = [2]float64{m[0], m[2]} }

// AdjointRxSO2 writes the adjoint representation, the identity: the group is commutative. So are the left Jacobian and
// its inverse.
func AdjointRxSO2(dst, _ *[4]float64) { *dst = [4]float64{1, 0, 0, 1} }

// LeftJacobianRxSO2 writes the identity.
func LeftJacobianRxSO2(dst *[4]float64, _ *[2]float64) { *dst = [4]float64{1, 0, 0, 1} }

// LeftJacobianInvRxSO2 writes the identity.
func LeftJacobianInvRxSO2(dst *[4]float64, _ *[2]float64) { *dst = [4]float64{1, 0, 0, 1} }

// inverseRxSO2 is conj(e)/|e|² for e = (r cos θ, r sin θ), scaled so that no square leaves the range.
func inverseRxSO2(dst, e *[2]float64) {
	k := scaleExponent(e[:], 400)
	if k == badScale {
		k = 0
	}
	p := *e
	scalePow2(p[:], -k)
	d := sumOfProducts(p[0], p[0], p[1], p[1])
	*dst = [2]float64{math.Ldexp(p[0]/d, -k), math.Ldexp(-p[1]/d, -k)}
}

//go:noinline
func expRxSO2(dst, a *[2]float64) {
	s, c := math.Sincos(a[1])
	*dst = [2]float64{ScaleExp(a[0], c), ScaleExp(a[0], s)}
}

//go:noinline
func logRxSO2(dst, e *[2]float64) { *dst = [2]float64{logRadius(e[0], e[1]), Angle(e[0], e[1])} }

// logRadius is LogHypot with one rounding less: where log r is small but r is not next to 1, the rounding of r would show.
func logRadius(x, y float64) float64 {
	if h := max(math.Abs(x), math.Abs(y)); h >= 0x1p-400 && h <= 0x1p400 {
		if s := ddProduct(x, x).add(ddProduct(y, y)); s.hi <= 0.5 || s.hi >= 1.5 {
			return 0.5 * (math.Log(s.hi) + s.lo/s.hi)
		}
	}
	return LogHypot(x, y)
}

func adjointRxSO2(dst *[4]float64, _ *[2]float64) { *dst = [4]float64{1, 0, 0, 1} }
