package group

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/linalg"
)

// Axis is the group of translations of R^n along one coordinate axis, Tx or Ty of the plane for example. Its orbits are the
// lines along the axis: a = (x_axis), q the other coordinates in order, and the pose is (Δx_axis, q_i, q_j).
//
//	distance = α·|Δx_axis| + (1-α)·|q_i - q_j|
type Axis struct {
	weights
	n, axis int
	name    string
}

// NewAxis returns the translations of R^n along the axis, 0 ≤ axis < n. It panics if n is not in [2, 64], axis not in range, or
// alpha not in (0, 1); alpha = 0 means 0.2.
func NewAxis(n, axis int, alpha float64) *Axis {
	checkDim("NewAxis", n)
	if n < 2 || axis < 0 || axis >= n {
		panic(fmt.Sprintf("group: NewAxis: axis = %d of n = %d, need 0 to n-1 and n at least 2", axis, n))
	}
	return &Axis{newWeights("NewAxis", alpha, defaultAlpha), n, axis, fmt.Sprintf("T(%d) along %d", n, axis)}
}

// Name returns "T(n) along axis".
func (g *Axis) Name() string { return g.name }

// PointDim returns n.
func (g *Axis) PointDim() int { return g.n }

// AlgebraDim returns 1.
func (g *Axis) AlgebraDim() int { return 1 }

// OrbitDim returns n-1.
func (g *Axis) OrbitDim() int { return g.n - 1 }

// MaxLifts returns 1: only the identity fixes a point.
func (g *Axis) MaxLifts() int { return 1 }

// IsIsometry reports that translations preserve distance.
func (g *Axis) IsIsometry() bool { return true }

// Lift splits x into its coordinate on the axis and the others, k times.
func (g *Axis) Lift(a, q, x []float64, k int, _ *rand.Rand) {
	o := g.n - 1
	for l := range k {
		a[l] = x[g.axis]
		copy(q[l*o:], x[:g.axis])
		copy(q[l*o+g.axis:(l+1)*o], x[g.axis+1:g.n])
	}
}

// RelativePose writes (Δx_axis, q_i, q_j).
func (g *Axis) RelativePose(pose, ai, qi, aj, qj []float64) {
	o := g.n - 1
	pose[0] = ai[0] - aj[0]
	copy(pose[1:1+o], qi[:o])
	copy(pose[1+o:1+2*o], qj[:o])
}

// Distance returns α·|Δx_axis| + (1-α)·|q_i - q_j|.
func (g *Axis) Distance(pose []float64) float64 {
	o := g.n - 1
	return g.mix(math.Abs(pose[0]), gap(pose[1:1+o], pose[1+o:1+2*o]))
}

// gap returns the Euclidean distance of two vectors.
func gap(x, y []float64) float64 {
	var d [maxDim]float64
	for c := range x {
		d[c] = x[c] - y[c]
	}
	return linalg.Norm(d[:len(x)])
}

// Distances implements PairComputer.
func (g *Axis) Distances(dist, ai, qi, a, q []float64) {
	o := g.n - 1
	for j := range dist {
		dist[j] = g.mix(math.Abs(ai[0]-a[j]), gap(qi[:o], q[j*o:(j+1)*o]))
	}
}

// Act adds a to the coordinate on the axis.
func (g *Axis) Act(dst, a, x []float64) {
	shift := a[0]
	copy(dst[:g.n], x[:g.n])
	dst[g.axis] += shift
}

// Compose writes a + b.
func (g *Axis) Compose(dst, a, b []float64) { dst[0] = a[0] + b[0] }

// Inverse writes -a.
func (g *Axis) Inverse(dst, a []float64) { dst[0] = -a[0] }

// BoundDim returns n.
func (g *Axis) BoundDim() int { return g.n }

// BoundPeriods returns zeros.
func (g *Axis) BoundPeriods() []float64 { return make([]float64, g.n) }

// BoundCoords writes (x_axis, q).
func (g *Axis) BoundCoords(dst, a, q []float64) {
	dst[0] = a[0]
	copy(dst[1:g.n], q[:g.n-1])
}

// BoundBox: each part of the distance alone is at most r, and no coordinate of q differs by more than |q_i - q_j|.
func (g *Axis) BoundBox(half []float64, r float64) {
	half[0] = widen(r / g.alpha)
	for c := range half[1:g.n] {
		half[1+c] = widen(r / g.beta)
	}
}
