package krige_test

import (
	"context"
	"fmt"
	"log"
	"math"

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

// A model is fitted once, and then answers any number of goroutines. New rows are a new fit; what is kept is the table.
func ExampleFit() {
	x := []float64{0, 1, 2, 3, 4, 5, 6, 7}
	y := []float64{2.0, 2.9, 3.1, 2.2, 1.1, 0.9, 1.9, 2.8}
	ctx := context.Background()
	m, err := krige.Fit(ctx, x, y, krige.Options{Dim: 1})
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.At(ctx, []float64{2.5, 9})
	if err != nil {
		log.Fatal(err)
	}
	low, high := p.Quantile(0.05), p.Quantile(0.95)
	fmt.Println(low[0] < p.Mean[0], p.Mean[0] < high[0], p.Std[0] < p.Std[1])
	samples, err := m.Samples(ctx, []float64{2.5, 2.6}, 100, 1) // which know that both targets are close
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(samples), len(samples[0]))
	_, err = krige.Fit(ctx, x, append(y[:7:7], math.NaN()), krige.Options{Dim: 1})
	fmt.Println(err)
	// Output:
	// true true true
	// 100 2
	// krige: input: y: row 7, column 0 is NaN: need finite numbers
}
