package cnp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// gapModels are models of two outputs, each with a density of its own.
func gapModels[T Float](t *testing.T) map[string]Regressor[T] {
	out := map[string]Regressor[T]{}
	add := func(name string, c Config) {
		require.True(t, c.ChannelDensity, "new models of several outputs have it")
		m, err := New[T](c, 3)
		require.NoError(t, err)
		if c.Levels == 0 {
			perturb(m.State(), 4)
		}
		out[name] = m.(Regressor[T])
	}
	line := Default(EquivCNPCurve, "T(1)", 2)
	line.Channels, line.Hidden, line.Mid, line.PointsPerUnit, line.Multiplicity = []int{4, 6, 4}, 4, 4, 8, 2
	add("line", line)
	points := Default(EquivCNPCurve, "SE(2)", 2)
	points.Channels, points.Hidden, points.Mid, points.PointsPerUnit = []int{4, 5, 4}, 4, 3, 0
	add("points", points)
	add("levels", levelsConfig("T(2)", 2))
	conv := Default(ConvCNPCurve, "", 2)
	conv.Channels, conv.Kernel, conv.PointsPerUnit = []int{4, 5, 4}, 3, 8
	add("convcnp", conv)
	return out
}

// gapBatch is two tasks: one that is complete, one with gaps.
func gapBatch[T Float](dx int) *Batch[T] {
	b := randomBatch[T](rand.New(rand.NewPCG(7, uint64(dx))), 2, 6, 5, dx, 2)
	for i, gap := range []int{0, 1, 1, -1, 0, -1} {
		if gap >= 0 {
			b.YContext[(6+i)*2+gap] = T(math.NaN())
		}
	}
	return b
}

// A point with both outputs is as good as two points at its place with one each, and where nothing is missing a density
// of its own changes nothing.
func TestGapsSplit(t *testing.T) {
	for name, m := range gapModels[float64](t) {
		if name == "points" { // its context points carry the features: two points are two
			continue
		}
		t.Run(name, func(t *testing.T) {
			cfg := m.Config()
			b := gapBatch[float64](cfg.DimX)
			want, err := m.Predict(context.Background(), b)
			require.NoError(t, err)
			requireFinite64(t, want)
			two := *b
			two.Nc = 2 * b.Nc
			two.XContext, two.YContext = nil, nil
			for i := range b.B * b.Nc {
				x, y := b.XContext[i*cfg.DimX:(i+1)*cfg.DimX], b.YContext[i*2:i*2+2]
				two.XContext = append(append(two.XContext, x...), x...)
				two.YContext = append(two.YContext, y[0], math.NaN(), math.NaN(), y[1])
			}
			got, err := m.Predict(context.Background(), &two)
			require.NoError(t, err)
			for i := range want.Mean {
				require.InDelta(t, want.Mean[i], got.Mean[i], 1e-9)
				require.InDelta(t, want.Std[i], got.Std[i], 1e-9)
			}

			other := *b // the gaps matter
			other.YContext = slices.Clone(b.YContext)
			other.YContext[13] = 0.3
			got, err = m.Predict(context.Background(), &other)
			require.NoError(t, err)
			require.NotEqual(t, want.Mean[10:], got.Mean[10:])
		})
	}
}

func requireFinite64(t *testing.T, p *Prediction[float64]) {
	for i := range p.Mean {
		require.False(t, math.IsNaN(p.Mean[i]-p.Mean[i]) || math.IsNaN(p.Std[i]-p.Std[i]))
	}
}

// A task with gaps is predicted alike alone, beside others and by a plan; samples follow from it, and infinities stay errors.
func TestGapsAlone(t *testing.T) {
	for name, m := range gapModels[float32](t) {
		t.Run(name, func(t *testing.T) {
			ctx, cfg := context.Background(), m.Config()
			b := gapBatch[float32](cfg.DimX)
			all, err := m.Predict(ctx, b)
			require.NoError(t, err)
			one := &Batch[float32]{B: 1, Nc: 6, Nt: 5, XContext: b.XContext[6*cfg.DimX:], YContext: b.YContext[12:],
				XTarget: b.XTarget[5*cfg.DimX:]}
			if name != "convcnp" { // whose lattice is the batch's
				alone, err := m.Predict(ctx, one)
				require.NoError(t, err)
				require.Equal(t, all.Mean[10:], alone.Mean)
				require.Equal(t, all.Std[10:], alone.Std)
			}
			if e := m.(interface{}); name == "line" || name == "levels" {
				plan, err := e.(*EquivCNP[float32]).PlanInterval(ctx, -3, 3)
				require.NoError(t, err)
				got := newPrediction[float32](Normal, 20)
				require.NoError(t, plan.Predict(ctx, got, b))
				require.Equal(t, all.Mean, got.Mean)
			}
			opt := SampleOptions{Samples: 3}
			opt.Seed = 5
			drawn, err := SampleCurves(ctx, m, b, opt)
			require.NoError(t, err)
			if name != "convcnp" {
				opt.Seeds = []uint64{6}
				again, err := SampleCurves(ctx, m, one, opt)
				require.NoError(t, err)
				opt.Seeds = []uint64{1, 6}
				drawn, err = SampleCurves(ctx, m, b, opt)
				require.NoError(t, err)
				for s := range 3 {
					require.Equal(t, drawn[s*20+10:s*20+20], again[s*10:(s+1)*10])
				}
			}
			for _, v := range drawn {
				require.False(t, math.IsNaN(float64(v)))
			}
			y := slices.Clone(all.Mean)
			y[3] = float32(math.NaN())
			j, err := JointCurves(ctx, m, b, y, Chain{})
			require.NoError(t, err)
			require.False(t, math.IsNaN(float64(j.LogDensity[1])))

			infinite := *b
			infinite.YContext = slices.Clone(b.YContext)
			infinite.YContext[1] = float32(math.Inf(1))
			_, err = m.Predict(ctx, &infinite)
			require.ErrorIs(t, err, ErrValue)
			cfg.ChannelDensity = false
			without, err := New[float32](cfg, 1)
			require.NoError(t, err)
			_, err = without.(Regressor[float32]).Predict(ctx, b)
			require.ErrorIs(t, err, ErrValue)
			require.ErrorContains(t, err, "y_context[1, 0, 0] = NaN")
		})
	}
	c := Default(CNPCurve, "", 2)
	c.ChannelDensity = true
	require.ErrorIs(t, c.Validate(), ErrConfig)
}

// Units are those of what was observed.
func TestGapsScaler(t *testing.T) {
	c := Default(EquivCNPCurve, "T(1)", 2)
	c.Trained = &Trained{X: []Range{{Min: -2, Max: 2}}, Y: []Range{{Min: -3, Max: 3, Std: 1}, {Min: -3, Max: 3, Std: 1}},
		Context: [2]int{1, 9}, Span: 4}
	nan := math.NaN()
	s := c.Scaler([]float64{-1, 0, 1}, []float64{1, 100, nan, 102, 0, nan})
	require.Equal(t, 0.5, s.Y[0].Offset, "the mean of 1 and 0")
	require.Equal(t, 101.0, s.Y[1].Offset, "the mean of 100 and 102")
	require.Equal(t, s.Y[0].Factor, 2*s.Y[1].Factor)
}

// TestGapsOfOne: a point whose only output is missing is no point at all, however many outputs a model has.
func TestGapsOfOne(t *testing.T) {
	line := Default(EquivCNPCurve, "T(1)", 1)
	line.Channels, line.Hidden, line.Mid, line.PointsPerUnit = []int{4, 6, 4}, 4, 4, 8
	conv := Default(ConvCNPCurve, "", 1)
	conv.Channels, conv.Kernel, conv.PointsPerUnit = []int{4, 5, 4}, 3, 8
	for name, c := range map[string]Config{"line": line, "levels": levelsConfig("T(1)", 1), "convcnp": conv} {
		t.Run(name, func(t *testing.T) {
			c.ChannelDensity = true
			model, err := New[float64](c, 3)
			require.NoError(t, err)
			m := model.(Regressor[float64])
			x := &Batch[float64]{B: 1, Nc: 4, Nt: 2, XContext: []float64{-0.9, 0.1, 0.2, 0.8},
				YContext: []float64{1, math.NaN(), -0.5, 0.3}, XTarget: []float64{0, 0.6}}
			got, err := m.Predict(context.Background(), x)
			require.NoError(t, err)
			x.Nc, x.XContext, x.YContext = 3, []float64{-0.9, 0.2, 0.8}, []float64{1, -0.5, 0.3}
			want, err := m.Predict(context.Background(), x)
			require.NoError(t, err)
			require.InDeltaSlice(t, want.Mean, got.Mean, 1e-12)
			require.InDeltaSlice(t, want.Std, got.Std, 1e-12)
		})
	}
}

// TestMissingPixels: what stands in place of a missing pixel is never looked at, neither as context nor as a value to be predicted.
func TestMissingPixels(t *testing.T) {
	const tasks, h, w = 2, 5, 4
	for name, model := range smallImages(t, 2) {
		m, ok := model.(TrainableCompleter[float32])
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			learn := func(fill float32) (float64, [][]float32) {
				im := randomImages[float32](testkit.Rand(3), tasks, 2, h, w)
				y, counts := make([]float32, len(im.Pixels)), make([]bool, len(im.Pixels))
				rng := testkit.Rand(4)
				for i := range y {
					y[i] = rng.Float32()
					if counts[i] = i%7 != 2; !counts[i] { // missing
						y[i] = fill
						im.Mask[i/(2*h*w)*h*w+i%(h*w)] = false
					}
				}
				for i := range y {
					if !im.Mask[i/(2*h*w)*h*w+i%(h*w)] {
						im.Pixels[i] = fill
					}
				}
				pass, err := m.Differentiate(context.Background(), im, layers.Eval)
				require.NoError(t, err)
				grads := layers.NewGrads(model.State())
				loss, err := pass.GradientOf(Objective{Counts: counts}, y, grads)
				require.NoError(t, err)
				var all [][]float32
				for _, p := range model.State() {
					all = append(all, slices.Clone(grads.Of(p.Data)))
				}
				return loss, all
			}
			loss, grads := learn(float32(math.NaN()))
			want, wanted := learn(7)
			require.Equal(t, want, loss)
			require.Equal(t, wanted, grads)
			require.False(t, math.IsNaN(loss))
		})
	}
}
