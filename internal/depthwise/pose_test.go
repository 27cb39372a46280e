package depthwise

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// poseGradient computes all of dw by a plan, part by part and slice by slice.
func poseGradient(dw, dout, f []float32, plan *Poses, images, c int) {
	for part := plan.Parts() - 1; part >= 0; part-- {
		lo, hi := plan.Part(part)
		for j := 0; j < c; j += poseLanes {
			PosesGradWF32(dw[lo*c:hi*c], dout, f, plan, part, j, min(j+poseLanes, c), images, c)
		}
	}
}

// packed packs a batch row by row, with a guard page behind.
func packed(t testing.TB, src []float32, images, n, c int) []float32 {
	dst := testkit.CopyAtEnd(t, make([]float32, PackedLen(images, n, c)))
	for i := range n {
		PackF32(dst, src, images, n, c, i, i+1)
	}
	return dst
}

// poseHoods are the planned neighbourhoods, and one with few poses for many rows, that is divided into segments, calls and parts.
func poseHoods() []testkit.Hood {
	hoods := testkit.PlanHoods()
	rng := testkit.Rand(61)
	rows, poses := 256+5, 9
	h := testkit.Hood{Name: "segments", Offsets: []int{0}, Points: 40, Poses: poses + 1}
	for range rows {
		for k := range 30 {
			h.Index, h.Pose = append(h.Index, int32(rng.IntN(40))), append(h.Pose, int32(k%poses))
		}
		h.Offsets = append(h.Offsets, len(h.Index))
	}
	return append(hoods, h)
}

// TestPoses compares with float64 sums, and wants the same bits from parts and slices in any order.
func TestPoses(t *testing.T) {
	rng, hoods := testkit.Rand(62), poseHoods()
	testkit.EachLevel(t, func(t *testing.T) {
		for _, h := range hoods {
			plan := NewPoses(h.Offsets, h.Index, h.Pose, h.Points, h.Poses)
			rows := len(h.Offsets) - 1
			for k, c := range []int{0, 1, 7, 8, 9, 15, 16, 17, 25, 33} {
				images := k % 8
				f := testkit.Normal[float32](rng, images*h.Points*c)
				dout := testkit.Normal[float32](rng, images*rows*c)
				x, d := packed(t, f, images, h.Points, c), packed(t, dout, images, rows, c)
				dw := testkit.CopyAtEnd(t, testkit.Awkward[float32](rng, h.Poses*c))
				poseGradient(dw, d, x, plan, images, c)

				sum, size, terms := make([]float64, len(dw)), make([]float64, len(dw)), make([]int, h.Poses)
				for i := range rows {
					for k := h.Offsets[i] - h.Offsets[0]; k < h.Offsets[i+1]-h.Offsets[0]; k++ {
						q := int(h.Pose[k])
						terms[q] += images
						for b := range images {
							for j := range c {
								v := float64(f[(b*h.Points+int(h.Index[k]))*c+j]) * float64(dout[(b*rows+i)*c+j])
								sum[q*c+j] += v
								size[q*c+j] += math.Abs(v)
							}
						}
					}
				}
				for k, v := range dw {
					if d := math.Abs(float64(v) - sum[k]); !(d <= float64(terms[k/c]+8)*0x1p-23*size[k]) {
						t.Fatalf("%s images=%d c=%d: dw[%d,%d] = %g, want %g", h.Name, images, c, k/c, k%c, v, sum[k])
					}
				}
				again := make([]float32, len(dw))
				for part := range plan.Parts() {
					lo, hi := plan.Part(part)
					own := testkit.CopyAtEnd(t, testkit.Awkward[float32](rng, (hi-lo)*c))
					PosesGradWF32(own, d, x, plan, part, 0, c, images, c)
					copy(again[lo*c:], own)
				}
				require.True(t, testkit.SameBits(again, dw), "%s c=%d at once, part by part", h.Name, c)
			}
		}
	})
}

// readBlock decodes a block of the code.
func readBlock(code []int32, joined bool) (b struct {
	poses, rows []int32
	points      [][]int32
	first       bool
	size        int
}) {
	n, count, start := 1, code[1], 2
	b.poses = code[:1]
	if joined {
		n, count, start = poseGroup, code[0], poseGroup+1
		b.poses = code[1:start]
	}
	b.first, b.points = count < 0, make([][]int32, n)
	b.size = start + (n+1)*int(count&^firstOfPose)
	for at := start; at < b.size; at += n + 1 {
		b.rows = append(b.rows, code[at]/posePlace)
		for q := range n {
			b.points[q] = append(b.points[q], code[at+1+q]/posePlace)
		}
	}
	return b
}

// TestPosesParts wants every pair in the code once, parts that follow each other, calls of bounded size, and joined blocks on a grid.
func TestPosesParts(t *testing.T) {
	offsets, index, pose, poses := testkit.GridDisk(32, 32, 9, true)
	points := len(offsets) - 1
	plan := NewPoses(offsets, index, pose, points, poses)
	require.Greater(t, plan.Parts(), 3)
	seen := map[[3]int32]int{}
	next, joined := 0, 0
	for part := range plan.Parts() {
		lo, hi := plan.Part(part)
		require.Equal(t, next, lo)
		next = hi
		fresh := make([]bool, hi-lo)
		for _, call := range plan.callsOf(part) {
			code, work := plan.code[call.at:], 0
			for range call.blocks {
				block := readBlock(code, call.joined)
				for at, q := range block.poses {
					require.True(t, int(q)+lo < hi && q >= 0)
					require.NotEqual(t, block.first, fresh[q], "the first block of a pose, and no other")
					fresh[q] = true
					for k, i := range block.rows {
						seen[[3]int32{q + int32(lo), i, block.points[at][k]}]++
					}
				}
				if call.joined {
					joined++
				}
				code, work = code[block.size:], work+len(block.poses)*(len(block.rows)+1)
			}
			require.LessOrEqual(t, work, poseCallPairs+1)
		}
		require.NotContains(t, fresh, false)
	}
	require.Equal(t, poses, next)
	require.Positive(t, joined)
	require.Len(t, seen, len(index))
	for i := range points {
		for k := offsets[i] - offsets[0]; k < offsets[i+1]-offsets[0]; k++ {
			if seen[[3]int32{pose[k], int32(i), index[k]}] != 1 {
				t.Fatalf("pair %d of row %d is listed %d times", k, i, seen[[3]int32{pose[k], int32(i), index[k]}])
			}
		}
	}
}

func TestPosesPanics(t *testing.T) {
	plan := NewPoses([]int{0, 1}, []int32{0}, []int32{1}, 1, 2)
	x, wide := make([]float32, 40), make([]float32, 32)
	for want, f := range map[string]func(){
		"depthwise: NewPoses: index[0] = 1, need 0 to 0": func() { NewPoses([]int{0, 1}, []int32{1}, []int32{0}, 1, 1) },
		"depthwise: NewPoses: pose[0] = -1, need 0 to 0": func() {
			NewPoses([]int{0, 1}, []int32{0},
				[]int32{-1}, 1, 1)
		},
		"depthwise: NewPoses: 67108865 rows or points, need at most 67108864": func() { NewPoses([]int{0}, nil, nil, 1<<26+1, 0) },
		"depthwise: PackF32: len(dst) = 40, need 32":                          func() { PackF32(x, x[:17], 1, 1, 17, 0, 1) },
		"depthwise: PackF32: rows 1 to 2, need a part of 0 to 1": func() {
			PackF32(wide, x[:17], 1, 1, 17, 1, 2)
		},
		"depthwise: PosesGradWF32: part 1, need 0 to 0": func() {
			PosesGradWF32(x[:34], wide, wide, plan, 1, 0, 17, 1, 17)
		},
		"depthwise: PosesGradWF32: channels 8 to 17, need slices of 16 of 0 to 17": func() {
			PosesGradWF32(x[:34], wide, wide, plan, 0, 8, 17, 1, 17)
		},
		"depthwise: PosesGradWF32: len(dw) = 40, need 34": func() {
			PosesGradWF32(x, wide, wide, plan, 0, 0, 17, 1, 17)
		},
		"depthwise: PosesGradWF32: len(f) = 40, need 32": func() {
			PosesGradWF32(x[:34], wide, x, plan, 0, 0, 17, 1, 17)
		},
	} {
		require.PanicsWithValue(t, want, f)
	}
}

// rotatedPairs returns the neighbourhood of a disk on a square grid, where a pair and those that turns by 90 degrees make of it have
// one pose, in the order of their first rows: the pattern of a group that knows where its centre is.
func rotatedPairs(side, reach int) (offsets []int, index, pose []int32, poses int) {
	offsets, index, pose, _ = testkit.GridDisk(side, side, reach, false)
	turn := func(i int) int { return i%side*side + side - 1 - i/side }
	number := map[[2]int]int32{}
	for i := range side * side {
		for k := offsets[i] - offsets[0]; k < offsets[i+1]-offsets[0]; k++ {
			a, b, least := i, int(index[k]), [2]int{i, int(index[k])}
			for range 3 {
				a, b = turn(a), turn(b)
				if a < least[0] || a == least[0] && b < least[1] {
					least = [2]int{a, b}
				}
			}
			q, known := number[least]
			if !known {
				q = int32(len(number))
				number[least] = q
			}
			pose[k] = q
		}
	}
	return offsets, index, pose, len(number)
}

// BenchmarkPosesGradWF32 counts two operations per multiply-add as two bytes, so that MB/s reads as Mflop/s.
func BenchmarkPosesGradWF32(b *testing.B) {
	const side, c = 64, 128
	type pairsOf struct {
		name        string
		offsets     []int
		index, pose []int32
		poses       int
	}
	offsets, index, pose, poses := rotatedPairs(side, 9)
	cases := []pairsOf{{"rotated", offsets, index, pose, poses}}
	offsets, index, pose, poses = testkit.GridDisk(side, side, 9, false)
	cases = append(cases, pairsOf{"plane", offsets, index, pose, poses})
	for _, p := range cases {
		plan := NewPoses(p.offsets, p.index, p.pose, side*side, p.poses)
		dw := make([]float32, p.poses*c)
		for _, images := range []int{1, 2, 4} {
			f := testkit.Normal[float32](testkit.Rand(1), images*side*side*c)
			x, d := make([]float32, len(f)), make([]float32, len(f))
			PackF32(d, f, images, side*side, c, 0, side*side)
			name := "grid=" + p.name + "/images=" + strconv.Itoa(images)
			testkit.BenchLevels(b, name, 2*len(p.index)*c*images, func() {
				PackF32(x, f, images, side*side, c, 0, side*side)
				poseGradient(dw, d, x, plan, images, c)
			})
		}
	}
}
