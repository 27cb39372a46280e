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

// rotationError implements RotationError for groups whose poses consist of differences of the angle th and of differences of x,
// or of x itself.
//
// For one pair of lifts let Δ(th) be angle + s, modulo a turn, and for the other pair angle + t. Then their relative angles
// differ by s - t, modulo a turn; and by exactly that if both are clear of ±π. Rounding: a difference of two angles in [-π, π] is
// off by at most 2⁻⁵¹, of three angles by 2⁻⁵⁰, wrapping is exact, and the difference of two x is off by 2⁻⁵³ of their sizes. The
// rounding of the two poses themselves is counted half for each lift.
// rounding each lift answers for half.
func rotationError(th, ph, x, y, angle float64) float64 {
	if !(math.Abs(th) <= math.Pi && math.Abs(ph) <= math.Pi) {
		return math.Inf(1)
	}
	gap := max(math.Abs(linalg.WrapAngle(ph-th-angle)), math.Abs(x-y))
	return gap*(1+0x1p-50) + 0x1p-48 + 0x1p-51*max(math.Abs(x), math.Abs(y))
}
