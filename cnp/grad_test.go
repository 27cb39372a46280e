package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/layers"
)

// gradCase is a small model with the pass of one batch, and the true values there.
type gradCase struct {
	model Model[float64]
	pass  func(mode layers.Mode) (*Pass[float64], error)
	// predict is what the pass must agree with in Eval mode.
	predict func() (*Prediction[float64], error)
	y       []float64
}

// inSupport brings values to where the likelihood has any.
func inSupport(t *testing.T, c *Config, y []float64) {
	l, err := ParseLikelihood(c)
	require.NoError(t, err)
	lo, hi := l.Support()
	for i := range y {
		y[i] = max(lo, min(hi, y[i]))
	}
}

// small is a configuration that is quick to run.
func small(a Architecture, g string, dy int) Config {
	c := Default(a, g, dy)
	c.Channels, c.Hidden, c.Mid, c.Blocks, c.Kernel = []int{4, 5, 4}, 5, 3, 2, 3
	if a.Image() && a != CNPImage {
		c.Channels = []int{4}
	}
	c.PointsPerUnit, c.Fill, c.BlockFill = min(c.PointsPerUnit, 4), 0.2, 0.15
	return c
}

// gradCases holds every architecture, and of the equivariant ones every way that they take.
func gradCases(t *testing.T) map[string]gradCase {
	cases := map[string]gradCase{}
	ctx := context.Background()
	add := func(name string, c Config, b, nc, nt int) {
		m, err := New[float64](c, 5)
		require.NoError(t, err, name)
		if c.Levels == 0 { // whose parameters are random, and multiply
			perturb(m.State(), 6)
		}
		rng := rand.New(rand.NewPCG(40, uint64(len(cases))))
		if c.Architecture.Image() {
			im := randomImages[float64](rng, b, c.DimY, nc, nt)
			for i := range im.Pixels {
				if n := nc * nt; !im.Mask[i/(n*c.DimY)*n+i%n] {
					im.Pixels[i] = rng.NormFloat64()
				}
			}
			inSupport(t, &c, im.Pixels)
			tr := m.(TrainableCompleter[float64])
			cases[name] = gradCase{m, func(mode layers.Mode) (*Pass[float64], error) { return tr.Differentiate(ctx, im, mode) },
				func() (*Prediction[float64], error) { return tr.Complete(ctx, im) }, im.Pixels}
			return
		}
		batch := randomBatch[float64](rng, b, nc, nt, c.DimX, c.DimY)
		var y []float64
		for range b * nt * c.DimY {
			y = append(y, rng.NormFloat64())
		}
		inSupport(t, &c, y)
		for i := nc; c.ChannelDensity && i < b*nc; i++ { // gaps, but in the first task
			if i%3 == 1 {
				batch.YContext[i*c.DimY+i%c.DimY] = math.NaN()
			}
		}
		for i := range b * nc * len(c.Auxiliary) {
			batch.AuxContext = append(batch.AuxContext, rng.NormFloat64())
			if c.ChannelDensity && i >= nc && i%3 == 0 {
				batch.AuxContext[i] = math.NaN()
			}
		}
		for range b * nt * len(c.Auxiliary) {
			batch.AuxTarget = append(batch.AuxTarget, rng.NormFloat64())
		}
		if len(c.Static) > 0 {
			addStatic(rng, batch, &c, 3)
		}
		// Padding, whose values are never read.
		batch.ContextMask, batch.TargetMask = make([]bool, b*nc), make([]bool, b*nt)
		for i := range batch.ContextMask {
			if batch.ContextMask[i] = i%4 != 1; i%4 == 1 {
				batch.YContext[i*c.DimY] = math.NaN()
			}
		}
		for i := range batch.TargetMask {
			if batch.TargetMask[i] = i%5 != 2; i%5 == 2 {
				y[i*c.DimY], batch.XTarget[i*c.DimX] = math.NaN(), math.Inf(1)
				if n := len(c.Auxiliary); n > 0 {
					batch.AuxTarget[i*n] = math.NaN()
				}
			}
		}
		tr := m.(TrainableRegressor[float64])
		cases[name] = gradCase{m, func(mode layers.Mode) (*Pass[float64], error) { return tr.Differentiate(ctx, batch, mode) },
			func() (*Prediction[float64], error) { return tr.Predict(ctx, batch) }, y}
	}
	c := small(EquivCNPCurve, "T(1)", 1)
	c.CoordinateFeature = true
	add("equivcnp/T(1)", c, 3, 5, 6)
	c.Readout, c.Placement, c.FixedStep, c.RadiusRate = ReadoutTargets, PlacementBatch, false, 0.3
	add("equivcnp/T(1)/targets", c, 3, 5, 6)
	add("equivcnp/no context", c, 2, 0, 4)
	c.Readout, c.Multiplicity, c.DimY, c.Output = ReadoutRBF, 2, 2, OutputStd
	add("equivcnp/T(1)/rbf", c, 2, 6, 5)
	c = small(EquivCNPCurve, "R>0xSO(2)", 1) // not by isometries: psi takes the group's distance
	c.PointsPerUnit, c.NoBatchNorm = 0, true
	add("equivcnp/R>0xSO(2)/points", c, 2, 5, 4)
	c = small(EquivCNPCurve, "SE(2)", 1)
	c.PointsPerUnit, c.Lifts = 0, 2
	add("equivcnp/SE(2)/lifts", c, 2, 4, 4)
	c.Readout = ReadoutTargets
	add("equivcnp/SE(2)/targets", c, 2, 4, 5)
	add("equivcnp/levels", levelsConfig("T(1)", 2), 3, 5, 6)
	add("equivcnp/levels/no context", levelsConfig("T(1)", 2), 2, 0, 4)
	add("equivcnp/levels/plane", levelsConfig("T(2)", 1), 2, 5, 4)
	add("equivcnp/levels/turns", levelsConfig("SE(2)", 1), 2, 5, 4)
	fields := fieldConfigs()
	for _, name := range []string{"levels/SE(2)/K=2/scalar,vector/full", "levels/SE(2)/K=3/scalar,vector/lowrank:3:noise",
		"points/SE(2)/K=4/scalar,vector/full", "points/SO(2)/K=1/vector/full", "points/T(2)/K=1/vector/full"} {
		c := fields[name].c
		if c.Levels > 0 { // few rows: where a ReLU's input is 0 within a step, difference quotients are no gradients
			c.PointsPerUnit, c.EncoderLength, c.Channels, c.Blocks = 1, 0.4, []int{4, 4}, 0
		}
		add("fields/"+name, c, 1, 5, 3)
	}
	departs := func(name string, c Config, gaps bool) {
		c.Departure, c.ChannelDensity = &Departure{Channels: 2, Drop: 0.4}, gaps
		add("departure/"+name, c, 3, 4, 4)
	}
	departs("T(1)", small(EquivCNPCurve, "T(1)", 1), false)
	c = small(EquivCNPCurve, "SE(2)", 2)
	c.PointsPerUnit, c.Lifts = 0, 2
	departs("SE(2)/lifts", c, true)
	c = levelsConfig("T(2)", 1)
	c.PointsPerUnit, c.EncoderLength, c.Channels, c.Blocks = 1, 0.4, []int{4, 4}, 0 // few rows, as above
	departs("levels/plane", c, false)
	c = levelsConfig("T(1)", 2)
	departs("levels", c, true)
	aux := func(name string, c Config, gaps bool) {
		c.Auxiliary, c.ChannelDensity = []string{"elevation", "hour"}, gaps
		add("auxiliary/"+name, c, 2, 4, 4)
	}
	aux("T(1)", small(EquivCNPCurve, "T(1)", 1), true)
	c = small(EquivCNPCurve, "T(1)", 1)
	c.Readout, c.Placement, c.Likelihood = ReadoutRBF, PlacementBatch, "lowrank:3:noise"
	aux("T(1)/rbf", c, false)
	c = small(EquivCNPCurve, "SE(2)", 1)
	c.PointsPerUnit, c.Lifts = 0, 2
	aux("SE(2)/lifts", c, true)
	c = levelsConfig("T(2)", 1)
	c.PointsPerUnit, c.EncoderLength, c.Channels, c.Blocks = 1, 0.4, []int{4, 4}, 0 // few rows, as above
	aux("levels/plane", c, true)
	aux("fields/points", fields["points/SE(2)/K=4/scalar,vector/full"].c, true)
	c = fields["levels/SE(2)/K=2/scalar,vector/full"].c
	c.PointsPerUnit, c.EncoderLength, c.Channels, c.Blocks = 1, 0.4, []int{4, 4}, 0
	aux("fields/levels", c, true)
	static := func(name string, c Config, da int) {
		c.Auxiliary, c.Static, c.ChannelDensity = []string{"hour"}[:da], []string{"elevation", "land"}, true
		add("static/"+name, c, 2, 4, 4)
	}
	static("T(1)", small(EquivCNPCurve, "T(1)", 1), 1)
	c = small(EquivCNPCurve, "SE(2)", 1)
	c.PointsPerUnit, c.Lifts = 0, 2
	static("SE(2)/lifts", c, 0)
	c = levelsConfig("T(2)", 1)
	c.PointsPerUnit, c.EncoderLength, c.Channels, c.Blocks = 1, 0.4, []int{4, 4}, 0
	static("levels/plane", c, 0)
	c = fields["levels/SE(2)/K=2/scalar,vector/full"].c
	c.PointsPerUnit, c.EncoderLength, c.Channels, c.Blocks = 1, 0.4, []int{4, 4}, 0
	static("fields/levels", c, 1)
	c = small(EquivCNPImage, "T(2)", 1)
	add("equivcnp-image/T(2)", c, 2, 4, 5)
	c = small(EquivCNPImage, "SO(2)", 2)
	c.BlockBatchNorm, c.Multiplicity, c.Output, c.Floor = true, 2, OutputVariance, 1e-3
	add("equivcnp-image/SO(2)", c, 2, 3, 4)
	c = small(EquivCNPImage, "SE(2)", 1)
	c.Lifts, c.BlockBatchNorm = 2, true
	add("equivcnp-image/SE(2)/lifts", c, 1, 3, 3)
	c = small(ConvCNPCurve, "", 2)
	c.Multiplicity = 2
	add("convcnp", c, 2, 5, 6)
	c.CoordinateFeature = true
	add("convcnp/coordinate", c, 1, 5, 6)
	c = small(ConvCNPImage, "", 2)
	c.Multiplicity = 2
	add("convcnp-image", c, 2, 4, 5)
	c = small(CNPCurve, "", 2)
	c.DimX = 2
	add("cnp", c, 2, 5, 6)
	add("cnp/no context", c, 1, 0, 6)
	c = small(CNPImage, "", 3)
	c.Output = OutputStd
	add("cnp-image", c, 2, 3, 4)
	for _, name := range append([]string{"full"}, otherLikelihoods...) {
		for _, a := range Architectures {
			if name == "full" && a.Image() {
				continue
			}
			group := map[Architecture]string{EquivCNPCurve: "T(1)", EquivCNPImage: "T(2)"}[a]
			c := small(a, group, 2)
			c.Likelihood = name
			add(fmt.Sprintf("%s/%s", a, name), c, 2, 4, 4)
		}
	}
	c = small(EquivCNPCurve, "T(1)", 2)
	c.Likelihood, c.Waves = "lowrank:5:noise", &Waves{2, 3}
	add("equivcnp/T(1)/waves", c, 2, 4, 4)
	c = levelsConfig("T(2)", 1)
	c.PointsPerUnit, c.EncoderLength, c.Channels, c.Blocks = 1, 0.4, []int{4, 4}, 0 // few rows, as above
	c.Likelihood, c.Waves = "lowrank:6", &Waves{2, 3}
	add("equivcnp/levels/waves", c, 2, 4, 4)
	c = levelsConfig("T(1)", 2)
	c.DensityCap = 0.9
	add("equivcnp/levels/cap", c, 3, 7, 6)
	c = small(EquivCNPCurve, "T(1)", 1)
	c.DensityCap = 1.2
	add("equivcnp/cap", c, 2, 6, 5)
	c = levelsConfig("T(3)", 1)
	c.PointsPerUnit, c.EncoderLength, c.Channels, c.Blocks = 1, 0.6, []int{3, 3}, 0 // few rows, as above
	add("equivcnp/levels/space", c, 1, 5, 4)
	for _, group := range []string{"T(3)", "T(5)"} {
		c = small(EquivCNPCurve, group, 1)
		c.PointsPerUnit, c.Fill = 0, 0.6
		add("equivcnp/"+group+"/points", c, 2, 6, 4)
	}
	c = small(EquivCNPImage, "T(2)", 1)
	c.MaxNeighbors, c.BlockNeighbors = 5, 3
	add("equivcnp-image/sampled", c, 2, 4, 5)
	c = small(EquivCNPImage, "SO(2)", 1)
	c.BlockNeighbors = 2
	add("equivcnp-image/sampled blocks", c, 2, 4, 5)
	for _, lattice := range []float64{0, 3} {
		c = small(EquivCNPCurve, "T(1)", 1)
		c.Placement, c.PointsPerUnit, c.SamplingFraction, c.MaxNeighbors, c.Channels = PlacementBatch, lattice, 0.6, 4, []int{4, 3, 4, 3}
		add(fmt.Sprintf("equivcnp/sampled/lattice=%g", lattice), c, 2, 7, 5)
	}
	for _, a := range Architectures {
		c := small(a, map[Architecture]string{EquivCNPCurve: "T(1)", EquivCNPImage: "T(2)"}[a], 2)
		c.Likelihood = "mixture:3"
		add(string(a)+"/mixture", c, 2, 4, 4)
	}
	return cases
}

// TestModelGradients compares gradients of every tensor of parameters of every model with central differences: of up to four elements, or
// six where few of these count; with -long of six.
func TestModelGradients(t *testing.T) {
	for name, c := range gradCases(t) {
		for _, mode := range []layers.Mode{layers.Eval, layers.Train} {
			t.Run(fmt.Sprintf("%s/mode=%d", name, mode), func(t *testing.T) {
				state := c.model.State()
				var before [][]float64
				for _, p := range state {
					before = append(before, append([]float64(nil), p.Data...))
				}
				restore := func() {
					for i, p := range state {
						if p.Buffer {
							copy(p.Data, before[i])
						}
					}
				}
				defer restore()
				grads := layers.NewGrads(state)
				pass, err := c.pass(mode)
				require.NoError(t, err)
				loss, err := pass.Gradient(c.y, grads)
				require.NoError(t, err)
				require.False(t, math.IsNaN(loss))
				if mode == layers.Eval {
					want, err := c.predict()
					require.NoError(t, err)
					require.InDeltaSlice(t, want.Mean, pass.Mean, 1e-11)
					require.InDeltaSlice(t, want.Std, pass.Std, 1e-11)
				}
				eval := func() float64 {
					restore()
					p, err := c.pass(mode)
					require.NoError(t, err)
					ll, _ := p.LogDensities(p.tasks, c.y, p.mask)
					return -ll / float64(p.tasks)
				}
				require.InDelta(t, eval(), loss, 1e-12*math.Abs(loss))
				scale := 0.0
				for _, d := range grads.Data {
					scale = max(scale, maxAbs(d))
				}
				most := 6
				if used := nonzero(state, grads, 4); used > 5 && !*long {
					most = 4
				}
				for i, p := range state {
					if p.Buffer {
						continue
					}
					for k := 0; k < len(p.Data); k += 1 + len(p.Data)/most {
						h := 1e-5 * max(1, math.Abs(p.Data[k]))
						p.Data[k] = before[i][k] + h
						up := eval()
						p.Data[k] = before[i][k] - h
						down := eval()
						p.Data[k] = before[i][k]
						want := (up - down) / (2 * h)
						if got := grads.Data[i][k]; !(math.Abs(got-want) <= 2e-6*(scale+math.Abs(want))) {
							t.Errorf("gradient of %s[%d] is %v, the difference quotient %v", p.Name, k, got, want)
						}
					}
				}
				require.Greater(t, nonzero(state, grads, most), 5)
			})
		}
	}
}

// nonzero counts the gradients that are not 0 among those that TestModelGradients compares.
func nonzero(state []layers.Param[float64], grads *layers.Grads[float64], most int) (used int) {
	for i, p := range state {
		for k := 0; !p.Buffer && k < len(p.Data); k += 1 + len(p.Data)/most {
			if grads.Data[i][k] != 0 {
				used++
			}
		}
	}
	return used
}

// TestGradientBits: the same bits for any number of goroutines.
func TestGradientBits(t *testing.T) {
	run := func(procs int) [][]float32 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		var out [][]float32
		curve, err := New[float32](Default(EquivCNPCurve, "T(1)", 1), 3)
		require.NoError(t, err)
		rng := rand.New(rand.NewPCG(41, 1))
		// Targets that a task leaves out, and in any order: the line's path sorts them and pads.
		b := randomBatch[float32](rng, 4, 10, 10, 1, 1)
		b.TargetMask = make([]bool, 40)
		for i := range b.TargetMask {
			b.TargetMask[i] = i%7 != 3
		}
		p, err := curve.(TrainableRegressor[float32]).Differentiate(context.Background(), b, layers.Train)
		require.NoError(t, err)
		g := layers.NewGrads(curve.State())
		_, err = p.Gradient(make([]float32, 40), g)
		require.NoError(t, err)
		out = append(out, g.Data...)

		c := Default(EquivCNPImage, "T(2)", 1)
		c.Channels, c.Blocks = []int{8}, 1
		image, err := New[float32](c, 3)
		require.NoError(t, err)
		im := randomImages[float32](rng, 2, 1, 24, 24)
		p, err = image.(TrainableCompleter[float32]).Differentiate(context.Background(), im, layers.Train)
		require.NoError(t, err)
		g = layers.NewGrads(image.State())
		_, err = p.Gradient(im.Pixels, g)
		require.NoError(t, err)
		return append(out, g.Data...)
	}
	want := run(1)
	for _, procs := range []int{2, 3, 4} {
		require.Equal(t, want, run(procs), "GOMAXPROCS=%d", procs)
	}
}

// TestFloorGradient: where the floor of the second output acts, nothing is learned about what it clamps.
func TestFloorGradient(t *testing.T) {
	for _, arch := range []Architecture{EquivCNPCurve, ConvCNPCurve} {
		c := Default(arch, map[Architecture]string{EquivCNPCurve: "T(1)"}[arch], 1)
		c.Floor, c.PointsPerUnit, c.Channels = 100, 4, []int{4, 4}
		m, err := New[float64](c, 1)
		require.NoError(t, err)
		b := randomBatch[float64](rand.New(rand.NewPCG(42, 1)), 2, 4, 5, 1, 1)
		p, err := m.(TrainableRegressor[float64]).Differentiate(context.Background(), b, layers.Train)
		require.NoError(t, err)
		g := layers.NewGrads(m.State())
		_, err = p.Gradient(make([]float64, 10), g)
		require.NoError(t, err)
		for i, q := range g.Params {
			switch q.Name {
			case "var_linear.0.weight", "var_linear.0.bias":
				require.Zero(t, maxAbs(g.Data[i]), q.Name)
			case "mean_linear.weight", "mean_linear.bias":
				require.NotZero(t, maxAbs(g.Data[i]), q.Name)
			}
		}
	}
}

func TestBadGradientInput(t *testing.T) {
	for name, c := range gradCases(t) {
		p, err := c.pass(layers.Eval)
		require.NoError(t, err, name)
		g := layers.NewGrads(c.model.State())
		_, err = p.Gradient(c.y[1:], g)
		require.ErrorIs(t, err, ErrShape, name)
		y := append([]float64(nil), c.y...)
		y[0] = math.Inf(1)
		_, err = p.Gradient(y, g)
		require.ErrorIs(t, err, ErrValue, name)
		require.ErrorContains(t, err, "y[0] = +Inf", name)
		require.Panics(t, func() { p.Backward(y[1:], y, g) }, name)
	}
	m, err := New[float32](Default(CNPCurve, "", 1), 1)
	require.NoError(t, err)
	_, err = m.(TrainableRegressor[float32]).Differentiate(context.Background(), &Batch[float32]{B: 1, Nc: 1}, layers.Train)
	require.ErrorIs(t, err, ErrShape)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := randomBatch[float32](rand.New(rand.NewPCG(43, 1)), 1, 2, 2, 1, 1)
	for _, a := range []Architecture{CNPCurve, ConvCNPCurve, EquivCNPCurve} {
		m, err := New[float32](Default(a, map[Architecture]string{EquivCNPCurve: "T(1)"}[a], 1), 1)
		require.NoError(t, err)
		_, err = m.(TrainableRegressor[float32]).Differentiate(ctx, b, layers.Train)
		require.ErrorIs(t, err, context.Canceled, a)
	}
	// No task, no loss.
	e, err := New[float32](Default(EquivCNPCurve, "T(1)", 1), 1)
	require.NoError(t, err)
	p, err := e.(TrainableRegressor[float32]).Differentiate(context.Background(), &Batch[float32]{}, layers.Train)
	require.NoError(t, err)
	loss, err := p.Gradient(nil, layers.NewGrads(e.State()))
	require.NoError(t, err)
	require.Zero(t, loss)
}
