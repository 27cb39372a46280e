package group

import (
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/linalg"
)

// Squeeze is the group of squeezes (x, y) -> (s·x, y/s) of the positive quadrant. Its orbits are the hyperbolas x·y = r²:
// a = (log s) and q = (log r) with x = r·s and y = r/s, and the pose is (Δ log s, log r_i, log r_j).
//
//	distance = α·|Δ log s| + (1-α)·|log r_i - log r_j|
//
// This is the subgroup of R>0×squeeze without the scalings; the coordinates and what becomes of points outside the
// quadrant are those of RxSq. (The authors' code copies R>0×SO(2) with its components swapped, and its lift does not run.)
type Squeeze struct{ weights }

// NewSqueeze returns the squeeze group. It panics if alpha is not in (0, 1); alpha = 0 means 0.2.
func NewSqueeze(alpha float64) *Squeeze {
	return &Squeeze{newWeights("NewSqueeze", alpha, defaultAlpha)}
}

// Name returns "Squeeze".
func (g *Squeeze) Name() string { return "Squeeze" }

// PointDim returns 2.
func (g *Squeeze) PointDim() int { return 2 }

// AlgebraDim returns 1, log s.
func (g *Squeeze) AlgebraDim() int { return 1 }

// OrbitDim returns 1, log r.
func (g *Squeeze) OrbitDim() int { return 1 }

// MaxLifts returns 1: only the identity fixes a point of the quadrant.
func (g *Squeeze) MaxLifts() int { return 1 }

// Lift writes log(x/y)/2 and log(x·y)/2, k times.
func (g *Squeeze) Lift(a, q, x []float64, k int, _ *rand.Rand) {
	u, v := logPositive(x[0]), logPositive(x[1])
	for l := range k {
		a[l], q[l] = (u-v)/2, (u+v)/2
	}
}

// RelativePose writes (Δ log s, log r_i, log r_j).
func (g *Squeeze) RelativePose(pose, ai, qi, aj, qj []float64) {
	pose[0], pose[1], pose[2] = ai[0]-aj[0], qi[0], qj[0]
}

// Distance returns α·|Δ log s| + (1-α)·|log r_i - log r_j|.
func (g *Squeeze) Distance(pose []float64) float64 {
	return g.mix(math.Abs(pose[0]), math.Abs(pose[1]-pose[2]))
}

// Distances implements PairComputer.
func (g *Squeeze) Distances(dist, ai, qi, a, q []float64) {
	for j := range dist {
		dist[j] = g.mix(math.Abs(ai[0]-a[j]), math.Abs(qi[0]-q[j]))
	}
}

// Act squeezes x.
func (g *Squeeze) Act(dst, a, x []float64) {
	s := a[0]
	dst[0], dst[1] = linalg.ScaleExp(s, x[0]), linalg.ScaleExp(-s, x[1])
}

// Compose adds the logarithms.
func (g *Squeeze) Compose(dst, a, b []float64) { dst[0] = a[0] + b[0] }

// Inverse writes the opposite logarithm.
func (g *Squeeze) Inverse(dst, a []float64) { dst[0] = -a[0] }

// BoundDim returns 2.
func (g *Squeeze) BoundDim() int { return 2 }

// BoundPeriods returns zeros.
func (g *Squeeze) BoundPeriods() []float64 { return make([]float64, 2) }

// BoundCoords writes (log s, log r).
func (g *Squeeze) BoundCoords(dst, a, q []float64) { dst[0], dst[1] = a[0], q[0] }

// BoundBox: both parts of the distance are nonnegative, so each alone is at most r.
func (g *Squeeze) BoundBox(half []float64, r float64) {
	half[0], half[1] = widenAbs(r/g.alpha), widenAbs(r/g.beta)
}
