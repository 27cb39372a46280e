package group_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/equivcnp/equivcnp/group"
)

// Two points seen through R>0×SO(2): the second lies a quarter turn further and twice as far out.
func ExampleGroup() {
	g, err := group.Parse("R>0xSO(2)", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	l := group.LiftPoints(g, []float64{1, 0, 0, 2}, 1, 0)
	aj, qj := l.Row(0)
	ai, qi := l.Row(1)
	pose := make([]float64, group.PoseDim(g))
	g.RelativePose(pose, ai, qi, aj, qj)
	fmt.Printf("pose %.4f, distance %.4f\n", pose, g.Distance(pose))

	// Turning and scaling both points changes nothing.
	h := []float64{0.7, -1.1} // (log r, θ)
	x, y := []float64{1, 0}, []float64{0, 2}
	g.Act(x, h, x)
	g.Act(y, h, y)
	l = group.LiftPoints(g, append(x, y...), 1, 0)
	aj, qj = l.Row(0)
	ai, qi = l.Row(1)
	g.RelativePose(pose, ai, qi, aj, qj)
	fmt.Printf("pose %.4f, distance %.4f\n", pose, g.Distance(pose))
	// Output:
	// pose [0.6931 1.5708], distance 0.9564
	// pose [0.6931 1.5708], distance 0.9564
}

// One query against many points.
func ExamplePairComputer() {
	g := group.NewT(2, 0)
	l := group.LiftPoints(g, []float64{0, 0, 3, 4, 6, 8}, 1, 0)
	a, q := l.Row(0)
	dist := make([]float64, l.Rows())
	g.Distances(dist, a, q, l.A, l.Q)
	fmt.Println(dist)
	// Output: [0 1 2]
}

// A group of one's own: the shears (x, y) -> (x + a·y, y). Its orbits are the lines of constant y, and the point of such a
// line with x = 0 is its origin.
func ExampleNewMatrix() {
	shears := group.NewMatrix("shears", [][4]float64{{0, 1, 0, 0}}, 1, func(a, q, x []float64) {
		a[0], q[0] = x[0]/x[1], x[1]
	}, 0.5)
	l := group.LiftPoints(shears, []float64{1, 2, 3, 2}, 1, 0)
	ai, qi := l.Row(1)
	aj, qj := l.Row(0)
	pose := make([]float64, group.PoseDim(shears))
	shears.RelativePose(pose, ai, qi, aj, qj)
	fmt.Println(pose, shears.Distance(pose))
	// Output: [1 2 2] 0.5
}

// Maps of space that turn about the z axis and stretch along it: 3×3 matrices, with the distance from the axis for an orbit.
func ExampleNewMatrix3() {
	screw := group.NewMatrix3("turn and stretch", [][9]float64{{0, -1, 0, 1, 0, 0, 0, 0, 0}, {8: 1}}, 1, func(a, q, x []float64) {
		a[0], a[1], q[0] = math.Atan2(x[1], x[0]), math.Log(x[2]), math.Hypot(x[0], x[1])
	}, 0.5)
	l := group.LiftPoints(screw, []float64{3, 0, 1, 0, 4, math.E}, 1, 0)
	ai, qi := l.Row(1)
	aj, qj := l.Row(0)
	pose := make([]float64, group.PoseDim(screw))
	screw.RelativePose(pose, ai, qi, aj, qj)
	fmt.Printf("%.4f\n", pose)
	// Output: [1.5708 1.0000 4.0000 3.0000]
}

// Evenly spread samples of the stabiliser: three lifts of a point on the x axis, turned by thirds of a circle about it.
func ExampleLiftPointsUniform() {
	l := group.LiftPointsUniform(group.NewSO3(0), []float64{2, 0, 0}, 3)
	for i := range l.Rows() {
		a, q := l.Row(i)
		fmt.Printf("%.4f %.0f\n", a, q)
	}
	// Output:
	// [0.0000 0.0000 0.0000] [2]
	// [2.0944 0.0000 0.0000] [2]
	// [-2.0944 0.0000 0.0000] [2]
}

// The points within a radius of a query.
func ExampleFinder() {
	g := group.NewRxSO2(0)
	l := group.LiftPoints(g, []float64{1, 0, 0, 2, -1, 0, 1.1, 0.1}, 1, 0)
	f := group.NewFinder(l, nil, 0.2)
	var w group.Workspace
	a, q := l.Row(0)
	fmt.Println(f.Find(&w, a, q))
	// Output: [0 3]
}

// motions is SE(2) with lifts at angles of one's own choice. It embeds SE2, so the kernels that know SE(2)'s distance serve it as well.
type motions struct{ *group.SE2 }

func (motions) Name() string { return "motions" }

func (m motions) Lift(a, q, x []float64, k int, rng *rand.Rand) {
	m.SE2.Lift(a, q, x, k, rng)
	for l := range k {
		m.Compose(a[3*l:3*l+3], a[3*l:3*l+3], []float64{0.1, 0, 0})
	}
}

// A test of a group of one's own: do its methods agree with each other?
func ExampleCheck() {
	g := motions{group.NewSE2(0)}
	fmt.Println(group.Check(g))
	f := group.NewFinder(group.LiftPoints(g, []float64{0, 0, 1, 0, 5, 5}, 2, 0), nil, 1)
	fmt.Println(f.Fast(), f.Len())
	// Output:
	// <nil>
	// true 6
}

// The digest tells groups apart that a name does not: here by the weight, and by the lift.
func ExampleDigest() {
	one, err := group.Parse("T(2)", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(group.Digest(one) == group.Digest(group.NewT(2, 0)), group.Digest(one) == group.Digest(group.NewT(2, 0.5)))
	fmt.Println(group.Digest(group.NewSE2(0)) == group.Digest(motions{group.NewSE2(0)}))
	// Output:
	// true false
	// false
}

func ExampleParse() {
	for _, name := range []string{"so2", "R>0 × SO(2)", "SE 2"} {
		g, err := group.Parse(name, 0)
		fmt.Println(g.Name(), g.Alpha(), group.PoseDim(g), err)
	}
	_, err := group.Parse("E(8)", 0)
	fmt.Println(strings.Replace(err.Error(), "SE(3), Sq", "SE(3),\nSq", 1))
	// Output:
	// SO(2) 0.3 3 <nil>
	// R>0xSO(2) 0.3 2 <nil>
	// SE(2) 0.2 3 <nil>
	// group: unknown group "E(8)", the choices are T(n), SO(2), R>0xSO(2), SE(2), R>0(n), R>0xSqueeze, SO(3), SE(3),
	// Squeeze, Sim(2), trivial(n), Sim(2) at n scales, T(n) along c, (G) x (H)
}

func ExampleCandidates() {
	fmt.Println(group.Candidates(3, 2))
	// Output: [SO(2) SE(2) R>0(2)]
}

// Edge features of a graph network that knows nothing but relative poses: how the other points lie as seen from point 0, which
// stays the same when all points are rotated.
func ExampleRelativePoses() {
	g := group.NewSO2(0)
	l := group.LiftPoints(g, []float64{1, 0, 0, 2, -3, 0}, 1, 0)
	ai, qi := l.Row(0)
	index := []int32{1, 2} // point 0 has two neighbours
	edges := make([]float64, len(index)*group.PoseDim(g))
	group.RelativePoses(edges, ai, qi, l, index)
	fmt.Printf("%.4f\n%.4f\n", edges[:3], edges[3:])
	// Output:
	// [-1.5708 1.0000 2.0000]
	// [3.1416 1.0000 3.0000]
}

// A robot's poses as coordinates of SE(2): its next pose after a step of its own, and where it was as seen from there.
func ExampleComposer() {
	var g group.Composer = group.NewSE2(0)
	step := []float64{math.Pi / 2, math.Pi, 0} // a quarter turn on a circle of radius 2
	pose := []float64{0, 0, 0}
	for range 2 {
		g.Compose(pose, pose, step)
	}
	at := make([]float64, 2)
	g.Act(at, pose, []float64{0, 0})
	fmt.Printf("at (%.3f, %.3f)\n", at[0]+0, at[1])
	back := make([]float64, 3)
	g.Inverse(back, pose)
	g.Act(at, back, []float64{0, 0})
	fmt.Printf("the start lies %.3f to the left\n", at[1])
	// Output:
	// at (0.000, 4.000)
	// the start lies 4.000 to the left
}

// Measurements at places of the plane and at times: moving all of them in the plane, or in time, changes no relative pose.
func ExampleNewProduct() {
	g := group.NewProduct(group.NewSE2(0), group.NewT(1, 0), 0.5)
	fmt.Println(g.Name(), "on points of", g.PointDim(), "coordinates; a pose has", group.PoseDim(g))
	fmt.Println(group.IsIsometric(g), group.IsIsometric(group.NewRxSO2(0)))
	// Output:
	// (SE(2), alpha 0.2) x (T(1), alpha 0.2) on points of 3 coordinates; a pose has 4
	// true false
}

// Points that arrive one after the other are lifted alone and appended.
func ExampleLifted_Append() {
	g := group.NewT(2, 0)
	l := group.LiftPoints(g, []float64{0, 0, 3, 4}, 1, 0)
	l.Append(group.LiftPoints(g, []float64{6, 8}, 1, 0))
	a, _ := l.Row(2)
	fmt.Println(l.Rows(), a)
	// Output: 3 [6 8]
}

// The choices of a menu.
func ExampleNames() {
	fmt.Println(group.Names()[:6])
	// Output: [T(1) T(2) T(3) SO(2) R>0xSO(2) SE(2)]
}
