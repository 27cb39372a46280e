package batch_test

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/linalg/batch"
)

// The log-polar coordinates (log r, θ) of a batch of points: a point is the first column of the rotation-scaling that takes
// (1, 0) to it.
func ExampleLog() {
	const n = 4
	points := []float32{
		1, 0, -2, 3, // x
		0, 1, 0, 4, // y
	}
	polar := make([]float32, 2*n)
	batch.Log(batch.RxSO2, polar, points, n)
	for i := range n {
		fmt.Printf("log r %.4f, angle %.4f\n", polar[i], polar[n+i])
	}
	// Output:
	// log r 0.0000, angle 0.0000
	// log r 0.0000, angle 1.5708
	// log r 0.6931, angle 3.1416
	// log r 1.6094, angle 0.9273
}

// How a pose moves when its coordinates do: the Jacobians of a batch of poses, here of one.
func ExampleLeftJacobian() {
	a := []float64{0.3, -0.2, 0.5, 1, 2, 3} // rotation vector, translation part
	d := []float64{1e-4, 2e-4, -1e-4, 3e-4, 0, 1e-4}
	j := make([]float64, 36)
	batch.LeftJacobian(batch.SE3, j, a, 1)
	moved, left, both := make([]float64, 6), make([]float64, 6), make([]float64, 6)
	for r := range 6 {
		moved[r] = a[r] + d[r]
		for c := range 6 {
			left[r] += j[6*r+c] * d[c]
		}
	}
	batch.Compose(batch.SE3, both, left, a, 1) // log(exp(J·d)·exp(a))
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
func ExampleExp3x3() {
	const n = 2
	a := make([]float64, 9*n)
	a[1*n+0], a[5*n+0] = 1, 1              // matrix 0: ones above the diagonal
	a[0*n+1], a[4*n+1] = 1, math.Log(0.25) // matrix 1: diag(1, log 1/4, 0)
	batch.Exp3x3(a, a, n)
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
