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

// The log-polar coordinates (log r, θ) of a batch of points: a point is the first column of the rotation-scaling that takes
// (1, 0) to it.
func ExampleLogRxSO2F32() {
	const n = 4
	points := []float32{
		1, 0, -2, 3, // x
		0, 1, 0, 4, // y
	}
	polar := make([]float32, 2*n)
	linalg.LogRxSO2F32(polar, points, n)
	for i := range n {
		fmt.Printf("log r %.4f, angle %.4f\n", polar[i], polar[n+i])
	}
	// Output:
	// log r 0.0000, angle 0.0000
	// log r 0.0000, angle 1.5708
	// log r 0.6931, angle 3.1416
	// log r 1.6094, angle 0.9273
}

// The pose of one rigid motion as seen from another, log(v⁻¹u): a rotation vector and a translation part.
func ExampleInverseSE3() {
	var u, v, rel [16]float64
	linalg.ExpSE3(&v, &[6]float64{0, 0, math.Pi / 2, 0, 0, 0})
	linalg.ExpSE3(&u, &[6]float64{0, 0, math.Pi / 2, 0, 0, 5})
	linalg.InverseSE3(&rel, &v)
	linalg.Mul4x4(&rel, &rel, &u)
	var pose [6]float64
	linalg.LogSE3(&pose, &rel)
	fmt.Printf("%.3f\n", pose)
	// Output: [0.000 0.000 0.000 0.000 0.000 5.000]
}

// How a pose moves when its coordinates do: the Jacobians of a batch of poses, here of one.
func ExampleLeftJacobianSE3F64() {
	a := []float64{0.3, -0.2, 0.5, 1, 2, 3} // rotation vector, translation part
	d := []float64{1e-4, 2e-4, -1e-4, 3e-4, 0, 1e-4}
	j := make([]float64, 36)
	linalg.LeftJacobianSE3F64(j, a, 1)
	moved, left, both := make([]float64, 6), make([]float64, 6), make([]float64, 6)
	for r := range 6 {
		moved[r] = a[r] + d[r]
		for c := range 6 {
			left[r] += j[6*r+c] * d[c]
		}
	}
	linalg.ComposeSE3F64(both, left, a, 1) // log(exp(J·d)·exp(a))
	for r := range 6 {
		fmt.Printf("%.5f %.5f\n", moved[r], both[r])
	}
	// Output:
	// 0.30010 0.30010
	// -0.19980 -0.19980
	// 0.49990 0.49990
	// 1.00030 1.00030
	// 2.00000 2.00000
	// 3.00010 3.00010
}

// Two 3×3 exponentials at once, entry by entry beside each other: of a nilpotent matrix and of a diagonal one.
func ExampleExp3x3F64() {
	const n = 2
	a := make([]float64, 9*n)
	a[1*n+0], a[5*n+0] = 1, 1              // matrix 0: ones above the diagonal
	a[0*n+1], a[4*n+1] = 1, math.Log(0.25) // matrix 1: diag(1, log 1/4, 0)
	linalg.Exp3x3F64(a, a, n)
	for i := range n {
		for r := range 3 {
			fmt.Printf("%.4f %.4f %.4f\n", a[(3*r)*n+i], a[(3*r+1)*n+i], a[(3*r+2)*n+i])
		}
	}
	// Output:
	// 1.0000 1.0000 0.5000
	// 0.0000 1.0000 1.0000
	// 0.0000 0.0000 1.0000
	// 2.7183 0.0000 0.0000
	// 0.0000 0.2500 0.0000
	// 0.0000 0.0000 1.0000
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
