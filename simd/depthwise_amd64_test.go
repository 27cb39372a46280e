//go:build !purego

package simd

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestDepthwiseTall wants the same bits from groups of every size, whichever of them this CPU would choose, with runs of rows that go on
// from one chunk to the next.
func TestDepthwiseTall(t *testing.T) {
	chosen := depthwiseTall
	t.Cleanup(func() { depthwiseTall = chosen })
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(44)
		for _, c := range []int{1, 16, 31, 32, 33, 63, 64, 65, 100, 128, 191, 300, 1000} {
			const points, poses = 9, 300
			offsets, index, pose := longRuns(rng, points, poses)
			rows := len(offsets) - 1
			f := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, points*c))
			w := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, poses*c))
			ix, ps := testkit.CopyAtEnd(t, index), testkit.CopyAtEnd(t, pose)
			checked := NewDepthwiseRows(offsets, ix, ps, points, poses)
			for _, mean := range []bool{false, true} {
				want := make([]float32, rows*c)
				for i := range rows {
					a, b := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
					DepthwiseF32(want[i*c:i*c+c], f, w, offsets[i:i+2], ix[a:b], ps[a:b], c, mean)
				}
				for _, depthwiseTall = range []bool{false, true} {
					out := testkit.AtEnd[float32](t, rows*c)
					DepthwiseF32(out, f, w, offsets, ix, ps, c, mean)
					require.True(t, testkit.SameBits(out, want), "c=%d tall=%v", c, depthwiseTall)
					clear(out)
					DepthwiseRowsF32(out, f, w, checked, c, mean)
					require.True(t, testkit.SameBits(out, want), "c=%d tall=%v, checked", c, depthwiseTall)
				}
			}
		}
	})
}

// longRuns lists rows in runs of up to 40 with the same poses: of few pairs, of many, and of none.
func longRuns(rng *rand.Rand, points, poses int) (offsets []int, index, pose []int32) {
	offsets = []int{3}
	for _, n := range []int{1, 0, 7, 290, 16, 0, 100} {
		list := make([]int32, n)
		for k := range list {
			list[k] = int32(rng.IntN(poses))
		}
		for range 1 + rng.IntN(40) {
			for _, p := range list {
				index, pose = append(index, int32(rng.IntN(points))), append(pose, p)
			}
			offsets = append(offsets, offsets[len(offsets)-1]+n)
		}
	}
	return offsets, index, pose
}
