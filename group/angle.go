package group

import (
	"math"

	"github.com/equivcnp/equivcnp/linalg"
)

// halfTurn is π less nine units in the last place: what two angles, each rounded to float64 and moved by the group, can
// make of an exact half turn.
const halfTurn = math.Pi - 0x1p-48

// relativeAngle is d wrapped to [-π, π], with one sign for half turns. A half turn is its own inverse, so its logarithm
// is ±π and rounding would choose; evenly spaced stabiliser samples and opposite pixels produce half turns in numbers,
// and a convolution that sees +π here and -π after everything was rotated is not equivariant. The sign is +; the
// magnitude stays, so that distances are the same bits with and without this rule. The angle is then off by at most
// twice the 4e-15 that halfTurn allows.
func relativeAngle(d float64) float64 {
	d = linalg.WrapAngle(d)
	if d < -halfTurn {
		return -d
	}
	return d
}
