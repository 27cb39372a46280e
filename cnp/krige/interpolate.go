package krige

import (
	"context"
	"fmt"
)

// Interpolate fits a table, x [n, d] and y [n], and returns mean and standard deviation of a new value at each target
// [nt, d]. The number of coordinates d follows from the lengths of x and y.
func Interpolate(x, y, targets []float64) (mean, std []float64, err error) {
	if len(y) == 0 || len(x)%len(y) != 0 {
		return nil, nil, fmt.Errorf("%w: %d coordinates for %d values", ErrInput, len(x), len(y))
	}
	ctx := context.Background()
	m, err := Fit(ctx, x, y, Options{Dim: len(x) / len(y)})
	if err != nil {
		return nil, nil, err
	}
	return m.Predict(ctx, targets)
}
