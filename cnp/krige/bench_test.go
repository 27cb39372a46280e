package krige

import (
	"fmt"
	"testing"
)

// BenchmarkTable fits a table and predicts 10,000 targets.
func BenchmarkTable(b *testing.B) {
	for _, n := range []int{100, 155, 300, 1000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			x, y := table(n, 2, 0.1, 61)
			targets, _ := table(10000, 2, 0, 62)
			for b.Loop() {
				m, err := Fit(b.Context(), x, y, Options{Dim: 2})
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := m.Predict(b.Context(), targets); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
