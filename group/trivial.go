package group

import (
	"fmt"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/linalg"
)

// Trivial is the group of the identity alone, on R^n. Every point is its own orbit: q = x, no algebra coordinate, and
// the pose (x_i, x_j) keeps everything, so a convolution over it is an unrestricted point convolution.
//
//	distance = (1-α)·|x_i - x_j|
type Trivial struct {
	weights
	n    int
	name string
}

// NewTrivial returns trivial(n). It panics if n is not in [1, 64] or alpha not in (0, 1); alpha = 0 means 0.2.
func NewTrivial(n int, alpha float64) *Trivial {
	checkDim("NewTrivial", n)
	return &Trivial{newWeights("NewTrivial", alpha, defaultAlpha), n, fmt.Sprintf("trivial(%d)", n)}
}

// Name returns "trivial(n)".
func (g *Trivial) Name() string { return g.name }

// PointDim returns n.
func (g *Trivial) PointDim() int { return g.n }

// AlgebraDim returns 0.
func (g *Trivial) AlgebraDim() int { return 0 }

// OrbitDim returns n.
func (g *Trivial) OrbitDim() int { return g.n }

// MaxLifts returns 1.
func (g *Trivial) MaxLifts() int { return 1 }

// IsIsometry reports that the identity preserves distance.
func (g *Trivial) IsIsometry() bool { return true }

// Lift copies x to q, k times.
func (g *Trivial) Lift(_, q, x []float64, k int, _ *rand.Rand) {
	for l := range k {
		copy(q[l*g.n:(l+1)*g.n], x[:g.n])
	}
}

// RelativePose writes (x_i, x_j).
func (g *Trivial) RelativePose(pose, _, qi, _, qj []float64) {
	copy(pose[:g.n], qi[:g.n])
	copy(pose[g.n:2*g.n], qj[:g.n])
}

// Distance returns (1-α)·|x_i - x_j|.
func (g *Trivial) Distance(pose []float64) float64 { return g.dist(pose[:g.n], pose[g.n:2*g.n]) }

func (g *Trivial) dist(x, y []float64) float64 {
	var d [maxDim]float64
	y = y[:len(x)]
	for c := range x {
		d[c] = x[c] - y[c]
	}
	return g.beta * linalg.Norm(d[:len(x)])
}

// Metric implements MetricGroup.
func (g *Trivial) Metric() Metric { return Metric{Form: Euclidean, Alpha: g.beta} }

// Distances implements PairComputer.
func (g *Trivial) Distances(dist, _, qi, _, q []float64) {
	for j := range dist {
		dist[j] = g.dist(qi[:g.n], q[j*g.n:(j+1)*g.n])
	}
}

// Act copies x.
func (g *Trivial) Act(dst, _, x []float64) { copy(dst[:g.n], x[:g.n]) }

// Compose has no coordinate to write.
func (g *Trivial) Compose(_, _, _ []float64) {}

// Inverse has no coordinate to write.
func (g *Trivial) Inverse(_, _ []float64) {}

// BoundDim returns n.
func (g *Trivial) BoundDim() int { return g.n }

// BoundPeriods returns zeros.
func (g *Trivial) BoundPeriods() []float64 { return make([]float64, g.n) }

// BoundCoords copies the point.
func (g *Trivial) BoundCoords(dst, _, q []float64) { copy(dst[:g.n], q[:g.n]) }

// BoundBox: (1-α)·|x_i - x_j| ≤ r bounds every coordinate's difference by r/(1-α).
func (g *Trivial) BoundBox(half []float64, r float64) {
	for c := range half[:g.n] {
		half[c] = widen(r / g.beta)
	}
}
