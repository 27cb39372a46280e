package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/layers"
)

// rasterModel is a small model under T(2) whose layers have these radii, in pixels.
func rasterModel(t testing.TB, change func(*Config), psi, block float64) *ImageEquivCNP[float32] {
	c := Default(EquivCNPImage, "T(2)", 1)
	c.Channels, c.Blocks, c.Hidden, c.Mid, c.Fill, c.BlockFill = []int{8}, 2, 6, 3, 0, 0
	if change != nil {
		change(&c)
	}
	m, err := New[float32](c, 3)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range m.State() {
		if len(p.Data) == 1 && p.Name[max(0, len(p.Name)-2):] == ".r" {
			p.Data[0] = float32(0.2 * block) // T(2) measures 0.2 times the length
			if len(p.Name) > 5 && p.Name[:5] == "conv_" {
				p.Data[0] = float32(0.2 * psi)
			}
		} else if !p.Buffer {
			for i := range p.Data {
				p.Data[i] += float32(0.1 * rng.NormFloat64())
			}
		}
	}
	return m.(*ImageEquivCNP[float32])
}

// raster is a random image, observed in a third of its pixels.
func randomRaster(c, h, w int) *Images[float32] {
	rng := rand.New(rand.NewPCG(7, uint64(h*1000+w)))
	im := &Images[float32]{B: 1, C: c, H: h, W: w, Pixels: make([]float32, c*h*w), Mask: make([]bool, h*w)}
	for i := range im.Mask {
		im.Mask[i] = rng.IntN(3) == 0
	}
	for i := range im.Pixels {
		im.Pixels[i] = float32(rng.NormFloat64())
		if !im.Mask[i%(h*w)] {
			im.Pixels[i] = float32(math.NaN()) // never read
		}
	}
	return im
}

// reader reads parts of an image.
func reader(im *Images[float32], lines *int) func(part *Images[float32], y, x int) error {
	return func(part *Images[float32], y, x int) error {
		*lines += part.H
		for i := range part.H {
			copy(part.Mask[i*part.W:(i+1)*part.W], im.Mask[(y+i)*im.W+x:])
			for c := range im.C {
				copy(part.Pixels[(c*part.H+i)*part.W:][:part.W], im.Pixels[(c*im.H+y+i)*im.W+x:])
			}
		}
		return nil
	}
}

// wholeRaster predicts a raster by one plan, its lines padded to whole eights.
func wholeRaster(t testing.TB, m *ImageEquivCNP[float32], im *Images[float32]) *Prediction[float32] {
	w := eights(im.W)
	padded := &Images[float32]{B: 1, C: im.C, H: im.H, W: w, Pixels: make([]float32, im.C*im.H*w), Mask: make([]bool, im.H*w)}
	for y := range im.H {
		copy(padded.Mask[y*w:], im.Mask[y*im.W:(y+1)*im.W])
		for c := range im.C {
			copy(padded.Pixels[(c*im.H+y)*w:], im.Pixels[(c*im.H+y)*im.W:(c*im.H+y+1)*im.W])
		}
	}
	g, err := m.RasterGeometry(im.H, w)
	require.NoError(t, err)
	plan, err := m.PlanGeometry(context.Background(), g, PlanOptions{Algorithm: layers.Direct})
	require.NoError(t, err)
	p := m.family.newPrediction(len(padded.Pixels))
	require.NoError(t, plan.Predict(context.Background(), p, padded))
	out := m.family.newPrediction(len(im.Pixels))
	outputs := 0
	if p.Params != nil {
		outputs = p.Likelihood.Outputs()
	}
	for i := range im.C * im.H {
		copy(out.Mean[i*im.W:(i+1)*im.W], p.Mean[i*w:])
		copy(out.Std[i*im.W:(i+1)*im.W], p.Std[i*w:])
		copy(out.Params[i*im.W*outputs:(i+1)*im.W*outputs], p.Params[i*w*outputs:])
	}
	return out
}

// put copies a tile's prediction to its place in the whole's.
func put(out *Prediction[float32], im *Images[float32], tile RasterTile, p *Prediction[float32]) {
	outputs := 0
	if p.Params != nil {
		outputs = p.Likelihood.Outputs()
	}
	for c := range im.C {
		for y := range tile.H {
			from, to := (c*tile.H+y)*tile.W, (c*im.H+tile.Y+y)*im.W+tile.X
			copy(out.Mean[to:], p.Mean[from:from+tile.W])
			copy(out.Std[to:], p.Std[from:from+tile.W])
			copy(out.Params[to*outputs:], p.Params[from*outputs:(from+tile.W)*outputs])
		}
	}
}

// sameBits names the first value that differs.
func sameBits(t testing.TB, im *Images[float32], want, got *Prediction[float32]) {
	t.Helper()
	require.Len(t, got.Params, len(want.Params))
	for name, v := range map[string][2][]float32{"mean": {want.Mean, got.Mean}, "std": {want.Std, got.Std},
		"params": {want.Params, got.Params}} {
		different, first := 0, -1
		for i, x := range v[0] {
			if math.Float32bits(x) != math.Float32bits(v[1][i]) {
				if different++; first < 0 {
					first = i
				}
			}
		}
		if different > 0 {
			i := first / max(1, len(v[0])/len(want.Mean))
			t.Fatalf("%s: %d of %d differ, the first in channel %d, line %d, column %d: %v, want %v", name, different, len(v[0]),
				i/(im.H*im.W), i/im.W%im.H, i%im.W, v[1][first], v[0][first])
		}
	}
}

// The pieces have the bits of the whole, wherever it is cut, whatever the size of raster, tiles and bands; and no line
// is read more often than needed.
func TestRasterBits(t *testing.T) {
	ctx := context.Background()
	sized := func(h, w int) func(*Config) { return func(c *Config) { c.ImageSize = [2]int{h, w} } }
	for _, tt := range []struct {
		name         string
		change       func(*Config)
		psi, block   float64
		h, w         int
		across, down int
	}{
		{"one band", nil, 2.5, 3.2, 70, 48, 0, 0},
		{"odd width", nil, 2.5, 3.2, 61, 77, 0, 13},
		{"bands", nil, 2.5, 3.2, 60, 160, 72, 32},
		{"bands, odd", nil, 2.5, 3.2, 53, 171, 64, 7},
		{"trained at 28", sized(28, 28), 2.5, 3.2, 53, 130, 72, 20},
		{"trained at 28 x 20", sized(28, 20), 2.5, 3.2, 53, 130, 80, 20},
		{"radius of a whole number", nil, 2, 3, 40, 120, 64, 16},
		{"wider embedding", nil, 5.1, 2.1, 44, 140, 72, 100},
		{"lower than a window", nil, 2.5, 3.2, 9, 150, 64, 4},
		{"one line", nil, 2.5, 3.2, 1, 400, 64, 1},
		{"narrow", nil, 2.5, 3.2, 300, 5, 0, 50},
		{"colour", func(c *Config) { c.DimY = 3 }, 2.5, 3.2, 40, 100, 64, 16},
		{"powers", func(c *Config) { c.Multiplicity = 2 }, 2.5, 3.2, 40, 100, 64, 16},
		{"smooth window", func(c *Config) { c.Window = "smooth" }, 2.5, 3.2, 40, 100, 64, 16},
		{"likelihood", func(c *Config) { c.Likelihood = "bernoulli-gamma" }, 2.5, 3.2, 40, 100, 64, 16},
		{"noise", func(c *Config) { c.Likelihood = "normal:noise" }, 2.5, 3.2, 40, 100, 64, 16},
		{"observed", func(c *Config) { c.DimY, c.KeepObserved = 2, true }, 2.5, 3.2, 40, 100, 64, 16},
		{"observed, odd", func(c *Config) { c.KeepObserved = true }, 2.5, 3.2, 53, 171, 64, 7},
		{"observed, calibrated", func(c *Config) { c.DimY, c.KeepObserved, c.Likelihood = 2, true, "scales:0.7*0.5,0.3*2" }, 2.5,
			3.2, 40, 100, 64, 16},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := rasterModel(t, tt.change, tt.psi, tt.block)
			im := randomRaster(m.cfg.DimY, tt.h, tt.w)
			want := wholeRaster(t, m, im)
			r, err := PlanRaster[float32](ctx, m, tt.h, tt.w, RasterOptions{Across: tt.across, Down: tt.down})
			require.NoError(t, err)
			if tt.across > 0 {
				require.Greater(t, len(r.plan.(*rasterPlan[float32]).columns), 2, "the case is meant to have several bands")
			}
			lines := 0
			got := m.family.newPrediction(len(im.Pixels))
			var order []int
			require.NoError(t, r.Predict(ctx, reader(im, &lines), nil, func(i int, tile RasterTile, p *Prediction[float32]) error {
				require.Equal(t, r.Tiles()[i], tile)
				order = append(order, i)
				put(got, im, tile, p)
				return nil
			}))
			require.Len(t, order, len(r.Tiles()))
			require.Equal(t, tt.h*(len(r.plan.(*rasterPlan[float32]).columns)-1), lines, "every line is read once for each band")
			sameBits(t, im, want, got)

			// Some tiles alone, as after a process was killed.
			lines = 0
			half := m.family.newPrediction(len(im.Pixels))
			rng := rand.New(rand.NewPCG(3, 4))
			left := make([]bool, len(order))
			for i := range left {
				left[i] = rng.IntN(2) == 0
			}
			at := 0
			write := func(i int, tile RasterTile, p *Prediction[float32]) error {
				put(half, im, tile, p)
				at++
				return nil
			}
			require.NoError(t, r.Predict(ctx, reader(im, &lines), func(i int) bool { return left[i] }, write))
			require.NoError(t, r.Predict(ctx, reader(im, &lines), func(i int) bool { return !left[i] }, write))
			require.Equal(t, len(order), at)
			sameBits(t, im, want, half)
		})
	}
}

// What cannot be done by pieces is refused, with the reason.
func TestRasterRefused(t *testing.T) {
	ctx := context.Background()
	for name, words := range map[string]string{"SO(2)": "depend on where a pixel lies",
		"R>0xSO(2)": "depend on where a pixel lies", "SE(2)": "are drawn by its place"} {
		c := Default(EquivCNPImage, name, 1)
		err := c.Tileable()
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, words)
	}
	for _, a := range []Architecture{CNPImage, ConvCNPImage} {
		c := Default(a, "", 1)
		require.ErrorIs(t, c.Tileable(), ErrConfig)
	}
	m := rasterModel(t, nil, 2.5, 3.2)
	for _, o := range []RasterOptions{{Across: 12}, {Down: -1}, {Memory: -1}} {
		_, err := PlanRaster[float32](ctx, m, 50, 500, o)
		require.ErrorIs(t, err, ErrConfig, "%+v", o)
	}
	_, err := PlanRaster[float32](ctx, m, 50, 500, RasterOptions{Memory: 1000})
	require.ErrorIs(t, err, ErrMemory)
	// A width of one's own is refused by the margins, whatever the memory, and by the memory, if that is the smaller one.
	_, err = PlanRaster[float32](ctx, m, 50, 500, RasterOptions{Across: 8})
	require.ErrorIs(t, err, ErrConfig)
	require.ErrorContains(t, err, "bands of 8 columns: with margins of ")
	wide, err := PlanRaster[float32](ctx, m, 50, 500, RasterOptions{Across: 400})
	require.NoError(t, err)
	_, err = PlanRaster[float32](ctx, m, 50, 500, RasterOptions{Across: 400, Memory: wide.Bytes()})
	require.NoError(t, err)
	_, err = PlanRaster[float32](ctx, m, 50, 500, RasterOptions{Across: 400, Memory: wide.Bytes() - 1})
	require.ErrorIs(t, err, ErrMemory)
	require.ErrorContains(t, err, "bands of 400 columns")
	_, err = PlanRaster[float32](ctx, m, 3, 3, RasterOptions{})
	require.ErrorIs(t, err, ErrShape)
	require.ErrorContains(t, err, "3 x 3 pixels is too small")
	_, err = PlanRaster[float32](ctx, m, 0, 5, RasterOptions{})
	require.ErrorIs(t, err, ErrShape)
	c := m.cfg
	c.MaxNeighbors = 5
	require.ErrorIs(t, c.Tileable(), ErrConfig)
	c.MaxNeighbors, c.BlockNeighbors = 0, 5
	require.ErrorIs(t, c.Tileable(), ErrConfig)

	// Errors of the callbacks come back, and a bad number is named by its place in the raster.
	r, err := PlanRaster[float32](ctx, m, 50, 200, RasterOptions{Across: 80})
	require.NoError(t, err)
	im := randomRaster(1, 50, 200)
	im.Mask[40*200+150], im.Pixels[40*200+150] = true, float32(math.Inf(1))
	lines := 0
	err = r.Predict(ctx, reader(im, &lines), nil, func(int, RasterTile, *Prediction[float32]) error { return nil })
	require.ErrorIs(t, err, ErrValue)
	require.ErrorContains(t, err, "line 40, column 150")
	failed := fmt.Errorf("full")
	err = r.Predict(ctx, reader(im, &lines), nil, func(int, RasterTile, *Prediction[float32]) error { return failed })
	require.ErrorIs(t, err, failed)
	over, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, r.Predict(over, reader(im, &lines), nil, nil), context.Canceled)
}

// TestRasterTiles: a raster of more tiles than can be listed, as a header of a few bytes can claim, is refused.
func TestRasterTiles(t *testing.T) {
	m := rasterModel(t, nil, 0.4, 1)
	_, err := PlanRaster(t.Context(), m, 1<<22, 1<<22, RasterOptions{})
	require.ErrorIs(t, err, ErrShape)
	require.ErrorContains(t, err, "a raster of 4194304 x 4194304 pixels, in ")
	require.ErrorContains(t, err, "tiles of 256 lines, has more than 1048576 tiles")
	p, err := PlanRaster(t.Context(), m, 1<<22, 64, RasterOptions{})
	require.NoError(t, err)
	require.Len(t, p.Tiles(), 1<<22/256)
}
