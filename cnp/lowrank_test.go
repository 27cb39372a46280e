package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/stretchr/testify/require"
)

// randomTask draws raw numbers of n values, their parameters, and true values from their distribution.
func randomTask(l JointLikelihood, rng *rand.Rand, n int, noise float64) (y, raw, params []float64) {
	p := l.Outputs()
	raw, params, y = make([]float64, n*p), make([]float64, n*p), make([]float64, n)
	for i := range raw {
		raw[i] = rng.NormFloat64()
	}
	for i := range n {
		raw[i*p+1] += noise
		if l.Constants() > 0 { // of one channel
			raw[i*p+p-1] = raw[p-1] + noise*float64(min(i, 1)-i)
		}
		l.Parameters(params[i*p:(i+1)*p], raw[i*p:(i+1)*p])
	}
	l.SampleOf(y, rng, params, false)
	return y, raw, params
}

// TestLowRankSamples: samples have the mean and the covariance that a prediction says, and functions that without the noise.
func TestLowRankSamples(t *testing.T) {
	for _, name := range []string{"lowrank:2", "lowrank:2:noise"} {
		l := likelihoodOf(t, name, OutputStd, 0).(JointLikelihood)
		_, _, params := randomTask(l, testkit.Rand(9), 4, 0)
		p := &Prediction[float64]{Likelihood: l, Params: params, Mean: make([]float64, 4), Std: make([]float64, 4)}
		for i := range p.Mean {
			p.Mean[i], p.Std[i] = l.Moments(params[i*l.Outputs() : (i+1)*l.Outputs()])
		}
		require.NoError(t, p.Check(nil))
		cov := p.Covariance()
		function, noise := make([]float64, 4), make([]float64, 4)
		require.True(t, p.Parts(function, noise))
		for i := range 4 {
			require.InDelta(t, p.Std[i]*p.Std[i], cov[i*4+i], 1e-12)
			require.InDelta(t, p.Std[i], math.Hypot(function[i], noise[i]), 1e-12)
		}
		const draws = 1 << 16
		for _, kind := range []string{"observations", "function"} {
			rng, sum, products, y := testkit.Rand(2), make([]float64, 4), make([]float64, 16), make([]float64, 4)
			for range draws {
				if kind == "function" {
					require.True(t, p.SampleFunction(y, rng, nil))
				} else {
					p.Sample(y, rng, nil)
				}
				for i, v := range y {
					sum[i] += v / draws
					for j, u := range y {
						products[i*4+j] += (v - p.Mean[i]) * (u - p.Mean[j]) / draws
					}
				}
			}
			for i := range 4 {
				require.InDelta(t, p.Mean[i], sum[i], 6*p.Std[i]/math.Sqrt(draws))
				for j := range 4 {
					want := cov[i*4+j]
					if kind == "function" && i == j {
						want = function[i] * function[i]
					}
					require.InDelta(t, want, products[i*4+j], 8*p.Std[i]*p.Std[j]/math.Sqrt(draws), "%s, %d and %d", kind, i, j)
				}
			}
		}
		// A mask leaves values out: the rest is as if they had never been there.
		mask, y := []bool{true, false, true, true}, []float64{0.3, math.NaN(), -0.2, 1}
		sum, n := p.LogDensity(y, mask)
		require.Equal(t, 3, n)
		k := l.Outputs()
		rest := append(append([]float64(nil), params[:k]...), params[2*k:]...)
		require.Equal(t, l.LogDensityOf([]float64{0.3, -0.2, 1}, rest), sum)
		one, _ := p.Marginals().Slice(0, 1).LogDensity(y[:1], nil)
		require.InDelta(t, p.LogDensityAt(0, 0.3), one, 1e-12)
	}
}

// lowRankCurve is a small model of joint curves.
func lowRankCurve[T Float](t *testing.T, name string, dy int) *EquivCNP[T] {
	c := Default(EquivCNPCurve, "T(1)", dy)
	if name, waves := strings.CutSuffix(name, " waves"); waves {
		c.Waves = &Waves{2, 5}
		return lowRankCurveOf[T](t, c, name)
	}
	return lowRankCurveOf[T](t, c, name)
}

func lowRankCurveOf[T Float](t *testing.T, c Config, name string) *EquivCNP[T] {
	c.PointsPerUnit, c.Channels, c.Hidden, c.Mid, c.Likelihood = 8, []int{4, 6, 5}, 6, 4, name
	m, err := New[T](c, 3)
	require.NoError(t, err)
	perturb(m.State(), 4)
	return m.(*EquivCNP[T])
}

// TestLowRankModel: predictions of a model, of its plan and of its pass have the same parameters, for any number of threads; targets at one
// place have one feature vector; masked ones have none, and no task none at all.
func TestLowRankModel(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"lowrank:4", "lowrank:4:noise", "lowrank:5 waves", "normal:noise"} {
		m := lowRankCurve[float64](t, name, 2)
		b := randomBatch[float64](testkit.Rand(1), 3, 4, 6, 1, 2)
		b.XTarget[1] = b.XTarget[0]
		b.TargetMask = make([]bool, 18)
		for i := range b.TargetMask {
			b.TargetMask[i] = i != 4
		}
		p, err := m.Predict(ctx, b)
		require.NoError(t, err)
		k := p.Likelihood.Outputs()
		require.Len(t, p.Params, 36*k)
		require.Equal(t, p.Params[:2*k], p.Params[2*k:4*k], "two targets at one place")
		require.Equal(t, make([]float64, 2*k), p.Params[8*k:10*k])
		require.NoError(t, p.Check(func(i int) bool { return b.TargetMask[i/2] }))

		plan, err := m.PlanInterval(ctx, -5, 5)
		require.NoError(t, err)
		planned := m.head.newPrediction(36)
		require.NoError(t, plan.Predict(ctx, planned, b))
		require.Equal(t, p, planned)
		bare := newPrediction[float64](Normal, 36)
		require.NoError(t, plan.Predict(ctx, bare, b))
		require.Equal(t, p.Std, bare.Std)
		require.Nil(t, bare.Params)
		require.Panics(t, func() { bare.QuantileAt(0, 0.5) })
		bare.Params = make([]float64, 5)
		require.ErrorIs(t, plan.Predict(ctx, bare, b), ErrShape)

		pass, err := m.Differentiate(ctx, b, layers.Eval)
		require.NoError(t, err)
		require.InDeltaSlice(t, p.Params, pass.Params, 1e-11)
		require.Panics(t, func() { pass.Backward(p.Mean, p.Std, nil) })

		empty, err := m.Predict(ctx, &Batch[float64]{B: 2})
		require.NoError(t, err)
		sum, n := empty.LogDensity(nil, nil)
		require.Zero(t, sum)
		require.Zero(t, n)
		none := &Batch[float64]{B: 1, Nt: 3, XTarget: []float64{0, 0.5, 0.5}}
		prior, err := m.Predict(ctx, none)
		require.NoError(t, err)
		sum, n = prior.LogDensity([]float64{0, 1, 2, 3, 4, 5}, nil)
		require.False(t, math.IsNaN(sum))
		require.Equal(t, 6, n)

		m32 := lowRankCurve[float32](t, name, 2)
		b32 := randomBatch[float32](testkit.Rand(1), 3, 4, 6, 1, 2)
		y := make([]float32, 36)
		run := func(procs int) (*Prediction[float32], [][]float32) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			pass, err := m32.Differentiate(ctx, b32, layers.Train)
			require.NoError(t, err)
			g := layers.NewGrads(m32.State())
			_, err = pass.Gradient(y, g)
			require.NoError(t, err)
			return pass.Prediction, g.Data
		}
		p1, g1 := run(1)
		p4, g4 := run(4)
		require.Equal(t, p1, p4)
		require.Equal(t, g1, g4)
	}
}

// TestLowRankImages: the values of an image are jointly normal, channels included, in a plan, in a pass and where images are taken apart.
func TestLowRankImages(t *testing.T) {
	ctx := context.Background()
	c := Default(EquivCNPImage, "T(2)", 2)
	c.Channels, c.Blocks, c.Hidden, c.Mid, c.Likelihood = []int{4}, 1, 4, 3, "lowrank:3"
	model, err := New[float64](c, 1)
	require.NoError(t, err)
	perturb(model.State(), 2)
	m := model.(*ImageEquivCNP[float64])
	im := randomImages[float64](testkit.Rand(3), 2, 2, 5, 6)
	p, err := m.Complete(ctx, im)
	require.NoError(t, err)
	require.Len(t, p.Params, 2*2*5*6*5)
	pass, err := m.Differentiate(ctx, im, layers.Eval)
	require.NoError(t, err)
	require.InDeltaSlice(t, p.Params, pass.Params, 1e-9)
	for i := range p.Mean {
		require.Equal(t, p.Mean[i], p.Params[5*i])
	}
	g, err := m.Geometry(5, 6, 1)
	require.NoError(t, err)
	g.Targets = g.Points[:8] // the first four pixels once more
	plan, err := m.PlanGeometry(ctx, g, PlanOptions{})
	require.NoError(t, err)
	at := m.family.newPrediction(2 * plan.Values())
	require.NoError(t, plan.Predict(ctx, at, im))
	for b := range 2 {
		for ch := range 2 {
			for i := range 4 {
				from := ((b*2+ch)*30 + i) * 5
				require.InDeltaSlice(t, p.Params[from:from+5], at.Params[((b*2+ch)*4+i)*5:][:5], 1e-9)
			}
		}
	}
}

// TestLowRankEquivariance: moving context and targets leaves every feature vector, and with it the covariance, where it is.
func TestLowRankEquivariance(t *testing.T) {
	for _, mv := range moves {
		if mv.group == "trivial(2)" {
			continue
		}
		t.Run(fmt.Sprintf("%s/%d", mv.group, mv.lifts), func(t *testing.T) {
			c := Default(EquivCNPCurve, mv.group, 1)
			c.PointsPerUnit, c.Margin, c.Lifts, c.Fill = 0, 0, mv.lifts, 0.4
			c.Channels, c.Hidden, c.Mid, c.Likelihood = []int{6, 8, 6}, 12, 5, "lowrank:4"
			model, err := New[float64](c, 3)
			require.NoError(t, err)
			perturb(model.State(), 5)
			m, rng := model.(*EquivCNP[float64]), testkit.Rand(11)
			b := randomBatch[float64](rng, 1, 8, 5, c.DimX, 1)
			was, err := m.Predict(context.Background(), b)
			require.NoError(t, err)
			moved, a := *b, mv.draw(rng)
			moved.XContext, moved.XTarget = act(t, m.group, a, b.XContext), act(t, m.group, a, b.XTarget)
			is, err := m.Predict(context.Background(), &moved)
			require.NoError(t, err)
			cov := was.Covariance()
			require.InDeltaSlice(t, cov, is.Covariance(), 1e-7*maxAbs(cov))
			require.Greater(t, maxAbs([]float64{cov[1], cov[2], cov[7]}), 1e-6)
		})
	}
}

// TestLowRankUnits: a prediction that was brought back to the data's units has the density of the data's units.
func TestLowRankUnits(t *testing.T) {
	for _, name := range []string{"lowrank:3", "lowrank:4 waves", "normal:noise"} {
		m := lowRankCurve[float64](t, name, 1)
		m.cfg.Trained = &Trained{X: []Range{{-2, 2, 0, 1}}, Y: []Range{{-2, 2, 0, 1}}, Span: 4, Context: [2]int{3, 50}}
		m.outer.Trained = m.cfg.Trained
		b := randomBatch[float64](testkit.Rand(4), 1, 6, 3, 1, 1)
		for i := range b.YContext {
			b.YContext[i] = 100 + 30*b.YContext[i]
		}
		p, err := Standardised[float64](m).Predict(context.Background(), b)
		require.NoError(t, err)
		in, _, err := Standardise(&m.cfg, b)
		require.NoError(t, err)
		own, err := m.Predict(context.Background(), in)
		require.NoError(t, err)
		s := m.cfg.Scaler(b.XContext, b.YContext)
		require.Greater(t, math.Abs(math.Log(s.Y[0].Factor)), 1.0)
		y, scaled := []float64{90, 120, 101}, make([]float64, 3)
		for i, v := range y {
			scaled[i] = s.Y[0].Apply(v)
		}
		got, n := p.LogDensity(y, nil)
		want, _ := own.LogDensity(scaled, nil)
		require.InDelta(t, want+float64(n)*math.Log(s.Y[0].Factor), got, 1e-9)
		for i := range p.Mean {
			require.InDelta(t, s.Y[0].Undo(own.Mean[i]), p.Mean[i], 1e-9)
		}
	}
}

// BenchmarkLowRank is the loss of a training step's head: 16 tasks of 75 values, rank 64.
func BenchmarkLowRank(b *testing.B) {
	c := Config{Likelihood: "lowrank:64", Output: OutputVariance, Floor: 1e-8, DimY: 1}
	f := newFamily[float32](c)
	const tasks, n = 16, 75
	p := newPass(&f, tasks*n, tasks, nil)
	rng := testkit.Rand(1)
	for i := range p.raw {
		p.raw[i] = float32(rng.NormFloat64())
	}
	y := make([]float32, tasks*n)
	for b.Loop() {
		if _, err := p.GradientOf(Objective{}, y, nil); err != nil {
			b.Fatal(err)
		}
	}
}
