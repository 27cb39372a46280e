package group

import (
	"math"

	"github.com/equivcnp/equivcnp/linalg"
)

// halfTurn is the least angle that counts as an exact half turn: π minus nine units in the last place. Two angles that differ by
// π, each rounded to float64 and moved by the group, can come out that much smaller.
const halfTurn = math.Pi - 0x1p-48

// relativeAngle is d wrapped to [-π, π], where half turns always get the sign +. A half turn is its own inverse, so its logarithm
// is both +π and -π, and rounding would choose the sign. Evenly spaced stabiliser samples and opposite pixels produce many half
// turns, and a convolution that sees +π before everything was rotated and -π after it is not equivariant. Only the sign changes,
// not the magnitude, so distances have the same bits with and without this rule. The angle is then off by at most twice the 4e-15
// that halfTurn allows.
func relativeAngle(d float64) float64 {
	d = linalg.WrapAngle(d)
	if d < -halfTurn {
		return -d
	}
	return d
}
