package neighbor

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// uniform draws n points of the unit cube.
func uniform[T Float](n, dim int) []T {
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]T, n*dim)
	for i := range x {
		x[i] = T(rng.Float32())
	}
	return x
}

func BenchmarkTreeBuild(b *testing.B) {
	for _, dim := range []int{2, 3} {
		for _, n := range []int{1 << 12, 1 << 16} {
			b.Run(fmt.Sprintf("type=float32/dim=%d/n=%d", dim, n), func(b *testing.B) {
				x := uniform[float32](n, dim)
				for b.Loop() {
					if _, err := NewTree(x, dim, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("type=float64/dim=%d/n=%d", dim, n), func(b *testing.B) {
				x := uniform[float64](n, dim)
				for b.Loop() {
					if _, err := NewTree(x, dim, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
