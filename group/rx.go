package group

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/linalg"
)

// Rx is R>0, the group of scalings of R^n about the origin. Its orbits are the rays from the origin: a = (log |x|), and
// the orbit coordinates say which ray: for n = 1 the sign of x, for n = 2 the angle, otherwise the unit vector x/|x|.
// The pose is (log |x_i| - log |x_j|, q_i, q_j).
//
//	distance = α·δ(q_i, q_j) + (1-α)·|Δ log r|
//
// where δ is the periodic difference of the angles for n = 2 and |q_i - q_j| otherwise. (In the authors' code, where this group
// is cut out of R>0×SO(2), the pose is read as if it were that group's, and |q_i| is taken for δ: a distance that is not
// symmetric and ignores q_j.)
//
// The origin is an orbit of its own and has no logarithm: its lift is log r = -744.4, as in RxSO2, with sign 0, angle 0
// or unit vector 0.
type Rx struct {
	weights
	n, orbit int
	name     string
}

// NewRx returns R>0 on R^n. It panics if n is not in [1, 64] or alpha not in (0, 1); alpha = 0 means 0.2.
func NewRx(n int, alpha float64) *Rx {
	checkDim("NewRx", n)
	orbit := n
	if n == 2 {
		orbit = 1
	}
	return &Rx{newWeights("NewRx", alpha, defaultAlpha), n, orbit, fmt.Sprintf("R>0(%d)", n)}
}

// Name returns "R>0(n)".
func (g *Rx) Name() string { return g.name }

// PointDim returns n.
func (g *Rx) PointDim() int { return g.n }

// AlgebraDim returns 1, log r.
func (g *Rx) AlgebraDim() int { return 1 }

// OrbitDim returns 1 for n ≤ 2 and n otherwise.
func (g *Rx) OrbitDim() int { return g.orbit }

// MaxLifts returns 1: only the identity fixes a point other than the origin.
func (g *Rx) MaxLifts() int { return 1 }

// Lift writes log r and the ray, k times.
func (g *Rx) Lift(a, q, x []float64, k int, _ *rand.Rand) {
	x, q = x[:g.n], q[:k*g.orbit]
	var l float64
	switch g.n {
	case 1:
		l, q[0] = linalg.Log(math.Abs(x[0])), sign(x[0])
	case 2:
		l, q[0] = linalg.LogHypot(x[0], x[1]), linalg.Angle(x[0], x[1])
	default:
		l = unit(q[:g.n], x)
	}
	l = floorLog(l)
	for i := range k {
		a[i] = l
		copy(q[i*g.orbit:(i+1)*g.orbit], q[:g.orbit])
	}
}

// sign is -1, 0, 1 or NaN.
func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x + 0
}

// unit writes x/|x| into dst, or 0 if x is 0, and returns log |x|. It first scales by a power of two, so that the length of very
// large and very small x stays representable.
func unit(dst, x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	_, e := math.Frexp(m)
	if m == 0 || math.IsInf(m, 0) {
		e = 0
	}
	for c, v := range x {
		dst[c] = math.Ldexp(v, -e)
	}
	r := linalg.Norm(dst)
	if r == 0 {
		return math.Inf(-1)
	}
	for c := range dst {
		dst[c] /= r
	}
	return linalg.Log(r) + float64(e)*math.Ln2
}

// RelativePose writes (Δ log r, q_i, q_j).
func (g *Rx) RelativePose(pose, ai, qi, aj, qj []float64) {
	pose[0] = ai[0] - aj[0]
	copy(pose[1:1+g.orbit], qi[:g.orbit])
	copy(pose[1+g.orbit:1+2*g.orbit], qj[:g.orbit])
}

// Distance returns α·δ(q_i, q_j) + (1-α)·|Δ log r|.
func (g *Rx) Distance(pose []float64) float64 {
	return g.mix(g.rayDist(pose[1:1+g.orbit], pose[1+g.orbit:1+2*g.orbit]), math.Abs(pose[0]))
}

func (g *Rx) rayDist(qi, qj []float64) float64 {
	if g.n == 2 {
		return math.Abs(linalg.WrapAngle(qi[0] - qj[0]))
	}
	var d [maxDim]float64
	qj = qj[:len(qi)]
	for c := range qi {
		d[c] = qi[c] - qj[c]
	}
	return linalg.Norm(d[:len(qi)])
}

// Distances implements PairComputer.
func (g *Rx) Distances(dist, ai, qi, a, q []float64) {
	l, o := ai[0], g.orbit
	a = a[:len(dist)]
	for j := range dist {
		dist[j] = g.mix(g.rayDist(qi[:o], q[j*o:(j+1)*o]), math.Abs(l-a[j]))
	}
}

// Act scales x by exp(a).
func (g *Rx) Act(dst, a, x []float64) {
	l := a[0]
	for c, v := range x[:g.n] {
		dst[c] = linalg.ScaleExp(l, v)
	}
}

// Compose adds the logarithms.
func (g *Rx) Compose(dst, a, b []float64) { dst[0] = a[0] + b[0] }

// Inverse writes the opposite logarithm.
func (g *Rx) Inverse(dst, a []float64) { dst[0] = -a[0] }

// BoundDim returns 1 + OrbitDim.
func (g *Rx) BoundDim() int { return 1 + g.orbit }

// BoundPeriods: only the angle of n = 2 is periodic.
func (g *Rx) BoundPeriods() []float64 {
	p := make([]float64, 1+g.orbit)
	if g.n == 2 {
		p[1] = 2 * math.Pi
	}
	return p
}

// BoundCoords writes (log r, q).
func (g *Rx) BoundCoords(dst, a, q []float64) {
	dst[0] = a[0]
	copy(dst[1:1+g.orbit], q[:g.orbit])
}

// BoundBox: both parts of the distance are nonnegative, so each alone is at most r, and no coordinate of q differs by
// more than δ(q_i, q_j).
func (g *Rx) BoundBox(half []float64, r float64) {
	half[0] = widenAbs(r / g.beta)
	for c := range half[1 : 1+g.orbit] {
		half[1+c] = widenAbs(r / g.alpha)
	}
}
