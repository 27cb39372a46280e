package group

import (
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/linalg"
)

// SO2 is the group of rotations of the plane about the origin. Its orbits are circles: a = (θ), q = (r) with
// x = r·(cos θ, sin θ), and the pose is (θ_i - θ_j, r_i, r_j).
//
//	distance = α·|Δθ| + (1-α)·|r_i - r_j| / (r_i + r_j + 0.001)
//
// The origin is fixed by every rotation, and so has no angle of its own; its lift is θ = 0, r = 0. Its pose with another
// point changes when that point is turned. The two are neighbours only in radii above (1-α)·r/(r + 0.001), for the other
// point's r: 0.7 at the default α, which no new model comes near, but for points some thousandths from the origin.
type SO2 struct{ weights }

// NewSO2 returns SO(2). It panics if alpha is not in (0, 1); alpha = 0 means 0.3.
func NewSO2(alpha float64) *SO2 { return &SO2{newWeights("NewSO2", alpha, defaultAlphaSO2)} }

// radiusFloor is added to each radius in the distance's denominator.
const radiusFloor = 0.0005

// Name returns "SO(2)".
func (g *SO2) Name() string { return "SO(2)" }

// PointDim returns 2.
func (g *SO2) PointDim() int { return 2 }

// AlgebraDim returns 1, the angle.
func (g *SO2) AlgebraDim() int { return 1 }

// OrbitDim returns 1, the radius.
func (g *SO2) OrbitDim() int { return 1 }

// MaxLifts returns 1: only the identity fixes a point other than the origin.
func (g *SO2) MaxLifts() int { return 1 }

// IsIsometry reports that rotations preserve distance.
func (g *SO2) IsIsometry() bool { return true }

// Lift writes the polar coordinates of x, k times. A radius beyond the largest float64 is cut down to it.
func (g *SO2) Lift(a, q, x []float64, k int, _ *rand.Rand) {
	th, r := linalg.Angle(x[0], x[1]), clampFinite(linalg.Norm2(x[0], x[1]), x[:2])
	for l := range k {
		a[l], q[l] = th, r
	}
}

// RelativePose writes (θ_i - θ_j, r_i, r_j), the angle wrapped.
func (g *SO2) RelativePose(pose, ai, qi, aj, qj []float64) {
	pose[0], pose[1], pose[2] = relativeAngle(ai[0]-aj[0]), qi[0], qj[0]
}

// Distance returns α·|Δθ| + (1-α)·|r_i - r_j|/(r_i + r_j + 0.001).
func (g *SO2) Distance(pose []float64) float64 {
	return g.mix(math.Abs(linalg.WrapAngle(pose[0])), radiusDist(pose[1], pose[2]))
}

// radiusDist is |r - s| / (r + s + 0.001). Halving every term first keeps the sum of two large radii finite and changes
// no other bit.
func radiusDist(r, s float64) float64 {
	r, s = 0.5*r, 0.5*s
	return math.Abs(r-s) / (r + s + radiusFloor)
}

// Metric implements MetricGroup.
func (g *SO2) Metric() Metric { return Metric{Form: Polar, Alpha: g.alpha, Floor: radiusFloor} }

// Distances implements PairComputer.
func (g *SO2) Distances(dist, ai, qi, a, q []float64) {
	th, r := ai[0], qi[0]
	a, q = a[:len(dist)], q[:len(dist)]
	for j := range dist {
		dist[j] = g.mix(math.Abs(linalg.WrapAngle(th-a[j])), radiusDist(r, q[j]))
	}
}

// Act rotates x by a.
func (g *SO2) Act(dst, a, x []float64) {
	s, c := math.Sincos(a[0])
	dst[0], dst[1] = c*x[0]-s*x[1], s*x[0]+c*x[1]
}

// Compose adds the angles.
func (g *SO2) Compose(dst, a, b []float64) { dst[0] = linalg.WrapAngle(a[0] + b[0]) }

// Inverse writes the opposite angle.
func (g *SO2) Inverse(dst, a []float64) { dst[0] = linalg.WrapAngle(-a[0]) }

// BoundDim returns 2.
func (g *SO2) BoundDim() int { return 2 }

// BoundPeriods: θ has period 2π, the radial coordinate has none.
func (g *SO2) BoundPeriods() []float64 { return []float64{2 * math.Pi, 0} }

// BoundCoords writes (θ, w) with w = log(r + 0.0005).
func (g *SO2) BoundCoords(dst, a, q []float64) {
	dst[0], dst[1] = linalg.WrapAngle(a[0]), linalg.Log(q[0]+radiusFloor)
}

// BoundBox: with s = r + 0.0005 = exp(w) the radial part is |s_i - s_j|/(s_i + s_j) = tanh(|w_i - w_j|/2), so that
// (1-α)·tanh(|Δw|/2) ≤ ρ gives |Δw| ≤ 2·artanh(ρ/(1-α)), no bound from ρ = 1-α on. And α·|Δθ| ≤ ρ gives |Δθ| ≤ ρ/α.
//
// Near ρ = 1-α the bound on Δw is so steep that the allowance is made on its argument.
func (g *SO2) BoundBox(half []float64, r float64) {
	half[0], half[1] = widenAbs(r/g.alpha), math.Inf(1)
	if t := widen(r / g.beta); t < 1 {
		half[1] = widenAbs(2 * math.Atanh(t))
	} else if t != t {
		half[1] = t
	}
}
