package search

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestGreatest compares with a loop, on memory that ends at a page that cannot be read.
func TestGreatest(t *testing.T) {
	testkit.EachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(312)
		for _, rows := range []int{1, 2, 3, 17, 256} {
			x, add := testkit.AtEnd[int32](t, rows*GreatestColumns), testkit.AtEnd[int32](t, rows)
			for i := range x {
				x[i] = int32(rng.Uint32()>>1) - 1<<30
			}
			for i := range add {
				add[i] = int32(rng.Uint32()>>1) - 1<<30
			}
			x[0], add[0] = math.MinInt32/2, math.MinInt32/2
			dst := testkit.AtEnd[int32](t, GreatestColumns)
			Greatest(dst, x, add)
			for j, got := range dst {
				want := int32(math.MinInt32)
				for i, v := range add {
					want = max(want, x[i*GreatestColumns+j]+v)
				}
				require.Equal(t, want, got, "%d rows, column %d", rows, j)
			}
		}
	})
	require.PanicsWithValue(t, "search: Greatest: len(x) = 31, need 32",
		func() { Greatest(make([]int32, 32), make([]int32, 31), make([]int32, 1)) })
	require.Panics(t, func() { Greatest(make([]int32, 32), nil, nil) })
}
