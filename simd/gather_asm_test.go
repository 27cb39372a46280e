//go:build !purego && (amd64 || arm64 || (wasm && goexperiment.simd && go1.27))

package simd

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestGatherMax compares with a loop, at the end and at the start of readable memory.
func TestGatherMax(t *testing.T) {
	rng, step := testkit.Rand(47), 1
	if testing.Short() {
		step = 7 // every place in a vector all the same
	}
	eachLevel(t, func(t *testing.T) {
		if CurrentLevel() == Generic {
			t.Skip("skipped: the portable kernels have Go's own checks")
		}
		for _, n := range lengths() {
			x := make([]int32, n)
			for k := range x {
				x[k] = int32(rng.IntN(1000))
			}
			for _, y := range [][]int32{testkit.CopyAtEnd(t, x), testkit.CopyAtStart(t, x)} {
				require.NotPanics(t, func() { checkIndex("Fn", "y", y, 0, 1000) })
				for at := 0; at < min(n, 90); at += step {
					was := y[at]
					for _, bad := range []int32{1000, -1, math.MinInt32, math.MaxInt32} {
						y[at] = bad
						require.PanicsWithValue(t, fmt.Sprintf("simd: Fn: y[%d] = %d, need 0 to 999", 5+at, bad),
							func() { checkIndex("Fn", "y", y, 5, 1000) })
					}
					y[at] = was
				}
			}
		}
	})
}

// BenchmarkCheckIndex is what kernels spend on looking at their indices, in bytes of these.
func BenchmarkCheckIndex(b *testing.B) {
	for _, n := range []int{1 << 10, 1 << 13, 1 << 20} {
		x := make([]int32, n)
		before := CurrentLevel()
		for _, l := range Levels()[1:] {
			b.Run(fmt.Sprintf("n=%d/impl=%v", n, l), func(b *testing.B) {
				if err := SetLevel(l); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(4 * n))
				for b.Loop() {
					checkIndex("BenchmarkCheckIndex", "x", x, 0, 1)
				}
			})
		}
		if err := SetLevel(before); err != nil {
			b.Fatal(err)
		}
	}
}
