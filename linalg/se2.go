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

// ExpMotion2 is exp(a), a = (θ, t). Theta is θ itself, not wrapped.
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

// Mul is the motion n, then m.
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

// ExpSE2 writes the homogeneous matrix of exp(a), a = (θ, t_x, t_y).
func ExpSE2(dst *[9]float64, a *[3]float64) {
	m := ExpMotion2(a)
	s, c := math.Sincos(m.Theta)
	*dst = [9]float64{c, -s, m.X, s, c, m.Y, 0, 0, 1}
}

// LogSE2 writes the coordinates (θ, t_x, t_y) of the homogeneous matrix m, θ in (-π, π].
func LogSE2(dst *[3]float64, m *[9]float64) {
	th := Angle(m[0], m[3]) + nanOf(m[1], m[4])
	Motion2{th, m[2], m[5]}.Log(dst)
}

// ComposeSE2 writes log(exp(a)·exp(b)); dst may be a or b.
func ComposeSE2(dst, a, b *[3]float64) { ExpMotion2(a).Mul(ExpMotion2(b)).Log(dst) }
