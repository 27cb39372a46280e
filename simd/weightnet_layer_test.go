package simd

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestDenseSwish: layer by layer, and the last one in ranges of columns, give the bits of WeightNet, which has a test of its own.
func TestDenseSwish(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testDenseSwish[float32])
		t.Run("F64", testDenseSwish[float64])
	})
}

func testDenseSwish[T Float](t *testing.T) {
	rng := testkit.Rand(23)
	for _, widths := range weightNetWidths {
		for _, rows := range []int{0, 1, 15, weightNetTile, 130} {
			t.Run(fmt.Sprintf("%v/rows=%d", widths, rows), func(t *testing.T) {
				net, w := weightNetOf[T](rng, widths, rows%2 == 0)
				pose, want := testkit.Normal[T](rng, rows*widths[0]), make([]T, rows*widths[3])
				WeightNet(want, pose, &net, rows, make([]T, WeightNetScratch(&net)))
				x := testkit.CopyAtEnd(t, pose)
				for l := range 2 {
					y := testkit.AtEnd[T](t, rows*widths[l+1])
					DenseSwish(y, x, &net[l], rows)
					x = y
				}
				k, n := widths[2], widths[3]
				for lo := 0; lo < n; lo += 32 {
					c := min(32, n-lo)
					part := Dense[T]{B: Pack(w[2][lo:], n, k, c)}
					if net[2].Bias != nil {
						part.Bias = net[2].Bias[lo : lo+c]
					}
					y := testkit.AtEnd[T](t, rows*c)
					DenseSwish(y, x, &part, rows)
					for i := range rows {
						require.True(t, testkit.SameBits(want[i*n+lo:i*n+lo+c], y[i*c:(i+1)*c]), "row %d, columns from %d", i, lo)
					}
				}
			})
		}
	}
}

func TestDenseSwishPanics(t *testing.T) {
	net, _ := weightNetOf[float32](testkit.Rand(24), [4]int{2, 3, 4, 5}, true)
	require.PanicsWithValue(t, "simd: DenseSwishF32: len(x) = 3, need 4",
		func() { DenseSwishF32(make([]float32, 6), make([]float32, 3), &net[0], 2) })
	require.PanicsWithValue(t, "simd: DenseSwishF32: len(dst) = 5, need 6",
		func() { DenseSwishF32(make([]float32, 5), make([]float32, 4), &net[0], 2) })
	short := Dense[float32]{B: net[0].B, Bias: net[0].Bias[:1]}
	require.PanicsWithValue(t, "simd: DenseSwishF32: len(layer.Bias) = 1, need 3",
		func() { DenseSwishF32(make([]float32, 6), make([]float32, 4), &short, 2) })
	require.Panics(t, func() { DenseSwishF32(nil, nil, &net[0], -1) })
}
