package linalg

import "math"

// In SE(3) the translation of exp(w, t) is V(w)t. With θ = |w| and the axis n = w/θ,
//
//	V(w)t    = t + (1 - cos θ)/θ · n×t + (1 - sin θ/θ) · n×(n×t)
//	V(w)⁻¹p  = p - θ/2 · n×p + (1 - h cot h) · n×(n×p),   h = θ/2.
//
// Written with the unit axis nothing overflows for long w, nothing is 0/0 for short w, and every coefficient stays
// between -π/2 and 2 where it is used.

// Motion3 is a rigid motion of space, x -> Q x Q* + P. Q is a unit quaternion.
type Motion3 struct {
	Q Quat
	P [3]float64
}

// ExpMotion3 returns exp(a), a = (w, t): rotation vector first.
//
//go:noinline
func ExpMotion3(a *[6]float64) Motion3 {
	w := [3]float64{a[0], a[1], a[2]}
	t := [3]float64{a[3], a[4], a[5]}
	m := Motion3{ExpQuat(&w), t}
	th := Norm3(w[0], w[1], w[2])
	if th == 0 {
		return m
	}
	n := [3]float64{w[0] / th, w[1] / th, w[2] / th}
	h := th / 2
	b, c := math.Sin(h)*sinc(h), oneMinusSinc(th)
	u := cross(n, t)
	v := cross(n, u)
	for i := range m.P {
		m.P[i] = t[i] + (b*u[i] + c*v[i])
	}
	return m
}

// Log writes the coordinates (w, t) of m, |w| ≤ π.
//
//go:noinline
func (m Motion3) Log(dst *[6]float64) {
	var w [3]float64
	m.Q.Log(&w)
	t := m.P
	th := Norm3(w[0], w[1], w[2])
	if th != 0 {
		n := [3]float64{w[0] / th, w[1] / th, w[2] / th}
		b, c := th/2, oneMinusHalfCot(th)
		u := cross(n, m.P)
		v := cross(n, u)
		for i := range t {
			t[i] = m.P[i] - (b*u[i] - c*v[i])
		}
	}
	*dst = [6]float64{w[0], w[1], w[2], t[0], t[1], t[2]}
}

// Mul returns the motion n, then m.
func (m Motion3) Mul(n Motion3) Motion3 {
	p := m.Q.Rotate(n.P)
	return Motion3{m.Q.Mul(n.Q), [3]float64{m.P[0] + p[0], m.P[1] + p[1], m.P[2] + p[2]}}
}

// Inverse undoes m.
func (m Motion3) Inverse() Motion3 {
	q := m.Q.Conj()
	return Motion3{q, q.Rotate([3]float64{-m.P[0], -m.P[1], -m.P[2]})}
}

// From returns m⁻¹n, the motion n as seen from m. The translations are subtracted before anything else happens to them.
func (m Motion3) From(n *Motion3) Motion3 {
	q := m.Q.Conj()
	return Motion3{q.Mul(n.Q), q.Rotate([3]float64{n.P[0] - m.P[0], n.P[1] - m.P[1], n.P[2] - m.P[2]})}
}

// Apply moves the point x.
func (m Motion3) Apply(x [3]float64) [3]float64 {
	y := m.Q.Rotate(x)
	return [3]float64{y[0] + m.P[0], y[1] + m.P[1], y[2] + m.P[2]}
}

// Matrix writes m as an element of SE(3): the upper three rows [R | p] of its homogeneous matrix, which MatrixSE3 completes.
func (m Motion3) Matrix(dst *[12]float64) {
	var r [9]float64
	m.Q.Matrix(&r)
	joinSE3(dst, &r, &m.P)
}

// MatrixMotion3 returns the motion that is the element e of SE(3), the upper three rows [R | p] of its homogeneous matrix. Q is up to its
// sign, as that of MatrixQuat.
func MatrixMotion3(e *[12]float64) Motion3 {
	r, p := splitSE3(e)
	return Motion3{MatrixQuat(&r), p}
}

// oneMinusSinc returns 1 - sin x/x for x ≥ 0.
func oneMinusSinc(x float64) float64 {
	if x > 0.5 {
		return 1 - math.Sin(x)/x
	}
	// Taylor; the first term left out is below 2⁻⁶⁴ of the sum.
	y := x * x
	return y / 6 * (1 - y/20*(1-y/42*(1-y/72*(1-y/110*(1-y/156*(1-y/210))))))
}

// oneMinusHalfCot returns 1 - h cot h, h = x/2, for 0 ≤ x ≤ π.
func oneMinusHalfCot(x float64) float64 {
	if x > 0.5 {
		s, c := math.Sincos(x / 2)
		return 1 - x/2*c/s
	}
	// Σ |B₂ₖ| x²ᵏ/(2k)! with the Bernoulli numbers B₂ₖ (Abramowitz and Stegun 4.3.70); the first term left out is
	// below 2⁻⁵⁸ of the sum.
	y := x * x
	return y * (1./12 + y*(1./720+y*(1./30240+y*(1./1209600+y*(1./47900160+y*(691./1307674368000+
		y*(1./74724249600+y*(3617./10670622842880000))))))))
}
