package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// fieldConfigs are models of fields of every type under every group that turns them, with draw, elements under which predictions must
// move along: all of the group where the stabiliser is trivial, elsewhere the part that takes the lifts to each other.
func fieldConfigs() map[string]struct {
	c    Config
	draw func(rng *rand.Rand) []float64
} {
	type entry = struct {
		c    Config
		draw func(rng *rand.Rand) []float64
	}
	out := map[string]entry{}
	types := map[string][]FieldType{"vector": {Vector}, "scalar,vector": {Scalar, Vector},
		"vector,scalar,vector": {Vector, Scalar, Vector}, "scalar": {Scalar}}
	add := func(name string, c Config, draw func(rng *rand.Rand) []float64) {
		for text, fields := range types {
			for _, likelihood := range []string{"full", "lowrank:3:noise"} {
				if likelihood != "full" && text != "scalar,vector" {
					continue
				}
				if c.Levels > 0 && text == "scalar" && c.Group == "SE(2)" {
					continue // its pyramid has the lifts
				}
				if c.DimX == 3 && text == "vector,scalar,vector" {
					continue // which takes long, and is the same in the plane
				}
				c := c
				c.Outputs, c.Likelihood, c.Multiplicity, c.DimY, c.Floor = fields, likelihood, 1, 0, 0.01
				for _, f := range fields {
					if c.DimY++; f == Vector {
						c.DimY += c.DimX - 1
					}
				}
				out[fmt.Sprintf("%s/%s/%s", name, text, likelihood)] = entry{c, draw}
			}
		}
	}
	plane := func(k int) func(r *rand.Rand) []float64 {
		return func(r *rand.Rand) []float64 {
			return []float64{float64(r.IntN(k)-(k-1)/2) * 2 * math.Pi / float64(k), 5 * r.NormFloat64(), 5 * r.NormFloat64()}
		}
	}
	for _, k := range []int{1, 2, 3, 4, 6, 8} {
		c := levelsConfig("T(2)", 1)
		c.Group, c.Lifts, c.Channels = "SE(2)", k, []int{6, 5}
		add(fmt.Sprintf("levels/SE(2)/K=%d", k), c, plane(k))
	}
	for _, k := range []int{1, 4, 12, 24} { // groups of rotations
		c := levelsConfig("T(3)", 1)
		c.Group, c.Lifts, c.PointsPerUnit, c.EncoderLength = "SE(3)", k, 1, 0.5
		if k == 24 && testing.Short() {
			continue
		}
		lifts := group.LiftPointsUniform(group.NewSE3(0), make([]float64, 3), k).A
		add(fmt.Sprintf("levels/SE(3)/K=%d", k), c, func(r *rand.Rand) []float64 {
			turn, move, a := make([]float64, 6), make([]float64, 6), make([]float64, 6)
			copy(turn, lifts[6*r.IntN(k):][:3])
			for i := range 3 {
				move[3+i] = 5 * r.NormFloat64()
			}
			group.NewSE3(0).Compose(a, move, turn)
			return a
		})
	}
	points := func(name string, lifts int) Config {
		c := Default(EquivCNPCurve, name, 2)
		c.PointsPerUnit, c.Margin, c.Lifts, c.Fill = 0, 0, lifts, 0.4
		c.Channels, c.Hidden, c.Mid = []int{6, 8, 6}, 12, 5
		return c
	}
	for _, mv := range moves {
		if g, err := group.Parse(mv.group, 0); err == nil && group.CanTurn(g) && mv.draw(rand.New(rand.NewPCG(1, 1))) != nil {
			add(fmt.Sprintf("points/%s/K=%d", mv.group, mv.lifts), points(mv.group, mv.lifts), mv.draw)
		}
	}
	return out
}

// moveBatch moves a batch by the element a of the model's group, and returns the rotation of its values.
func moveBatch[T Float](t *testing.T, m *EquivCNP[T], b *Batch[T], a []float64) (moved *Batch[T], r []float64) {
	t.Helper()
	d := m.cfg.DimX
	turn := make([]float64, d*d)
	m.group.(group.Turner).Turn(turn, a)
	f := curve.Frames{Dx: d, Dy: m.cfg.DimY, Fields: m.cfg.Fields()}
	r = f.OfValues(turn, f.Dy)
	out := *b
	out.XContext, out.XTarget = act(t, m.group, a, b.XContext), act(t, m.group, a, b.XTarget)
	out.YContext = append([]T(nil), b.YContext...)
	var tr curve.Turner[T]
	curve.Seen(out.YContext, tr.Transposed(r, m.cfg.DimY), make([]float64, m.cfg.DimY))
	return &out, r
}

// turnedBack brings a prediction of moved tasks back.
func turnedBack[T Float](p *Prediction[T], r []float64, dy int) (mean, cov []float64) {
	n := len(p.Mean) / dy
	whole := p.Covariance()
	for i := range n {
		for a := range dy {
			m := 0.0
			for b := range dy {
				m += r[b*dy+a] * float64(p.Mean[i*dy+b])
				s := 0.0
				for c := range dy {
					for d := range dy {
						s += r[c*dy+a] * whole[(i*dy+c)*n*dy+i*dy+d] * r[d*dy+b]
					}
				}
				cov = append(cov, s)
			}
			mean = append(mean, m)
		}
	}
	return mean, cov
}

// lively makes a new model's head answer to its features.
func lively[T Float](m *EquivCNP[T]) {
	for i := range m.head.raw().Weight {
		m.head.raw().Weight[i] *= 8
	}
}

func testFieldsTurn[T Float](t *testing.T) {
	for name, f := range fieldConfigs() {
		t.Run(name, func(t *testing.T) {
			model, err := New[T](f.c, 3)
			require.NoError(t, err)
			m := model.(*EquivCNP[T])
			if f.c.Levels == 0 {
				perturb(m.State(), 5)
			} else {
				lively(m)
			}
			rng := rand.New(rand.NewPCG(7, 7))
			b := randomBatch[T](rng, 1, 12, 5, m.cfg.DimX, m.cfg.DimY)
			still := make([]float64, m.cfg.DimY*m.cfg.DimY)
			for i := range m.cfg.DimY {
				still[i*m.cfg.DimY+i] = 1
			}
			p, err := m.Predict(context.Background(), b)
			require.NoError(t, err)
			requireVaries(t, p, m.cfg.DimY)
			mean, cov := turnedBack(p, still, m.cfg.DimY)
			tol := 1e-9
			if is32[T]() {
				tol = 1e-4
			}
			rounds := 6
			if f.c.Levels == 0 {
				rounds = 4
			} else if f.c.DimX == 3 {
				rounds = 2
			}
			for i := range rounds {
				a := f.draw(rng)
				moved, r := moveBatch(t, m, b, a)
				got, err := m.Predict(context.Background(), moved)
				require.NoError(t, err)
				gotMean, gotCov := turnedBack(got, r, m.cfg.DimY)
				testkit.Close(t, fmt.Sprintf("mean, g %d = %v", i, a), gotMean, mean, tol*maxAbs(mean))
				testkit.Close(t, fmt.Sprintf("covariance, g %d = %v", i, a), gotCov, cov, tol*maxAbs(cov))
			}
		})
	}
}

// TestFieldsTurn: when a task is moved by an element of the group, means of vectors turn, and covariances with them, to rounding.
func TestFieldsTurn(t *testing.T) {
	t.Run("F64", testFieldsTurn[float64])
	t.Run("F32", testFieldsTurn[float32])
}

// TestFramesBroken: of other angles than those of the lifts a vector does not turn exactly; if it did, the test above would prove nothing.
func TestFramesBroken(t *testing.T) {
	f := fieldConfigs()["levels/SE(2)/K=4/vector/full"]
	model, err := New[float64](f.c, 3)
	require.NoError(t, err)
	m := model.(*EquivCNP[float64])
	b := randomBatch[float64](rand.New(rand.NewPCG(7, 7)), 1, 12, 5, 2, 2)
	p, err := m.Predict(context.Background(), b)
	require.NoError(t, err)
	moved, r := moveBatch(t, m, b, []float64{math.Pi / 4, 0, 0})
	got, err := m.Predict(context.Background(), moved)
	require.NoError(t, err)
	mean, _ := turnedBack(got, r, 2)
	worst := 0.0
	for i, v := range mean {
		worst = max(worst, math.Abs(v-p.Mean[i]))
	}
	require.Greater(t, worst, 1e-6*maxAbs(p.Mean))
}

// TestFramesRandom: random samples are drawn for every batch of a training, and for prediction once and for all.
func TestFramesRandom(t *testing.T) {
	c := fieldConfigs()["levels/SE(3)/K=4/vector/full"].c
	c.Lifts, c.LiftSamples = 2, SamplesRandom
	model, err := New[float64](c, 3)
	require.NoError(t, err)
	m := model.(*EquivCNP[float64])
	lively(m)
	rng := rand.New(rand.NewPCG(7, 7))
	b, other := randomBatch[float64](rng, 2, 6, 5, 3, 3), randomBatch[float64](rng, 2, 6, 5, 3, 3)
	pass := func(b *Batch[float64], mode layers.Mode) []float64 {
		p, err := m.Differentiate(context.Background(), b, mode)
		require.NoError(t, err)
		return p.Mean
	}
	p, err := m.Predict(context.Background(), b)
	require.NoError(t, err)
	testkit.Close(t, "pass", pass(b, layers.Eval), p.Mean, 1e-9*maxAbs(p.Mean))
	require.Equal(t, pass(b, layers.Train), pass(b, layers.Train))
	require.Equal(t, levelsOf(m).framesOf(b, layers.Eval), levelsOf(m).framesOf(other, layers.Eval))
	first, second := levelsOf(m).framesOf(b, layers.Train), levelsOf(m).framesOf(other, layers.Train)
	require.Equal(t, 2, first.Count())
	require.NotEqual(t, first.X, second.X)
	require.NotEqual(t, first.X, levelsOf(m).frames.X)
	c.LiftSeed++
	reseeded, err := New[float64](c, 3)
	require.NoError(t, err)
	require.NotEqual(t, levelsOf(m).frames.X, levelsOf(reseeded.(*EquivCNP[float64])).frames.X)
	for want, change := range map[string]func(c *Config){
		`lift_samples "random" is for models with levels under SE(3), this is T(3) with levels = 2`: func(c *Config) {
			c.Group,
				c.Lifts = "T(3)", 1
		},
		`lift_samples "random" is for models with levels under SE(3), this is SE(3) with levels = 0`: func(c *Config) { c.Levels = 0 },
		`lift_samples "odd" is neither empty, for even ones, nor "random"`: func(
			c *Config) {
			c.LiftSamples = "odd"
		},
	} {
		c := c
		change(&c)
		_, err := New[float64](c, 1)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, want)
	}
}

// TestFramesAlone: a task of a batch has the bits that it has alone, and those of a plan, on any number of threads; without a context and
// with masks, too.
func TestFramesAlone(t *testing.T) {
	for _, name := range []string{"levels/SE(2)/K=4/scalar,vector/full", "levels/SE(2)/K=3/scalar,vector/lowrank:3:noise",
		"levels/SE(2)/K=8/vector/full"} {
		f := fieldConfigs()[name]
		model, err := New[float32](f.c, 3)
		require.NoError(t, err)
		m := model.(*EquivCNP[float32])
		dy := m.cfg.DimY
		b := randomBatch[float32](rand.New(rand.NewPCG(90, 1)), 3, 7, 6, 2, dy)
		b.ContextMask, b.TargetMask = make([]bool, 21), make([]bool, 18)
		for i := range b.ContextMask {
			b.ContextMask[i] = i < 14 && i%5 != 2
		}
		for i := range b.TargetMask {
			b.TargetMask[i] = i%7 != 3
		}
		b.XTarget[0] = 300
		want, err := m.Predict(context.Background(), b)
		require.NoError(t, err)
		plan, err := m.PlanInterval(context.Background(), 0, 1)
		require.NoError(t, err)
		for _, procs := range []int{1, 3} {
			old := runtime.GOMAXPROCS(procs)
			got, err := NewPrediction[float32](&m.cfg, len(want.Mean))
			require.NoError(t, err)
			require.NoError(t, plan.Predict(context.Background(), got, b))
			runtime.GOMAXPROCS(old)
			require.Equal(t, want.Mean, got.Mean)
			require.Equal(t, want.Std, got.Std)
			require.Equal(t, want.Params, got.Params)
		}
		for task := range 3 {
			for i := range 6 {
				at := task*6 + i
				if !b.TargetMask[at] {
					require.Zero(t, want.Mean[dy*at])
					continue
				}
				one := &Batch[float32]{B: 1, Nc: 7, Nt: 1, XContext: b.XContext[task*14 : (task+1)*14],
					YContext:    b.YContext[task*7*dy : (task+1)*7*dy],
					ContextMask: b.ContextMask[task*7 : (task+1)*7], XTarget: b.XTarget[at*2 : (at+1)*2]}
				p, err := m.Predict(context.Background(), one)
				require.NoError(t, err)
				require.Equal(t, want.Mean[dy*at:dy*(at+1)], p.Mean)
				require.Equal(t, want.Std[dy*at:dy*(at+1)], p.Std)
			}
		}
	}
}

// TestFieldsRefuse: types that fit neither data, group nor likelihood are refused by name.
func TestFieldsRefuse(t *testing.T) {
	base := fieldConfigs()["levels/SE(2)/K=4/scalar,vector/full"].c
	for want, change := range map[string]func(c *Config){
		`outputs = ["vector" "vector"] are 4 columns where a vector has 2, dim_y = 3`: func(
			c *Config) {
			c.Outputs = []FieldType{Vector, Vector}
		},
		`outputs[0] = "wind" is not one of ["scalar" "vector"]`: func(
			c *Config) {
			c.Outputs = []FieldType{"wind", Scalar}
		},
		"likelihood normal does not turn with vectors; these do: full, lowrank:64": func(c *Config) { c.Likelihood = "" },
		"group Squeeze does not turn vectors; these do: T(n)": func(c *Config) {
			c.Group, c.Levels,
				c.Lifts = "Squeeze", 0, 1
		},
		"multiplicity = 2, the powers of a vector's components are no vectors": func(c *Config) { c.Multiplicity = 2 },
		"architecture cnp knows no group": func(c *Config) {
			c.Architecture, c.Group,
				c.Levels = CNPCurve, "", 0
		},
		"levels under SE(2) take 1 to 256 lifts, these are 300": func(c *Config) { c.Lifts = 300 },
	} {
		c := base
		change(&c)
		_, err := New[float32](c, 1)
		require.ErrorIs(t, err, ErrConfig)
		require.ErrorContains(t, err, want)
	}
	_, _, err := ParseOutputs("scalar,wind", 2)
	require.ErrorContains(t, err, `"wind" is not one of`)
	types, dy, err := ParseOutputs("scalar, vector", 3)
	require.NoError(t, err)
	require.Equal(t, []FieldType{Scalar, Vector}, types)
	require.Equal(t, 4, dy)
	image := Default(EquivCNPImage, "SE(2)", 3)
	image.Outputs = []FieldType{Scalar, Vector}
	require.ErrorIs(t, image.Validate(), ErrConfig)
}

// TestVectorScaler: a vector's components get one factor, and their mean as the offset, which turns with them.
func TestVectorScaler(t *testing.T) {
	c := fieldConfigs()["levels/SE(2)/K=4/scalar,vector/full"].c
	c.Trained = &Trained{X: []Range{{-2, 2, 0, 1}, {-2, 2, 0, 1}}, Y: []Range{{-3, 3, 0, 1}, {-3, 3, 0, 1}, {-3, 3, 0, 1}},
		Span: 4, Context: [2]int{3, 50}}
	x := []float64{0, 0, 1, 1, 2, 0}
	s := c.Scaler(x, []float64{5, 30, 0, 6, 0, 40, 7, 20, 20})
	require.Equal(t, s.Y[1].Factor, s.Y[2].Factor)
	require.Equal(t, []float64{50.0 / 3, 20}, []float64{s.Y[1].Offset, s.Y[2].Offset})
	require.Less(t, s.Y[1].Factor, 0.1)
	require.NotZero(t, s.Y[0].Offset)
	turned := c.Scaler(x, []float64{5, 0, 30, 6, -40, 0, 7, -20, 20})
	require.InDelta(t, s.Y[1].Factor, turned.Y[1].Factor, 1e-12)
	require.InDeltaSlice(t, []float64{-20, 50.0 / 3}, []float64{turned.Y[1].Offset, turned.Y[2].Offset}, 1e-9)
	c.Trained.Units = &Scaler{X: []Affine{identity, identity}, Y: []Affine{identity, identity, identity}}
	require.Equal(t, identity, c.Scaler(x, []float64{1, 1, 1, 0, 0, 0, 1, 2, 1}).Y[1], "values that the model knows")
}

// TestFramesTrain: in training tasks share a frame's lattice, and a step changes parameters.
func TestFramesTrain(t *testing.T) {
	c := fieldConfigs()["levels/SE(2)/K=4/vector/full"].c
	m, err := New[float32](c, 3)
	require.NoError(t, err)
	b := randomBatch[float32](rand.New(rand.NewPCG(1, 1)), 3, 6, 8, 2, 2)
	p, err := m.(TrainableRegressor[float32]).Differentiate(context.Background(), b, layers.Train)
	require.NoError(t, err)
	g := layers.NewGrads(m.State())
	loss, err := p.Gradient(make([]float32, 48), g)
	require.NoError(t, err)
	require.False(t, math.IsNaN(loss))
	sum := 0.0
	for _, s := range m.State() {
		for _, v := range g.Of(s.Data) {
			sum += float64(v) * float64(v)
		}
	}
	require.Greater(t, sum, 0.0)
}

// TestFieldsGaps: a vector that lacks a component lacks all of them, and what is known of the rest still turns.
func TestFieldsGaps(t *testing.T) {
	for _, name := range []string{"levels/SE(2)/K=4/scalar,vector/full", "points/SE(2)/K=4/scalar,vector/full",
		"points/SO(2)/K=1/scalar,vector/full"} {
		f := fieldConfigs()[name]
		f.c.ChannelDensity = true
		model, err := New[float64](f.c, 3)
		require.NoError(t, err)
		m := model.(*EquivCNP[float64])
		lively(m)
		rng := rand.New(rand.NewPCG(17, 7))
		b := randomBatch[float64](rng, 1, 12, 5, 2, 3)
		b.YContext[1], b.YContext[3*4+2], b.YContext[3*7] = math.NaN(), math.NaN(), math.NaN()
		p, err := m.Predict(context.Background(), b)
		require.NoError(t, err)
		for i := range 12 { // the components that it does not see
			if v := b.YContext[3*i+1 : 3*i+3]; v[0] != v[0] || v[1] != v[1] {
				v[0], v[1] = math.NaN(), 77
			}
		}
		same, err := m.Predict(context.Background(), b)
		require.NoError(t, err)
		require.Equal(t, p.Mean, same.Mean)
		require.Equal(t, p.Params, same.Params)
		pass, err := m.Differentiate(context.Background(), b, layers.Eval)
		require.NoError(t, err)
		require.InDeltaSlice(t, p.Mean, pass.Mean, 1e-11)
		still := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
		mean, cov := turnedBack(p, still, 3)
		for range 3 {
			moved, r := moveBatch(t, m, b.whole(&m.cfg), f.draw(rng))
			got, err := m.Predict(context.Background(), moved)
			require.NoError(t, err)
			gotMean, gotCov := turnedBack(got, r, 3)
			testkit.Close(t, name, gotMean, mean, 1e-9*maxAbs(mean))
			testkit.Close(t, name, gotCov, cov, 1e-9*maxAbs(cov))
		}
	}
}
