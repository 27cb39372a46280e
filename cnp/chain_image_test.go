package cnp_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// chainCompleters are models of images with weights that nobody trained; the first three have flat plans.
func chainCompleters(t *testing.T) map[string]cnp.Completer[float32] {
	t.Helper()
	out := map[string]cnp.Completer[float32]{}
	add := func(name string, c cnp.Config, err error) {
		require.NoError(t, err)
		m, err := cnp.New[float32](c, 4)
		require.NoError(t, err)
		out[name] = m.(cnp.Completer[float32])
	}
	for _, g := range []struct {
		name  string
		lifts int
		size  [2]int
	}{{"T(2)", 1, [2]int{}}, {"T(2)", 1, [2]int{40, 40}}, {"SE(2)", 1, [2]int{}}, {"SE(2)", 4, [2]int{}}, {"SO(2)", 1, [2]int{}}} {
		c := cnp.Default(cnp.EquivCNPImage, g.name, 1)
		c.Lifts, c.Channels, c.Blocks, c.Hidden, c.Mid, c.Fill, c.BlockFill, c.ImageSize = g.lifts, []int{8}, 2, 8, 3, 0.004, 0.003, g.size
		if g.lifts > 1 {
			c.Fill, c.BlockFill = 0.01, 0.01
		}
		if g.size[0] > 0 {
			c.DimY = 2
		}
		add(fmt.Sprintf("%s, %d lifts, %d channels", g.name, g.lifts, c.DimY), c, nil)
	}
	c := cnp.Default(cnp.EquivCNPImage, "T(2)", 1)
	c.Channels, c.Blocks, c.Hidden, c.Mid, c.Fill, c.BlockFill, c.Likelihood = []int{8}, 2, 8, 3, 0.004, 0.003, "normal:noise"
	add("noise", c, nil)
	c = cnp.Default(cnp.CNPImage, "", 1)
	c.Channels, c.Likelihood = []int{8, 8, 8}, "normal:noise"
	add("cnp with noise", c, nil)
	c = cnp.Default(cnp.ConvCNPImage, "", 1)
	c.Channels, c.Blocks, c.Kernel = []int{8}, 1, 3
	add("convcnp", c, nil)
	c = cnp.Default(cnp.CNPImage, "", 1)
	c.Channels = []int{8, 8, 8}
	add("cnp", c, nil)
	return out
}

// chainImages are images with a tenth of their pixels observed, the last with none; what is not observed is NaN. y is the truth.
func chainImages(seed uint64, images, c, h, w int) (*cnp.Images[float32], []float32) {
	rng := rand.New(rand.NewPCG(seed, 2))
	im := &cnp.Images[float32]{B: images, C: c, H: h, W: w, Mask: make([]bool, images*h*w)}
	var y []float32
	for range images * c * h * w {
		y = append(y, float32(rng.Float64()))
	}
	im.Pixels = slices.Clone(y)
	for b := range images {
		for i := range h * w {
			at := b*h*w + i
			im.Mask[at] = rng.IntN(10) == 0 && b < images-1
			for ch := range c {
				if !im.Mask[at] {
					im.Pixels[(b*c+ch)*h*w+i] = float32(math.NaN())
				}
			}
		}
	}
	return im, y
}

// TestChainImages: densities and samples have the bits of whole images that are completed anew for every pixel, whatever a model computes
// again; alone and in a batch, for any number of threads.
func TestChainImages(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const h, w = 9, 13
	for name, m := range chainCompleters(t) {
		ch := m.Config().DimY
		im, y := chainImages(3, 2, ch, h, w)
		n := h * w
		for _, c := range []cnp.Chain{{Order: cnp.OrderGiven}, {Seed: 5}, {Seed: 5, Block: 10}, {Seed: 5, Growth: 0.3},
			{Order: cnp.OrderSpread, Seed: 5, Growth: 0.3}} {
			t.Run(fmt.Sprintf("%s/%s/block=%d,%v", name, c.Order, c.Block, c.Growth), func(t *testing.T) {
				runtime.GOMAXPROCS(3)
				j, err := cnp.JointImages(t.Context(), m, im, y, c)
				require.NoError(t, err)
				opt := cnp.SampleOptions{Chain: c, Samples: 2}
				all, err := cnp.SampleImages(t.Context(), m, im, opt)
				require.NoError(t, err)
				runtime.GOMAXPROCS(1)
				require.NotEqual(t, all[:ch*n], all[2*ch*n:3*ch*n])
				for b := range im.B {
					one := &cnp.Images[float32]{B: 1, C: ch, H: h, W: w, Pixels: im.Pixels[b*ch*n : (b+1)*ch*n],
						Mask: im.Mask[b*n : (b+1)*n]}
					mine, err := cnp.SampleImages(t.Context(), m, one, opt)
					require.NoError(t, err)
					for s := range 2 {
						require.Equal(t, mine[s*ch*n:(s+1)*ch*n], all[(s*2+b)*ch*n:][:ch*n])
					}
					for i := range n {
						if one.Mask[i] {
							require.Equal(t, one.Pixels[i], mine[i], "observed")
						}
					}
					bruteImage(t, m, one, y[b*ch*n:(b+1)*ch*n], c, func(at int, p *cnp.Prediction[float32]) {
						sum := 0.0
						for k := range ch {
							v := k*n + at
							require.Equal(t, p.Mean[v], j.Mean[b*ch*n+v], "pixel %d", at)
							require.Equal(t, p.Std[v], j.Std[b*ch*n+v])
							d := p.LogDensityAt(v, float64(y[b*ch*n+v]))
							sum += d
						}
						require.InDelta(t, sum, j.LogDensity[b*n+at], 1e-9)
					})
					// A sample is as if its own values had been the truth: it is what was drawn given them.
					k, err := cnp.JointImages(t.Context(), m, one, mine[:ch*n], c)
					require.NoError(t, err)
					for i := range n {
						for l := range ch {
							z := math.Abs(float64(mine[l*n+i]-k.Mean[l*n+i])) / float64(k.Std[l*n+i])
							require.True(t, one.Mask[i] || z < 5)
						}
					}
				}
			})
		}
	}
}

// bruteImage completes the image anew for every block of the chain. The order is that of the chain, found out by
// sampling: which pixels of a sample are the first does not show, so it is taken from the order itself.
func bruteImage(t *testing.T, m cnp.Completer[float32], one *cnp.Images[float32], y []float32, c cnp.Chain,
	look func(at int, p *cnp.Prediction[float32])) {
	t.Helper()
	n := one.H * one.W
	im := &cnp.Images[float32]{B: 1, C: one.C, H: one.H, W: one.W, Pixels: slices.Clone(one.Pixels), Mask: slices.Clone(one.Mask)}
	p, err := m.Complete(t.Context(), im)
	require.NoError(t, err)
	var hidden []int
	for i, ok := range im.Mask {
		if ok {
			look(i, p)
		} else {
			hidden = append(hidden, i)
		}
	}
	order, ends := cnp.ChainOrder(&c, len(hidden)), []int(nil)
	if c.Order == cnp.OrderSpread {
		var seen, at []float64
		for i, ok := range im.Mask {
			if place := []float64{float64(i / im.W), float64(i % im.W)}; ok {
				seen = append(seen, place...)
			} else {
				at = append(at, place...)
			}
		}
		order, ends = c.Spread(seen, at, 2, c.Seed)
	}
	for lo, k := 0, 0; lo < len(order); k++ {
		p, err := m.Complete(t.Context(), im)
		require.NoError(t, err)
		hi := min(lo+blockOf(c, n-len(hidden)+lo), len(order))
		if ends != nil {
			hi = ends[k]
		}
		some := order[lo:hi]
		lo += len(some)
		for _, k := range some {
			look(hidden[k], p)
		}
		for _, k := range some {
			at := hidden[k]
			im.Mask[at] = true
			for ch := range im.C {
				im.Pixels[ch*n+at] = y[ch*n+at]
			}
		}
	}
}

// TestChainImageTransforms: where an image is completed by transforms, a chain sums over pairs, and has the bits of a plan that does.
func TestChainImageTransforms(t *testing.T) {
	const h, w = 40, 44
	l, err := pretrained.Load("digits-T2-small")
	require.NoError(t, err)
	m := l.(*cnp.ImageEquivCNP[float32])
	auto, err := m.PlanGeometry(t.Context(), cnp.Grid(h, w), cnp.PlanOptions{})
	require.NoError(t, err)
	require.Equal(t, simd.CurrentLevel() != simd.Generic, auto.Info().Algorithm == layers.Transforms)
	plan, err := m.PlanGeometry(t.Context(), cnp.Grid(h, w), cnp.PlanOptions{Algorithm: layers.Direct})
	require.NoError(t, err)
	im, y := chainImages(5, 1, 1, h, w)
	hidden := []int{20*w + 5, 20*w + 40, 21*w + 30, 38*w + 8}
	for i := range im.Mask {
		im.Mask[i], im.Pixels[i] = !slices.Contains(hidden, i), y[i]
	}
	j, err := cnp.JointImages(t.Context(), m, im, y, cnp.Chain{Order: cnp.OrderGiven})
	require.NoError(t, err)
	for _, at := range hidden {
		p := &cnp.Prediction[float32]{Mean: make([]float32, h*w), Std: make([]float32, h*w)}
		require.NoError(t, plan.Predict(t.Context(), p, im))
		require.Equal(t, p.Mean[at], j.Mean[at], "pixel %d", at)
		require.Equal(t, p.Std[at], j.Std[at], "pixel %d", at)
		im.Mask[at] = true
	}
}

// TestChainImageMissing: a missing pixel does not count, and no other pixel is told of it. Functions are means, and knots save work.
func TestChainImageMissing(t *testing.T) {
	for _, name := range []string{"T(2), 1 lifts, 1 channels", "convcnp"} {
		m := chainCompleters(t)[name]
		im, y := chainImages(4, 1, 1, 6, 7)
		c := cnp.Chain{Order: cnp.OrderLeftToRight}
		y[3] = float32(math.NaN())
		j, err := cnp.JointImages(t.Context(), m, im, y, c)
		require.NoError(t, err)
		_, values := j.Task(0, 1)
		require.Equal(t, 41, values)
		require.Zero(t, j.LogDensity[3])
		steps := 0
		opt := cnp.SampleOptions{Samples: 2, Function: true, Knots: 5}
		s, err := cnp.SampleImages(cnp.WithProgress(t.Context(), func(done, total int) {
			require.Equal(t, 10, total)
			steps++
		}), m, im, opt)
		require.NoError(t, err)
		require.Len(t, s, 2*42)
		require.LessOrEqual(t, steps, 6)

		_, err = cnp.JointImages(t.Context(), m, im, y[1:], c)
		require.ErrorIs(t, err, cnp.ErrShape)
		_, err = cnp.SampleImages(t.Context(), m, nil, opt)
		require.ErrorIs(t, err, cnp.ErrShape)
		_, err = cnp.SampleImages(t.Context(), m, im, cnp.SampleOptions{})
		require.ErrorIs(t, err, cnp.ErrRange)
		y[4] = float32(math.Inf(-1))
		_, err = cnp.JointImages(t.Context(), m, im, y, c)
		require.ErrorIs(t, err, cnp.ErrValue)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = cnp.SampleImages(ctx, m, im, opt)
		require.ErrorIs(t, err, context.Canceled)
	}
}

// TestChainImageRows: what a pixel of a chain computes again is a small part of a prediction where the network reaches
// not far (4.8 pixels a layer, 34 in all), and less than half of one where it reaches beyond the image (10 pixels a
// layer, 92 in all). It goes through the last pixels of an image, with -long through all of them where the network reaches not far.
func TestChainImageRows(t *testing.T) {
	for _, c := range []struct {
		model string
		most  float64
		first int
	}{{"digits-T2-small", 0.1, 3584}, {"digits-T2", 0.45, 4000}} {
		if small := c.model == "digits-T2-small"; small && cnp.Long() {
			c.first = 0
		} else if !small && testing.Short() {
			continue
		}
		m, err := pretrained.Load(c.model)
		require.NoError(t, err)
		for _, o := range []cnp.Order{cnp.OrderGiven, cnp.OrderRandom} {
			share, err := cnp.ChainRows(t.Context(), m.(*cnp.ImageEquivCNP[float32]), 64, 64, c.first, cnp.Chain{Order: o})
			require.NoError(t, err)
			t.Logf("%s, order %q: %.3f of the rows of a prediction", c.model, o, share)
			require.Less(t, share, c.most)
		}
	}
}

// BenchmarkChainImage measures a pixel of a chain beside a prediction.
func BenchmarkChainImage(b *testing.B) {
	for _, name := range []string{"digits-T2-small", "digits-T2"} {
		m, err := pretrained.Load(name)
		require.NoError(b, err)
		c := m.(cnp.Completer[float32])
		im := &cnp.Images[float32]{B: 1, C: 1, H: 64, W: 64, Pixels: make([]float32, 4096), Mask: make([]bool, 4096)}
		b.Run(name+"/whole", func(b *testing.B) {
			for b.Loop() {
				_, err := c.Complete(b.Context(), im)
				require.NoError(b, err)
			}
		})
		for i := range im.Mask {
			im.Mask[i] = i%16 > 0
		}
		b.Run(name+"/chain", func(b *testing.B) {
			for b.Loop() {
				_, err := cnp.SampleImages(b.Context(), c, im, cnp.SampleOptions{Samples: 1})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/256, "µs/pixel")
		})
	}
}
