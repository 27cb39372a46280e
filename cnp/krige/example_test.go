package krige_test

import (
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/krige"
)

func ExampleInterpolate() {
	x := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	y := []float64{0.0, 0.8, 0.9, 0.1, -0.8, -1.0, -0.3, 0.7, 1.0, 0.4}
	mean, std, err := krige.Interpolate(x, y, []float64{4.5})
	if err != nil {
		panic(err)
	}
	fmt.Println(mean[0] < -0.8, mean[0] > -1.2, std[0] < 0.4)
	// Output: true true true
}
