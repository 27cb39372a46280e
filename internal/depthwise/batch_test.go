package depthwise

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// batchHoods are the planned neighbourhoods, and one in which runs of one to six rows have the same poses, some of them none.
func batchHoods() []testkit.Hood {
	rng := testkit.Rand(71)
	h := testkit.Hood{Name: "copies", Offsets: []int{0}, Points: 30, Poses: 50}
	for k := range 24 {
		var list []int32
		for range k % 7 * 5 {
			list = append(list, int32(rng.IntN(h.Poses)))
		}
		for range 1 + k%6 {
			h.Pose = append(h.Pose, list...)
			for range list {
				h.Index = append(h.Index, int32(rng.IntN(h.Points)))
			}
			h.Offsets = append(h.Offsets, len(h.Index))
		}
	}
	return append(testkit.PlanHoods(), h)
}

// TestBatch compares with float64 sums, wants rows that the plan has not got untouched, and the same bits slice by slice and
// image by image.
func TestBatch(t *testing.T) {
	rng, hoods := testkit.Rand(72), batchHoods()
	testkit.EachLevel(t, func(t *testing.T) {
		for _, h := range hoods {
			n := len(h.Offsets) - 1
			rows := n + 3
			numbers, spare := make([]int32, n), map[int]bool{}
			for k, i := range rng.Perm(rows) {
				if k < n {
					numbers[k] = int32(i)
				} else {
					spare[i] = true
				}
			}
			for k, c := range []int{0, 1, 7, 8, 9, 15, 16, 17, 25, 33, 48} {
				images, mean := k%8, k%2 == 0
				plan := NewBatch(numbers, h.Offsets, h.Index, h.Pose, nil, rows, h.Points, h.Poses, mean)
				f := testkit.Normal[float32](rng, images*h.Points*c)
				x := packed(t, f, images, h.Points, c)
				w := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, h.Poses*c))
				before := testkit.Awkward[float32](rng, images*rows*c)
				out := testkit.CopyAtEnd(t, before)
				BatchF32(out, x, w, plan, images, 0, c, c)

				for b := range images {
					for i := range spare {
						at := (b*rows + i) * c
						require.True(t, testkit.SameBits(out[at:at+c], before[at:at+c]), "%s: row %d is not one of the plan's", h.Name, i)
					}
					for i := range n {
						lo, hi := h.Offsets[i]-h.Offsets[0], h.Offsets[i+1]-h.Offsets[0]
						for j := range c {
							sum, size := testkit.GatherSum(f[b*h.Points*c:(b+1)*h.Points*c], w, h.Index, h.Pose, lo, hi, c, j)
							if n := float64(max(1, hi-lo)); mean {
								sum, size = sum/n, size/n
							}
							got := float64(out[(b*rows+int(numbers[i]))*c+j])
							if d := math.Abs(got - sum); !(d <= float64(hi-lo+8)*0x1p-23*size) {
								t.Fatalf("%s images=%d c=%d: out[%d,%d,%d] = %g, want %g", h.Name, images, c, b, numbers[i], j, got, sum)
							}
						}
					}
				}

				again := testkit.CopyAtStart(t, before)
				for j := 0; j < c; j += poseLanes {
					width := min(poseLanes, c-j)
					slice := make([]float32, 0, h.Poses*width)
					for q := range h.Poses {
						slice = append(slice, w[q*c+j:q*c+j+width]...)
					}
					BatchF32(again, x, testkit.CopyAtEnd(t, slice), plan, images, j, j+width, c)
				}
				require.True(t, testkit.SameBits(again, out), "%s images=%d c=%d slice by slice", h.Name, images, c)
				for b := range images {
					one := packed(t, f[b*h.Points*c:(b+1)*h.Points*c], 1, h.Points, c)
					part := testkit.CopyAtEnd(t, before[b*rows*c:(b+1)*rows*c])
					BatchF32(part, one, w, plan, 1, 0, c, c)
					require.True(t, testkit.SameBits(part, out[b*rows*c:(b+1)*rows*c]), "%s c=%d image %d alone", h.Name, c, b)
				}
			}
		}
	})
}

// TestBatchPlan wants four rows with the same poses in one block, calls of bounded size, and every row once.
func TestBatchPlan(t *testing.T) {
	const sets, pairs = 300, 40
	offsets, numbers := []int{0}, make([]int32, 4*sets+2)
	var index, pose []int32
	for i := range numbers {
		for k := range pairs {
			index, pose = append(index, int32(i%7)), append(pose, int32(i/4*pairs+k))
		}
		numbers[i] = int32(len(numbers) - 1 - i)
		offsets = append(offsets, len(index))
	}
	plan := NewBatch(numbers, offsets, index, pose, nil, len(numbers), 7, (sets+1)*pairs, false)
	require.Greater(t, len(plan.fours), 2)
	require.Len(t, plan.ones, 1)
	require.Equal(t, 2, plan.ones[0].blocks)
	seen := map[int32]int{}
	for _, call := range plan.fours {
		require.LessOrEqual(t, len(call.code), batchCallCode+6+5*pairs)
		require.Len(t, call.code, call.blocks*(6+5*pairs))
		for code := call.code; len(code) > 0; code = code[6+5*pairs:] {
			require.EqualValues(t, pairs, code[0])
			for _, row := range code[2:6] {
				seen[row]++
			}
		}
	}
	require.Len(t, seen, 4*sets)
}

func TestBatchPanics(t *testing.T) {
	build := func(numbers, index, pose []int32) func() {
		return func() { NewBatch(numbers, []int{0, 1}, index, pose, nil, 2, 1, 2, true) }
	}
	plan := NewBatch([]int32{1}, []int{0, 1}, []int32{0}, []int32{1}, nil, 2, 1, 2, true)
	x := make([]float32, 64)
	for want, f := range map[string]func(){
		"depthwise: NewBatch: len(numbers) = 2, need 1":    build([]int32{0, 1}, []int32{0}, []int32{0}),
		"depthwise: NewBatch: numbers[0] = 2, need 0 to 1": build([]int32{2}, []int32{0}, []int32{0}),
		"depthwise: NewBatch: index[0] = 1, need 0 to 0":   build([]int32{0}, []int32{1}, []int32{0}),
		"depthwise: NewBatch: pose[0] = -1, need 0 to 1":   build([]int32{0}, []int32{0}, []int32{-1}),
		"depthwise: NewBatch: len(same) = 1, need 2": func() {
			NewBatch([]int32{0, 1}, []int{0, 2, 4}, make([]int32, 4), make([]int32, 4), []bool{false}, 2, 1, 1, false)
		},
		"depthwise: BatchF32: len(f) = 15, need 32": func() {
			BatchF32(x[:34], x[:15],
				x[:32], plan, 1, 0, 16, 17)
		},
		"depthwise: BatchF32: len(out) = 33, need 34": func() {
			BatchF32(x[:33], x[:32],
				x[:32], plan, 1, 0, 16, 17)
		},
		"depthwise: BatchF32: len(w) = 31, need 32": func() {
			BatchF32(x[:34], x[:32],
				x[:31], plan, 1, 0, 16, 17)
		},
		"depthwise: BatchF32: channels 8 to 16, need slices of 16 of 0 to 17": func() {
			BatchF32(x[:34], x[:32],
				x[:16], plan, 1, 8, 16, 17)
		},
		"depthwise: PosesGradWF32: len(dw) = 16, need 32": func() {
			p := NewPoses([]int{0, 1}, []int32{0}, []int32{1}, 1, 2)
			PosesGradWF32(x[:16], x[:16], x[:16], p, 0, 0, 16, 1, 16)
		},
	} {
		require.PanicsWithValue(t, want, f)
	}
}

// BenchmarkBatchF32 has four images of a 64 x 64 grid and a pose for four rows' pairs each; two operations per multiply-add count
// as two bytes, so that MB/s reads as Mflop/s.
func BenchmarkBatchF32(b *testing.B) {
	const points, c, images = 4096, 128, 4
	offsets, index, pose := testkit.DiskPairs(true)
	numbers := make([]int32, points)
	for i := range numbers {
		numbers[i] = int32(i)
	}
	const tile = 32 // rows
	slice := make([]float32, tile/4*273*32)
	for i := range slice {
		slice[i] = float32(i % 9)
	}
	var plans []*Batch
	for lo := 0; lo < points; lo += tile {
		a, z := offsets[lo], offsets[lo+tile]
		local := make([]int32, z-a)
		for r := range tile {
			for k := range 273 {
				local[r*273+k] = int32(r/4*273 + k)
			}
		}
		plans = append(plans, NewBatch(numbers[lo:lo+tile], offsets[lo:lo+tile+1], index[a:z], local, nil, points,
			points, tile/4*273, true))
	}
	_ = pose
	f := testkit.Normal[float32](testkit.Rand(1), images*points*c)
	x, out := make([]float32, PackedLen(images, points, c)), make([]float32, images*points*c)
	PackF32(x, f, images, points, c, 0, points)
	testkit.BenchLevels(b, "images=4/c=128", 2*images*len(index)*c, func() {
		for _, plan := range plans {
			for j := 0; j < c; j += 32 {
				BatchF32(out, x, slice, plan, images, j, j+32, c)
			}
		}
	})
}
