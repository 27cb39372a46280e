package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
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

// denseLogDensity is the log-density by the whole covariance.
func denseLogDensity(l JointLikelihood, y, params []float64) float64 {
	n, k, p := len(y), l.Rank(), l.Outputs()
	f, diag := make([]float64, n*k), make([]float64, n)
	l.Factors(f, diag, params)
	cov, r := make([]float64, n*n), make([]float64, n)
	for i := range n {
		for j := range n {
			for c := range k {
				cov[i*n+j] += f[i*k+c] * f[j*k+c]
			}
		}
		cov[i*n+i] += diag[i]
		r[i] = y[i] - params[i*p]
	}
	if !cholesky(cov, n) {
		return math.NaN()
	}
	sum := -0.5 * float64(n) * math.Log(2*math.Pi)
	for i := range n {
		s := r[i]
		for j := range i {
			s -= cov[i*n+j] * r[j]
		}
		r[i] = s / cov[i*n+i]
		sum -= 0.5*r[i]*r[i] + math.Log(cov[i*n+i])
	}
	return sum
}

// TestLowRank: densities are those of the whole covariance, gradients their derivatives, from no value to more than the rank, with large
// noise and with small.
func TestLowRank(t *testing.T) {
	for _, name := range []string{"lowrank:1", "lowrank:5", "lowrank:8", "lowrank:5:noise", "lowrank:64"} {
		l := likelihoodOf(t, name, OutputStd, 1e-9).(JointLikelihood)
		for _, n := range []int{0, 1, 2, 7, 40} {
			for _, noise := range []float64{0, -6, -12} {
				rng := testkit.Rand(uint64(n) + 3)
				y, raw, params := randomTask(l, rng, n, noise)
				want, tol := denseLogDensity(l, y, params), 1e-9
				if noise == -12 { // a deviation of 1e-5, whose square is 1e-10 of the variances: as many digits are lost
					tol = 1e-5
				}
				got := l.LogDensityOf(y, params)
				require.InDelta(t, want, got, tol*(1+math.Abs(want)), "%s, %d values, noise %g", name, n, noise)
				d := make([]float64, len(raw))
				require.Equal(t, got, l.GradientOf(d, y, params, raw))
				if noise == -12 || n > 7 && l.Rank() > 8 { // difference quotients lose digits, too
					continue
				}
				near := make([]float64, len(params))
				for i, was := range raw {
					// Means and features matter as far as the noise lets them.
					h := 1e-4 * min(1, params[i/l.Outputs()*l.Outputs()+1])
					if at := i % l.Outputs(); at == 1 || at == 2+l.Rank() {
						h = 1e-4
					}
					value := func(at float64) float64 {
						raw[i] = at
						for v := range n {
							p := l.Outputs()
							l.Parameters(near[v*p:(v+1)*p], raw[v*p:(v+1)*p])
						}
						raw[i] = was
						return l.LogDensityOf(y, near)
					}
					slope := (value(was+h) - value(was-h)) / (2 * h)
					require.InDelta(t, slope, d[i], 1e-5*(1+math.Abs(slope)+math.Abs(d[i]))+1e-9/h,
						"%s, %d values, noise %g, number %d", name, n, noise, i)
				}
			}
		}
	}
}

// TestLowRankObjective: under a noise the loss is the mean over values seen with it, and gradients are its derivatives.
func TestLowRankObjective(t *testing.T) {
	const noise, h, n = 0.4, 1e-6, 6
	for _, name := range []string{"lowrank:3", "lowrank:9", "lowrank:3:noise"} {
		own := likelihoodOf(t, name, OutputVariance, 0).(JointLikelihood)
		under, err := own.(objective).under(Objective{Noise: noise})
		require.NoError(t, err)
		l := under.(JointLikelihood)
		y, raw, params := randomTask(l, testkit.Rand(5), n, -1)
		p := l.Outputs()
		// The mean of a quadratic form over independent noises is the sum over the noises, each on its own.
		mean := own.LogDensityOf(y, params)
		for i := range y {
			for _, e := range []float64{-noise, noise} {
				y[i] += e
				mean += (own.LogDensityOf(y, params) - own.LogDensityOf(append(append(append([]float64(nil), y[:i]...), y[i]-e),
					y[i+1:]...), params)) / 2
				y[i] -= e
			}
		}
		d, scratch := make([]float64, len(raw)), make([]float64, len(raw))
		require.InDelta(t, mean, l.GradientOf(d, y, params, raw), 1e-9)
		for i, was := range raw {
			value := func(at float64) float64 {
				raw[i] = at
				for v := range n {
					l.Parameters(params[v*p:(v+1)*p], raw[v*p:(v+1)*p])
				}
				v := l.GradientOf(scratch, y, params, raw)
				raw[i] = was
				return v
			}
			want := (value(was+h) - value(was-h)) / (2 * h)
			value(was)
			require.InDelta(t, want, d[i], 1e-6*(1+math.Abs(want)), "%s, number %d", name, i)
		}
		_, err = own.(objective).under(Objective{Beta: 0.5})
		require.ErrorIs(t, err, ErrConfig)
	}
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
