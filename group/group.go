// Package group holds the Lie groups that the convolutions are equivariant under: how a point is lifted to group
// elements, the relative pose of two lifted points, the distance that decides who is a neighbour, and the action on
// points.
//
// # Which group
//
//   - T(n), translations ([NewT]): series, maps and images, where only differences of places matter. Its convolutions are the
//     ordinary ones.
//   - SO(2), SO(3), rotations about the origin ([NewSO2], [NewSO3]): data around a centre, such as a galaxy, a radar sweep or an
//     atom's surroundings.
//   - R>0×SO(2), these and scalings, and R>0, scalings alone ([NewRxSO2], [NewRx]): data around a centre and without a scale of their
//     own.
//   - SE(2), SE(3), rotations and translations ([NewSE2], [NewSE3]): data without a centre that may lie at any angle, such as cells
//     under a microscope, or molecules.
//   - Sim(2), rotations, translations and scalings ([NewSim2]): images of things that may lie anywhere, at any angle and of any size.
//   - [NewSqueeze], [NewRxSq]: pairs of positive quantities of which the product, or neither product nor ratio, has a meaning of its own.
//   - [NewAxis], [NewProduct]: coordinates that behave differently, such as place and time, or longitude and latitude.
//   - [NewTrivial]: no symmetry, as the baseline for the others.
//   - [NewMatrix], [NewMatrix3]: any other group of matrices, such as shears.
//
// # Conventions
//
// They hold for every group and are stated here only.
//
//   - A point x in R^d is lifted to K pairs (u, q): u is a group element with u·o(q) = x, where o(q) is the origin that
//     stands for the orbit q; q are the orbit's coordinates. K > 1 samples the stabiliser of the origin, where the group
//     has one.
//   - u is kept as a = log u, its coordinates in the Lie algebra, float64.
//   - Algebra coordinates: T(n) (x_1 .. x_n); SO(2) (θ); R>0×SO(2) (log r, θ); R>0 (log r); R>0×squeeze
//     (log r, log s); squeeze (log s); translations along an axis (x_axis); products and a user's own groups as they say;
//     SE(2) (θ, t_x, t_y), the angle first; Sim(2) (log r, θ, t_x, t_y); SO(3) the rotation vector; SE(3) (rotation vector,
//     translation part). Quaternions, where they occur, are (w, x, y, z).
//   - The relative pose of i as seen from j is [log(u_j⁻¹ u_i), q_i, q_j], in this order. It is invariant under the
//     action of the group on both points, and it is all that a convolution knows about the two positions. A point that
//     more of the group leaves where it is than the stabiliser that the lifts sample, as rotations do the centre, has no
//     group element of its own: there the group's comment says what becomes of its poses.
//   - The distance of i and j is α·|one part of the pose| + (1-α)·|the other part|; each group's doc comment says which.
//     It is a sum, not a root of squares, and need not be symmetric.
//   - Angles are radians in [-π, π]; a relative angle of half a turn, to rounding, is +π (see relativeAngle). Geometry is
//     float64 everywhere; features choose their own type.
package group

import (
	"math/rand/v2"
)

// Group is a Lie group with its action on R^d. Your own group needs only these methods to work everywhere; the optional
// interfaces below make it faster. It may also embed one of this package's groups, whose optional interfaces it then has as well.
// If you override a method, override also those that state the same in another way: Distances and Metric repeat what Distance
// says. Check finds what was forgotten.
//
// Implementations are immutable and safe for concurrent use. Methods panic when a slice is shorter than they document;
// non-finite inputs give non-finite outputs and never a panic.
type Group interface {
	// Name is the canonical name, "SE(2)" for example; Parse accepts those that Names lists.
	Name() string
	// Alpha is the weight of the distance's first part.
	Alpha() float64
	// PointDim is d, the dimension of the points that the group acts on.
	PointDim() int
	// AlgebraDim is g, the number of coordinates of log u.
	AlgebraDim() int
	// OrbitDim is q, the number of orbit coordinates; 0 where the group acts transitively.
	OrbitDim() int
	// MaxLifts is the largest useful number of stabiliser samples: 1 where the stabiliser is trivial, 0 for no limit.
	MaxLifts() int
	// Lift writes k lifts of the point x [d] into a [k, g] and q [k, orbit]. Groups whose stabiliser is sampled at
	// random draw from rng; the others accept nil. A point that has no lift (r = 0 under R>0×SO(2)) gives the nearest
	// one that its documentation names, never NaN for finite x.
	Lift(a, q, x []float64, k int, rng *rand.Rand)
	// RelativePose writes [log(u_j⁻¹ u_i), q_i, q_j] into pose [g + 2·orbit].
	RelativePose(pose, ai, qi, aj, qj []float64)
	// Distance is the distance of the two lifted points with this relative pose.
	Distance(pose []float64) float64
	// Act writes exp(a)·x into dst [d]; dst may be x.
	Act(dst, a, x []float64)
}

// PoseDim returns the length of a relative pose of g.
func PoseDim(g Group) int {
	checkGroup("PoseDim", g)
	return g.AlgebraDim() + 2*g.OrbitDim()
}

// Composer is a group whose elements can be multiplied in algebra coordinates: to chain the motions of a robot or a camera, or to
// test that a model is equivariant by moving its inputs by a random element and back. All groups of this package but products
// are.
type Composer interface {
	Group
	// Compose writes log(exp(a)·exp(b)) into dst [g]; dst may be a or b.
	Compose(dst, a, b []float64)
	// Inverse writes log(exp(a)⁻¹) into dst [g]; dst may be a.
	Inverse(dst, a []float64)
}

// PairComputer is a group that computes the distances of one query to many points in one call. Searches and Finder use it instead
// of RelativePose and Distance; it is the first interface to implement when a group of your own is too slow.
type PairComputer interface {
	Group
	// Distances writes the distance of the query (ai [g], qi [orbit]) to each of the n = len(dist) points with
	// algebra coordinates a [n, g] and orbit coordinates q [n, orbit]. It must equal Distance(RelativePose(...)) to
	// the last bit, so that the two ways to build a neighbourhood agree.
	Distances(dist, ai, qi, a, q []float64)
}

// Bounder is a group that can bound its balls by boxes, so that a tree finds their members without looking at every pair. Implement it
// for clouds of more than some hundred thousand points. Groups without it are searched by looking at all pairs.
type Bounder interface {
	Group
	// BoundDim is the number m of bounding coordinates.
	BoundDim() int
	// BoundPeriods returns the period of each bounding coordinate; 0 for one that is not periodic.
	BoundPeriods() []float64
	// BoundCoords writes the bounding coordinates of one lifted point into dst [m]; periodic ones lie in
	// [-period/2, period/2].
	BoundCoords(dst, a, q []float64)
	// BoundBox writes into half [m] the half-widths of a box, in bounding coordinates, that contains every point within distance
	// r of its centre; +Inf where r does not bound a coordinate. The box is wider than necessary by one part in 10⁹ of each
	// half-width. That covers the rounding of coordinates up to 10⁵ half-widths from zero; beyond, a search that must be exact
	// has to widen its comparisons by a few units in the last place of the coordinates.
	BoundBox(half []float64, r float64)
}

// BoundsComputer is a Bounder that computes the bounding coordinates of many points in one call. It pays where sines and cosines
// can be shared between points, as under SE(2).
type BoundsComputer interface {
	Bounder
	// BoundCoordsOf writes the bounding coordinates of each of the points that index names, rows of a [n, g] and q [n, orbit], into
	// dst [len(index), BoundDim]. It must equal BoundCoords to the last bit.
	BoundCoordsOf(dst, a, q []float64, index []int32)
}

// SetBounder is a group whose balls have bounds where the points are known, as those of Sim(2) have: how far a ball
// reaches depends on the scale of its centre.
type SetBounder interface {
	Group
	// BoundsOf returns the group with bounds for these rows of l, and for balls around them or around others for which
	// BoundCoords is finite.
	BoundsOf(l *Lifted, rows []int32) Bounder
}

// DiamondBounder is a group with two bounding coordinates whose balls lie within a diamond. A diamond has half the area of the
// box, so that Finder tests half as many candidates.
type DiamondBounder interface {
	Bounder
	// BoundsDiamond reports whether |Δc_0|/h_0 + |Δc_1|/h_1 ≤ 1 for every point of a ball, where h are the half-widths of BoundBox.
	BoundsDiamond() bool
}

// MetricGroup is a group whose Distance is one of the metrics that this package has kernels for. Finder then decides by the kernel
// and does not call Distances. Declare it for a group of your own if its distance has one of the forms of MetricForm.
type MetricGroup interface {
	Group
	// Metric returns the metric. It must equal Distance(RelativePose(...)) to the last bit, except where the square of
	// a length overflows or underflows.
	Metric() Metric
}

// A Metric is a formula for the distance of two lifts. The coordinates x of a lift are those of the algebra followed by those of
// the orbit. Every operation of the formula is rounded once.
type Metric struct {
	Form  MetricForm
	Alpha float64
	Floor float64 // of Polar
}

// MetricForm names the formula of a Metric.
type MetricForm int

const (
	// NoMetric is not one of the others.
	NoMetric MetricForm = iota
	// Euclidean is Alpha·|x_i - x_j|, for one to three coordinates.
	Euclidean
	// Polar, for x = (θ, r), is Alpha·|Δθ| + (1-Alpha)·|r_i/2 - r_j/2|/((r_i/2 + r_j/2) + Floor).
	Polar
	// LogPolar, for x = (log r, θ), is Alpha·|Δθ| + (1-Alpha)·|Δ log r|.
	LogPolar
	// RigidMotion, for x = (θ, t), the algebra coordinates of SE(2), is Alpha·|Δθ| + (1-Alpha)·|t| of the relative pose (Δθ, t).
	RigidMotion
)

// UniformLifter is a group whose stabiliser samples can be spread evenly instead of drawn at random; LiftPointsUniform uses it.
type UniformLifter interface {
	Group
	// LiftUniform is Lift with k samples of the stabiliser that depend on nothing but k and are spread evenly.
	LiftUniform(a, q, x []float64, k int)
}

// PoseComputer is a group that computes the relative poses of one query and many points in one call. Building the pose table of a
// neighbourhood and RelativePoses use it instead of RelativePose.
type PoseComputer interface {
	Group
	// RelativePoses writes the relative pose of the query (ai [g], qi [orbit]) as seen from each of the points that
	// index names, rows of a [n, g] and q [n, orbit], into dst [len(index), pose]. It must equal RelativePose to the
	// last bit.
	RelativePoses(dst, ai, qi, a, q []float64, index []int32)
}

// TranslationInvariant is implemented by groups whose relative poses depend only on differences of some coordinates, as they do
// under translations. A neighbourhood on a lattice is then built without looking its poses up. Lifts have a kind as well, and the
// rule holds among lifts of the same kind: under SE(2) the kind is the angle.
type TranslationInvariant interface {
	Group
	// TranslationDim is the number of coordinates.
	TranslationDim() int
	// TranslationCoords writes the coordinates x [n, TranslationDim] and the kinds [n] of the lifts a [n, g], q [n, orbit]. A lift whose
	// kind is NaN stands for no other.
	TranslationCoords(x, kind, a, q []float64)
	// TranslationError bounds the difference of two poses. Let lifts a and c be of one kind, lifts b and d of one kind, and let
	// no coordinate exceed size. If the differences a - b and c - d of their coordinates differ by at most s, then the pose of a
	// as seen from b and the pose of c as seen from d differ by at most TranslationError(s, size) in every coordinate, rounding
	// included. The bound is at least s, and NaN or +Inf if an argument is.
	TranslationError(s, size float64) float64
}

// RotationInvariant is implemented by groups of the plane whose relative poses stay the same when both points are turned about
// the origin. Where the points are rotated copies of each other, as the pixels of an image are under quarter turns, the poses of
// three quarters of the pairs are then copied instead of looked up.
type RotationInvariant interface {
	Group
	// RotationError bounds how far the lift (b, p) is from the lift (a, q) turned by the angle, rounding included. If the bound is s for
	// one lift and t for another, then the relative pose of the two lifts (a, q) differs from that of the two lifts (b, p) by at most s + t
	// in every coordinate. This holds where s + t is at most 0.01 and both distances are below 0.99·HalfTurnDistance, because angles jump
	// at a half turn. NaN and +Inf bound nothing.
	RotationError(a, q, b, p []float64, angle float64) float64
	// HalfTurnDistance is the least distance of two points whose relative angle is π.
	HalfTurnDistance() float64
}

// Isometric is implemented by groups that preserve Euclidean distance. A radial kernel of |x - x'|, such as the set convolution
// of a ConvCNP, is then invariant under the group as well.
type Isometric interface{ IsIsometry() bool }

// IsIsometric reports whether g acts by isometries of R^d.
func IsIsometric(g Group) bool {
	i, ok := g.(Isometric)
	return ok && i.IsIsometry()
}
