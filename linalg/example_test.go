package linalg_test

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/linalg"
)

// A quarter turn about the z axis, and back.
func ExampleExpSO3() {
	var m [9]float64
	linalg.ExpSO3(&m, &[3]float64{0, 0, math.Pi / 2})
	for i := range 3 {
		fmt.Printf("%4.1f %4.1f %4.1f\n", m[3*i]+0, m[3*i+1]+0, m[3*i+2]+0)
	}
	var w [3]float64
	linalg.LogSO3(&w, &m)
	fmt.Printf("%.4f\n", w)
	// Output:
	//  0.0 -1.0  0.0
	//  1.0  0.0  0.0
	//  0.0  0.0  1.0
	// [0.0000 0.0000 1.5708]
}

// The logarithm of a half turn, where the usual formula divides 0 by 0.
func ExampleLogSO3() {
	m := [9]float64{-1, 0, 0, 0, 1, 0, 0, 0, -1}
	var w [3]float64
	linalg.LogSO3(&w, &m)
	fmt.Printf("%.6f\n", w)
	// Output: [0.000000 3.141593 0.000000]
}

// Driving forward while turning: the motion of a car that turns by 90° on a circle of radius 2.
func ExampleExpMotion2() {
	m := linalg.ExpMotion2(&[3]float64{math.Pi / 2, math.Pi, 0})
	fmt.Printf("(%.3f, %.3f)\n", m.X, m.Y)
	var a [3]float64
	m.Log(&a)
	fmt.Printf("%.4f\n", a)
	// Output:
	// (2.000, 2.000)
	// [1.5708 3.1416 0.0000]
}

func ExampleLogHypot() {
	fmt.Println(linalg.LogHypot(3e-200, 4e-200), linalg.LogHypot(0, 1))
	// Output: -458.907580686375 0
}

// The pose of one rigid motion as seen from another, log(v⁻¹u): a rotation vector and a translation part.
func ExampleInverseSE3() {
	var u, v, rel [12]float64
	linalg.ExpSE3(&v, &[6]float64{0, 0, math.Pi / 2, 0, 0, 0})
	linalg.ExpSE3(&u, &[6]float64{0, 0, math.Pi / 2, 0, 0, 5})
	linalg.InverseSE3(&rel, &v)
	linalg.MulSE3(&rel, &rel, &u)
	var pose [6]float64
	linalg.LogSE3(&pose, &rel)
	fmt.Printf("%.3f\n", pose)
	// Output: [0.000 0.000 0.000 0.000 0.000 5.000]
}

// A half turn has no principal logarithm as a general matrix: its eigenvalue -1 lies on the cut.
func ExampleLog2x2() {
	var x [4]float64
	fmt.Println(linalg.Log2x2(&x, &[4]float64{0, -1, 1, 0}), linalg.Log2x2(&[4]float64{}, &[4]float64{-1, 0, 0, -1}))
	fmt.Printf("%.4f\n", x[2])
	// Output:
	// true false
	// 1.5708
}

// A third of the way from one orientation to another: a quarter turn about z, of which slerp takes 30°.
func ExampleQuat_Slerp() {
	from, to := linalg.Quat{1, 0, 0, 0}, linalg.ExpQuat(&[3]float64{0, 0, math.Pi / 2})
	x := from.Slerp(to, 1./3).Rotate([3]float64{1, 0, 0})
	fmt.Printf("%.4f\n", x)
	// Output: [0.8660 0.5000 0.0000]
}

// Halfway between two poses along a screw, whose turn and advance go on at constant speeds: m·exp(t·log(m⁻¹n)).
func ExampleMotion3_From() {
	m := linalg.Motion3{Q: linalg.Quat{1, 0, 0, 0}, P: [3]float64{1, 0, 0}}
	n := linalg.Motion3{Q: linalg.ExpQuat(&[3]float64{0, 0, math.Pi / 2}), P: [3]float64{0, 1, 2}} // a quarter turn about z, and up
	var a [6]float64
	m.From(&n).Log(&a)
	for i := range a {
		a[i] *= 0.5
	}
	half := m.Mul(linalg.ExpMotion3(&a))
	fmt.Printf("%.4f\n", half.P)
	// Output: [0.7071 0.7071 1.0000]
}

// The mean of rotations: the one that the others' rotation vectors, as seen from it, balance around. A few steps find it where all are
// within a quarter turn of it. Motion3 has a mean by the same steps.
func ExampleQuat_Log() {
	var all []linalg.Quat
	for _, degrees := range []float64{-20, 10, 40} {
		all = append(all, linalg.ExpQuat(&[3]float64{0, degrees * math.Pi / 180, 0}))
	}
	mean := all[0]
	for range 10 {
		var sum, w [3]float64
		for _, q := range all {
			mean.Conj().Mul(q).Log(&w)
			for i := range sum {
				sum[i] += w[i] / float64(len(all))
			}
		}
		mean = mean.Mul(linalg.ExpQuat(&sum)).Unit()
	}
	var w [3]float64
	mean.Log(&w)
	fmt.Printf("%.4f°\n", w[1]*180/math.Pi)
	// Output: 10.0000°
}
