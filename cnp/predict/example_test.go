package predict_test

import (
	"context"
	"fmt"
	"log"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
)

// Five temperatures along a line, and what one would be between them and beyond them.
func ExampleInterpolate() {
	x, y := []float64{0, 1, 2, 3, 4}, []float64{12, 13.1, 13.9, 15, 16.1} // one coordinate a value
	mean, std, err := predict.Interpolate(x, y, []float64{2.2, 8})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f; surer between the values than beyond them: %t\n", mean[0], std[0] < std[1])
	// Output: 14; surer between the values than beyond them: true
}

// A shipped model predicts a curve from three points, with 90 % intervals.
func ExamplePrepareCurves() {
	ctx := context.Background()
	m, err := predict.OpenRegressor(ctx, predict.OpenOptions{}, "rbf-levels")
	if err != nil {
		log.Fatal(err)
	}
	batch := &cnp.Batch[float32]{
		B: 1, Nc: 3, XContext: []float64{-1, 0, 1}, YContext: []float32{0.2, 0.9, 0.4}, // one task of three points
		Nt: 2, XTarget: []float64{0, 0.5}, // two targets
	}
	prepared, err := predict.PrepareCurves(m, batch, predict.Options{Quantiles: []float64{0.05, 0.95}})
	if err != nil {
		log.Fatal(err)
	}
	result, err := prepared.Run(ctx)
	if err != nil {
		log.Fatal(err)
	}
	tensors, err := result.Tensors()
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range tensors {
		fmt.Println(t.Name, t.Shape)
	}
	// Output:
	// mean [1 2 1]
	// std [1 2 1]
	// quantiles [1 2 1 2]
}
