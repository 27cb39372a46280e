package design_test

import (
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/design"
)

// Two candidates tell about one target each, the third about both.
func ExampleBelief_Choose() {
	cov := []float64{
		1, 0, 0.6, 0.8, 0,
		0, 1, 0.6, 0, 0.8,
		0.6, 0.6, 1, 0.7, 0.7,
		0.8, 0, 0.7, 1, 0,
		0, 0.8, 0.7, 0, 1,
	}
	b, err := design.FromCovariance(cov, 3, 0.1)
	if err != nil {
		panic(err)
	}
	chosen, err := b.Choose(1, design.Error)
	if err != nil {
		panic(err)
	}
	fmt.Printf("candidate %d lowers the squared error by %.2f\n", chosen[0].Candidate, chosen[0].Gain)
	// Output: candidate 2 lowers the squared error by 0.89
}
