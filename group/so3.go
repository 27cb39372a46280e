package group

import (
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/linalg"
)

// SO3 is the group of rotations of space about the origin. Its orbits are spheres: q = (r), r = |x|, with the point
// (r, 0, 0) as origin, and a is the rotation vector of a rotation that takes (r, 0, 0) to x. The pose is
// (log(u_j⁻¹ u_i), r_i, r_j).
//
//	distance = α·|rotation vector| + (1-α)·|r_i - r_j|
//
// The rotations about the x axis fix the origins. A lift is a rotation about the x axis by an angle that is uniform in [-π, π),
// followed by the shortest rotation from the x axis to x; so lifts sample the rotations that take the origin to x uniformly. If x
// is opposite to the x axis, every half turn about an axis across it is shortest, and the one about the z axis is taken. The
// origin of space is lifted like a point on the positive x axis, so its poses with points near it change when these are
// turned. (The authors' code takes the angle of a random rotation of
// space, which prefers half turns, and no rotation at all for x opposite to the x axis.)
type SO3 struct{ weights }

// NewSO3 returns SO(3). It panics if alpha is not in (0, 1); alpha = 0 means 0.2.
func NewSO3(alpha float64) *SO3 { return &SO3{newWeights("NewSO3", alpha, defaultAlpha)} }

// Name returns "SO(3)".
func (g *SO3) Name() string { return "SO(3)" }

// PointDim returns 3.
func (g *SO3) PointDim() int { return 3 }

// AlgebraDim returns 3, the rotation vector.
func (g *SO3) AlgebraDim() int { return 3 }

// OrbitDim returns 1, the radius.
func (g *SO3) OrbitDim() int { return 1 }

// MaxLifts returns 0: more lifts sample the stabiliser, a circle, more finely.
func (g *SO3) MaxLifts() int { return 0 }

// IsIsometry reports that rotations preserve distance.
func (g *SO3) IsIsometry() bool { return true }

// Lift draws k rotations that take (|x|, 0, 0) to x from rng.
func (g *SO3) Lift(a, q, x []float64, k int, rng *rand.Rand) {
	checkRand("SO3.Lift", rng)
	for l := range k {
		q[l] = liftSO3((*[3]float64)(a[3*l:3*l+3]), (*[3]float64)(x), (2*rng.Float64()-1)*math.Pi)
	}
}

// LiftUniform writes the k rotations at the stabiliser angles 2πl/k, l = 0 .. k-1: the first is the shortest.
func (g *SO3) LiftUniform(a, q, x []float64, k int) {
	for l := range k {
		q[l] = liftSO3((*[3]float64)(a[3*l:3*l+3]), (*[3]float64)(x), linalg.WrapAngle(2*math.Pi*(float64(l)/float64(k))))
	}
}

// liftSO3 writes the rotation vector of the rotation by phi about the x axis followed by the shortest rotation from the x axis to
// x, and returns |x|.
func liftSO3(a, x *[3]float64, phi float64) (r float64) {
	s, c := math.Sincos(phi / 2)
	fromX(x).Mul(linalg.Quat{c, s, 0, 0}).Log(a)
	return clampFinite(linalg.Norm3(x[0], x[1], x[2]), x[:])
}

// fromX returns the shortest rotation from the x axis to x, the identity for x = 0.
func fromX(x *[3]float64) linalg.Quat {
	var u [3]float64
	if math.IsInf(unit(u[:], x[:]), -1) {
		return linalg.Quat{1, 0, 0, 0}
	}
	// The half-way quaternion (1 + u_x, e_x × u), at length 1.
	if !(u[0] < 0) {
		return linalg.Quat{1 + u[0], 0, -u[2], u[1]}.Unit()
	}
	// 1 + u_x = s²/(1 - u_x) with s² = u_y² + u_z², which avoids cancellation; everything is divided by s.
	s := linalg.Norm2(u[1], u[2])
	if s == 0 {
		return linalg.Quat{0, 0, 0, 1}
	}
	return linalg.Quat{s / (1 - u[0]), 0, -u[2] / s, u[1] / s}.Unit()
}

// RelativePose writes (log(u_j⁻¹ u_i), r_i, r_j).
func (g *SO3) RelativePose(pose, ai, qi, aj, qj []float64) {
	ui, uj := linalg.ExpQuat((*[3]float64)(ai)), linalg.ExpQuat((*[3]float64)(aj))
	uj.Conj().Mul(ui).Log((*[3]float64)(pose))
	pose[3], pose[4] = qi[0], qj[0]
}

// Distance returns α·|rotation vector| + (1-α)·|r_i - r_j|.
func (g *SO3) Distance(pose []float64) float64 {
	return g.mix(linalg.Norm3(pose[0], pose[1], pose[2]), math.Abs(pose[3]-pose[4]))
}

// Distances implements PairComputer.
func (g *SO3) Distances(dist, ai, qi, a, q []float64) {
	ui := linalg.ExpQuat((*[3]float64)(ai))
	a, q = a[:3*len(dist)], q[:len(dist)]
	var w [3]float64
	for j := range dist {
		linalg.ExpQuat((*[3]float64)(a[3*j : 3*j+3])).Conj().Mul(ui).Log(&w)
		dist[j] = g.mix(linalg.Norm3(w[0], w[1], w[2]), math.Abs(qi[0]-q[j]))
	}
}

// Act rotates x.
func (g *SO3) Act(dst, a, x []float64) {
	*(*[3]float64)(dst) = linalg.ExpQuat((*[3]float64)(a)).Rotate([3]float64(x))
}

// Compose writes log(exp(a)·exp(b)).
func (g *SO3) Compose(dst, a, b []float64) {
	linalg.ComposeSO3((*[3]float64)(dst), (*[3]float64)(a), (*[3]float64)(b))
}

// Inverse writes the rotation vector of the inverse, of length at most π.
func (g *SO3) Inverse(dst, a []float64) {
	linalg.ExpQuat((*[3]float64)(a)).Conj().Log((*[3]float64)(dst))
}

// BoundDim returns 4.
func (g *SO3) BoundDim() int { return 4 }

// BoundPeriods returns zeros.
func (g *SO3) BoundPeriods() []float64 { return make([]float64, 4) }

// BoundCoords writes (r, n), n the unit vector that the x axis is rotated to.
func (g *SO3) BoundCoords(dst, a, q []float64) {
	dst[0] = q[0]
	*(*[3]float64)(dst[1:]) = linalg.ExpQuat((*[3]float64)(a)).Rotate([3]float64{1, 0, 0})
}

// BoundBox: (1-α)·|r_i - r_j| ≤ ρ bounds r by ρ/(1-α). And if u_j⁻¹ u_i turns by at most ω = ρ/α, then
// |n_i - n_j| = |u_j⁻¹ u_i e_x - e_x| is at most the chord of that angle, 2 sin(ω/2), no bound from ω = π on.
func (g *SO3) BoundBox(half []float64, r float64) {
	half[0] = widen(r / g.beta)
	n := math.Inf(1)
	if w := r / g.alpha; !(w >= math.Pi) {
		n = widenAbs(2 * math.Sin(w/2))
	}
	half[1], half[2], half[3] = n, n, n
}
