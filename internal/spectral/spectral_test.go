package spectral

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// eachLevel runs f at every level of the machine.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	before := cpu.CurrentLevel()
	defer func() { require.NoError(t, cpu.SetLevel(before)) }()
	for _, l := range cpu.Levels() {
		if l == cpu.Generic && before != l && testing.Short() {
			continue // it sums sines and cosines term by term, which takes long where it is emulated or watched
		}
		require.NoError(t, cpu.SetLevel(l))
		t.Run(l.String(), f)
	}
}

// hood returns the neighbourhood of a grid whose points see the points within some reach, but for those steps that
// leave says, in a shuffled order.
func hood(h, w, up, down, left, right int, leave func(dy, dx int) bool) (offsets []int, index, pose []int32, poses int) {
	rng := rand.New(rand.NewPCG(1, 2))
	offsets = []int{5}
	for y := range h {
		for x := range w {
			at := len(index)
			for dy := -up; dy <= down; dy++ {
				for dx := -left; dx <= right; dx++ {
					if v, u := y+dy, x+dx; v >= 0 && v < h && u >= 0 && u < w && !leave(dy, dx) {
						index = append(index, int32(v*w+u))
						pose = append(pose, int32((dy+up)*(left+right+1)+dx+left))
					}
				}
			}
			ix, ps := index[at:], pose[at:]
			rng.Shuffle(len(ix), func(i, j int) { ix[i], ix[j], ps[i], ps[j] = ix[j], ix[i], ps[j], ps[i] })
			offsets = append(offsets, 5+len(index))
		}
	}
	return offsets, index, pose, (up + down + 1) * (left + right + 1)
}

func disk(r int) func(dy, dx int) bool { return func(dy, dx int) bool { return dy*dy+dx*dx > r*r+1 } }

func all(_, _ int) bool { return false }

// grids are of odd sizes, not square, with balls larger than the image, with several tiles, and with steps to one side only.
var grids = []struct {
	h, w, up, down, left, right int
	leave                       func(dy, dx int) bool
}{
	{64, 64, 10, 10, 10, 10, disk(10)},
	{9, 13, 3, 3, 3, 3, disk(3)},
	{17, 38, 10, 10, 10, 10, disk(10)},
	{31, 101, 7, 7, 7, 7, disk(7)},
	{5, 150, 20, 20, 20, 20, disk(20)},
	{33, 75, 0, 4, 2, 5, all},
	{20, 70, 3, 1, 10, 0, all},
	{3, 2, 2, 2, 1, 1, all},
	{130, 76, 2, 2, 3, 3, all}, // more rows than a band computes at a time
	{40, 11, 1, 2, 3, 3, func(dy, dx int) bool { return dy == 0 || dx == 1 }},
}

// TestFind: grids are found with all their steps, and what is no grid is not taken for one.
func TestFind(t *testing.T) {
	for _, g := range grids {
		offsets, index, pose, _ := hood(g.h, g.w, g.up, g.down, g.left, g.right, g.leave)
		f := Find(offsets, index, pose, g.w)
		require.NotNil(t, f, "%d x %d", g.h, g.w)
		require.Equal(t, [2]int{g.h, g.w}, [2]int{f.H, f.W})
		for _, s := range f.Steps {
			require.Equal(t, int32((s.DY+g.up)*(g.left+g.right+1)+s.DX+g.left), s.Pose)
		}
		again := NewGrid(f.H, f.W, f.Steps)
		i2, p2, at := make([]int32, len(index)), make([]int32, len(pose)), again.Offsets()
		for i := range offsets {
			require.Equal(t, offsets[i]-offsets[0], at[i])
		}
		half := len(at) / 2
		again.Pairs(i2, p2, at, 0, half)
		again.Pairs(i2, p2, at, half, len(at)-1)
		require.Equal(t, f.Ordered, slices.Equal(index, i2) && slices.Equal(pose, p2))
		require.True(t, Find(at, i2, p2, g.w).Ordered)
		for i := range offsets[1:] {
			slices.Reverse(i2[at[i]:at[i+1]])
			slices.Reverse(p2[at[i]:at[i+1]])
		}
		reversed := Find(at, i2, p2, g.w)
		require.Equal(t, f.Steps, reversed.Steps)
		require.Equal(t, len(f.Steps) < 2, reversed.Ordered)
		// One pair has another pose, one is missing, one is there twice.
		k := len(index) / 3
		other := slices.Clone(pose)
		other[k] = 1 - min(1, other[k])
		require.Nil(t, Find(offsets, index, other, g.w))
		fewer := slices.Clone(offsets)
		for i := len(fewer) - 1; i >= 0 && fewer[i]-5 > k; i-- {
			fewer[i]--
		}
		require.Nil(t, Find(fewer, slices.Delete(slices.Clone(index), k, k+1), slices.Delete(slices.Clone(pose), k, k+1), g.w))
		twice := slices.Clone(index)
		if a := offsets[1] - 5; a > 1 {
			twice[1] = twice[0]
			require.Nil(t, Find(offsets, twice, pose, g.w))
		}
	}
	step := func(dy, dx int) Step { return Step{DY: dy, DX: dx} }
	for _, steps := range [][]Step{{step(0, 1), step(0, 0)}, {step(1, 0), step(0, 0)}, {step(0, 0), step(0, 0)}, {step(3, 0)},
		{step(0, -4)}} {
		require.Nil(t, NewGrid(3, 4, steps))
	}
	require.Nil(t, NewGrid(0, 4, nil))
	require.Nil(t, NewGrid(1<<16, 1<<16, nil))
	require.Nil(t, Find([]int{0}, nil, nil, 2))
	require.Nil(t, Find([]int{0, 0, 0}, nil, nil, 2))
	require.Nil(t, Find([]int{0, 1, 2, 3, 4, 5, 6, 7}, make([]int32, 7), make([]int32, 7), 7))
}

// compute returns the plan's results for f, in bands of that many rows.
func compute(p *Plan, f, scale []float32, c, band int) ([]float32, []atomic.Bool) {
	out, broken := make([]float32, len(f)), make([]atomic.Bool, p.H*p.Tiles())
	var ws Workspace
	for i := range ws.memory {
		ws.memory[i] = float32(math.NaN())
	}
	for slab := range Slabs(c) {
		for tile := range p.Tiles() {
			for lo := 0; lo < p.H; lo += band {
				p.Band(&ws, p.Among(out, c, slab), p.Among(f, c, slab), scale, broken, slab, tile, lo, min(lo+band, p.H))
			}
		}
	}
	return out, broken
}

// TestBand compares with sums in float64. The error is within the bound of the package's comment, with a factor of 4;
// any bands give the same bits.
func TestBand(t *testing.T) {
	rng := testkit.Rand(5)
	eachLevel(t, func(t *testing.T) {
		for _, g := range grids {
			for _, c := range []int{1, 16, 20} {
				if c != 16 && g.h*g.w > 1000 {
					continue
				}
				offsets, index, pose, poses := hood(g.h, g.w, g.up, g.down, g.left, g.right, g.leave)
				grid := Find(offsets, index, pose, g.w)
				tiling := grid.Tiling()
				require.NotNil(t, tiling)
				n := g.h * g.w
				f, w := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, n*c)), testkit.Normal[float32](rng, poses*c)
				scale := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, n))
				p := New(tiling, w, c)
				out, broken := compute(p, f, scale, c, g.h)
				for i := range broken {
					require.False(t, broken[i].Load())
				}
				// All points of the first and the last rows, and some of the others.
				for i := 0; i < n; i++ {
					if i >= 2*g.w && i < n-2*g.w {
						i = min(i+rng.IntN(40), n-1)
					}
					lo, hi := offsets[i]-5, offsets[i+1]-5
					for ch := rng.IntN(3); ch < c; ch += 3 {
						sum, bound := 0.0, 0.0
						for k := lo; k < hi; k++ {
							sum += float64(f[int(index[k])*c+ch]) * float64(w[int(pose[k])*c+ch])
						}
						for dy := -grid.up; dy <= grid.down; dy++ {
							var ws, fs float64
							for _, s := range grid.Steps {
								if s.DY == dy {
									ws += math.Pow(float64(w[int(s.Pose)*c+ch]), 2)
								}
							}
							if y := i/g.w + dy; y >= 0 && y < g.h {
								for x := range g.w {
									fs += math.Pow(float64(f[(y*g.w+x)*c+ch]), 2)
								}
							}
							bound += math.Sqrt(ws * fs)
						}
						scale := float64(scale[i])
						if d := math.Abs(float64(out[i*c+ch]) - sum*scale); !(d <= 4*0x1p-23*bound*math.Abs(scale)) {
							t.Fatalf("%dx%d c=%d: out[%d, %d] = %g, want %g (bound %g)", g.h, g.w, c, i, ch, out[i*c+ch],
								sum*scale, 4*0x1p-23*bound*math.Abs(scale))
						}
					}
				}
				for _, band := range []int{1, 7, 16, 20} {
					other, _ := compute(p, f, scale, c, band)
					require.True(t, testkit.SameBits(out, other), "%dx%d bands of %d", g.h, g.w, band)
				}
			}
		}
	})
}

// TestBroken: a row is broken if it sees a number in its tile that is not finite, or one so large that a transform
// overflows; other rows have the bits that they have without it.
func TestBroken(t *testing.T) {
	rng := testkit.Rand(6)
	const h, w, c, r = 40, 90, 18, 4
	offsets, index, pose, poses := hood(h, w, r, r, r, r, disk(r))
	p := New(Find(offsets, index, pose, w).Tiling(), testkit.Normal[float32](rng, poses*c), c)
	scale := slices.Repeat([]float32{1}, h*w)
	f := testkit.Normal[float32](rng, h*w*c)
	eachLevel(t, func(t *testing.T) {
		want, _ := compute(p, f, scale, c, h)
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32} {
			for _, ch := range []int{3, 17} {
				g := slices.Clone(f)
				at := 20*w + 3
				g[at*c+ch] = float32(bad)
				if bad == math.MaxFloat32 {
					g[(at+1)*c+ch] = float32(bad)
				}
				got, broken := compute(p, g, scale, c, 13)
				for y := range h {
					require.Equal(t, y >= 20-r && y <= 20+r, broken[y*p.Tiles()].Load(), "%v row %d", bad, y)
					if !broken[y*p.Tiles()].Load() {
						for x := range p.width {
							i := (y*w + x) * c
							require.True(t, testkit.SameBits(want[i:i+c], got[i:i+c]))
						}
					}
				}
			}
		}
	})
}

// TestTransform: at every level the transform and its inverse are those of the definition, and their product is the identity.
func TestTransform(t *testing.T) {
	rng := testkit.Rand(7)
	eachLevel(t, func(t *testing.T) {
		for _, tr := range transforms {
			t.Run(fmt.Sprint(tr.points), func(t *testing.T) {
				size, slots := tr.points*lanes, tr.slots*lanes
				x, between, back := aligned(size), aligned(size), aligned(size)
				got, want, check := aligned(slots), aligned(slots), aligned(lanes)
				copy(x, testkit.Normal[float32](rng, size))
				forward(got, between, x, tr)
				forwardGeneric(want, x, tr)
				for i := range got {
					require.InDelta(t, want[i], got[i], 3e-5, "slot %d", i/lanes)
				}
				// Slots as after a convolution with 1 at step 0, c + di = 1: a times -1, b times -1, a+b times 1.
				for s, part := range tr.parts {
					for l := range lanes {
						got[s*lanes+l] *= part.weight(tr.points)
						if part.kind == realPart || part.kind == imaginaryPart {
							got[s*lanes+l] *= -1
						}
					}
				}
				out := make([]float32, size)
				scale := slices.Repeat([]float32{2}, tr.points)
				inverseGather(out, between, back, got, scale, check, tr, tr.points, lanes, lanes)
				for at := range tr.points {
					for l := range lanes {
						require.InDelta(t, 2*x[int(tr.place[at])/4+l], out[at*lanes+l], 1e-5)
					}
				}
			})
		}
	})
}

// TestLines: lines are copied, or added with ReLU at the end, at every level, and nothing around them is touched.
func TestLines(t *testing.T) {
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e30, -3e38, 3e38, 1e-45, float32(math.Inf(1)), float32(math.Inf(-1)),
		float32(math.NaN())}
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }
	for _, n := range []int{1, 2, 7, linesPiece + 3} {
		for _, gap := range []int{lanes, lanes + 3, 128} {
			rng := rand.New(rand.NewPCG(uint64(n), uint64(gap)))
			numbers := func(x []float32) []float32 {
				for i := range x {
					if x[i] = float32(rng.NormFloat64()); rng.IntN(8) == 0 {
						x[i] = special[rng.IntN(len(special))]
					}
				}
				return x
			}
			size := (n-1)*gap + lanes
			before, src := numbers(make([]float32, size)), numbers(testkit.AtEnd[float32](t, n*lanes))
			fuzzLevels(t, func(l cpu.Level) {
				copied, added := testkit.AtEnd[float32](t, size), testkit.AtEnd[float32](t, size)
				copy(copied, before)
				copy(added, before)
				CopyLines(copied, gap, src, lanes, n)
				AddLinesReLU(added, gap, src, lanes, n)
				for i, was := range before {
					wantCopy, wantSum := was, was
					if row, lane := i/gap, i%gap; lane < lanes {
						wantCopy = src[row*lanes+lane]
						wantSum = max(0, was+wantCopy)
					}
					if !same(copied[i], wantCopy) {
						t.Fatalf("level=%v, %d lines %d apart: number %d is %g, want a copy of %g", l, n, gap, i, copied[i], wantCopy)
					}
					if !same(added[i], wantSum) {
						t.Fatalf("level=%v, %d lines %d apart: number %d is %g, want %g", l, n, gap, i, added[i], wantSum)
					}
				}
			})
		}
	}
	require.Panics(t, func() { AddLinesReLU(make([]float32, lanes), lanes, make([]float32, lanes-1), lanes, 1) })
	require.Panics(t, func() { CopyLines(make([]float32, 2*lanes-1), lanes, make([]float32, 2*lanes), lanes, 2) })
}
