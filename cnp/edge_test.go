package cnp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

func smallCurves(t *testing.T) map[string]Regressor[float32] {
	t.Helper()
	out := map[string]Regressor[float32]{}
	add := func(name string, c Config) {
		m, err := New[float32](c, 2)
		require.NoError(t, err, name)
		out[name] = m.(Regressor[float32])
	}
	for _, g := range []string{"T(1)", "T(2)", "SO(2)", "R>0xSO(2)", "SE(2)", "R>0(1)", "R>0(2)", "trivial(2)"} {
		c := Default(EquivCNPCurve, g, 1)
		c.PointsPerUnit, c.Channels, c.Hidden, c.Mid = 0, []int{4, 6, 4}, 8, 4
		if g == "SE(2)" {
			c.Lifts = 4
		}
		add("points "+g, c)
		if g == "T(1)" || g == "T(2)" || g == "SO(2)" {
			c.PointsPerUnit, c.Margin = 3, 0.1
			add("lattice "+g, c)
			c.Readout, c.Placement = ReadoutTargets, PlacementBatch
			add("lattice and targets "+g, c)
		}
	}
	c := Default(EquivCNPCurve, "T(1)", 1)
	c.Readout, c.Placement, c.PointsPerUnit = ReadoutRBF, PlacementBatch, 8
	add("basis functions", c)
	add("convcnp", Default(ConvCNPCurve, "", 1))
	add("cnp", Default(CNPCurve, "", 1))
	return out
}

func requireFinite(t *testing.T, p *Prediction[float32], n int) {
	t.Helper()
	require.Len(t, p.Mean, n)
	require.Len(t, p.Std, n)
	for i := range p.Mean {
		require.False(t, math.IsNaN(float64(p.Mean[i]-p.Mean[i])), "mean %d = %v", i, p.Mean[i])
		require.False(t, math.IsNaN(float64(p.Std[i]-p.Std[i])), "std %d = %v", i, p.Std[i])
		require.Greater(t, p.Std[i], float32(0))
	}
}

// TestValidEdges: tasks that are small or odd but valid.
func TestValidEdges(t *testing.T) {
	for name, m := range smallCurves(t) {
		t.Run(name, func(t *testing.T) {
			dx := m.Config().DimX
			point := func(v ...float64) []float64 { // one point per value, equal coordinates
				var x []float64
				for _, a := range v {
					for range dx {
						x = append(x, a)
					}
				}
				return x
			}
			for _, c := range []struct {
				name string
				b    *Batch[float32]
				n    int
			}{
				{"empty context", &Batch[float32]{B: 1, Nt: 3, XTarget: point(0.1, 0.5, 1)}, 3},
				{"masked context", &Batch[float32]{B: 1, Nc: 2, Nt: 1, XContext: point(9, math.NaN()), YContext: []float32{1, 2},
					XTarget: point(0.5), ContextMask: []bool{false, false}}, 1},
				{"a single point", &Batch[float32]{B: 1, Nc: 1, Nt: 1, XContext: point(0.5), YContext: []float32{1},
					XTarget: point(0.5)}, 1},
				{"duplicated points", &Batch[float32]{B: 1, Nc: 4, Nt: 2, XContext: point(0.5, 0.5, 0.5, 0.5),
					YContext: []float32{1, 2, 1, 1}, XTarget: point(0.5, 0.5)}, 2},
				{"the origin", &Batch[float32]{B: 1, Nc: 2, Nt: 2, XContext: point(0, 1), YContext: []float32{1, 2},
					XTarget: point(0, 2)}, 2},
				{"zero targets", &Batch[float32]{B: 1, Nc: 1, XContext: point(1), YContext: []float32{1}}, 0},
				{"zero tasks", &Batch[float32]{Nc: 1, Nt: 1}, 0},
			} {
				t.Run(c.name, func(t *testing.T) {
					p, err := m.Predict(context.Background(), c.b)
					require.NoError(t, err)
					requireFinite(t, p, c.n)
				})
			}
		})
	}
}

// TestOriginPoisonsNobody: under R>0xSO(2) log r = -inf at the origin. One such point must not change the others.
func TestOriginPoisonsNobody(t *testing.T) {
	c := Default(EquivCNPCurve, "R>0xSO(2)", 1)
	c.PointsPerUnit = 0
	m, err := New[float64](c, 2)
	require.NoError(t, err)
	b := &Batch[float64]{B: 1, Nc: 2, Nt: 1, XContext: []float64{1, 0.5, -0.3, 2}, YContext: []float64{1, -1}, XTarget: []float64{1.1, 0.4}}
	want, err := m.(Regressor[float64]).Predict(context.Background(), b)
	require.NoError(t, err)
	b.Nt, b.XTarget = 2, append(b.XTarget, 0, 0)
	got, err := m.(Regressor[float64]).Predict(context.Background(), b)
	require.NoError(t, err)
	require.InDelta(t, want.Mean[0], got.Mean[0], 1e-12)
	require.InDelta(t, want.Std[0], got.Std[0], 1e-12)
}

func TestBadBatches(t *testing.T) {
	m := smallCurves(t)["lattice and targets T(1)"]
	good := func() *Batch[float32] {
		return &Batch[float32]{B: 1, Nc: 2, Nt: 2, XContext: []float64{0, 1}, YContext: []float32{1, 2}, XTarget: []float64{0, 2}}
	}
	for _, c := range []struct {
		name string
		edit func(b *Batch[float32])
		is   error
		want string
	}{
		{"NaN y", func(b *Batch[float32]) { b.YContext[1] = float32(math.NaN()) }, ErrValue, "y_context[0, 1, 0] = NaN"},
		{"infinite x", func(b *Batch[float32]) { b.XContext[0] = math.Inf(1) }, ErrValue, "x_context[0, 0, 0] = +Inf"},
		{"infinite target", func(b *Batch[float32]) { b.XTarget[1] = math.Inf(-1) }, ErrValue, "x_target[0, 1, 0] = -Inf"},
		{"short y", func(b *Batch[float32]) { b.YContext = b.YContext[:1] }, ErrShape, "y_context has 1 values"},
		{"short mask", func(b *Batch[float32]) { b.TargetMask = []bool{true} }, ErrShape, "target_mask has 1 values"},
		{"negative", func(b *Batch[float32]) { b.B = -1 }, ErrShape, "-1 tasks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := good()
			c.edit(b)
			p, err := m.Predict(context.Background(), b)
			require.Nil(t, p)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func smallImages(t *testing.T, channels int) map[string]Completer[float32] {
	t.Helper()
	out := map[string]Completer[float32]{}
	for _, g := range []string{"T(2)", "SO(2)", "R>0xSO(2)", "SE(2)", "R>0(2)", "trivial(2)"} {
		out["equivcnp "+g] = imageModel[float32](t, g, 1, channels)
	}
	out["equivcnp SE(2) K=4"] = imageModel[float32](t, "SE(2)", 4, channels)
	for _, a := range []Architecture{ConvCNPImage, CNPImage} {
		c := Default(a, "", channels)
		c.Channels, c.Blocks, c.Kernel = []int{6}, 1, 3
		m, err := New[float32](c, 2)
		require.NoError(t, err)
		out[string(a)] = m.(Completer[float32])
	}
	return out
}

// TestImages: any size, any number of channels, no pixel or all of them observed; a batch is its images one by one.
func TestImages(t *testing.T) {
	for _, channels := range []int{1, 3} {
		for name, m := range smallImages(t, channels) {
			t.Run(fmt.Sprintf("%s/C=%d", name, channels), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 9))
				for _, size := range [][2]int{{1, 1}, {1, 5}, {7, 3}, {9, 9}} {
					im := randomImages[float32](rng, 3, channels, size[0], size[1])
					n := size[0] * size[1]
					for p := range n { // nothing observed in the first image, everything in the last
						im.Mask[p], im.Mask[2*n+p] = false, true
					}
					for p := range im.Mask {
						if !im.Mask[p] {
							for c := range channels {
								im.Pixels[(p/n*channels+c)*n+p%n] = float32(math.NaN())
							}
						}
					}
					all, err := m.Complete(context.Background(), im)
					require.NoError(t, err)
					requireFinite(t, all, 3*channels*n)
					for b := range 3 {
						one := &Images[float32]{B: 1, C: channels, H: size[0], W: size[1],
							Pixels: im.Pixels[b*channels*n : (b+1)*channels*n], Mask: im.Mask[b*n : (b+1)*n]}
						p, err := m.Complete(context.Background(), one)
						require.NoError(t, err)
						require.Equal(t, all.Mean[b*channels*n:(b+1)*channels*n], p.Mean)
						require.Equal(t, all.Std[b*channels*n:(b+1)*channels*n], p.Std)
					}
				}
			})
		}
	}
}

// TestNoTasks: a batch may have no tasks. Nothing is predicted then, and there are no gradients, as of a last batch that a filter emptied.
func TestNoTasks(t *testing.T) {
	differentiate := func(t *testing.T, m Model[float32], pass func(mode layers.Mode) (*Pass[float32], error)) {
		for _, mode := range []layers.Mode{layers.Eval, layers.Train} {
			p, err := pass(mode)
			require.NoError(t, err)
			grads := layers.NewGrads(m.State())
			loss, err := p.Gradient(nil, grads)
			require.NoError(t, err)
			require.Zero(t, loss)
			require.Zero(t, nonzero32(grads))
		}
	}
	ctx := context.Background()
	for name, m := range smallImages(t, 1) {
		t.Run(name, func(t *testing.T) {
			im := &Images[float32]{C: 1, H: 5, W: 4}
			p, err := m.Complete(ctx, im)
			require.NoError(t, err)
			requireFinite(t, p, 0)
			if m, ok := m.(TrainableCompleter[float32]); ok {
				differentiate(t, m, func(mode layers.Mode) (*Pass[float32], error) { return m.Differentiate(ctx, im, mode) })
			}
		})
	}
	for name, m := range smallCurves(t) {
		t.Run(name, func(t *testing.T) {
			b := &Batch[float32]{Nc: 3, Nt: 2}
			p, err := m.Predict(ctx, b)
			require.NoError(t, err)
			requireFinite(t, p, 0)
			if m, ok := m.(TrainableRegressor[float32]); ok {
				differentiate(t, m, func(mode layers.Mode) (*Pass[float32], error) { return m.Differentiate(ctx, b, mode) })
			}
		})
	}
}

// nonzero32 counts the gradients that are not 0.
func nonzero32(grads *layers.Grads[float32]) (n int) {
	for _, d := range grads.Data {
		for _, v := range d {
			if v != 0 {
				n++
			}
		}
	}
	return n
}

func TestBadImages(t *testing.T) {
	m := smallImages(t, 1)["equivcnp T(2)"]
	good := func() *Images[float32] {
		return &Images[float32]{B: 1, C: 1, H: 2, W: 2, Pixels: []float32{0, 1, 0, 1}, Mask: []bool{true, true, true, false}}
	}
	for _, c := range []struct {
		name string
		edit func(im *Images[float32])
		is   error
		want string
	}{
		{"NaN pixel", func(im *Images[float32]) { im.Pixels[2] = float32(math.NaN()) }, ErrValue, "image[0, 0, 1, 0] = NaN"},
		{"colour", func(im *Images[float32]) { im.C = 3; im.Pixels = make([]float32, 12) }, ErrShape, "3 channels, the model has 1"},
		{"mask of another size", func(im *Images[float32]) { im.Mask = im.Mask[:3] }, ErrShape, "mask has 3 values"},
		{"no pixels", func(im *Images[float32]) { im.H = 0 }, ErrShape, "0 x 2 pixels"},
		{"absurd size", func(im *Images[float32]) { im.H, im.W = math.MaxInt32, math.MaxInt32 }, ErrShape, "pixels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			im := good()
			c.edit(im)
			_, err := m.Complete(context.Background(), im)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, m := range smallImages(t, 1) {
		_, err := m.Complete(ctx, randomImages[float32](rand.New(rand.NewPCG(1, 1)), 1, 1, 4, 4))
		require.ErrorIs(t, err, context.Canceled, name)
	}
	for name, m := range smallCurves(t) {
		_, err := m.Predict(ctx, randomBatch[float32](rand.New(rand.NewPCG(1, 1)), 1, 2, 2, m.Config().DimX, 1))
		require.ErrorIs(t, err, context.Canceled, name)
	}
}

func TestProgress(t *testing.T) {
	for name, m := range smallImages(t, 1) {
		last, total := -1, 0
		ctx := WithProgress(context.Background(), func(done, of int) {
			require.GreaterOrEqual(t, done, last, name)
			last, total = done, of
		})
		_, err := m.Complete(ctx, randomImages[float32](rand.New(rand.NewPCG(1, 1)), 2, 1, 4, 4))
		require.NoError(t, err)
		require.Positive(t, total, name)
		require.Equal(t, total, last, name)
	}
}

// TestChunks: the tasks of a large batch are worked on a few at a time, which must not show: a task has the bits that
// it has alone. Points on a grid, and several lifts, have poses that tasks share but for their last bits.
func TestChunks(t *testing.T) {
	t.Run("F64", func(t *testing.T) { testChunks[float64](t) })
	t.Run("F32", func(t *testing.T) { testChunks[float32](t) })
}

func testChunks[T Float](t *testing.T) {
	for _, lifts := range []int{1, 2, 4} {
		c := Default(EquivCNPCurve, "SE(2)", 1)
		c.PointsPerUnit, c.Lifts, c.Channels, c.Hidden, c.Mid, c.MaxNeighbors = 0, lifts, []int{4, 4, 4}, 4, 3, 5*(lifts/4)
		c.SamplingFraction = []float64{1, 0.5}[lifts/2%2] // with 2 lifts, half of the points
		model, err := New[T](c, 2)
		require.NoError(t, err)
		m := model.(Regressor[T])
		n := 2*taskChunk + 3
		b := randomBatch[T](rand.New(rand.NewPCG(3, 3)), n, 5, 4, 2, 1)
		for _, x := range [][]float64{b.XContext, b.XTarget} {
			for i := range x {
				x[i] = math.Round(10*x[i]) / 10
			}
		}
		all, err := m.Predict(context.Background(), b)
		require.NoError(t, err)
		for k := range n {
			one := &Batch[T]{B: 1, Nc: 5, Nt: 4, XContext: b.XContext[k*10 : (k+1)*10], YContext: b.YContext[k*5 : (k+1)*5],
				XTarget: b.XTarget[k*8 : (k+1)*8]}
			p, err := m.Predict(context.Background(), one)
			require.NoError(t, err)
			require.Equal(t, all.Mean[k*4:(k+1)*4], p.Mean, "%d lifts, task %d", lifts, k)
			require.Equal(t, all.Std[k*4:(k+1)*4], p.Std, "%d lifts, task %d", lifts, k)
		}
	}
}

func TestNewIsReproducible(t *testing.T) {
	for _, a := range Architectures {
		g := map[Architecture]string{EquivCNPCurve: "T(1)", EquivCNPImage: "SO(2)"}[a]
		c := Default(a, g, 2)
		x, err := New[float32](c, 7)
		require.NoError(t, err)
		y, err := New[float32](c, 7)
		require.NoError(t, err)
		require.Equal(t, x.State(), y.State())
		require.Equal(t, c, x.Config())
		z, err := New[float32](c, 8)
		require.NoError(t, err)
		require.NotEqual(t, x.State(), z.State())
		names := map[string]bool{}
		for _, p := range x.State() {
			require.False(t, names[p.Name], p.Name)
			names[p.Name] = true
			n := 1
			for _, s := range p.Shape {
				n *= s
			}
			require.Len(t, p.Data, n, p.Name)
		}
	}
}

func TestBadConfigs(t *testing.T) {
	for _, c := range []struct {
		name, want string
		edit       func(c *Config)
	}{
		{"architecture", `architecture "transformer"`, func(c *Config) { c.Architecture = "transformer" }},
		{"group", "SO(9)", func(c *Config) { c.Group = "SO(9)" }},
		{"group's dimension", "acts on 2 coordinates, the model has 1", func(c *Config) { c.Group = "SO(2)" }},
		{"alpha", "alpha = 2", func(c *Config) { c.Alpha = 2 }},
		{"lifts", "lifts = 3", func(c *Config) { c.Lifts = 3 }},
		{"widths", "channels = []", func(c *Config) { c.Channels = nil }},
		{"huge widths", "channels = [1073741824]", func(c *Config) { c.Channels = []int{1 << 30} }},
		{"negative width", "channels = [8 -1]", func(c *Config) { c.Channels = []int{8, -1} }},
		{"outputs", "dim_y = 0", func(c *Config) { c.DimY = 0 }},
		{"readout", `readout "crystal ball"`, func(c *Config) { c.Readout = "crystal ball" }},
		{"readout without lattice", "needs a lattice", func(c *Config) { c.Readout, c.PointsPerUnit = ReadoutRBF, 0 }},
		{"fill", "fill = NaN", func(c *Config) { c.Fill = math.NaN() }},
		{"output", `output "median"`, func(c *Config) { c.Output = "median" }},
		{"kernel", "kernel = 4", func(c *Config) { *c = Default(ConvCNPCurve, "", 1); c.Kernel = 4 }},
		{"sampling fraction", "sampling_fraction = 1.5", func(c *Config) { c.SamplingFraction, c.Placement = 1.5, "" }},
		{"no sampling fraction", "sampling_fraction = NaN", func(c *Config) { c.SamplingFraction, c.Placement = math.NaN(), "" }},
		{"sampled where the context is", "sampling_fraction 1", func(c *Config) { c.SamplingFraction = 0.5 }},
		{"sampled beside the targets", "sampling_fraction needs readout",
			func(c *Config) { c.SamplingFraction, c.Readout, c.Placement = 0.5, ReadoutTargets, "" }},
		{"sampled levels", "no max_neighbors, sampling_fraction",
			func(c *Config) { *c = DefaultLevels(2, 1, 1); c.SamplingFraction = 0.5 }},
		{"sampled pixels", "sampling_fraction is for",
			func(c *Config) { *c = Default(EquivCNPImage, "T(2)", 1); c.SamplingFraction = 0.5 }},
		{"neighbours of no blocks", "block_neighbors is for", func(c *Config) { c.BlockNeighbors = 5 }},
		{"negative neighbours", "block_neighbors = -1", func(c *Config) { *c = Default(EquivCNPImage, "T(2)", 1); c.BlockNeighbors = -1 }},
		{"blocks", "blocks = 0", func(c *Config) { *c = Default(EquivCNPImage, "T(2)", 1); c.Blocks = 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Default(EquivCNPCurve, "T(1)", 1)
			c.edit(&cfg)
			m, err := New[float32](cfg, 1)
			require.Nil(t, m)
			require.True(t, errors.Is(err, ErrConfig), "%v", err)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// ring is a group of a user's own: rotations of the plane, as SO(2), but with a distance of its own taste and none of
// the optional interfaces.
type ring struct{ group.Group }

func (ring) Name() string                    { return "ring" }
func (ring) Distance(pose []float64) float64 { return math.Abs(pose[0]) + math.Abs(pose[1]-pose[2]) }

// TestUserGroup: a model of a registered group of the user's own is equivariant under it.
func TestUserGroup(t *testing.T) {
	so2, err := group.Parse("SO(2)", 0)
	require.NoError(t, err)
	g := ring{so2}
	c := Default(EquivCNPCurve, "SO(2)", 1)
	c.PointsPerUnit = 0
	m, err := NewWithGroup[float64](c, g, 1)
	require.NoError(t, err)
	b := randomBatch[float64](rand.New(rand.NewPCG(4, 4)), 1, 6, 5, 2, 1)
	want, err := m.(Regressor[float64]).Predict(context.Background(), b)
	require.NoError(t, err)
	moved := *b
	moved.XContext, moved.XTarget = act(t, g, []float64{0.7}, b.XContext), act(t, g, []float64{0.7}, b.XTarget)
	got, err := m.(Regressor[float64]).Predict(context.Background(), &moved)
	require.NoError(t, err)
	requireSame(t, "rotated", got, want)
}
