package likelihood_test

import (
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/likelihood"
)

// Numbers of a network become a distribution, and the distribution answers questions.
func Example() {
	l, err := likelihood.Parse("bernoulli-gamma", likelihood.Options{Values: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	raw, params := []float64{0, 1, 2}, make([]float64, l.Outputs())
	l.Parameters(params, raw)
	mean, std := l.Moments(params)
	fmt.Printf("mean %.3f, deviation %.3f\n", mean, std)
	fmt.Printf("median %.3f, 9 of 10 values are at most %.3f\n", l.Quantile(0.5, params), l.Quantile(0.9, params))
	// Output:
	// mean 0.657, deviation 0.915
	// median 0.000, 9 of 10 values are at most 1.952
}
