package group

import (
	"math"

	"github.com/equivcnp/equivcnp/linalg"
)

// RotationError implements RotationInvariant.
func (g *SO2) RotationError(a, q, b, p []float64, angle float64) float64 {
	return rotationError(a[0], b[0], q[0], p[0], angle)
}

// HalfTurnDistance implements RotationInvariant.
func (g *SO2) HalfTurnDistance() float64 { return g.alpha * math.Pi }

// RotationError implements RotationInvariant.
func (g *RxSO2) RotationError(a, _, b, _ []float64, angle float64) float64 {
	return rotationError(a[1], b[1], a[0], b[0], angle)
}

// HalfTurnDistance implements RotationInvariant.
func (g *RxSO2) HalfTurnDistance() float64 { return g.alpha * math.Pi }

// rotationError is RotationError of poses made of differences of th and of x, or of x itself.
//
// With Δ(th) = angle + s modulo a turn for one pair of lifts and angle + t for the other, their relative angles differ by s - t,
// modulo a turn; and by no turn, if both are clear of ±π. Subtractions of angles in [-π, π] are off by 2⁻⁵¹, of one more
// angle by 2⁻⁵⁰, the wrapping is exact; the difference of two x is off by 2⁻⁵³ of their sizes. Of the two poses' own
// rounding each lift answers for half.
func rotationError(th, ph, x, y, angle float64) float64 {
	if !(math.Abs(th) <= math.Pi && math.Abs(ph) <= math.Pi) {
		return math.Inf(1)
	}
	gap := max(math.Abs(linalg.WrapAngle(ph-th-angle)), math.Abs(x-y))
	return gap*(1+0x1p-50) + 0x1p-48 + 0x1p-51*max(math.Abs(x), math.Abs(y))
}
