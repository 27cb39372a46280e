//go:build !purego

package simd

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestLongRowNEON has more pairs in a row than one call of assembly takes.
func TestLongRowNEON(t *testing.T) {
	atNEON(t)
	const pairs, points, c, cm = 2*gatherPairs + 3, 50, 7, 3
	rng := testkit.Rand(30)
	index, pose := make([]int32, pairs), make([]int32, pairs)
	for k := range index {
		index[k], pose[k] = int32(rng.IntN(points)), int32(rng.IntN(points))
	}
	f, w, wm := testkit.Normal[float32](rng, points*c), testkit.Normal[float32](rng, points*c), testkit.Normal[float32](rng, points*cm)
	out, p := make([]float32, c), make([]float32, c*cm)
	DepthwiseF32(out, f, w, []int{0, pairs}, index, pose, c, true)
	PointConvF32(p, f, wm, []int{0, pairs}, index, pose, c, cm)
	near := func(got float32, scale float64, term func(k int) float64) {
		t.Helper()
		sum, size := 0.0, 0.0
		for k := range index {
			v := term(k) * scale
			sum, size = sum+v, size+math.Abs(v)
		}
		if diff := math.Abs(float64(got) - sum); !(diff <= (pairs+8)*eps[float32]()*size) {
			t.Errorf("got %g, want %g", got, sum)
		}
	}
	for a := range c {
		near(out[a], 1.0/pairs, func(k int) float64 { return float64(f[int(index[k])*c+a]) * float64(w[int(pose[k])*c+a]) })
		for b := range cm {
			near(p[a*cm+b], 1, func(k int) float64 { return float64(f[int(index[k])*c+a]) * float64(wm[int(pose[k])*cm+b]) })
		}
	}
}

// TestGatherOutOfRangeNEON wants a panic that names the index, wherever it stands, instead of a stray read.
func TestGatherOutOfRangeNEON(t *testing.T) {
	atNEON(t)
	x := make([]float32, 8)
	for _, bad := range []int32{-1, 2, 1 << 30} {
		for at := range 23 {
			good, broken := make([]int32, 23), make([]int32, 23)
			broken[at] = bad
			offsets := []int{5, 28}
			run := map[string][]func(){
				"index": {
					func() { DepthwiseF32(x[:2], x[:4], x[:4], offsets, broken, good, 2, false) },
					func() { PointConvF32(x[:4], x[:4], x[:4], offsets, broken, good, 2, 2) },
				},
				"pose": {
					func() { DepthwiseF32(x[:2], x[:4], x[:4], offsets, good, broken, 2, false) },
					func() { PointConvF32(x[:4], x[:4], x[:4], offsets, good, broken, 2, 2) },
				},
			}
			for arg, fs := range run {
				for i, f := range fs {
					fn := []string{"DepthwiseF32", "PointConvF32"}[i]
					require.PanicsWithValue(t, fmt.Sprintf("simd: %s: %s[%d] = %d, need 0 to 1", fn, arg, at, bad), f)
				}
			}
		}
	}
}
