package simd

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/race"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// wideChannels are channel counts beyond lengths: several blocks of the widest kernels, whole and not.
func wideChannels() []int { return []int{191, 192, 208, 255, 256, 257, 384, 511, 512} }

// samePoses draws a neighbourhood whose rows come in runs of 1 to 9 with the same list of poses, as on a grid.
func samePoses(rng *rand.Rand, runs, points, poses int) (offsets []int, index, pose []int32) {
	offsets = []int{rng.IntN(5)}
	for range runs {
		list := make([]int32, rng.IntN(12))
		for k := range list {
			list[k] = int32(rng.IntN(poses))
		}
		for range 1 + rng.IntN(9) {
			for _, p := range list {
				index, pose = append(index, int32(rng.IntN(points))), append(pose, p)
			}
			offsets = append(offsets, offsets[len(offsets)-1]+len(list))
		}
	}
	return offsets, index, pose
}

// TestDepthwiseRuns wants the same bits from rows that are computed together and from each row alone.
func TestDepthwiseRuns(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(40)
		for _, c := range append(lengths(), wideChannels()...) {
			const points, poses = 7, 5
			offsets, index, pose := samePoses(rng, 6, points, poses)
			rows := len(offsets) - 1
			f := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, points*c))
			w := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, poses*c))
			ix, ps := testkit.CopyAtEnd(t, index), testkit.CopyAtEnd(t, pose)
			out, alone := testkit.AtEnd[float32](t, rows*c), make([]float32, rows*c)
			mean := rng.IntN(2) == 0
			DepthwiseF32(out, f, w, offsets, ix, ps, c, mean)
			for i := range rows {
				a, b := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
				DepthwiseF32(alone[i*c:i*c+c], f, w, offsets[i:i+2], index[a:b], pose[a:b], c, mean)
				for j := range c {
					sum, size := testkit.GatherSum(f, w, ix, ps, a, b, c, j)
					if n := float64(max(1, b-a)); mean {
						sum, size = sum/n, size/n
					}
					if d := math.Abs(float64(out[i*c+j]) - sum); !(d <= float64(b-a+8)*0x1p-23*size) {
						t.Fatalf("c=%d mean=%v: out[%d,%d] = %g, want %g", c, mean, i, j, out[i*c+j], sum)
					}
				}
			}
			require.True(t, testkit.SameBits(out, alone), "c=%d", c)
		}
	})
}

// TestDepthwiseLargeWeights has more weights than caches hold, so that they are fetched ahead, in any order: of up to sixteen vectors of
// channels at a time, the last of them whole or not.
func TestDepthwiseLargeWeights(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(41)
		for _, c := range []int{16, 100, 121, 128, 200} {
			const points, bytes = 9, 5 << 20
			poses := bytes / 4 / c
			offsets, index, pose := testkit.Pairs(rng, 40, points, poses)
			f, w := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, points*c)),
				testkit.CopyAtEnd(t, testkit.Normal[float32](rng, poses*c))
			for _, mean := range []bool{false, true} {
				out := testkit.AtEnd[float32](t, 40*c)
				DepthwiseF32(out, f, w, offsets, testkit.CopyAtEnd(t, index), testkit.CopyAtEnd(t, pose), c, mean)
				for i := range 40 {
					a, b := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
					n := 1.0
					if mean {
						n = float64(max(1, b-a))
					}
					for j := range c {
						sum, size := testkit.GatherSum(f, w, index, pose, a, b, c, j)
						require.LessOrEqual(t, math.Abs(float64(out[i*c+j])-sum/n), float64(b-a+8)*0x1p-23*size/n)
					}
				}
			}
		}
	})
}

// bf16AtEnd returns numbers rounded to bfloat16 in memory that ends on an unreadable page.
func bf16AtEnd(t testing.TB, x []float32) []BF16 {
	w := testkit.AtEnd[BF16](t, len(x))
	BF16FromF32(w, x)
	return w
}

func TestDepthwiseBF16(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(43)
		for _, c := range append(lengths(), wideChannels()...) {
			const rows, points, poses = 9, 7, 5
			offsets, index, pose := testkit.Pairs(rng, rows, points, poses)
			f := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, points*c))
			w := bf16AtEnd(t, testkit.Normal[float32](rng, poses*c))
			wide := make([]float32, len(w))
			F32FromBF16(wide, w)
			out, parts := testkit.CopyAtEnd(t, testkit.Awkward[float32](rng, rows*c)), make([]float32, rows*c)
			DepthwiseBF16F32(out, f, w, offsets, testkit.CopyAtEnd(t, index), testkit.CopyAtEnd(t, pose), c, true)
			for i := range rows {
				lo, hi := offsets[i]-offsets[0], offsets[i+1]-offsets[0]
				n := float64(max(1, hi-lo))
				for j := range c {
					sum, size := testkit.GatherSum(f, wide, index, pose, lo, hi, c, j)
					if d := math.Abs(float64(out[i*c+j]) - sum/n); !(d <= float64(hi-lo+8)*0x1p-23*size/n) {
						t.Fatalf("c=%d: out[%d,%d] = %g, want %g", c, i, j, out[i*c+j], sum/n)
					}
				}
				DepthwiseBF16F32(parts[i*c:i*c+c], f, w, offsets[i:i+2], index[lo:hi], pose[lo:hi], c, true)
			}
			require.True(t, testkit.SameBits(parts, out), "c=%d row by row", c)
		}
	})
}

// TestGatherHostile gives indices that name no row to every kernel that follows them: each must panic, not read.
func TestGatherHostile(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, n := range []int{1, 7, 40, 300} {
			for _, bad := range []int32{-1, 2, 1 << 20, math.MaxInt32, math.MinInt32} {
				for _, at := range []int{0, n / 2, n - 1} {
					x, b := make([]float32, 8), make([]BF16, 8)
					wide := make([]float64, 8)
					good, evil := make([]int32, n), make([]int32, n)
					evil[at] = bad
					off := []int{0, n}
					for _, ix := range [][2][]int32{{evil, good}, {good, evil}} {
						p, q := ix[0], ix[1]
						require.Panics(t, func() { DepthwiseF32(x[:4], x, x, off, p, q, 4, true) })
						require.Panics(t, func() { DepthwiseBF16F32(x[:4], x, b, off, p, q, 4, true) })
						require.Panics(t, func() { PointConvF32(x[:8], x, x[:4], off, p, q, 4, 2) })
						require.Panics(t, func() { PointConvGradFF32(x[:4], x, x[:2], off, p, q, 4, 1) })
						require.Panics(t, func() { PointConvGradWF32(x[:4], x, x[:2], off, p, q, 1, 4) })
						require.Panics(t, func() { DepthwiseF64(wide[:4], wide, wide, off, p, q, 4, true) })
						require.Panics(t, func() { PointConvF64(wide[:8], wide, wide[:4], off, p, q, 4, 2) })
						require.Panics(t, func() { PointConvGradFF64(wide[:4], wide, wide[:2], off, p, q, 4, 1) })
						require.Panics(t, func() { PointConvGradWF64(wide[:4], wide, wide[:2], off, p, q, 1, 4) })
					}
				}
			}
		}
	})
}

// TestGatherAllocationFree wants no allocation from the gradients and from bfloat16.
func TestGatherAllocationFree(t *testing.T) {
	if race.Enabled {
		t.Skip("skipped: what the race detector is told of goes to the heap")
	}
	eachLevel(t, func(t *testing.T) {
		x, y, z, b := make([]float32, 300), make([]float32, 300), make([]float32, 300), make([]BF16, 300)
		plan := NewDepthwisePlan([]int{0, 5, 9}, make([]int32, 9), make([]int32, 9), 1, 1)
		d, off, ix := make([]float64, 150), []int{0, 5, 9}, make([]int32, 9)
		for name, f := range map[string]func(){
			"DepthwiseBF16":      func() { DepthwiseBF16F32(x[:20], y, b, off, ix, ix, 10, true) },
			"PointConvGradF":     func() { PointConvGradFF32(x[:20], y, z, off, ix, ix, 10, 2) },
			"PointConvGradW":     func() { PointConvGradWF32(x[:4], y, z, off, ix, ix, 10, 2) },
			"SetConvGradPhi":     func() { SetConvGradPhiF32(x, d, d, y, 1, 2, 1, 1) },
			"SetConvGradParams":  func() { SetConvGradParamsF32(d, d, x, y, 1, 2, 1, 1) },
			"BF16FromF32":        func() { BF16FromF32(b, x) },
			"DepthwisePlanGradW": func() { DepthwisePlanGradWF32(x[:10], y[:20], z[:10], plan, 0, 2, 0, 10, 10, true) },
			"DepthwisePlan":      func() { DepthwisePlanF32(x[:20], y[:10], z[:10], plan, 0, 2, 10, true) },
			"F32FromBF16":        func() { F32FromBF16(x, b) },
		} {
			if n := testing.AllocsPerRun(10, f); n != 0 {
				t.Errorf("%s allocates %g times", name, n)
			}
		}
	})
}
