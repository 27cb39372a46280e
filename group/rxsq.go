package group

import (
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/linalg"
)

// RxSq is R>0×squeeze, the group of scalings and squeezes (x, y) -> (s·x, y/s) of the positive quadrant x, y > 0, on
// which it acts transitively: a = (log r, log s) with x = r·s and y = r/s, and the pose is (Δ log r, Δ log s).
//
//	distance = α·|Δ log s| + (1-α)·|Δ log r|
//
// Points outside the open quadrant have no lift. A coordinate that is finite and not positive is lifted as if it were the smallest
// positive float64, so the point is at a finite distance of hundreds from all points inside.
type RxSq struct{ weights }

// NewRxSq returns R>0×squeeze. It panics if alpha is not in (0, 1); alpha = 0 means 0.2.
func NewRxSq(alpha float64) *RxSq { return &RxSq{newWeights("NewRxSq", alpha, defaultAlpha)} }

// Name returns "R>0xSqueeze".
func (g *RxSq) Name() string { return "R>0xSqueeze" }

// PointDim returns 2.
func (g *RxSq) PointDim() int { return 2 }

// AlgebraDim returns 2: log r and log s.
func (g *RxSq) AlgebraDim() int { return 2 }

// OrbitDim returns 0.
func (g *RxSq) OrbitDim() int { return 0 }

// MaxLifts returns 1: only the identity fixes a point of the quadrant.
func (g *RxSq) MaxLifts() int { return 1 }

// Lift writes (log(x·y)/2, log(x/y)/2), k times.
func (g *RxSq) Lift(a, _, x []float64, k int, _ *rand.Rand) {
	u, v := logPositive(x[0]), logPositive(x[1])
	for i := range k {
		a[2*i], a[2*i+1] = (u+v)/2, (u-v)/2
	}
}

func logPositive(x float64) float64 {
	if x < smallest && !math.IsInf(x, -1) {
		x = smallest
	}
	return linalg.Log(x)
}

// RelativePose writes (Δ log r, Δ log s).
func (g *RxSq) RelativePose(pose, ai, _, aj, _ []float64) {
	pose[0], pose[1] = ai[0]-aj[0], ai[1]-aj[1]
}

// Distance returns α·|Δ log s| + (1-α)·|Δ log r|.
func (g *RxSq) Distance(pose []float64) float64 {
	return g.mix(math.Abs(pose[1]), math.Abs(pose[0]))
}

// Distances implements PairComputer.
func (g *RxSq) Distances(dist, ai, _, a, _ []float64) {
	l, s := ai[0], ai[1]
	a = a[:2*len(dist)]
	for j := range dist {
		dist[j] = g.mix(math.Abs(s-a[2*j+1]), math.Abs(l-a[2*j]))
	}
}

// Act scales and squeezes x.
func (g *RxSq) Act(dst, a, x []float64) {
	l, s := a[0], a[1]
	dst[0], dst[1] = linalg.ScaleExp(l+s, x[0]), linalg.ScaleExp(l-s, x[1])
}

// Compose adds the coordinates.
func (g *RxSq) Compose(dst, a, b []float64) { dst[0], dst[1] = a[0]+b[0], a[1]+b[1] }

// Inverse writes the opposite of both coordinates.
func (g *RxSq) Inverse(dst, a []float64) { dst[0], dst[1] = -a[0], -a[1] }

// BoundDim returns 2.
func (g *RxSq) BoundDim() int { return 2 }

// BoundPeriods returns zeros.
func (g *RxSq) BoundPeriods() []float64 { return make([]float64, 2) }

// BoundCoords writes (log r, log s).
func (g *RxSq) BoundCoords(dst, a, _ []float64) { dst[0], dst[1] = a[0], a[1] }

// BoundBox: both parts of the distance are nonnegative, so each alone is at most r.
func (g *RxSq) BoundBox(half []float64, r float64) {
	half[0], half[1] = widenAbs(r/g.beta), widenAbs(r/g.alpha)
}
