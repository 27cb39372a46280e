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

// nanOf is 0 if x and y are finite and NaN otherwise: it carries a NaN from entries that a formula does not read.
func nanOf(x, y float64) float64 { return float64(x*0) + float64(y*0) }

// sinc is sin(x)/x, 1 at 0.
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(x) / x
}
