package group

import (
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/linalg"
)

// SE2 is the group of rigid motions of the plane, translations and rotations. It acts transitively; a = (θ, t) is the
// motion x -> R(θ)x + V(θ)t, and the pose is log(u_j⁻¹ u_i) = (Δθ, t).
//
//	distance = α·|Δθ| + (1-α)·|t|
//
// Every point is fixed by the rotations about it, so a point has one lift per angle: K lifts are taken at the angles
// -π + 2πl/K, l = 1 .. K. With K = 1 the only angle is π, every relative angle is 0, and the convolution sees
// translations alone. The poses are exactly invariant under rotations by multiples of 2π/K; between these the sampled
// angles move.
type SE2 struct{ weights }

// NewSE2 returns SE(2). It panics if alpha is not in (0, 1); alpha = 0 means 0.2.
func NewSE2(alpha float64) *SE2 { return &SE2{newWeights("NewSE2", alpha, defaultAlpha)} }

// Name returns "SE(2)".
func (g *SE2) Name() string { return "SE(2)" }

// PointDim returns 2.
func (g *SE2) PointDim() int { return 2 }

// AlgebraDim returns 3: the angle and the translation part.
func (g *SE2) AlgebraDim() int { return 3 }

// OrbitDim returns 0.
func (g *SE2) OrbitDim() int { return 0 }

// MaxLifts returns 0: more lifts sample the stabiliser, a circle, more finely.
func (g *SE2) MaxLifts() int { return 0 }

// IsIsometry reports that rigid motions preserve distance.
func (g *SE2) IsIsometry() bool { return true }

// Lift writes the motions that take the origin to x and turn by each of the k angles.
func (g *SE2) Lift(a, _, x []float64, k int, _ *rand.Rand) {
	for l := range k {
		// Written so that 0 and ±π/2 are exact where they occur.
		th := math.Pi * (float64(2*(l+1)-k) / float64(k))
		m := linalg.Motion2{Theta: th, X: x[0], Y: x[1]}
		m.Log((*[3]float64)(a[3*l : 3*l+3]))
	}
}

// LiftUniform is like Lift, whose angles are evenly spread.
func (g *SE2) LiftUniform(a, q, x []float64, k int) { g.Lift(a, q, x, k, nil) }

// se2Query is one side of a pose: algebra coordinates and the point V(θ)t.
type se2Query struct{ th, tx, ty, px, py float64 }

//go:noinline
func newSE2Query(a []float64) se2Query {
	q := se2Query{th: a[0], tx: a[1], ty: a[2]}
	s, c := linalg.VSE2(q.th)
	q.px, q.py = mulComplex(s, c, q.tx, q.ty)
	return q
}

// se2View is the part of a relative pose that depends on the angles alone: that of the query and that of j. With complex numbers
// for points,
//
//	log(u_j⁻¹ u_i) = (Δθ, V(Δθ)⁻¹ e^{-iθ_j} (V(θ_i)t_i - V(θ_j)t_j)),
//
// and for θ_i = θ_j = θ this is (0, V(-θ)(t_i - t_j)): the angle is exactly 0, and the translations are subtracted as they are.
type se2View struct {
	th     float64 // θ_j
	rel    float64 // Δθ, wrapped
	same   bool    // θ_i == θ_j
	vr, vi float64 // V(θ_j)
	mr, mi float64 // the factor in front of the difference
}

//go:noinline
func newSE2View(thi, thj float64) se2View {
	v := se2View{th: thj, rel: relativeAngle(thi - thj), same: thi == thj}
	v.vr, v.vi = linalg.VSE2(thj)
	if v.same {
		v.mr, v.mi = v.vr, -v.vi
		return v
	}
	s, c := math.Sincos(thj)
	ir, ii := linalg.VInvSE2(v.rel)
	v.mr, v.mi = mulComplex(ir, ii, c, -s)
	return v
}

// se2Views remembers the views of the last few angles.
type se2Views struct {
	views            [8]se2View
	kept, next, last int
}

// of returns the view of a query and the angle th.
func (s *se2Views) of(query, th float64) *se2View {
	if v := &s.views[s.last]; s.kept > 0 && v.th == th {
		return v
	}
	return s.search(query, th)
}

//go:noinline
func (s *se2Views) search(query, th float64) *se2View {
	for i := range s.views[:s.kept] {
		if s.views[i].th == th {
			s.last = i
			return &s.views[i]
		}
	}
	s.last = s.next
	s.views[s.last] = newSE2View(query, th)
	s.kept, s.next = max(s.kept, s.next+1), (s.next+1)%len(s.views)
	return &s.views[s.last]
}

// translation returns the pose's translation part for the point j with algebra translation (tx, ty).
func (v *se2View) translation(q *se2Query, tx, ty float64) (x, y float64) {
	dx, dy := q.tx-tx, q.ty-ty
	if !v.same {
		px, py := mulComplex(v.vr, v.vi, tx, ty)
		dx, dy = q.px-px, q.py-py
	}
	return mulComplex(v.mr, v.mi, dx, dy)
}

// mulComplex is (a + ib)(x + iy); every product is rounded, so that all callers get the same bits.
func mulComplex(a, b, x, y float64) (re, im float64) {
	return float64(a*x) - float64(b*y), float64(b*x) + float64(a*y)
}

// RelativePose writes (Δθ, t) = log(u_j⁻¹ u_i).
func (g *SE2) RelativePose(pose, ai, _, aj, _ []float64) {
	q, v := newSE2Query(ai), newSE2View(ai[0], aj[0])
	x, y := v.translation(&q, aj[1], aj[2])
	pose[0], pose[1], pose[2] = v.rel, x, y
}

// Distance returns α·|Δθ| + (1-α)·|t|.
func (g *SE2) Distance(pose []float64) float64 {
	return g.mix(math.Abs(pose[0]), linalg.Norm2(pose[1], pose[2]))
}

// Distances implements PairComputer. Lifted points have few distinct angles, so what depends on the angles alone is remembered
// for the last few.
func (g *SE2) Distances(dist, ai, _, a, _ []float64) {
	var views se2Views
	q := newSE2Query(ai)
	a = a[:3*len(dist)]
	for j := range dist {
		v := views.of(q.th, a[3*j])
		x, y := v.translation(&q, a[3*j+1], a[3*j+2])
		s := float64(x*x) + float64(y*y)
		if linalg.SafeSquare(s) {
			s = math.Sqrt(s)
		} else {
			s = linalg.Norm2(x, y)
		}
		dist[j] = g.mix(math.Abs(v.rel), s)
	}
}

// Metric implements MetricGroup.
func (g *SE2) Metric() Metric { return Metric{Form: RigidMotion, Alpha: g.alpha} }

// Act moves x by exp(a).
func (g *SE2) Act(dst, a, x []float64) {
	dst[0], dst[1] = linalg.ExpMotion2((*[3]float64)(a)).Apply(x[0], x[1])
}

// Compose writes log(exp(a)·exp(b)).
func (g *SE2) Compose(dst, a, b []float64) {
	linalg.ComposeSE2((*[3]float64)(dst), (*[3]float64)(a), (*[3]float64)(b))
}

// Inverse writes -a, the angle wrapped as the motion itself requires.
func (g *SE2) Inverse(dst, a []float64) {
	linalg.ExpMotion2((*[3]float64)(a)).Inverse().Log((*[3]float64)(dst))
}

// BoundDim returns 3.
func (g *SE2) BoundDim() int { return 3 }

// BoundPeriods: x and y have none, θ has period 2π.
func (g *SE2) BoundPeriods() []float64 { return []float64{0, 0, 2 * math.Pi} }

// BoundCoords writes (x, y, θ), (x, y) = V(θ)t the point.
func (g *SE2) BoundCoords(dst, a, _ []float64) {
	q := newSE2Query(a)
	dst[0], dst[1], dst[2] = q.px, q.py, linalg.WrapAngle(q.th)
}

// BoundCoordsOf implements BoundsComputer. Sines and cosines are remembered for the last few angles.
func (g *SE2) BoundCoordsOf(dst, a, _ []float64, index []int32) {
	var views se2Views
	for k, j := range index {
		a, x := a[3*int(j):][:3], dst[3*k:][:3]
		v := views.of(0, a[0])
		x[0], x[1] = mulComplex(v.vr, v.vi, a[1], a[2])
		x[2] = linalg.WrapAngle(a[0])
	}
}

// BoundBox: the pose's translation part is t = V(Δθ)⁻¹ e^{-iθ_j} (p_i - p_j) with |V(Δθ)⁻¹| = h/sin h ≥ 1 for
// h = Δθ/2, so |p_i - p_j| ≤ |t|. Then (1-α)·|t| ≤ r bounds x and y by r/(1-α), and α·|Δθ| ≤ r bounds θ by r/α.
func (g *SE2) BoundBox(half []float64, r float64) {
	half[0], half[1], half[2] = widen(r/g.beta), widen(r/g.beta), widenAbs(r/g.alpha)
}
