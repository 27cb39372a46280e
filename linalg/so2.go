package linalg

import "math"

const twoPi = 2 * math.Pi

// WrapAngle returns the angle in [-π, π] that differs from d by a multiple of 2π.
//
// It is exact with respect to the float64 nearest to 2π, and odd: WrapAngle(-d) = -WrapAngle(d), so both ends of the
// interval occur. An angle in the interval is returned as it is.
func WrapAngle(d float64) float64 {
	if d > math.Pi || d < -math.Pi {
		return wrapFar(d)
	}
	return d
}

//go:noinline
func wrapFar(d float64) float64 {
	// Between π and 3π one subtraction suffices and is exact (Sterbenz).
	switch {
	case d > math.Pi && d < 3*math.Pi:
		return d - twoPi
	case d < -math.Pi && d > -3*math.Pi:
		return d + twoPi
	}
	return math.Remainder(d, twoPi)
}

// Angle is the angle of the point (x, y), in (-π, π]; 0 at the origin. Zeros have no sign here: (-1, -0) is at π, not
// at -π, and (-0, 0) at 0, not at π.
func Angle(x, y float64) float64 { return math.Atan2(y+0, x+0) }

// ExpSO2 writes the rotation by theta.
func ExpSO2(dst *[4]float64, theta float64) {
	s, c := math.Sincos(theta)
	*dst = [4]float64{c, -s, s, c}
}

// LogSO2 is the angle of the rotation m, in (-π, π].
func LogSO2(m *[4]float64) float64 {
	return Angle(m[0], m[2]) + nanOf(m[1], m[3])
}

// ComposeSO2 is the angle of exp(a)·exp(b), in [-π, π].
func ComposeSO2(a, b float64) float64 { return WrapAngle(a + b) }

// InverseSO2 writes the inverse of the rotation m, its transpose; dst may be m.
func InverseSO2(dst, m *[4]float64) { *dst = [4]float64{m[0], m[2], m[1], m[3]} }

// ActSO2 writes m·x; dst may be x.
func ActSO2(dst *[2]float64, m *[4]float64, x *[2]float64) {
	*dst = [2]float64{sumOfProducts(m[0], x[0], m[1], x[1]), sumOfProducts(m[2], x[0], m[3], x[1])}
}

// HatSO2 writes the algebra element [[0, -θ], [θ, 0]].
func HatSO2(dst *[4]float64, theta float64) { *dst = [4]float64{0, -theta, theta, 0} }

// VeeSO2 undoes HatSO2; it reads m[1][0].
func VeeSO2(m *[4]float64) float64 { return m[2] }

// AdjointSO2 is the adjoint representation, the number 1: the group is commutative. So are the left Jacobian and its
// inverse.
func AdjointSO2(*[4]float64) float64 { return 1 }

// LeftJacobianSO2 is 1 for every angle.
func LeftJacobianSO2(theta float64) float64 { return 1 + theta*0 }

// LeftJacobianInvSO2 is 1 for every angle.
func LeftJacobianInvSO2(theta float64) float64 { return 1 + theta*0 }

// nanOf is 0 if x and y are finite and NaN otherwise: it carries a NaN from entries that a formula does not read.
func nanOf(x, y float64) float64 { return float64(x*0) + float64(y*0) }

// sinc is sin(x)/x, 1 at 0.
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(x) / x
}

// The functions below are those of elements (cos θ, sin θ), or r times that: what batches of SO(2) and R>0×SO(2) hold.

//go:noinline
func expSO2(dst *[2]float64, a *[1]float64) { dst[1], dst[0] = math.Sincos(a[0]) }

//go:noinline
func logSO2(dst *[1]float64, e *[2]float64) { dst[0] = Angle(e[0], e[1]) }

func composeSO2(dst, a, b *[1]float64) { dst[0] = ComposeSO2(a[0], b[0]) }

//go:noinline
func mulSO2(dst, e, f *[2]float64) {
	*dst = [2]float64{sumOfProducts(e[0], f[0], -e[1], f[1]), sumOfProducts(e[1], f[0], e[0], f[1])}
}

func inverseSO2(dst, e *[2]float64) { *dst = [2]float64{e[0], -e[1]} }

//go:noinline
func actSO2(dst *[2]float64, e *[2]float64, x *[2]float64) {
	*dst = [2]float64{sumOfProducts(e[0], x[0], -e[1], x[1]), sumOfProducts(e[1], x[0], e[0], x[1])}
}

func adjointSO2(dst *[1]float64, _ *[2]float64) { dst[0] = 1 }
