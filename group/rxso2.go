package group

import (
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/linalg"
)

// RxSO2 is R>0×SO(2), the group of rotations and scalings of the plane about the origin. It acts transitively on the
// plane without the origin: a = (log r, θ), no orbit coordinate, and the pose is (log r_i - log r_j, θ_i - θ_j).
//
//	distance = α·|Δθ| + (1-α)·|Δ log r|
//
// The origin has no lift. It gets the lift of the point (s, 0), where s is the smallest positive float64: log r = -744.4, θ = 0.
// So it is a neighbour of itself, it has a finite distance of more than (1-α)·700 to every point that is farther than 1e-19 from
// it, and it does not disturb any other pair.
type RxSO2 struct{ weights }

// NewRxSO2 returns R>0×SO(2). It panics if alpha is not in (0, 1); alpha = 0 means 0.3.
func NewRxSO2(alpha float64) *RxSO2 {
	return &RxSO2{newWeights("NewRxSO2", alpha, defaultAlphaRSO2)}
}

// Name returns "R>0xSO(2)".
func (g *RxSO2) Name() string { return "R>0xSO(2)" }

// PointDim returns 2.
func (g *RxSO2) PointDim() int { return 2 }

// AlgebraDim returns 2: log r and the angle.
func (g *RxSO2) AlgebraDim() int { return 2 }

// OrbitDim returns 0.
func (g *RxSO2) OrbitDim() int { return 0 }

// MaxLifts returns 1: only the identity fixes a point other than the origin.
func (g *RxSO2) MaxLifts() int { return 1 }

// Lift writes (log r, θ), k times; see RxSO2 for the origin.
func (g *RxSO2) Lift(a, _, x []float64, k int, _ *rand.Rand) {
	l, th := floorLog(linalg.LogHypot(x[0], x[1])), linalg.Angle(x[0], x[1])
	for i := range k {
		a[2*i], a[2*i+1] = l, th
	}
}

// RelativePose writes (log r_i - log r_j, θ_i - θ_j), the angle wrapped.
func (g *RxSO2) RelativePose(pose, ai, _, aj, _ []float64) {
	pose[0], pose[1] = ai[0]-aj[0], relativeAngle(ai[1]-aj[1])
}

// Distance returns α·|Δθ| + (1-α)·|Δ log r|.
func (g *RxSO2) Distance(pose []float64) float64 {
	return g.mix(math.Abs(linalg.WrapAngle(pose[1])), math.Abs(pose[0]))
}

// Metric implements MetricGroup.
func (g *RxSO2) Metric() Metric { return Metric{Form: LogPolar, Alpha: g.alpha} }

// Distances implements PairComputer.
func (g *RxSO2) Distances(dist, ai, _, a, _ []float64) {
	l, th := ai[0], ai[1]
	a = a[:2*len(dist)]
	for j := range dist {
		dist[j] = g.mix(math.Abs(linalg.WrapAngle(th-a[2*j+1])), math.Abs(l-a[2*j]))
	}
}

// Act rotates and scales x.
func (g *RxSO2) Act(dst, a, x []float64) {
	s, c := math.Sincos(a[1])
	x0, x1 := x[0], x[1]
	dst[0] = linalg.ScaleExp(a[0], c*x0-s*x1)
	dst[1] = linalg.ScaleExp(a[0], s*x0+c*x1)
}

// Compose adds the coordinates.
func (g *RxSO2) Compose(dst, a, b []float64) {
	dst[0], dst[1] = a[0]+b[0], linalg.WrapAngle(a[1]+b[1])
}

// Inverse writes the opposite of both coordinates.
func (g *RxSO2) Inverse(dst, a []float64) { dst[0], dst[1] = -a[0], linalg.WrapAngle(-a[1]) }

// BoundDim returns 2.
func (g *RxSO2) BoundDim() int { return 2 }

// BoundPeriods: log r has none, θ has period 2π.
func (g *RxSO2) BoundPeriods() []float64 { return []float64{0, 2 * math.Pi} }

// BoundCoords writes (log r, θ).
func (g *RxSO2) BoundCoords(dst, a, _ []float64) { dst[0], dst[1] = a[0], linalg.WrapAngle(a[1]) }

// BoundBox: both parts of the distance are nonnegative, so each alone is at most r.
func (g *RxSO2) BoundBox(half []float64, r float64) {
	half[0], half[1] = widenAbs(r/g.beta), widenAbs(r/g.alpha)
}
