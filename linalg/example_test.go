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
