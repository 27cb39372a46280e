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

// Angle returns the angle of the point (x, y), in (-π, π]; 0 at the origin. Zeros have no sign here: (-1, -0) is at π, not
// at -π, and (-0, 0) at 0, not at π.
func Angle(x, y float64) float64 { return math.Atan2(y+0, x+0) }

// sinc is sin(x)/x, 1 at 0.
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(x) / x
}

// ExpSO2 writes the rotation by theta, (cos θ, sin θ).
//
//go:noinline
func ExpSO2(dst *[2]float64, theta float64) { dst[1], dst[0] = math.Sincos(theta) }

// LogSO2 returns the angle of the rotation e, in (-π, π].
//
//go:noinline
func LogSO2(e *[2]float64) float64 { return Angle(e[0], e[1]) }

// MulSO2 writes the product e·f of two elements of SO(2) or R>0×SO(2), or the point f moved by e; dst may be e or f.
//
//go:noinline
func MulSO2(dst, e, f *[2]float64) {
	*dst = [2]float64{sumOfProducts(e[0], f[0], -e[1], f[1]), sumOfProducts(e[1], f[0], e[0], f[1])}
}

// InverseSO2 writes the inverse of the rotation e; dst may be e.
func InverseSO2(dst, e *[2]float64) { *dst = [2]float64{e[0], -e[1]} }
