package spectral

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// lifted returns the neighbourhood of a grid whose points have that many lifts: to each lift from each, steps within
// some reach, but for those that leave says. Poses are shared by pairs of lifts with the same difference.
func lifted(h, w, lifts, reach int) (offsets []int, index, pose []int32, poses int) {
	wide := 2*reach + 1
	offsets = []int{0}
	for y := range h {
		for x := range w {
			for to := range lifts {
				for dy := -reach; dy <= reach; dy++ {
					for dx := -reach; dx <= reach; dx++ {
						v, u := y+dy, x+dx
						for from := range lifts {
							turn := (from - to + lifts) % lifts
							if v < 0 || v >= h || u < 0 || u >= w || dy*dy+dx*dx+2*turn > reach*reach {
								continue
							}
							index = append(index, int32((v*w+u)*lifts+from))
							pose = append(pose, int32(turn*wide*wide+(dy+reach)*wide+dx+reach))
						}
					}
				}
				offsets = append(offsets, len(index))
			}
		}
	}
	return offsets, index, pose, lifts * wide * wide
}

// TestGradients compares convolutions over grids of points in several lifts, their gradients to the features and those
// to the weights with sums in float64. An error is within some eps times the norms of what is summed.
func TestGradients(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, g := range []struct{ h, w, lifts, reach, c int }{{13, 9, 1, 3, 20}, {40, 64, 1, 7, 3}, {35, 90, 1, 6, 16},
			{12, 11, 3, 3, 17}, {34, 70, 2, 8, 2}, {71, 5, 2, 3, 1}, {3, 2, 4, 2, 1}} {
			t.Run(fmt.Sprintf("%dx%dx%d/r=%d/c=%d", g.h, g.w, g.lifts, g.reach, g.c),
				func(t *testing.T) { checkGradients(t, g.h, g.w, g.lifts, g.reach, g.c) })
		}
	})
}

func checkGradients(t *testing.T, h, w, lifts, reach, c int) {
	rng := testkit.Rand(8)
	offsets, index, pose, poses := lifted(h, w, lifts, reach)
	grid := FindLifted(offsets, index, pose, w, lifts)
	require.NotNil(t, grid)
	require.Equal(t, [3]int{h, w, lifts}, [3]int{grid.H, grid.W, grid.Lifts})
	n := h * w * lifts
	weights, f, d := testkit.Normal[float32](rng, poses*c), testkit.CopyAtEnd(t, testkit.Normal[float32](rng, n*c)),
		testkit.CopyAtEnd(t, testkit.Normal[float32](rng, n*c))
	scale := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, n))
	out, df, dw := make([]float64, n*c), make([]float64, n*c), make([]float64, poses*c)
	for i := range n {
		by := float64(scale[i%lifts*h*w+i/lifts])
		for k := offsets[i]; k < offsets[i+1]; k++ {
			j, q := int(index[k]), int(pose[k])
			for ch := range c {
				out[i*c+ch] += float64(f[j*c+ch]) * float64(weights[q*c+ch]) * by
				df[j*c+ch] += float64(d[i*c+ch]) * float64(weights[q*c+ch])
				dw[q*c+ch] += float64(d[i*c+ch]) * float64(f[j*c+ch])
			}
		}
	}
	ones := slices.Repeat([]float32{1}, n)
	there, back := grid.Tiling(), grid.Transposed().Tiling()
	var whole []float32
	for _, band := range []int{h, 7} {
		got, broken := compute(New(there, weights, c), f, scale, c, band)
		requireNear(t, "sums", out, got)
		for i := range broken {
			require.False(t, broken[i].Load())
		}
		got, _ = compute(New(back, weights, c), d, ones, c, band)
		requireNear(t, "gradient to the features", df, got)
		whole = got
	}
	got := make([]float32, poses*c)
	var ws Workspace
	for slab := range Slabs(c) {
		for tile := range there.Tiles() {
			there.Correlate(&ws, got, d, f, c, slab, tile)
		}
	}
	requireNear(t, "gradient to the weights", dw, got)
	if !there.Once() {
		return
	}
	// With one transform of d there are the same bits.
	require.True(t, back.Once())
	plan, both, weightsToo, broken := New(back, weights, c), testkit.CopyAtEnd(t, make([]float32, n*c)), make([]float32, poses*c),
		make([]atomic.Bool, h)
	for slab := range Slabs(c) {
		plan.Gradients(&ws, both, weightsToo, d, f, ones, broken, there, slab)
	}
	require.Equal(t, whole, both)
	require.Equal(t, got, weightsToo)
	for i := range broken {
		require.False(t, broken[i].Load())
	}
	d[(n-1)*c] = float32(math.Inf(1))
	plan.Gradients(&ws, both, weightsToo, d, f, ones, broken, there, 0)
	require.True(t, broken[h-1].Load())
	require.True(t, slices.ContainsFunc(weightsToo, func(v float32) bool { return v-v != 0 }))
}

// requireNear allows an error of some eps times the root of the mean square.
func requireNear(t *testing.T, name string, want []float64, got []float32) {
	t.Helper()
	size := 0.0
	for _, v := range want {
		size += v * v
	}
	size = math.Sqrt(size / float64(len(want)))
	for i, v := range want {
		if diff := math.Abs(v - float64(got[i])); !(diff <= 0x1p-18*size) {
			t.Fatalf("%s: element %d is %v, want %v; the root of the mean square is %v", name, i, got[i], v, size)
		}
	}
}

// TestFindLifted: a neighbourhood in which one pair has another pose, or a lift misses a step, is no grid.
func TestFindLifted(t *testing.T) {
	offsets, index, pose, _ := lifted(9, 12, 3, 3)
	g := FindLifted(offsets, index, pose, 12, 3)
	require.NotNil(t, g)
	require.Equal(t, g.Steps, g.Transposed().Transposed().Steps)
	require.Equal(t, len(g.Steps), len(g.Transposed().Steps))
	for _, lifts := range []int{0, 1, 2, 4, 5} {
		require.Nil(t, FindLifted(offsets, index, pose, 12, lifts))
	}
	for _, w := range []int{-1, 0, 1, 2, 9, 11, 18, 108} {
		require.Nil(t, FindLifted(offsets, index, pose, w, 3))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		k := rng.IntN(len(pose))
		other := slices.Clone(pose)
		other[k]++
		require.Nil(t, FindLifted(offsets, index, other, 12, 3))
		fewer := slices.Clone(offsets)
		for i := range fewer {
			if fewer[i] > k {
				fewer[i]--
			}
		}
		require.Nil(t, FindLifted(fewer, slices.Delete(slices.Clone(index), k, k+1), slices.Delete(slices.Clone(pose), k, k+1), 12, 3))
	}
}
