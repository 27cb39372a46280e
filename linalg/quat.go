package linalg

import "math"

// The functions marked noinline run in more than one loop. Where a compiler fuses products and sums, what it fuses may
// depend on the code around; out of line, equal inputs give equal bits wherever they come from.

// Quat is a quaternion (w, x, y, z). A unit quaternion and its negative are the same rotation.
type Quat [4]float64

// ExpQuat returns the unit quaternion of the rotation vector w: the rotation by |w| about w.
//
//go:noinline
func ExpQuat(w *[3]float64) Quat {
	th := Norm3(w[0], w[1], w[2])
	s, c := math.Sincos(th / 2)
	f := 0.5 // of sin(θ/2)/θ at 0
	if th > 0x1p-1000 {
		f = s / th
	}
	return Quat{c, f * w[0], f * w[1], f * w[2]}
}

// Log writes the rotation vector of q, of length at most π; q need not have length 1. At angle π, where two vectors
// are right, it takes the one along (x, y, z).
//
// The angle 2·atan2(|(x, y, z)|, w) is accurate everywhere; the common acos((trace-1)/2) loses all digits near 0 and,
// divided into the matrix's antisymmetric part, near π.
//
//go:noinline
func (q Quat) Log(dst *[3]float64) {
	w := q[0]
	sign := 2.0
	if w < 0 {
		w, sign = -w, -2
	}
	n := Norm3(q[1], q[2], q[3])
	scale := 1.0
	switch {
	case n <= 0x1p-1000 && w <= 0x1p-900: // below, n is taken for small beside w; its reciprocal may overflow
		scale = 0x1p200
	case n > math.MaxFloat64:
		scale = 0x1p-2
	}
	if scale != 1 {
		w, q = w*scale, Quat{0, q[1] * scale, q[2] * scale, q[3] * scale}
		n = Norm3(q[1], q[2], q[3])
	}
	f := sign / w // atan2(n, w)/n for n -> 0
	if n > 0x1p-1000 || w == 0 {
		f = sign * (math.Atan2(n, w) / n)
	} else if n != n {
		f = n
	}
	*dst = [3]float64{f * q[1], f * q[2], f * q[3]}
}

// Mul returns the rotation r, then q: the product qr. Every product is rounded before it is added, on every machine, so that
// the vector parts of conj(q)·q cancel to exactly 0.
//
//go:noinline
func (q Quat) Mul(r Quat) Quat {
	return Quat{
		float64(q[0]*r[0]) - float64(q[1]*r[1]) - float64(q[2]*r[2]) - float64(q[3]*r[3]),
		float64(q[0]*r[1]) + float64(q[1]*r[0]) + float64(q[2]*r[3]) - float64(q[3]*r[2]),
		float64(q[0]*r[2]) + float64(q[2]*r[0]) + float64(q[3]*r[1]) - float64(q[1]*r[3]),
		float64(q[0]*r[3]) + float64(q[3]*r[0]) + float64(q[1]*r[2]) - float64(q[2]*r[1]),
	}
}

// Conj returns the inverse of a unit quaternion.
func (q Quat) Conj() Quat { return Quat{q[0], -q[1], -q[2], -q[3]} }

// Unit returns q at length 1. The zero quaternion, which is no rotation, becomes the identity.
func (q Quat) Unit() Quat {
	n := Norm(q[:])
	if n == 0 {
		return Quat{1, 0, 0, 0}
	}
	scale := 1.0
	switch {
	case n < 0x1p-1000: // as a subnormal number it would have few digits
		scale = 0x1p200
	case n > math.MaxFloat64:
		scale = 0x1p-2
	}
	if scale != 1 {
		q = Quat{q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale}
		n = Norm(q[:])
	}
	return Quat{q[0] / n, q[1] / n, q[2] / n, q[3] / n}
}

// Slerp returns the rotation at t of the way from q, at 0, to r, at 1, by the shorter way at constant speed (K. Shoemake, Animating
// Rotation with Quaternion Curves, SIGGRAPH 1985): q·exp(t·log(q⁻¹r)), for unit quaternions. Any t is fine; outside [0, 1] the turn goes
// on. The sign of r does not matter. Where r is half a turn from q, both ways are right, and it takes one of them.
func (q Quat) Slerp(r Quat, t float64) Quat {
	var w [3]float64
	q.Conj().Mul(r).Log(&w)
	for i := range w {
		w[i] *= t
	}
	return q.Mul(ExpQuat(&w))
}

// Rotate turns the vector x by the unit quaternion q: x + 2w(v × x) + 2v × (v × x), v the vector part.
//
//go:noinline
func (q Quat) Rotate(x [3]float64) [3]float64 {
	v := [3]float64{q[1], q[2], q[3]}
	u := cross(v, x)
	u = [3]float64{2 * u[0], 2 * u[1], 2 * u[2]}
	k := cross(v, u)
	return [3]float64{x[0] + (q[0]*u[0] + k[0]), x[1] + (q[0]*u[1] + k[1]), x[2] + (q[0]*u[2] + k[2])}
}

// Matrix writes the rotation matrix of the unit quaternion q.
func (q Quat) Matrix(dst *[9]float64) {
	w, x, y, z := q[0], q[1], q[2], q[3]
	*dst = [9]float64{
		1 - 2*(y*y+z*z), 2 * (x*y - w*z), 2 * (x*z + w*y),
		2 * (x*y + w*z), 1 - 2*(x*x+z*z), 2 * (y*z - w*x),
		2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2*(x*x+y*y),
	}
}

// MatrixQuat returns the quaternion of the rotation matrix m, up to its sign.
//
//   - Method: of the four equal ways to read it, the one whose divisor is largest, so that nothing cancels at any
//     angle; S. W. Shepperd, Quaternion from Rotation Matrix, Journal of Guidance and Control 1 (1978), 223-224.
func MatrixQuat(m *[9]float64) Quat {
	// The four 4·component² are 1 + trace and 1 + 2·(diagonal entry) - trace; their sum is 4, so the largest is ≥ 1.
	tr := m[0] + m[4] + m[8]
	switch {
	case tr >= m[0] && tr >= m[4] && tr >= m[8]:
		s := math.Sqrt(1 + tr)
		return Quat{s / 2, (m[7] - m[5]) / (2 * s), (m[2] - m[6]) / (2 * s), (m[3] - m[1]) / (2 * s)}
	case m[0] >= m[4] && m[0] >= m[8]:
		s := math.Sqrt(1 + m[0] - m[4] - m[8])
		return Quat{(m[7] - m[5]) / (2 * s), s / 2, (m[1] + m[3]) / (2 * s), (m[2] + m[6]) / (2 * s)}
	case m[4] >= m[8]:
		s := math.Sqrt(1 - m[0] + m[4] - m[8])
		return Quat{(m[2] - m[6]) / (2 * s), (m[1] + m[3]) / (2 * s), s / 2, (m[5] + m[7]) / (2 * s)}
	default:
		s := math.Sqrt(1 - m[0] - m[4] + m[8])
		return Quat{(m[3] - m[1]) / (2 * s), (m[2] + m[6]) / (2 * s), (m[5] + m[7]) / (2 * s), s / 2}
	}
}

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}
