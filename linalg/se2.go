package linalg

import "math"

// SE(2) is arithmetic on complex numbers: with z = x + iy, the motion exp(θ, t) maps z to e^{iθ}z + V(θ)t, where
//
//	V(θ) = (e^{iθ} - 1)/(iθ) = sin θ/θ + i (1 - cos θ)/θ.

// VSE2 returns the real and imaginary part of V(θ), the factor from the translation part of a logarithm to the
// translation.
func VSE2(theta float64) (s, c float64) {
	// (1 - cos θ)/θ cancels near 0; with h = θ/2 it is sin h · (sin h/h).
	h := theta / 2
	return sinc(theta), math.Sin(h) * sinc(h)
}

// VInvSE2 returns the real and imaginary part of 1/V(θ) = h cot h - ih, h = θ/2. It is singular at the multiples of 2π
// other than 0, which no wrapped angle comes near. |1/V| = h/sin h ≥ 1.
func VInvSE2(theta float64) (re, im float64) {
	h := theta / 2
	if h == 0 {
		return 1, 0
	}
	s, c := math.Sincos(h)
	return c * (h / s), -h
}

// Motion2 is a rigid motion of the plane, x -> R(Theta)x + (X, Y).
type Motion2 struct{ Theta, X, Y float64 }

// ExpMotion2 returns exp(a), a = (θ, t). Theta is θ itself, not wrapped.
//
//go:noinline
func ExpMotion2(a *[3]float64) Motion2 {
	s, c := VSE2(a[0])
	return Motion2{a[0], s*a[1] - c*a[2], c*a[1] + s*a[2]}
}

// Log writes the coordinates (θ, t) of m, θ in [-π, π].
//
//go:noinline
func (m Motion2) Log(dst *[3]float64) {
	th := WrapAngle(m.Theta)
	re, im := VInvSE2(th)
	*dst = [3]float64{th, re*m.X - im*m.Y, im*m.X + re*m.Y}
}

// Mul returns the motion n, then m.
func (m Motion2) Mul(n Motion2) Motion2 {
	s, c := math.Sincos(m.Theta)
	return Motion2{m.Theta + n.Theta, m.X + (c*n.X - s*n.Y), m.Y + (s*n.X + c*n.Y)}
}

// Inverse undoes m.
func (m Motion2) Inverse() Motion2 {
	s, c := math.Sincos(m.Theta)
	return Motion2{-m.Theta, -(c*m.X + s*m.Y), s*m.X - c*m.Y}
}

// Apply moves the point (x, y).
func (m Motion2) Apply(x, y float64) (float64, float64) {
	s, c := math.Sincos(m.Theta)
	return (c*x - s*y) + m.X, (s*x + c*y) + m.Y
}

// ComposeSE2 writes log(exp(a)·exp(b)); dst may be a or b.
func ComposeSE2(dst, a, b *[3]float64) { ExpMotion2(a).Mul(ExpMotion2(b)).Log(dst) }

// LeftJacobianSE2 writes the left Jacobian J of the exponential at a: exp(a + da) = exp(J·da)·exp(a) to first order.
//
//   - Formula: Σ adᵏ/(k+1)!. In complex numbers its first column is (1, ψ(iθ)·(-i)t) with ψ(z) = (eᶻ-1-z)/z², and the
//     rest is V(θ).
func LeftJacobianSE2(dst *[9]float64, a *[3]float64) {
	h := a[0] / 2
	s := math.Sin(h)
	f := sinc(h)
	re, im := 0.5*f*f, float64(0)
	if a[0] != 0 {
		im = math.Copysign(oneMinusSinc(math.Abs(a[0])), a[0]) / math.Abs(a[0])
	}
	// ψ·(t_y - i t_x)
	ux, uy := sumOfProducts(re, a[2], im, a[1]), sumOfProducts(im, a[2], -re, a[1])
	vr, vi := sinc(a[0]), s*f
	*dst = [9]float64{1, 0, 0, ux, vr, -vi, uy, vi, vr}
}

// LeftJacobianInvSE2 writes the inverse of the left Jacobian at a, for |θ| < 2π; at ±2π it is singular.
func LeftJacobianInvSE2(dst *[9]float64, a *[3]float64) {
	vr, vi := VInvSE2(a[0])
	// ψ/φ = 1/2 - i (1 - h cot h)/θ, h = θ/2; times -(t_y - i t_x).
	im := float64(0)
	if a[0] != 0 {
		im = -oneMinusHalfCot(math.Abs(a[0])) / a[0]
	}
	ux, uy := -sumOfProducts(0.5, a[2], im, a[1]), -sumOfProducts(im, a[2], -0.5, a[1])
	*dst = [9]float64{1, 0, 0, ux, vr, -vi, uy, vi, vr}
}

// MatrixSE2 writes the homogeneous matrix of the element e of SE(2) or Sim(2).
func MatrixSE2(dst *[9]float64, e *[4]float64) {
	*dst = [9]float64{e[0], -e[1], e[2], e[1], e[0], e[3], 0, 0, 1}
}

// ExpSE2 writes exp(a), a = (θ, t_x, t_y), as (cos θ, sin θ, x, y).
//
//   - Formula: V(θ) = sin h/h · e^{ih}, h = θ/2: a turn by half the angle and one factor, where nothing cancels.
//
//go:noinline
func ExpSE2(dst *[4]float64, a *[3]float64) {
	s, c := math.Sincos(a[0])
	h := a[0] / 2
	sh, ch := math.Sincos(h)
	f := 1.0
	if h != 0 {
		f = sh / h
	}
	*dst = [4]float64{c, s, f * sumOfProducts(ch, a[1], -sh, a[2]), f * sumOfProducts(sh, a[1], ch, a[2])}
}

// LogSE2 writes the coordinates (θ, t_x, t_y) of e, θ in (-π, π].
//
//go:noinline
func LogSE2(dst *[3]float64, e *[4]float64) {
	th := Angle(e[0], e[1])
	h := th / 2
	sh, ch := math.Sincos(h)
	f := 1.0
	if h != 0 {
		f = h / sh
	}
	*dst = [3]float64{th, f * sumOfProducts(ch, e[2], sh, e[3]), f * sumOfProducts(ch, e[3], -sh, e[2])}
}

// InverseSE2 writes the inverse of e; dst may be e.
//
//go:noinline
func InverseSE2(dst, e *[4]float64) {
	c, s := e[0], e[1]
	*dst = [4]float64{c, -s, -sumOfProducts(c, e[2], s, e[3]), -sumOfProducts(c, e[3], -s, e[2])}
}

// MulSE2 writes the product e·f of two elements of SE(2) or Sim(2): f, then e. dst may be e or f.
//
//go:noinline
func MulSE2(dst, e, f *[4]float64) {
	*dst = [4]float64{
		sumOfProducts(e[0], f[0], -e[1], f[1]), sumOfProducts(e[1], f[0], e[0], f[1]),
		e[2] + sumOfProducts(e[0], f[2], -e[1], f[3]), e[3] + sumOfProducts(e[1], f[2], e[0], f[3]),
	}
}

// ActSE2 writes the point x moved by the element e of SE(2) or Sim(2); dst may be x.
//
//go:noinline
func ActSE2(dst *[2]float64, e *[4]float64, x *[2]float64) {
	*dst = [2]float64{
		e[2] + sumOfProducts(e[0], x[0], -e[1], x[1]),
		e[3] + sumOfProducts(e[1], x[0], e[0], x[1]),
	}
}

// AdjointSE2 writes the matrix of a -> log(e·exp(a)·e⁻¹).
func AdjointSE2(dst *[9]float64, e *[4]float64) {
	*dst = [9]float64{1, 0, 0, e[3], e[0], -e[1], -e[2], e[1], e[0]}
}
