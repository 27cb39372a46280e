package group

import (
	"math"

	"github.com/equivcnp/equivcnp/linalg"
)

// Turner is implemented by groups whose relative poses stay the same when both points are turned about the origin.
type Turner interface {
	Group
	// TurnError is how far a lift (b, p) is from (a, q) turned by an angle, rounding included: if it is s for one pair of
	// lifts and t for another, the pose of the turned lifts relative to each other differs from that of the others by at most
	// s + t in every coordinate, as long as s + t is at most 0.01 and both distances are below 0.99·HalfTurn: across a half
	// turn angles jump. NaN and +Inf bound nothing.
	TurnError(a, q, b, p []float64, angle float64) float64
	// HalfTurn is the distance of two points that a half turn takes to each other: none with a relative angle of π is less.
	HalfTurn() float64
}

// TurnError implements Turner.
func (g *SO2) TurnError(a, q, b, p []float64, angle float64) float64 {
	return turnError(a[0], b[0], q[0], p[0], angle)
}

// HalfTurn implements Turner.
func (g *SO2) HalfTurn() float64 { return g.alpha * math.Pi }

// TurnError implements Turner.
func (g *RxSO2) TurnError(a, _, b, _ []float64, angle float64) float64 {
	return turnError(a[1], b[1], a[0], b[0], angle)
}

// HalfTurn implements Turner.
func (g *RxSO2) HalfTurn() float64 { return g.alpha * math.Pi }

// turnError is TurnError of poses made of differences of th and of x, or of x itself.
//
// With Δ(th) = angle + s modulo a turn for one pair of lifts and angle + t for the other, their relative angles differ by s - t,
// modulo a turn; and by no turn, if both are clear of ±π. Subtractions of angles in [-π, π] are off by 2⁻⁵¹, of one more
// angle by 2⁻⁵⁰, the wrapping is exact; the difference of two x is off by 2⁻⁵³ of their sizes. Of the two poses' own
// rounding each lift answers for half.
func turnError(th, ph, x, y, angle float64) float64 {
	if !(math.Abs(th) <= math.Pi && math.Abs(ph) <= math.Pi) {
		return math.Inf(1)
	}
	gap := max(math.Abs(linalg.WrapAngle(ph-th-angle)), math.Abs(x-y))
	return gap*(1+0x1p-50) + 0x1p-48 + 0x1p-51*max(math.Abs(x), math.Abs(y))
}
