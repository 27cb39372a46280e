package blas_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/equivcnp/equivcnp/linalg/blas"
)

// From here on gonum's mat, lapack and stat compute with these kernels.
func ExampleImplementation() {
	defer blas64.Use(blas64.Implementation()) // what there was before; a program has no need to
	blas64.Use(blas.Implementation{})

	a := mat.NewDense(2, 2, []float64{2, 1, 1, 3})
	var square mat.Dense
	square.Mul(a, a)
	fmt.Println(mat.Formatted(&square))

	var x mat.VecDense
	if err := x.SolveVec(a, mat.NewVecDense(2, []float64{5, 10})); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", mat.Formatted(&x))
	// Output:
	// ⎡ 5   5⎤
	// ⎣ 5  10⎦
	// ⎡1.0000⎤
	// ⎣3.0000⎦
}
