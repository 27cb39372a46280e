package simd

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestDepthwiseRows: a neighbourhood that was checked gives the bits of one that is not. Rows come in sets with the same poses, too few to
// be put in order.
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
			p := NewDepthwiseRows(offsets, testkit.CopyAtEnd(t, index), testkit.CopyAtEnd(t, pose), nil, points, poses)
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

// TestDepthwiseRowsOrder: rows with the same poses, from eight on, go by the first one's indices, equal ones as they
// came, all others as they are; what was given is left alone, and nothing is copied that is in order.
func TestDepthwiseRowsOrder(t *testing.T) {
	const points, poses = 40, 60
	rng := testkit.Rand(32)
	offsets, index, pose := []int{5}, []int32{}, []int32{}
	for _, run := range []struct{ rows, pairs int }{{7, 20}, {8, 20}, {1, 30}, {30, 50}, {9, 0}, {12, 1}, {8, 3}} {
		list := make([]int32, run.pairs)
		for k := range list {
			list[k] = int32(rng.IntN(poses))
		}
		for range run.rows {
			for _, p := range list {
				index, pose = append(index, int32(rng.IntN(points))), append(pose, p)
			}
			offsets = append(offsets, offsets[len(offsets)-1]+run.pairs)
		}
	}
	ix, ps := slices.Clone(index), slices.Clone(pose)
	p := NewDepthwiseRows(offsets, index, pose, nil, points, poses)
	require.Equal(t, ix, index)
	require.Equal(t, ps, pose)
	type pair struct{ key, index, pose int32 }
	for lo, hi := 0, 0; lo < len(p.same); lo = hi {
		for hi = lo + 1; hi < len(p.same) && p.same[hi]; hi++ {
		}
		first := offsets[lo] - offsets[0]
		for i := lo; i < hi; i++ {
			var want []pair
			for k := offsets[i] - offsets[0]; k < offsets[i+1]-offsets[0]; k++ {
				want = append(want, pair{index[first+len(want)], index[k], pose[k]})
			}
			if hi-lo >= 8 {
				slices.SortStableFunc(want, func(a, b pair) int { return int(a.key - b.key) })
			}
			for k, pr := range want {
				at := offsets[i] - offsets[0] + k
				require.Equal(t, [2]int32{pr.index, pr.pose}, [2]int32{p.index[at], p.pose[at]}, "row %d pair %d", i, k)
			}
		}
	}
	again := NewDepthwiseRows(offsets, p.index, p.pose, nil, points, poses)
	require.Same(t, &p.index[0], &again.index[0])
}

func TestDepthwiseRowsPanics(t *testing.T) {
	require.PanicsWithValue(t, "simd: NewDepthwiseRows: index[1] = 3, need 0 to 2",
		func() { NewDepthwiseRows([]int{0, 2}, []int32{0, 3}, []int32{0, 0}, nil, 3, 1) })
	require.PanicsWithValue(t, "simd: NewDepthwiseRows: pose[0] = -1, need 0 to 0",
		func() { NewDepthwiseRows([]int{0, 2}, []int32{0, 1}, []int32{-1, 0}, nil, 3, 1) })
	p := NewDepthwiseRows([]int{0, 2}, []int32{0, 2}, []int32{0, 0}, nil, 3, 1)
	x := make([]float32, 6)
	require.PanicsWithValue(t, "simd: DepthwiseRowsF32: len(out) = 1, need 2", func() { DepthwiseRowsF32(x[:1], x, x[:2], p, 2, true) })
	require.PanicsWithValue(t, "simd: DepthwiseRowsF32: len(f) = 5, need 6", func() { DepthwiseRowsF32(x[:2], x[:5], x[:2], p, 2, true) })
	require.PanicsWithValue(t, "simd: DepthwiseRowsF32: len(w) = 1, need 2", func() { DepthwiseRowsF32(x[:2], x, x[:1], p, 2, true) })
}

// TestSameRows: what a caller says of rows is what comparing them finds, and rows of different lengths are refused.
func TestSameRows(t *testing.T) {
	offsets, index, pose := samePoses(testkit.Rand(77), 30, 11, 5)
	found := NewDepthwiseRows(offsets, index, pose, nil, 11, 5)
	told := NewDepthwiseRows(offsets, index, pose, found.same, 11, 5)
	require.Equal(t, found, told)
	for want, f := range map[string]func(){
		"simd: NewDepthwiseRows: same[1] with 1 poses, the row before has 2": func() {
			NewDepthwiseRows([]int{0, 2, 3}, make([]int32, 3), make([]int32, 3), []bool{false, true}, 1, 1)
		},
		"simd: NewDepthwiseRows: len(same) = 1, need 2": func() {
			NewDepthwiseRows([]int{0, 2, 4}, make([]int32, 4), make([]int32, 4), []bool{false}, 1, 1)
		},
	} {
		require.PanicsWithValue(t, want, f)
	}
}
