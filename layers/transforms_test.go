package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/race"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers/internal/gridsums"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// plannedPair returns a separable convolution over an h x w grid, by pairs and by transforms.
func plannedPair(t *testing.T, h, w, c, out int, radius float64, window Window) (direct, transforms *PlannedSeparable[float32]) {
	t.Helper()
	points, _ := arrangeGrid(t, "T(2)", h, w)
	n, err := neighbor.Ball(points, points, neighbor.Options{Radius: radius})
	require.NoError(t, err)
	conv := NewSeparableLieConv[float32](c, out, LieConvConfig{PoseDim: 2, Hidden: 8, Radius: radius, Window: window},
		rand.New(rand.NewPCG(1, 2)))
	var windowing *Windowing
	if window != WindowBox {
		windowing = &Windowing{Window: window, Group: points.Group, Radius: radius}
	}
	plan := func(algorithm Algorithm) *PlannedSeparable[float32] {
		a := Arrange[float32](n, nil, true, algorithm, windowing, nil)
		require.Equal(t, algorithm, a.Algorithm())
		return conv.Plan(a, Storage{Share: 1})
	}
	return plan(Direct), plan(Transforms)
}

// TestTransforms: transforms compute what sums over pairs do, at every level, on grids of odd sizes, in long rows, and
// under a window; an image has the same bits alone and in a batch, for any number of goroutines.
func TestTransforms(t *testing.T) {
	before := simd.CurrentLevel()
	defer func() { require.NoError(t, simd.SetLevel(before)) }()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, g := range []struct {
		h, w, c, out int
		radius       float64
		window       Window
	}{{13, 29, 20, 7, 0.84, WindowBox}, {40, 33, 16, 16, 1.9, WindowSmooth}, {7, 130, 3, 5, 3.2, WindowBox},
		{70, 6, 35, 8, 0.6, WindowSmooth}} {
		direct, transforms := plannedPair(t, g.h, g.w, g.c, g.out, g.radius, g.window)
		const batch = 3
		rng := testkit.Rand(3)
		f, base := testkit.Normal[float32](rng, batch*g.h*g.w*g.c), testkit.Normal[float32](rng, batch*g.h*g.w*g.out)
		for _, level := range simd.Levels() {
			t.Run(fmt.Sprintf("%dx%d/%v", g.h, g.w, level), func(t *testing.T) {
				require.NoError(t, simd.SetLevel(level))
				for _, add := range []bool{false, true} {
					var ws Workspace[float32]
					want, got := append([]float32(nil), base...), append([]float32(nil), base...)
					require.NoError(t, direct.Forward(t.Context(), want, f, batch, add, &ws))
					require.NoError(t, transforms.Forward(t.Context(), got, f, batch, add, &ws))
					testkit.Close(t, "dst", got, asFloat64(want), 2e-6)
					size, in := g.h*g.w*g.out, g.h*g.w*g.c
					for _, threads := range []int{1, 7} {
						runtime.GOMAXPROCS(threads)
						for b := range batch {
							one := append([]float32(nil), base[b*size:(b+1)*size]...)
							require.NoError(t, transforms.Forward(t.Context(), one, f[b*in:(b+1)*in], 1, add, &ws))
							require.True(t, testkit.SameBits(one, got[b*size:(b+1)*size]), "image %d", b)
						}
					}
				}
			})
		}
	}
}

// toSlabs returns features [batch, rows, c] slab by slab.
func toSlabs(x []float32, rows, c int) []float32 {
	y := make([]float32, 0, len(x))
	for ; len(x) > 0; x = x[rows*c:] {
		for lo := 0; lo < c; lo += slabWidth {
			for i := range rows {
				y = append(y, x[i*c+lo:i*c+lo+slabWidth]...)
			}
		}
	}
	return y
}

// TestSlabs: layers have the same bits where features stand slab by slab, and images pass part by part, at every level,
// beside numbers that are not finite as well.
func TestSlabs(t *testing.T) {
	before, least, bytes := simd.CurrentLevel(), gridsums.LeastPart, gridsums.PartBytes
	defer func() {
		gridsums.LeastPart, gridsums.PartBytes = least, bytes
		require.NoError(t, simd.SetLevel(before))
	}()
	gridsums.LeastPart, gridsums.PartBytes = 16, 1 // an image is two parts
	const h, w, c, out, batch = 21, 75, 32, 48, 3
	_, layer := plannedPair(t, h, w, c, out, 0.8, WindowSmooth)
	require.True(t, layer.Slabs())
	for _, other := range [][2]int{{24, 16}, {16, 8}} {
		_, l := plannedPair(t, 9, 9, other[0], other[1], 1, WindowBox)
		require.False(t, l.Slabs())
	}
	rng := testkit.Rand(5)
	f, base := testkit.Normal[float32](rng, batch*h*w*c), testkit.Normal[float32](rng, batch*h*w*out)
	f[(h*w+400)*c+20] = float32(math.Inf(1))
	points, _ := arrangeGrid(t, "T(2)", h, w)
	n, err := neighbor.Ball(points, points, neighbor.Options{Radius: 0.8})
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	embedding := NewLieConv[float32](1, 9, LieConvConfig{PoseDim: 2, Hidden: 8, Mid: 16, Radius: 0.8}, r).PlanEmbedding(
		Arrange[float32](n, nil, true, Transforms, nil, nil), Storage{}, 2, NewLinear[float32](18, out, r))
	require.True(t, embedding.Slabs())
	values := f[(h*w+350)*c:][:batch*h*w*2]
	levels := simd.Levels()
	if race.Enabled && len(levels) > 1 {
		levels = levels[1:] // the twins start no goroutine
	}
	for _, level := range levels {
		require.NoError(t, simd.SetLevel(level))
		var ws Workspace[float32]
		for _, add := range []bool{false, true} {
			want, got := append([]float32(nil), base...), toSlabs(base, h*w, out)
			require.NoError(t, layer.Forward(t.Context(), want, f, batch, add, &ws))
			require.NoError(t, layer.ForwardSlabs(t.Context(), got, toSlabs(f, h*w, c), batch, add, &ws))
			require.True(t, testkit.SameBits(toSlabs(want, h*w, out), got), "%v, add %v", level, add)
			row := make([]float32, 2*out)
			GatherSlabs(row, got[h*w*out:2*h*w*out], out, 70, 72)
			require.True(t, testkit.SameBits(want[(h*w+70)*out:(h*w+72)*out], row))
		}
		want, got := make([]float32, batch*h*w*out), make([]float32, batch*h*w*out)
		require.NoError(t, embedding.Forward(t.Context(), want, values, batch, &ws))
		require.NoError(t, embedding.ForwardSlabs(t.Context(), got, values, batch, &ws))
		require.True(t, testkit.SameBits(toSlabs(want, h*w, out), got), "%v, embedding", level)
	}
}

func asFloat64(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// TestTransformsNotFinite: rows of the grid that see a number that is not finite have the bits of sums over pairs, so that it reaches its
// neighbours and no others; all other rows have the bits that they have without it, and other images as well.
func TestTransformsNotFinite(t *testing.T) {
	const h, w, c, out, batch = 30, 70, 18, 4, 2
	direct, transforms := plannedPair(t, h, w, c, out, 0.7, WindowBox) // the distance is a fifth of the pixels: 3.5
	rng := testkit.Rand(4)
	f := testkit.Normal[float32](rng, batch*h*w*c)
	var ws Workspace[float32]
	clean := make([]float32, batch*h*w*out)
	require.NoError(t, transforms.Forward(t.Context(), clean, f, batch, false, &ws))
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(-1)), math.MaxFloat32} {
		g := append([]float32(nil), f...)
		for i := range 2 {
			g[((h+12)*w+20+i)*c+17] = bad
		}
		want, got := make([]float32, batch*h*w*out), make([]float32, batch*h*w*out)
		require.NoError(t, direct.Forward(t.Context(), want, g, batch, false, &ws))
		require.NoError(t, transforms.Forward(t.Context(), got, g, batch, false, &ws))
		for i := range batch * h * w {
			same := clean
			if y := i / w; y >= h+12-3 && y <= h+12+3 {
				same = want
			}
			require.True(t, testkit.SameBits(same[i*out:(i+1)*out], got[i*out:(i+1)*out]), "%v at row %d, column %d", bad, i/w, i%w)
		}
		some := make([]float32, batch*h*w*out)
		runs := []RowRun{{8 * w, 10 * w}, {20*w + 3, 20*w + 60}}
		require.NoError(t, transforms.ForwardRows(t.Context(), some, g, nil, batch, runs, &ws))
		for b := range batch {
			for _, r := range runs {
				require.True(t, testkit.SameBits(some[(b*h*w+r.Lo)*out:(b*h*w+r.Hi)*out], got[(b*h*w+r.Lo)*out:(b*h*w+r.Hi)*out]))
			}
		}
	}
}

// TestTransformsSpread: rows that see a feature which is huge beside the others have the bits of sums over pairs, so that it changes
// nothing that does not see it; all other rows, and other images, have the bits that they have without it.
func TestTransformsSpread(t *testing.T) {
	const h, w, c, out, batch = 30, 70, 32, 16, 2
	direct, transforms := plannedPair(t, h, w, c, out, 0.7, WindowBox) // the distance is a fifth of the pixels: 3.5
	f := testkit.Normal[float32](testkit.Rand(4), batch*h*w*c)
	var ws Workspace[float32]
	clean := make([]float32, batch*h*w*out)
	require.NoError(t, transforms.Forward(t.Context(), clean, f, batch, false, &ws))
	for _, huge := range []float32{1e6, -1e6} {
		g := append([]float32(nil), f...)
		g[((h+12)*w+20)*c+17] = huge
		want, got := make([]float32, batch*h*w*out), make([]float32, batch*h*w*out)
		require.NoError(t, direct.Forward(t.Context(), want, g, batch, false, &ws))
		require.NoError(t, transforms.Forward(t.Context(), got, g, batch, false, &ws))
		for i := range batch * h * w {
			same := clean
			if y := i / w; y >= h+12-3 && y <= h+12+3 {
				same = want
			}
			require.True(t, testkit.SameBits(same[i*out:(i+1)*out], got[i*out:(i+1)*out]), "%v at row %d, column %d", huge, i/w, i%w)
		}
		for i := range h * w { // beyond its reach a feature changes nothing
			if x := i % w; x > 24 {
				for k := range out {
					require.InDelta(t, clean[(h*w+i)*out+k], got[(h*w+i)*out+k], 1e-4)
				}
			}
		}
		if transforms.Slabs() {
			slabs := make([]float32, batch*h*w*out)
			require.NoError(t, transforms.ForwardSlabs(t.Context(), slabs, toSlabs(g, h*w, c), batch, false, &ws))
			require.True(t, testkit.SameBits(toSlabs(got, h*w, out), slabs))
		}
	}
}

// TestEmbeddingTransforms: an embedding by transforms is what it is by pairs, at every level, under a window as well;
// an image has the same bits alone and in a batch. Rows of the grid that see a number that is not finite tell it to
// those points that do by pairs, and others have the bits that they have without it.
func TestEmbeddingTransforms(t *testing.T) {
	before := simd.CurrentLevel()
	defer func() { require.NoError(t, simd.SetLevel(before)) }()
	for _, g := range []struct {
		h, w, in, sets, mid, out int
		radius                   float64
		window                   Window
	}{{13, 29, 1, 2, 16, 32, 0.84, WindowBox}, {31, 90, 3, 2, 5, 7, 0.9, WindowSmooth}, {40, 33, 1, 1, 1, 6, 1.9, WindowBox}} {
		points, _ := arrangeGrid(t, "T(2)", g.h, g.w)
		n, err := neighbor.Ball(points, points, neighbor.Options{Radius: g.radius})
		require.NoError(t, err)
		var windowing *Windowing
		if g.window != WindowBox {
			windowing = &Windowing{Window: g.window, Group: points.Group, Radius: g.radius}
		}
		r := rand.New(rand.NewPCG(1, 2))
		conv := NewLieConv[float32](g.in, 9, LieConvConfig{PoseDim: 2, Hidden: 8, Mid: g.mid, Radius: g.radius, Window: g.window}, r)
		next := NewLinear[float32](9*g.sets, g.out, r)
		plan := func(algorithm Algorithm) *PlannedEmbedding[float32] {
			a := Arrange[float32](n, nil, true, algorithm, windowing, nil)
			a.ForgetPairs()
			return conv.PlanEmbedding(a, Storage{Share: 1}, g.sets, next)
		}
		direct, transforms := plan(NoDepthwise), plan(Transforms)
		require.Greater(t, transforms.Kept().Bytes, direct.Kept().Bytes)
		const batch = 3
		in, out := g.h*g.w*g.in*g.sets, g.h*g.w*g.out
		f := testkit.Normal[float32](testkit.Rand(3), batch*in)
		bad := append([]float32(nil), f...)
		bad[in+(g.h-2)*g.w*g.in*g.sets+3] = float32(math.Inf(1))
		for _, level := range simd.Levels() {
			require.NoError(t, simd.SetLevel(level))
			var ws Workspace[float32]
			forward := func(p *PlannedEmbedding[float32], f []float32) []float32 {
				dst := make([]float32, len(f)/in*out)
				require.NoError(t, p.Forward(t.Context(), dst, f, len(f)/in, &ws))
				return dst
			}
			want, got := forward(direct, f), forward(transforms, f)
			testkit.Close(t, fmt.Sprintf("%dx%d/%v", g.h, g.w, level), got, asFloat64(want), 2e-6)
			for b := range batch {
				require.True(t, testkit.SameBits(forward(transforms, f[b*in:(b+1)*in]), got[b*out:(b+1)*out]), "image %d", b)
			}
			wantBad, gotBad, some := forward(direct, bad), forward(transforms, bad), 0
			for i := range batch * g.h {
				part := func(x []float32) []float32 { return x[i*g.w*g.out : (i+1)*g.w*g.out] }
				if testkit.SameBits(part(wantBad), part(want)) {
					require.True(t, testkit.SameBits(part(got), part(gotBad)), "row %d", i)
					continue
				}
				some++
				for k, v := range part(wantBad) {
					require.Equal(t, v-v == 0, part(gotBad)[k]-part(gotBad)[k] == 0, "row %d, number %d", i, k)
				}
			}
			require.NotZero(t, some)
		}
	}
}

// TestTransformsChoice: transforms are chosen for wide balls on a grid, and never for what is no grid; portable code
// always sums over pairs.
func TestTransformsChoice(t *testing.T) {
	wide := Transforms
	if simd.CurrentLevel() == simd.Generic {
		wide = Direct
	}
	points, _ := arrangeGrid(t, "T(2)", 40, 40)
	for radius, want := range map[float64]Algorithm{0.22: Direct, 2: wide} {
		n, err := neighbor.Ball(points, points, neighbor.Options{Radius: radius})
		require.NoError(t, err)
		require.Equal(t, want, Arrange[float32](n, nil, true, Auto, nil, nil).Algorithm())
		require.Equal(t, NoDepthwise, Arrange[float32](n, nil, true, NoDepthwise, nil, nil).Algorithm())
		if want == Direct {
			want = NoDepthwise
		}
		require.Equal(t, want, Arrange[float32](n, nil, true, TransformsOnly, nil, nil).Algorithm())
	}
	n, err := neighbor.Ball(points, points, neighbor.Options{Radius: 2, MaxNeighbors: 100, Seed: 1})
	require.NoError(t, err)
	require.Equal(t, Direct, Arrange[float32](n, nil, true, Transforms, nil, nil).Algorithm())
}
