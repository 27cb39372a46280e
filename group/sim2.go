package group

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/linalg"
)

// Sim2 is the group of similarities of the plane: translations, rotations and scalings. It acts transitively; a = (λ,
// θ, t) is the similarity that takes z to exp(ζ)·z + φ(ζ)·t, in complex numbers, with ζ = λ + iθ and φ(ζ) = (exp(ζ) -
// 1)/ζ. The pose is log(u_j⁻¹ u_i) = (Δλ, Δθ, t): t is 1/φ(Δλ + iΔθ) times the difference of the two points, as seen
// from the lift j, turned back by its angle and measured in its scale.
//
//	distance = α·(|Δλ| + |Δθ|) + (1-α)·|t|
//
// Every point is fixed by the rotations about it and the scalings from it, so a point has a lift for every angle and
// every scale. Of k lifts, l has scale l mod S and angle l/S, rounded down: k should be a multiple of S. The scales are
// powers of 2, 1 in their middle: 1/2, 1 and 2 for S = 3; the angles are those of SE2. The poses are exactly invariant
// under translations, under rotations by multiples of an angle's step and, apart from the ends of the scales, under
// scalings by 2. With one scale they know nothing of scale, with one angle nothing of rotations.
type Sim2 struct {
	weights
	scales int
	name   string
}

// maxScales bounds the scales of Sim(2). At 16 scales the largest is 2¹⁵ times the smallest.
const maxScales = 16

// NewSim2 returns Sim(2) with lifts at so many scales. It panics if scales is not in [1, 16] or alpha not in (0, 1); alpha = 0 means 0.2.
func NewSim2(scales int, alpha float64) *Sim2 {
	if scales < 1 || scales > maxScales {
		panic(fmt.Sprintf("group: NewSim2: scales = %d, need 1 to %d", scales, maxScales))
	}
	g := &Sim2{newWeights("NewSim2", alpha, defaultAlpha), scales, "Sim(2)"}
	if scales > 1 {
		g.name = fmt.Sprintf("Sim(2) at %d scales", scales)
	}
	return g
}

// Scales returns the number of scales of the lifts.
func (g *Sim2) Scales() int { return g.scales }

// logScale returns the logarithm of scale s.
func (g *Sim2) logScale(s int) float64 { return math.Ln2 * (float64(2*s-(g.scales-1)) / 2) }

// Name returns "Sim(2)", with the number of scales if there are several.
func (g *Sim2) Name() string { return g.name }

// PointDim returns 2.
func (g *Sim2) PointDim() int { return 2 }

// AlgebraDim returns 4, the logarithm of the scale, the angle and the translation part.
func (g *Sim2) AlgebraDim() int { return 4 }

// OrbitDim returns 0.
func (g *Sim2) OrbitDim() int { return 0 }

// MaxLifts returns 0, no limit.
func (g *Sim2) MaxLifts() int { return 0 }

// Lift writes the similarities that take the origin to x, turn by each of the angles and scale by each of the scales.
func (g *Sim2) Lift(a, _, x []float64, k int, _ *rand.Rand) {
	angles := (k + g.scales - 1) / g.scales
	for l := range k {
		th := math.Pi * (float64(2*(l/g.scales+1)-angles) / float64(angles))
		lambda := g.logScale(l % g.scales)
		re, im := linalg.VInvSim2(lambda, th)
		d := a[4*l : 4*l+4]
		d[0], d[1] = lambda, th
		d[2], d[3] = mulComplex(re, im, x[0], x[1])
	}
}

// LiftUniform is like Lift, whose angles and scales are evenly spread.
func (g *Sim2) LiftUniform(a, q, x []float64, k int) { g.Lift(a, q, x, k, nil) }

// sim2View is what a relative pose depends on beside the points: the angles and scales of the query and of j.
type sim2View struct {
	lj, thj float64 // of j
	l, th   float64 // Δλ and Δθ, wrapped
	vr, vi  float64 // φ of j's
	mr, mi  float64 // the factor in front of the difference of the points: 1/φ(Δλ + iΔθ) · exp(-λ_j - iθ_j)
}

//go:noinline
func newSim2View(li, thi, lj, thj float64) sim2View {
	v := sim2View{lj: lj, thj: thj, l: li - lj, th: relativeAngle(thi - thj)}
	v.vr, v.vi = linalg.VSim2(lj, thj)
	s, c := math.Sincos(thj)
	re, im := linalg.VInvSim2(v.l, v.th)
	v.mr, v.mi = mulComplex(linalg.ScaleExp(-lj, re), linalg.ScaleExp(-lj, im), c, -s)
	return v
}

// point returns the point that the origin is taken to.
func (v *sim2View) point(tx, ty float64) (x, y float64) { return mulComplex(v.vr, v.vi, tx, ty) }

// sim2Query is a query and the views of it from lifts of the last few angles and scales.
type sim2Query struct {
	l, th, px, py float64
	views         [32]sim2View
	kept, next    int
	last          int
}

func newSim2Query(q *sim2Query, a []float64) {
	re, im := linalg.VSim2(a[0], a[1])
	q.l, q.th, q.kept, q.next, q.last = a[0], a[1], 0, 0, 0
	q.px, q.py = mulComplex(re, im, a[2], a[3])
}

// of returns the view of the query from a lift. Lifts follow each other in the same order at all points, so that the
// next view is often that after the last one.
func (q *sim2Query) of(l, th float64) *sim2View {
	for n := range q.kept {
		i := q.last + 1 + n
		if i >= q.kept {
			i -= q.kept
		}
		if v := &q.views[i]; v.lj == l && v.thj == th {
			q.last = i
			return v
		}
	}
	q.last = q.next
	q.views[q.last] = newSim2View(q.l, q.th, l, th)
	q.kept, q.next = max(q.kept, q.next+1), (q.next+1)%len(q.views)
	return &q.views[q.last]
}

// translation returns the pose's translation part as seen from the lift whose algebra translation is (tx, ty).
func (v *sim2View) translation(q *sim2Query, tx, ty float64) (x, y float64) {
	px, py := v.point(tx, ty)
	return mulComplex(v.mr, v.mi, q.px-px, q.py-py)
}

// RelativePose writes (Δλ, Δθ, t) = log(u_j⁻¹ u_i).
func (g *Sim2) RelativePose(pose, ai, _, aj, _ []float64) {
	re, im := linalg.VSim2(ai[0], ai[1])
	v := newSim2View(ai[0], ai[1], aj[0], aj[1])
	xi, yi := mulComplex(re, im, ai[2], ai[3])
	xj, yj := v.point(aj[2], aj[3])
	x, y := mulComplex(v.mr, v.mi, xi-xj, yi-yj)
	pose[0], pose[1], pose[2], pose[3] = v.l, v.th, x, y
}

// RelativePoses implements PoseComputer.
func (g *Sim2) RelativePoses(dst, ai, _, a, _ []float64, index []int32) {
	var q sim2Query
	newSim2Query(&q, ai)
	for k, j := range index {
		aj, d := a[4*int(j):][:4], dst[4*k:][:4]
		v := q.of(aj[0], aj[1])
		x, y := v.translation(&q, aj[2], aj[3])
		d[0], d[1], d[2], d[3] = v.l, v.th, x, y
	}
}

// Distance returns α·(|Δλ| + |Δθ|) + (1-α)·|t|.
func (g *Sim2) Distance(pose []float64) float64 { return g.dist(pose[0], pose[1], pose[2], pose[3]) }

func (g *Sim2) dist(l, th, x, y float64) float64 {
	return g.mix(math.Abs(l)+math.Abs(th), linalg.Norm2(x, y))
}

// Distances implements PairComputer. Lifted points have few angles and scales, so what depends on these alone is remembered.
func (g *Sim2) Distances(dist, ai, _, a, _ []float64) {
	var q sim2Query
	newSim2Query(&q, ai)
	a = a[:4*len(dist)]
	for j := range dist {
		v := q.of(a[4*j], a[4*j+1])
		x, y := v.translation(&q, a[4*j+2], a[4*j+3])
		dist[j] = g.dist(v.l, v.th, x, y)
	}
}

// Act moves x by exp(a).
func (g *Sim2) Act(dst, a, x []float64) {
	var e [4]float64
	linalg.ExpSim2(&e, (*[4]float64)(a))
	re, im := mulComplex(e[0], e[1], x[0], x[1])
	dst[0], dst[1] = re+e[2], im+e[3]
}

// Compose writes log(exp(a)·exp(b)).
func (g *Sim2) Compose(dst, a, b []float64) {
	linalg.ComposeSim2((*[4]float64)(dst), (*[4]float64)(a), (*[4]float64)(b))
}

// Inverse writes -a.
func (g *Sim2) Inverse(dst, a []float64) {
	for c, v := range a[:4] {
		dst[c] = -v
	}
}

// Turn writes the rotation, without the scale.
func (g *Sim2) Turn(r, a []float64) { turnPlane(r, a[1]) }

// BoundsOf implements SetBounder: the balls of points of bounded scale lie within boxes. As seen from j the difference
// of the points is exp(ζ_j)·φ(Δλ + iΔθ)·t, and |φ(λ + iθ)| ≤ φ(λ), so that |p_i - p_j| ≤ (exp(λ_i) - exp(λ_j))/(λ_i -
// λ_j)·|t|, which is at most |t| times the larger of the two scales.
func (g *Sim2) BoundsOf(l *Lifted, rows []int32) Bounder {
	b := &sim2Bounds{Sim2: g, top: math.Inf(-1)}
	for _, j := range rows {
		if a, _ := l.Row(int(j)); !(a[0] <= b.top) {
			b.top = a[0]
		}
	}
	b.scale = math.Exp(b.top)
	return b
}

// sim2Bounds bounds the balls of points whose scales are at most that of top.
type sim2Bounds struct {
	*Sim2
	top, scale float64
}

// BoundDim returns 4.
func (g *sim2Bounds) BoundDim() int { return 4 }

// BoundPeriods: x, y and λ have none, θ has period 2π.
func (g *sim2Bounds) BoundPeriods() []float64 { return []float64{0, 0, 2 * math.Pi, 0} }

// BoundCoords writes (x, y, θ, λ), (x, y) the point. A larger scale than those of the points has no bounds, which infinite coordinates say.
func (g *sim2Bounds) BoundCoords(dst, a, _ []float64) {
	re, im := linalg.VSim2(a[0], a[1])
	dst[0], dst[1] = mulComplex(re, im, a[2], a[3])
	dst[2], dst[3] = linalg.WrapAngle(a[1]), a[0]
	if !(a[0] <= g.top) {
		dst[0], dst[1] = math.Inf(1), math.Inf(1)
	}
}

// BoundBox: both parts of the distance are nonnegative, so that each alone is at most r.
func (g *sim2Bounds) BoundBox(half []float64, r float64) {
	half[0] = widen(r/g.beta) * g.scale
	half[1], half[2], half[3] = half[0], widenAbs(r/g.alpha), widenAbs(r/g.alpha)
}

// TranslationDim implements TranslationInvariant.
func (g *Sim2) TranslationDim() int { return 2 }

// TranslationCoords implements TranslationInvariant. The coordinates are the point, and the kind stands for the angle
// and the scale, if that is one of the lifts': the angle times a power of two that belongs to the scale. Angles from
// 2⁻³⁰ to 4 stay apart then, and 0 is given a place of its own.
func (g *Sim2) TranslationCoords(x, kind, a, _ []float64) {
	for i := range kind {
		a, x := a[4*i:][:4], x[2*i:][:2]
		re, im := linalg.VSim2(a[0], a[1])
		x[0], x[1] = mulComplex(re, im, a[2], a[3])
		kind[i] = math.NaN()
		for s := range g.scales {
			if th := math.Abs(a[1]); a[0] == g.logScale(s) && th < 4 {
				if th == 0 {
					kind[i] = math.Ldexp(1, 64*s+32)
				} else if th > 0x1p-30 {
					kind[i] = math.Ldexp(a[1], 64*s)
				}
			}
		}
	}
}

// TranslationError implements TranslationInvariant. The pose's translation is M(p_i - p_j) with |M| = exp(-λ_j)·|1/φ(Δλ
// + iΔθ)|, at most (π/2)·exp(-(λ_i + λ_j)/2) and therefore (π/2) over the smallest scale: as between lifts of different
// angles under SE(2), where that scale is 1, and where the errors are derived.
func (g *Sim2) TranslationError(s, size float64) float64 {
	f := math.Exp(-g.logScale(0))
	return f*(math.Pi/2*math.Sqrt2*s*(1+0x1p-40)+0x1.1p-48*size) + 0x1p-1000
}
