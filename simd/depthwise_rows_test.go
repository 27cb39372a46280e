package simd

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestDepthwiseRows: a neighbourhood that was checked gives the bits of one that is not. Rows come in sets with the same poses.
func TestDepthwiseRows(t *testing.T) {
	const points, poses = 30, 11
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(31)
		for _, rows := range []int{0, 1, 3, 4, 9, 70} {
			offsets, index, pose, list := []int{7}, []int32{}, []int32{}, []int32(nil)
			for i := range rows {
				if i%5 == 0 || rng.IntN(6) == 0 {
					list = make([]int32, rng.IntN(9))
					for k := range list {
						list[k] = int32(rng.IntN(poses))
					}
				}
				for _, p := range list {
					index, pose = append(index, int32(rng.IntN(points))), append(pose, p)
				}
				offsets = append(offsets, 7+len(index))
			}
			p := NewDepthwiseRows(offsets, testkit.CopyAtEnd(t, index), testkit.CopyAtEnd(t, pose), points, poses)
			for _, c := range []int{0, 1, 16, 31, 32, 70} {
				t.Run(fmt.Sprintf("rows=%d/c=%d", rows, c), func(t *testing.T) {
					f := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, points*c))
					w := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, poses*c))
					for _, mean := range []bool{false, true} {
						want, got := make([]float32, rows*c), testkit.AtEnd[float32](t, rows*c)
						DepthwiseF32(want, f, w, offsets, index, pose, c, mean)
						DepthwiseRowsF32(got, f, w, p, c, mean)
						require.True(t, testkit.SameBits(want, got))
					}
				})
			}
		}
	})
}

func TestDepthwiseRowsPanics(t *testing.T) {
	require.PanicsWithValue(t, "simd: NewDepthwiseRows: index[1] = 3, need 0 to 2",
		func() { NewDepthwiseRows([]int{0, 2}, []int32{0, 3}, []int32{0, 0}, 3, 1) })
	require.PanicsWithValue(t, "simd: NewDepthwiseRows: pose[0] = -1, need 0 to 0",
		func() { NewDepthwiseRows([]int{0, 2}, []int32{0, 1}, []int32{-1, 0}, 3, 1) })
	p := NewDepthwiseRows([]int{0, 2}, []int32{0, 2}, []int32{0, 0}, 3, 1)
	x := make([]float32, 6)
	require.PanicsWithValue(t, "simd: DepthwiseRowsF32: len(out) = 1, need 2", func() { DepthwiseRowsF32(x[:1], x, x[:2], p, 2, true) })
	require.PanicsWithValue(t, "simd: DepthwiseRowsF32: len(f) = 5, need 6", func() { DepthwiseRowsF32(x[:2], x[:5], x[:2], p, 2, true) })
	require.PanicsWithValue(t, "simd: DepthwiseRowsF32: len(w) = 1, need 2", func() { DepthwiseRowsF32(x[:2], x, x[:1], p, 2, true) })
}
