package linalg

import "math"

// ComposeSO3 writes log(exp(a)·exp(b)); dst may be a or b.
func ComposeSO3(dst, a, b *[3]float64) { ExpQuat(a).Mul(ExpQuat(b)).Log(dst) }

// InverseSO3 writes the inverse of the rotation m, its transpose; dst may be m.
func InverseSO3(dst, m *[9]float64) { *dst = transpose3(m) }

// ActSO3 writes m·x; dst may be x.
//
//go:noinline
func ActSO3(dst *[3]float64, m *[9]float64, x *[3]float64) {
	a, b, c := x[0], x[1], x[2]
	for i := range 3 {
		dst[i] = float64(m[3*i]*a) + float64(m[3*i+1]*b) + float64(m[3*i+2]*c)
	}
}

// LeftJacobianSO3 writes the left Jacobian J of the exponential at w: exp(w + dw) = exp(J·dw)·exp(w) to first order.
//
//   - Formula: I + (1 - cos θ)/θ N + (1 - sin θ/θ) N², N the skew matrix of the axis w/θ.
//
//go:noinline
func LeftJacobianSO3(dst *[9]float64, w *[3]float64) {
	n, th, _ := axisAngle(w)
	jacobianSO3(dst, &n, 2*squareOver(th), oneMinusSinc(th))
}

// LeftJacobianInvSO3 writes the inverse of the left Jacobian at w, for |w| < 2π; at 2π it is singular.
//
//   - Formula: I - θ/2 N + (1 - h cot h) N², h = θ/2.
//
//go:noinline
func LeftJacobianInvSO3(dst *[9]float64, w *[3]float64) {
	n, th, _ := axisAngle(w)
	jacobianSO3(dst, &n, -th/2, oneMinusHalfCot(th))
}

// jacobianSO3 writes I + bN + cN².
func jacobianSO3(dst *[9]float64, n *[3]float64, b, c float64) {
	x, y, z := n[0], n[1], n[2]
	*dst = [9]float64{
		1 - c*sumOfProducts(y, y, z, z), sumOfProducts(c*x, y, -b, z), sumOfProducts(c*x, z, b, y),
		sumOfProducts(c*x, y, b, z), 1 - c*sumOfProducts(x, x, z, z), sumOfProducts(c*y, z, -b, x),
		sumOfProducts(c*x, z, -b, y), sumOfProducts(c*y, z, b, x), 1 - c*sumOfProducts(x, x, y, y),
	}
}

// squareOver is sin²(θ/2)/θ = (1 - cos θ)/2θ.
func squareOver(th float64) float64 {
	if th == 0 {
		return 0
	}
	s := math.Sin(th / 2)
	return s * (s / th)
}

// axisAngle splits w into a unit axis and an angle th + lo, lo the rounding error of th: near angle π one ulp of the angle
// is three of the sine. The axis of 0 is 0.
func axisAngle(w *[3]float64) (n [3]float64, th, lo float64) {
	k := scaleExponent(w[:], 300)
	if k == badScale {
		return [3]float64{0, 0, 0}, maxAbs(w[:]) * 0, 0 // 0, or NaN
	}
	p := *w
	scalePow2(p[:], -k)
	s := ddProduct(p[0], p[0]).add(ddProduct(p[1], p[1])).add(ddProduct(p[2], p[2]))
	th = math.Sqrt(s.hi)
	rel := (math.FMA(-th, th, s.hi) + s.lo) / (2 * s.hi)
	for i, v := range p {
		q := v / th
		// The remainder of the division and of the root, so that the axis is right to half an ulp.
		n[i] = q + math.FMA(-q, rel, math.FMA(-q, th, v)/th)
	}
	th = math.Ldexp(th, k)
	return n, th, th * rel
}

// turn returns sin and 1 - cos of the angle th + lo.
func turn(th, lo float64) (s, k float64) {
	sin, cos := math.Sincos(th)
	s, c := math.FMA(cos, lo, sin), math.FMA(-sin, lo, cos)
	if c < 0.5 {
		return s, 1 - c
	}
	return s, s * (s / (1 + c))
}

// ExpSO3 writes the rotation matrix of the rotation vector w.
//
//   - Formula: I + sin θ N + (1 - cos θ) N², N the skew matrix of the axis w/θ (O. Rodrigues).
//
//go:noinline
func ExpSO3(dst *[9]float64, w *[3]float64) {
	n, th, lo := axisAngle(w)
	s, k := turn(th, lo)
	jacobianSO3(dst, &n, s, k)
}

// LogSO3 writes the rotation vector of the rotation matrix m, of length at most π. It is accurate at every angle; at π
// itself, where w and -w are both right, either may come out.
//
//go:noinline
func LogSO3(dst *[3]float64, m *[9]float64) {
	q := longQuat(m)
	q.Log(dst)
}

// longQuat is MatrixQuat without its root and divisions: a quaternion of length 2 to 4, in the same direction.
func longQuat(m *[9]float64) Quat {
	tr := m[0] + m[4] + m[8]
	switch {
	case tr >= m[0] && tr >= m[4] && tr >= m[8]:
		return Quat{1 + tr, m[7] - m[5], m[2] - m[6], m[3] - m[1]}
	case m[0] >= m[4] && m[0] >= m[8]:
		return Quat{m[7] - m[5], 1 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6]}
	case m[4] >= m[8]:
		return Quat{m[2] - m[6], m[1] + m[3], 1 - m[0] + m[4] - m[8], m[5] + m[7]}
	default:
		return Quat{m[3] - m[1], m[2] + m[6], m[5] + m[7], 1 - m[0] - m[4] + m[8]}
	}
}
