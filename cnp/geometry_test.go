package cnp

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/internal/axis"
)

// smallImageModel is an untrained model for images of that side.
func smallImageModel(t *testing.T, g string, size int) *ImageEquivCNP[float64] {
	t.Helper()
	m, err := New[float64](Config{Architecture: EquivCNPImage, Group: g, Lifts: 1, DimY: 1, Multiplicity: 1, Channels: []int{6}, Blocks: 2,
		Hidden: 5, Mid: 3, Fill: 0.1, BlockFill: 0.06, Output: OutputStd, ImageSize: [2]int{size, size}}, 3)
	require.NoError(t, err)
	return m.(*ImageEquivCNP[float64])
}

// TestGeometryScales: the diagonal of any image is as long as that of the trained ones, and pixels keep their order about the centre.
func TestGeometryScales(t *testing.T) {
	m := smallImageModel(t, "T(2)", 16)
	for _, c := range []struct{ h, w, scale, points, stride int }{
		{16, 16, 1, 256, 0}, {8, 8, 1, 64, 0}, {12, 20, 1, 240, 0}, {32, 32, 1, 1024, 0}, {33, 33, 1, 17 * 17, 2}, {64, 64, 1, 1024, 2},
		{31, 70, 1, 16 * 35, 2}, {100, 100, 1, 25 * 25, 4}, {32, 32, 2, 1024, 0}, {64, 64, 2, 4096, 0}, {1, 1, 1, 1, 0}, {1, 40, 1, 40, 0},
	} {
		g, err := m.Geometry(c.h, c.w, c.scale)
		require.NoError(t, err)
		assert.Len(t, g.Points, 2*c.points, "%+v", c)
		assert.Equal(t, c.stride, g.Interleaved.Stride, "%+v", c)
		assert.NoError(t, g.Interleaved.check(c.points, len(g.Targets)/2))
		n := len(g.Points)
		if c.h > 1 {
			assert.InDelta(t, math.Hypot(16, 16), math.Hypot(g.Points[n-2]-g.Points[0], g.Points[n-1]-g.Points[1]), 1e-9, "%+v", c)
			assert.InDelta(t, 0, g.Points[n-2]+g.Points[0], 1e-9)
		}
		assert.InDelta(t, 0, g.Points[n-1]+g.Points[1], 100*float64(1-min(1, c.w-1))+1e-9)
		if c.scale > 1 {
			assert.Len(t, g.Targets, 2*c.h*c.w*c.scale*c.scale)
		}
	}
	for _, size := range [][2]int{{12, 20}, {20, 12}, {5, 5}} { // under SO(2) the longer side counts
		g, err := smallImageModel(t, "SO(2)", 16).Geometry(size[0], size[1], 1)
		require.NoError(t, err)
		n, along := len(g.Points), 0
		if size[1] > size[0] {
			along = 1
		}
		assert.InDelta(t, 16, g.Points[n-2+along]-g.Points[along], 1e-9, "%v", size)
	}
	g, err := smallImageModel(t, "T(2)", 0).Geometry(40, 30, 1)
	require.NoError(t, err)
	assert.Equal(t, Grid(40, 30), g, "a model that does not know its images' size")
	for _, bad := range [][3]int{{0, 4, 1}, {4, -1, 1}, {4, 4, 0}, {1 << 20, 1 << 20, 1}, {1 << 10, 1 << 10, 1 << 10},
		{math.MaxInt, math.MaxInt, 2}} {
		_, err := m.Geometry(bad[0], bad[1], bad[2])
		assert.ErrorIs(t, err, ErrShape, "%v", bad)
	}
}

// TestWithin: images that need too much memory as they are divided are divided once more, but not into images coarser than those of the
// training; the model that does so predicts what the divided geometry does, and follows the parameters.
func TestWithin(t *testing.T) {
	ctx := context.Background()
	m := smallImageModel(t, "R>0xSO(2)", 8)
	need := func(m *ImageEquivCNP[float64], h, w int) int64 {
		n, err := EstimateModel[float64](m, Work{Batch: 1, H: h, W: w})
		require.NoError(t, err)
		return n.Bytes()
	}
	stride := func(m *ImageEquivCNP[float64], h, w int) int {
		g, err := m.Geometry(h, w, 1)
		require.NoError(t, err)
		return g.Interleaved.Stride
	}
	whole := need(m, 16, 16)
	same, err := m.within(Work{Batch: 1, H: 16, W: 16}, whole)
	require.NoError(t, err)
	require.Same(t, m, same)
	view, err := m.within(Work{Batch: 1, H: 16, W: 16}, whole-1)
	require.NoError(t, err)
	require.Equal(t, []int{0, 2}, []int{stride(m, 16, 16), stride(view, 16, 16)})
	require.Less(t, need(view, 16, 16), whole)

	im := planImages[float64](2, 1, 16, 16, 5)
	g := Grid(8, 8)
	g.Interleaved = Interleaved{16, 16, 2}
	for range 2 {
		plan, err := m.PlanGeometry(ctx, g, PlanOptions{})
		require.NoError(t, err)
		got, err := view.Complete(ctx, im)
		require.NoError(t, err)
		require.Equal(t, predictPlan(t, plan, im), got)
		m.State()[0].Data[0] *= 1.1
	}

	for _, c := range []struct{ h, w, stride int }{{14, 14, 0}, {15, 15, 2}, {24, 24, 3}, {31, 31, 3}, {40, 40, 4}, {8, 32, 3},
		{1, 16, 0}} {
		v, err := m.within(Work{Batch: 1, H: c.h, W: c.w}, need(m, c.h, c.w)-1)
		require.NoError(t, err)
		require.Equal(t, c.stride, stride(v, c.h, c.w), "%d x %d", c.h, c.w)
	}
	v, err := m.within(Work{Batch: 1, H: 24, W: 24}, 1)
	require.NoError(t, err)
	require.Same(t, m, v, "nothing suffices")
	unknown := smallImageModel(t, "SO(2)", 0)
	v, err = unknown.within(Work{Batch: 1, H: 64, W: 64}, 1)
	require.NoError(t, err)
	require.Same(t, unknown, v)
}

// TestInterleaved: an image that is taken apart gets the predictions of its coarse images, each completed alone, at its pixels; the
// bits do not depend on the batch. Unobserved values are never read, nor pixels beyond the image.
func TestInterleaved(t *testing.T) {
	ctx := context.Background()
	for _, group := range []string{"T(2)", "SO(2)", "R>0xSO(2)"} {
		for _, v := range []Interleaved{{16, 16, 2}, {15, 10, 2}, {7, 11, 3}, {5, 6, 1}} {
			m := smallImageModel(t, group, 8)
			rng := rand.New(rand.NewPCG(5, 6))
			n := v.H * v.W
			im := &Images[float64]{B: 3, C: 1, H: v.H, W: v.W, Pixels: make([]float64, 3*n), Mask: make([]bool, 3*n)}
			for i := range im.Pixels {
				if im.Pixels[i], im.Mask[i] = rng.Float64(), rng.IntN(2) == 0; !im.Mask[i] {
					im.Pixels[i] = math.NaN()
				}
			}
			h, w := v.coarse()
			g := Grid(h, w)
			alone, err := m.PlanGeometry(ctx, g, PlanOptions{})
			require.NoError(t, err)
			g.Interleaved = v
			plan, err := m.PlanGeometry(ctx, g, PlanOptions{})
			require.NoError(t, err)
			assert.Equal(t, n, plan.Values())
			got := &Prediction[float64]{Mean: make([]float64, 3*n), Std: make([]float64, 3*n)}
			require.NoError(t, plan.Predict(ctx, got, im))
			seen := 0
			for b := range 3 {
				for part := range v.Stride * v.Stride {
					coarse := &Images[float64]{B: 1, C: 1, H: h, W: w, Pixels: make([]float64, h*w), Mask: make([]bool, h*w)}
					at := func(i int) (int, bool) {
						y, x := i/w*v.Stride+part/v.Stride, i%w*v.Stride+part%v.Stride
						return b*n + y*v.W + x, y < v.H && x < v.W
					}
					for i := range h * w {
						if k, ok := at(i); ok {
							coarse.Pixels[i], coarse.Mask[i] = im.Pixels[k], im.Mask[k]
						}
					}
					want := &Prediction[float64]{Mean: make([]float64, h*w), Std: make([]float64, h*w)}
					require.NoError(t, alone.Predict(ctx, want, coarse))
					for i := range h * w {
						if k, ok := at(i); ok {
							seen++
							assert.Equal(t, want.Mean[i], got.Mean[k], "%s %+v", group, v)
							assert.Equal(t, want.Std[i], got.Std[k], "%s %+v", group, v)
						}
					}
				}
			}
			assert.Equal(t, 3*n, seen)
			im.H, im.W = v.W, v.H
			if v.H != v.W {
				assert.ErrorIs(t, plan.Predict(ctx, got, im), ErrShape, "as many pixels, of another shape")
			}
		}
	}
	m := smallImageModel(t, "T(2)", 8)
	for _, bad := range []Interleaved{{16, 16, 0}, {16, 16, 3}, {-1, 16, 2}, {1 << 30, 1 << 30, 2}, {0, 0, 2}, {16, 16, math.MaxInt >> 1}} {
		_, err := m.PlanGeometry(ctx, Geometry{Points: axis.Grid(8, 8), Interleaved: bad}, PlanOptions{})
		assert.ErrorIs(t, err, ErrShape, "%+v", bad)
	}
	_, err := m.PlanGeometry(ctx, Geometry{Points: axis.Grid(8, 8), Targets: []float64{0, 0},
		Interleaved: Interleaved{16, 16, 2}}, PlanOptions{})
	assert.ErrorIs(t, err, ErrShape, "with targets")
}

// TestFinerImages: under a group that does not see size, an image drawn twice as fine is predicted like the coarse one, and much better
// than one whose pixels lie as far apart as in training.
func TestFinerImages(t *testing.T) {
	m := smallImageModel(t, "SO(2)", 16)
	out := map[int]*Prediction[float64]{}
	for _, side := range []int{16, 32} {
		im := &Images[float64]{B: 1, C: 1, H: side, W: side, Pixels: make([]float64, side*side), Mask: make([]bool, side*side)}
		for i := range im.Pixels {
			y, x := float64(i/side)/float64(side-1), float64(i%side)/float64(side-1)
			im.Pixels[i], im.Mask[i] = math.Sin(3*y)*math.Cos(2*x), true
		}
		var err error
		out[side], err = m.Complete(context.Background(), im)
		require.NoError(t, err)
	}
	worst := 0.0
	for i, v := range out[16].Mean {
		y, x := i/16, i%16
		worst = max(worst, math.Abs(v-out[32].Mean[(2*y+y/8)*32+2*x+x/8]))
	}
	assert.Less(t, worst, 0.05)
}
