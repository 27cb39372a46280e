package group

import (
	"fmt"
	"math/rand/v2"
)

// Product is the direct product of two groups, each acting on its own coordinates: a point is (x, y), algebra and orbit
// coordinates are those of the first group followed by those of the second, and the pose is (both logarithms, q_i, q_j).
//
//	distance = α·(distance of the first) + (1-α)·(distance of the second)
//
// Lift l of a point pairs lift l of its parts.
type Product struct {
	weights
	g, h Group
}

// NewProduct returns g × h; either may be a product itself. It panics if either is nil or alpha is not in (0, 1); alpha = 0 means
// 0.5.
func NewProduct(g, h Group, alpha float64) *Product {
	if g == nil || h == nil {
		panic("group: NewProduct: nil group")
	}
	return &Product{newWeights("NewProduct", alpha, 0.5), g, h}
}

// Name returns "(G) x (H)" with the weights of both, because two products are the same group only if these agree.
func (p *Product) Name() string {
	return fmt.Sprintf("(%s, alpha %g) x (%s, alpha %g)", p.g.Name(), p.g.Alpha(), p.h.Name(), p.h.Alpha())
}

// PointDim returns the sum of both groups' dimensions.
func (p *Product) PointDim() int { return p.g.PointDim() + p.h.PointDim() }

// AlgebraDim returns the sum of both groups' dimensions.
func (p *Product) AlgebraDim() int { return p.g.AlgebraDim() + p.h.AlgebraDim() }

// OrbitDim returns the sum of both groups' dimensions.
func (p *Product) OrbitDim() int { return p.g.OrbitDim() + p.h.OrbitDim() }

// MaxLifts returns 1 if it is 1 for both groups, otherwise 0, no limit.
func (p *Product) MaxLifts() int {
	if p.g.MaxLifts() == 1 && p.h.MaxLifts() == 1 {
		return 1
	}
	return 0
}

// IsIsometry reports whether both groups preserve distance.
func (p *Product) IsIsometry() bool { return IsIsometric(p.g) && IsIsometric(p.h) }

// Lift lifts both parts.
func (p *Product) Lift(a, q, x []float64, k int, rng *rand.Rand) {
	ga, ha, gq, hq := p.g.AlgebraDim(), p.h.AlgebraDim(), p.g.OrbitDim(), p.h.OrbitDim()
	if k < 0 || k > max(len(a), len(q)) {
		panic(fmt.Sprintf("group: Product.Lift: k = %d, len(a) = %d, len(q) = %d, need %d and %d numbers for each lift", k,
			len(a), len(q), ga+ha, gq+hq))
	}
	ag, ah, qg, qh := make([]float64, k*ga), make([]float64, k*ha), make([]float64, k*gq), make([]float64, k*hq)
	d := p.g.PointDim()
	p.g.Lift(ag, qg, x[:d], k, rng)
	p.h.Lift(ah, qh, x[d:d+p.h.PointDim()], k, rng)
	needLen("Product.Lift", "a", a, k*(ga+ha))
	needLen("Product.Lift", "q", q, k*(gq+hq))
	for l := range k {
		copy(a[l*(ga+ha):], ag[l*ga:(l+1)*ga])
		copy(a[l*(ga+ha)+ga:], ah[l*ha:(l+1)*ha])
		copy(q[l*(gq+hq):], qg[l*gq:(l+1)*gq])
		copy(q[l*(gq+hq)+gq:], qh[l*hq:(l+1)*hq])
	}
}

// needLen panics if x is shorter than n, which copying to it would not notice.
func needLen(where, name string, x []float64, n int) {
	if len(x) < n {
		panic(fmt.Sprintf("group: %s: len(%s) = %d, need %d", where, name, len(x), n))
	}
}

// RelativePose writes (log of the first, log of the second, q_i, q_j).
func (p *Product) RelativePose(pose, ai, qi, aj, qj []float64) {
	ga, ha, gq, hq := p.g.AlgebraDim(), p.h.AlgebraDim(), p.g.OrbitDim(), p.h.OrbitDim()
	first, second := make([]float64, ga+2*gq), make([]float64, ha+2*hq)
	p.g.RelativePose(first, ai[:ga], qi[:gq], aj[:ga], qj[:gq])
	p.h.RelativePose(second, ai[ga:ga+ha], qi[gq:gq+hq], aj[ga:ga+ha], qj[gq:gq+hq])
	needLen("Product.RelativePose", "pose", pose, ga+ha+2*(gq+hq))
	n := copy(pose, first[:ga])
	n += copy(pose[n:], second[:ha])
	n += copy(pose[n:], first[ga:ga+gq])
	n += copy(pose[n:], second[ha:ha+hq])
	n += copy(pose[n:], first[ga+gq:])
	copy(pose[n:], second[ha+hq:])
}

// Distance returns α·(distance of the first) + (1-α)·(distance of the second).
func (p *Product) Distance(pose []float64) float64 {
	ga, ha, gq, hq := p.g.AlgebraDim(), p.h.AlgebraDim(), p.g.OrbitDim(), p.h.OrbitDim()
	if gq+hq == 0 {
		return p.mix(p.g.Distance(pose[:ga]), p.h.Distance(pose[ga:ga+ha]))
	}
	i, j := ga+ha, ga+ha+gq+hq // where q_i and q_j start
	part := func(log, qi, qj []float64) []float64 {
		return append(append(append(make([]float64, 0, len(log)+2*len(qi)), log...), qi...), qj...)
	}
	return p.mix(p.g.Distance(part(pose[:ga], pose[i:i+gq], pose[j:j+gq])),
		p.h.Distance(part(pose[ga:i], pose[i+gq:j], pose[j+gq:j+gq+hq])))
}

// Act acts on both parts.
func (p *Product) Act(dst, a, x []float64) {
	d, ga := p.g.PointDim(), p.g.AlgebraDim()
	p.g.Act(dst[:d], a[:ga], x[:d])
	p.h.Act(dst[d:d+p.h.PointDim()], a[ga:ga+p.h.AlgebraDim()], x[d:d+p.h.PointDim()])
}

// bounds returns both groups' bounds, or false if one has none.
func (p *Product) bounds() (g, h Bounder, ok bool) {
	g, ok = p.g.(Bounder)
	h, both := p.h.(Bounder)
	return g, h, ok && both && g.BoundDim() > 0 && h.BoundDim() > 0
}

// BoundDim returns the sum of both groups' dimensions. It is 0, which means no bound, if one of the groups is not a Bounder.
func (p *Product) BoundDim() int {
	g, h, ok := p.bounds()
	if !ok {
		return 0
	}
	return g.BoundDim() + h.BoundDim()
}

// BoundPeriods returns the periods of the first group followed by those of the second.
func (p *Product) BoundPeriods() []float64 {
	g, h, ok := p.bounds()
	if !ok {
		return nil
	}
	return append(append([]float64(nil), g.BoundPeriods()...), h.BoundPeriods()...)
}

// BoundCoords writes the coordinates of the first group followed by those of the second.
func (p *Product) BoundCoords(dst, a, q []float64) {
	if g, h, ok := p.bounds(); ok {
		n, ga, gq := g.BoundDim(), g.AlgebraDim(), g.OrbitDim()
		g.BoundCoords(dst[:n], a[:ga], q[:gq])
		h.BoundCoords(dst[n:], a[ga:], q[gq:])
	}
}

// BoundBox: both distances are nonnegative, so that of the first group is at most r/α and that of the second at most
// r/(1-α).
func (p *Product) BoundBox(half []float64, r float64) {
	if g, h, ok := p.bounds(); ok {
		n := g.BoundDim()
		g.BoundBox(half[:n], widen(r/p.alpha))
		h.BoundBox(half[n:], widen(r/p.beta))
	}
}
