package group

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/linalg"
)

// T is the group of translations of R^n, whose convolutions are the ordinary ones. It acts transitively, so there is
// one orbit and no orbit coordinate: a point is lifted to itself, and the relative pose is x_i - x_j.
//
//	distance = α·|x_i - x_j|
//
// The factor α stays although there is no second part, because the radii of trained models include it.
type T struct {
	weights
	n    int
	name string
}

// NewT returns T(n). It panics if n is not in [1, 64] or alpha not in (0, 1); alpha = 0 means 0.2.
func NewT(n int, alpha float64) *T {
	checkDim("NewT", n)
	return &T{newWeights("NewT", alpha, defaultAlpha), n, fmt.Sprintf("T(%d)", n)}
}

// Name returns "T(n)".
func (g *T) Name() string { return g.name }

// PointDim returns n.
func (g *T) PointDim() int { return g.n }

// AlgebraDim returns n.
func (g *T) AlgebraDim() int { return g.n }

// OrbitDim returns 0.
func (g *T) OrbitDim() int { return 0 }

// MaxLifts returns 1: only the identity fixes a point.
func (g *T) MaxLifts() int { return 1 }

// IsIsometry reports that translations preserve distance.
func (g *T) IsIsometry() bool { return true }

// Lift copies x, k times.
func (g *T) Lift(a, _, x []float64, k int, _ *rand.Rand) {
	for l := range k {
		copy(a[l*g.n:(l+1)*g.n], x[:g.n])
	}
}

// RelativePose writes x_i - x_j.
func (g *T) RelativePose(pose, ai, _, aj, _ []float64) {
	pose, ai, aj = pose[:g.n], ai[:g.n], aj[:g.n]
	for c := range pose {
		pose[c] = ai[c] - aj[c]
	}
}

// Distance returns α·|pose|.
func (g *T) Distance(pose []float64) float64 { return g.alpha * linalg.Norm(pose[:g.n]) }

// Metric implements MetricGroup.
func (g *T) Metric() Metric { return Metric{Form: Euclidean, Alpha: g.alpha} }

// Distances implements PairComputer.
func (g *T) Distances(dist, ai, _, a, _ []float64) {
	n := len(dist)
	a = a[:n*g.n]
	switch g.n {
	case 1:
		x := ai[0]
		for j := range dist {
			dist[j] = g.alpha * math.Abs(x-a[j])
		}
	case 2:
		x, y := ai[0], ai[1]
		for j := range dist {
			dx, dy := x-a[2*j], y-a[2*j+1]
			s := float64(dx*dx) + float64(dy*dy)
			if linalg.SafeSquare(s) {
				dist[j] = g.alpha * math.Sqrt(s)
			} else {
				dist[j] = g.alpha * linalg.Norm2(dx, dy)
			}
		}
	default:
		var pose [maxDim]float64
		for j := range dist {
			g.RelativePose(pose[:g.n], ai, nil, a[j*g.n:(j+1)*g.n], nil)
			dist[j] = g.Distance(pose[:g.n])
		}
	}
}

// Act writes a + x.
func (g *T) Act(dst, a, x []float64) {
	dst, a, x = dst[:g.n], a[:g.n], x[:g.n]
	for c := range dst {
		dst[c] = a[c] + x[c]
	}
}

// Compose writes a + b.
func (g *T) Compose(dst, a, b []float64) { g.Act(dst, a, b) }

// Inverse writes -a.
func (g *T) Inverse(dst, a []float64) {
	dst, a = dst[:g.n], a[:g.n]
	for c := range dst {
		dst[c] = -a[c]
	}
}

// BoundDim returns n.
func (g *T) BoundDim() int { return g.n }

// BoundPeriods returns zeros.
func (g *T) BoundPeriods() []float64 { return make([]float64, g.n) }

// BoundCoords copies the point.
func (g *T) BoundCoords(dst, a, _ []float64) { copy(dst[:g.n], a[:g.n]) }

// BoundBox: α·|x_i - x_j| ≤ r bounds every coordinate's difference by r/α.
func (g *T) BoundBox(half []float64, r float64) {
	for c := range half[:g.n] {
		half[c] = widen(r / g.alpha)
	}
}
