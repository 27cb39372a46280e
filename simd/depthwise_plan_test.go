package simd

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestDepthwisePlan compares planned rows with float64 sums, and wants the same bits from any part of the rows.
func TestDepthwisePlan(t *testing.T) {
	rng, hoods := testkit.Rand(49), testkit.PlanHoods()
	eachLevel(t, func(t *testing.T) {
		for _, h := range hoods {
			plan := NewDepthwisePlan(h.Offsets, h.Index, h.Pose, h.Points, h.Poses)
			rows := plan.Rows()
			for _, c := range []int{0, 1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 100, 128, 131} {
				f := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, h.Points*c))
				w := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, h.Poses*c))
				out := testkit.CopyAtEnd(t, testkit.Awkward[float32](rng, rows*c))
				mean := c%2 == 0
				DepthwisePlanF32(out, f, w, plan, 0, rows, c, mean)
				for i := range rows {
					lo, hi := h.Offsets[i]-h.Offsets[0], h.Offsets[i+1]-h.Offsets[0]
					for j := range c {
						sum, size := testkit.GatherSum(f, w, h.Index, h.Pose, lo, hi, c, j)
						if n := float64(max(1, hi-lo)); mean {
							sum, size = sum/n, size/n
						}
						if d := math.Abs(float64(out[i*c+j]) - sum); !(d <= float64(hi-lo+8)*0x1p-23*size) {
							t.Fatalf("%s c=%d: out[%d,%d] = %g, want %g", h.Name, c, i, j, out[i*c+j], sum)
						}
					}
				}
				parts := make([]float32, rows*c)
				for lo := 0; lo < rows; {
					hi := min(lo+1+rng.IntN(20), rows)
					DepthwisePlanF32(parts[lo*c:hi*c], f, w, plan, lo, hi, c, mean)
					lo = hi
				}
				require.True(t, testkit.SameBits(parts, out), "%s c=%d in parts", h.Name, c)
			}
		}
	})
}

// TestDepthwisePlanStops: a plan that is stopped is none.
func TestDepthwisePlanStops(t *testing.T) {
	offsets, index, pose, poses := testkit.GridDisk(40, 19, 2, true)
	for times := range 100 {
		var asked atomic.Int64
		plan := NewDepthwisePlanUntil(func() bool { return asked.Add(1) > int64(times) }, offsets, index, pose, 40*19, poses)
		if plan != nil {
			require.Greater(t, times, 10)
			require.Equal(t, NewDepthwisePlan(offsets, index, pose, 40*19, poses), plan)
			return
		}
	}
	t.Fatal("it never ends")
}

// TestDepthwisePlanGradW compares with float64 sums, and wants the same bits when channels are divided.
func TestDepthwisePlanGradW(t *testing.T) {
	rng, hoods := testkit.Rand(50), testkit.PlanHoods()
	eachLevel(t, func(t *testing.T) {
		for _, h := range hoods {
			plan := NewDepthwisePlan(h.Offsets, h.Index, h.Pose, h.Points, h.Poses)
			rows := plan.Rows()
			for _, c := range []int{0, 1, 7, 8, 9, 16, 17, 31, 33, 64, 100, 131} {
				f := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, h.Points*c))
				dout := testkit.CopyAtStart(t, testkit.Normal[float32](rng, rows*c))
				before := testkit.Normal[float32](rng, h.Poses*c)
				dw := testkit.CopyAtEnd(t, before)
				mean := c%2 == 0
				DepthwisePlanGradWF32(dw, dout, f, plan, 0, rows, 0, c, c, mean)
				sum, size, terms := make([]float64, len(dw)), make([]float64, len(dw)), make([]int, h.Poses)
				for k, v := range before {
					sum[k], size[k] = float64(v), math.Abs(float64(v))
				}
				for i := range rows {
					lo, hi := h.Offsets[i]-h.Offsets[0], h.Offsets[i+1]-h.Offsets[0]
					for k := lo; k < hi; k++ {
						x, q := int(h.Index[k]), int(h.Pose[k])
						terms[q]++
						for j := range c {
							v := float64(f[x*c+j]) * float64(dout[i*c+j])
							if mean {
								v /= float64(hi - lo)
							}
							sum[q*c+j] += v
							size[q*c+j] += math.Abs(v)
						}
					}
				}
				for k, v := range dw {
					if d := math.Abs(float64(v) - sum[k]); !(d <= float64(terms[k/c]+8)*0x1p-23*size[k]) {
						t.Fatalf("%s c=%d: dw[%d,%d] = %g, want %g", h.Name, c, k/c, k%c, v, sum[k])
					}
				}
				parts := slices.Clone(before)
				for from := 0; from < c; from += 32 {
					DepthwisePlanGradWF32(parts, dout, f, plan, 0, rows, from, min(from+32, c), c, mean)
				}
				require.True(t, testkit.SameBits(parts, dw), "%s c=%d channels divided", h.Name, c)
				half := rows / 2
				parts = slices.Clone(before)
				DepthwisePlanGradWF32(parts, dout[:half*c], f, plan, 0, half, 0, c, c, mean)
				DepthwisePlanGradWF32(parts, dout[half*c:], f, plan, half, rows, 0, c, c, mean)
				for k, v := range parts {
					if d := math.Abs(float64(v) - sum[k]); !(d <= float64(terms[k/c]+8)*0x1p-23*size[k]) {
						t.Fatalf("%s c=%d rows divided: dw[%d,%d] = %g, want %g", h.Name, c, k/c, k%c, v, sum[k])
					}
				}
			}
		}
	})
}

func TestDepthwisePlanPanics(t *testing.T) {
	plan := NewDepthwisePlan([]int{0, 1}, []int32{0}, []int32{1}, 1, 2)
	x := make([]float32, 4)
	DepthwisePlanF32(x[:2], x[:2], x, plan, 0, 1, 2, true)
	for want, f := range map[string]func(){
		"simd: NewDepthwisePlan: index[0] = 1, need 0 to 0": func() {
			NewDepthwisePlan([]int{0, 1}, []int32{1},
				[]int32{0}, 1, 1)
		},
		"simd: NewDepthwisePlan: pose[0] = -1, need 0 to 0": func() {
			NewDepthwisePlan([]int{0, 1}, []int32{0},
				[]int32{-1}, 1, 1)
		},
		"simd: DepthwisePlanF32: rows 0 to 2, need a part of 0 to 1": func() { DepthwisePlanF32(x, x, x, plan, 0, 2, 2, true) },
		"simd: DepthwisePlanF32: len(w) = 3, need 4": func() {
			DepthwisePlanF32(x[:2], x[:2], x[:3],
				plan, 0, 1, 2, true)
		},
		"simd: DepthwisePlanF32: len(f) = 4, need 2": func() {
			DepthwisePlanF32(x[:2], x, x, plan, 0, 1,
				2, true)
		},
		"simd: DepthwisePlanGradWF32: channels 1 to 3, need a part of 0 to 2": func() {
			DepthwisePlanGradWF32(x, x[:2], x[:2],
				plan, 0, 1, 1, 3, 2, true)
		},
		"simd: DepthwisePlanGradWF32: len(dw) = 3, need 4": func() {
			DepthwisePlanGradWF32(x[:3], x[:2], x[:2],
				plan, 0, 1, 0, 2, 2, true)
		},
		"simd: DepthwisePlanGradWF32: len(dout) = 4, need 2": func() {
			DepthwisePlanGradWF32(x, x, x[:2], plan,
				0, 1, 0, 2, 2, true)
		},
		"simd: DepthwisePlanF32: len(out) = 4, need 2": func() {
			DepthwisePlanF32(x, x[:2], x, plan, 0, 1,
				2, true)
		},
	} {
		require.PanicsWithValue(t, want, f)
	}
}

// BenchmarkDepthwisePlanF32 counts two operations per multiply-add as two bytes, so that MB/s reads as Mflop/s.
func BenchmarkDepthwisePlanF32(b *testing.B) {
	const points, poses = 4096, 273
	for _, c := range []int{16, 32, 128} {
		f, w := testkit.Normal[float32](testkit.Rand(1), points*c), testkit.Normal[float32](testkit.Rand(2), poses*c)
		out := make([]float32, points*c)
		offsets, index, pose := testkit.DiskPairs(false)
		plan := NewDepthwisePlan(offsets, index, pose, points, poses)
		benchLevels(b, "grid=torus/c="+strconv.Itoa(c), 2*len(index)*c, func() { DepthwisePlanF32(out, f, w, plan, 0, points, c, true) })
		offsets, index, pose, many := testkit.GridDisk(64, 64, 9, false)
		plan = NewDepthwisePlan(offsets, index, pose, points, many)
		wide := testkit.Normal[float32](testkit.Rand(3), many*c)
		benchLevels(b, "grid=plane/c="+strconv.Itoa(c), 2*len(index)*c, func() { DepthwisePlanF32(out, f, wide, plan, 0, points, c, true) })
		benchLevels(b, "grid=plane/grad=w/c="+strconv.Itoa(c), 2*len(index)*c,
			func() { DepthwisePlanGradWF32(wide, out, f, plan, 0, points, 0, c, c, true) })
	}
}

// TestDepthwisePlanThreads: a plan does not depend on how many goroutines make it.
func TestDepthwisePlanThreads(t *testing.T) {
	// A 40 x 25 grid with the four nearest neighbours of each point, and the point itself.
	const w, h = 40, 25
	offsets, index, pose := []int{0}, []int32(nil), []int32(nil)
	for i := range w * h {
		for q, d := range []int{-w, -1, 0, 1, w} {
			if j := i + d; j >= 0 && j < w*h && (d%w == 0 || j/w == i/w) {
				index, pose = append(index, int32(j)), append(pose, int32(q))
			}
		}
		offsets = append(offsets, len(index))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := NewDepthwisePlan(offsets, index, pose, w*h, 5)
	runtime.GOMAXPROCS(3)
	require.Equal(t, want, NewDepthwisePlan(offsets, index, pose, w*h, 5))
	index[len(index)-1] = w * h
	require.PanicsWithValue(t, fmt.Sprintf("simd: NewDepthwisePlan: index[%d] = %d, need 0 to %d", len(index)-1, w*h, w*h-1),
		func() { NewDepthwisePlan(offsets, index, pose, w*h, 5) })
}

// TestDepthwisePlanBorder: near the border of a grid, in the plane and on a torus, nearly all pairs of eight rows are in runs and
// ramps, and on a torus some ramps begin with few rows.
func TestDepthwisePlanBorder(t *testing.T) {
	for _, torus := range []bool{false, true} {
		offsets, index, pose, poses := testkit.GridDisk(12, 40, 9, torus)
		plan := NewDepthwisePlan(offsets, index, pose, len(offsets)-1, poses)
		late := 0
		for g, start := range plan.starts {
			require.GreaterOrEqual(t, start, 0)
			header := plan.code[start : start+planHeader]
			runs, ramps, alone := 0, 0, 0
			at := start + planHeader
			for range header[0] {
				runs += int(plan.code[at]) * depthwisePlanRows
				at += 2 + int(plan.code[at])
			}
			for range header[1] + header[2] {
				first, n := int(plan.code[at]), int(plan.code[at+1])
				late += min(first-1, 1)
				for k := first; k < first+n; k++ {
					ramps += depthwisePlanRows - k
				}
				at += 3 + n
			}
			for k, span := range schedule.Spans {
				alone += int(header[3+k]) * (span.Hi - span.Lo)
			}
			pairs := plan.offsets[(g+1)*depthwisePlanRows] - plan.offsets[g*depthwisePlanRows]
			require.Equal(t, pairs, runs+ramps+alone)
			require.LessOrEqual(t, 100*alone, pairs, "torus=%v group %d", torus, g)
		}
		require.Equal(t, torus, late > 0, "torus=%v: %d ramps begin late", torus, late)
	}
}
