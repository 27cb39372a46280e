package group

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/linalg"
)

// SE3 is the group of rigid motions of space, translations and rotations. It acts transitively; a = (w, t) holds the
// rotation vector and the translation part, and the pose is log(u_j⁻¹ u_i).
//
//	distance = α·|rotation vector| + (1-α)·|translation part|
//
// Every point is fixed by the rotations about it. A lift takes the origin to x and turns by a rotation drawn uniformly
// from SO(3), the direction of four independent normal numbers being a uniform unit quaternion (K. Shoemake, Uniform
// Random Rotations, Graphics Gems III, 1992). (The authors' code halves the angle and does not normalise the axis.)
type SE3 struct{ weights }

// NewSE3 returns SE(3). It panics if alpha is not in (0, 1); alpha = 0 means 0.2.
func NewSE3(alpha float64) *SE3 { return &SE3{newWeights("NewSE3", alpha, defaultAlpha)} }

// Name returns "SE(3)".
func (g *SE3) Name() string { return "SE(3)" }

// PointDim returns 3.
func (g *SE3) PointDim() int { return 3 }

// AlgebraDim returns 6: rotation vector and translation part.
func (g *SE3) AlgebraDim() int { return 6 }

// OrbitDim returns 0.
func (g *SE3) OrbitDim() int { return 0 }

// MaxLifts returns 0: more lifts sample the stabiliser, SO(3), more finely.
func (g *SE3) MaxLifts() int { return 0 }

// IsIsometry reports that rigid motions preserve distance.
func (g *SE3) IsIsometry() bool { return true }

// Lift draws k rotations from rng and writes the motions that turn by them and take the origin to x.
func (g *SE3) Lift(a, _, x []float64, k int, rng *rand.Rand) {
	checkRand("SE3.Lift", rng)
	for l := range k {
		var n linalg.Quat
		for i := range n {
			n[i] = rng.NormFloat64()
		}
		liftSE3((*[6]float64)(a[6*l:6*l+6]), (*[3]float64)(x), n.Unit())
	}
}

// LiftUniform writes k motions whose rotations cover SO(3) evenly. Where there is a finite group of k rotations that
// does so, they are that group, whose members take them to each other: the identity, the half turns about the axes, and
// the rotations of the tetrahedron, the cube and the icosahedron, for k = 1, 4, 12, 24 and 60. Elsewhere they are the k
// points of a super-Fibonacci spiral (M. Alexa, Super-Fibonacci Spirals: Fast, Low-Discrepancy Sampling of SO(3), CVPR
// 2022), which are no group.
func (g *SE3) LiftUniform(a, _, x []float64, k int) {
	rotations := rotationGroup(k)
	for l := range k {
		q := linalg.Quat{}
		if rotations != nil {
			q = rotations[l]
		} else {
			q = spiral(l, k)
		}
		liftSE3((*[6]float64)(a[6*l:6*l+6]), (*[3]float64)(x), q)
	}
}

// rotationGroup returns the finite group of k rotations that LiftUniform names, the identity first, each as one of its
// two unit quaternions; nil: there is none.
func rotationGroup(k int) (all []linalg.Quat) {
	const (
		h      = math.Sqrt2 / 2
		golden = math.Phi / 2
		silver = (math.Phi - 1) / 2
	)
	var from []linalg.Quat // generators
	i, j, third := linalg.Quat{0, 1, 0, 0}, linalg.Quat{0, 0, 1, 0}, linalg.Quat{0.5, 0.5, 0.5, 0.5}
	switch k {
	case 1:
	case 4:
		from = []linalg.Quat{i, j}
	case 12:
		from = []linalg.Quat{i, third}
	case 24:
		from = []linalg.Quat{{h, h, 0, 0}, third}
	case 60:
		from = []linalg.Quat{{golden, 0.5, silver, 0}, third}
	default:
		return nil
	}
	all = []linalg.Quat{{1, 0, 0, 0}}
	for at := 0; at < len(all); at++ {
		for _, g := range from {
			q := all[at].Mul(g)
			for e, v := range q { // products are exact again
				for _, w := range [...]float64{0, silver, 0.5, h, golden, 1} {
					if math.Abs(math.Abs(v)-w) < 1e-9 {
						q[e] = math.Copysign(w, v)
					}
				}
			}
			known := slices.ContainsFunc(all, func(p linalg.Quat) bool {
				return math.Abs(p[0]*q[0]+p[1]*q[1]+p[2]*q[2]+p[3]*q[3]) > 1-1e-9 // or its negative
			})
			if !known {
				all = append(all, q)
			}
		}
	}
	return all
}

// spiral is point l of k on the spiral: two circles, of radii √t and √(1-t), turned at rates whose ratio and multiples are badly
// approximated by fractions. The second number is the positive root of ψ⁴ = ψ + 4.
func spiral(l, k int) linalg.Quat {
	const phi, psi = math.Sqrt2, 1.533751168755204288118041
	s := float64(l) + 0.5
	t := s / float64(k)
	r, rest := math.Sqrt(t), math.Sqrt(1-t)
	sa, ca := math.Sincos(2 * math.Pi * s / phi)
	sb, cb := math.Sincos(2 * math.Pi * s / psi)
	return linalg.Quat{rest * cb, r * sa, r * ca, rest * sb}.Unit()
}

// liftSE3 writes the motion with rotation q that takes the origin to x.
func liftSE3(a *[6]float64, x *[3]float64, q linalg.Quat) {
	linalg.Motion3{Q: q, P: *x}.Log(a)
}

// RelativePose writes log(u_j⁻¹ u_i).
func (g *SE3) RelativePose(pose, ai, _, aj, _ []float64) {
	ui, uj := linalg.ExpMotion3((*[6]float64)(ai)), linalg.ExpMotion3((*[6]float64)(aj))
	uj.From(&ui).Log((*[6]float64)(pose))
}

// Distance returns α·|rotation vector| + (1-α)·|translation part|.
func (g *SE3) Distance(pose []float64) float64 {
	return g.mix(linalg.Norm3(pose[0], pose[1], pose[2]), linalg.Norm3(pose[3], pose[4], pose[5]))
}

// Distances implements PairComputer.
func (g *SE3) Distances(dist, ai, _, a, _ []float64) {
	ui := linalg.ExpMotion3((*[6]float64)(ai))
	a = a[:6*len(dist)]
	var pose [6]float64
	for j := range dist {
		linalg.ExpMotion3((*[6]float64)(a[6*j : 6*j+6])).From(&ui).Log(&pose)
		dist[j] = g.Distance(pose[:])
	}
}

// Act moves x by exp(a).
func (g *SE3) Act(dst, a, x []float64) {
	*(*[3]float64)(dst) = linalg.ExpMotion3((*[6]float64)(a)).Apply([3]float64(x))
}

// Compose writes log(exp(a)·exp(b)).
func (g *SE3) Compose(dst, a, b []float64) {
	linalg.ComposeSE3((*[6]float64)(dst), (*[6]float64)(a), (*[6]float64)(b))
}

// Inverse writes log(exp(a)⁻¹).
func (g *SE3) Inverse(dst, a []float64) {
	linalg.ExpMotion3((*[6]float64)(a)).From(&linalg.Motion3{Q: linalg.Quat{1, 0, 0, 0}}).Log((*[6]float64)(dst))
}

// BoundDim returns 3.
func (g *SE3) BoundDim() int { return 3 }

// BoundPeriods returns zeros.
func (g *SE3) BoundPeriods() []float64 { return make([]float64, 3) }

// BoundCoords writes the point that the origin is taken to.
func (g *SE3) BoundCoords(dst, a, _ []float64) {
	*(*[3]float64)(dst) = linalg.ExpMotion3((*[6]float64)(a)).P
}

// BoundBox: the pose's translation part is t = V(w)⁻¹ R_jᵀ (p_i - p_j). V(w)⁻¹ keeps vectors along w and multiplies
// those across by h/sin h ≥ 1, h = |w|/2, in length, so |p_i - p_j| ≤ |t|, and (1-α)·|t| ≤ r bounds each coordinate by
// r/(1-α). The rotation part is not used.
func (g *SE3) BoundBox(half []float64, r float64) {
	h := widen(r / g.beta)
	half[0], half[1], half[2] = h, h, h
}
