package train

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// known draws the values of every task from one distribution of known parameters, at random places; the context says nothing.
type known struct {
	likelihood cnp.Likelihood
	params     []float64 // of each of a task's values
	targets    int
}

func (known) String() string { return "known" }

func (k known) Batch(n int, seed uint64, step int) (*task.Tasks[float32], error) {
	rng := task.StepRand(seed, step)
	b := &cnp.Batch[float32]{B: n, Nt: k.targets}
	t := &task.Tasks[float32]{Curves: b}
	y := make([]float64, k.targets)
	for range n {
		for i := range k.targets {
			b.XTarget = append(b.XTarget, float64(i)/4)
		}
		if joint, ok := k.likelihood.(cnp.JointLikelihood); ok {
			joint.SampleOf(y, rng, k.params, false)
		} else {
			for i := range y {
				y[i] = k.likelihood.Sample(rng, k.params)
			}
		}
		for _, v := range y {
			t.Y = append(t.Y, float32(v))
		}
	}
	return t, nil
}

// TestLikelihoodsAreLearned: a small model learns the parameters of a known distribution; its log-likelihood is the distribution's own.
func TestLikelihoodsAreLearned(t *testing.T) {
	for _, c := range []struct {
		name   string
		params []float64
		tol    float64 // of the moments, in parts of the deviation
	}{
		{"bernoulli-gamma", []float64{-0.8, 2, 0.7}, 0.1},
		{"spiked-beta", []float64{-1, 0.3, 2, 0.8}, 0.1},
		{"normal:noise", []float64{0.5, 0.3, 0.4}, 0.1},
	} {
		mc := cnp.Default(cnp.CNPCurve, "", 1)
		mc.Channels, mc.Likelihood, mc.Floor = []int{8, 8, 8}, c.name, 0
		l, err := cnp.ParseLikelihood(&mc)
		require.NoError(t, err)
		src := known{l, c.params, 8}
		tc := DefaultConfig(600)
		tc.Adam.Rate, tc.EvalEvery, tc.EvalTasks, tc.Batch = 0.01, 0, 0, 16
		run := newRun(t, mc, src, tc, Options[float32]{})
		require.NoError(t, run.Train(context.Background()), c.name)

		b, err := src.Batch(2000, 77, 0)
		require.NoError(t, err)
		p, err := eval.Model(run.Model())(context.Background(), b)
		require.NoError(t, err)
		sum, n := p.LogDensity(b.Y, nil)
		own := 0.0
		for _, y := range b.Y {
			own += l.LogDensity(float64(y), c.params)
		}
		require.InDelta(t, own/float64(n), sum/float64(n), 0.02, c.name)
		mean, std := l.Moments(c.params)
		require.InDelta(t, mean, float64(p.Mean[3]), c.tol*std, c.name)
		require.InDelta(t, std, float64(p.Std[3]), c.tol*std, c.name)
		for _, q := range []float64{0.1, 0.5, 0.9} {
			require.InDelta(t, l.Quantile(q, c.params), p.QuantileAt(3, q), 2*c.tol*std, "%s, quantile %g", c.name, q)
		}
		var m eval.Meter
		eval.AddBatch(&m, b, p, 2000)
		r := m.Report()
		require.Zero(t, r.NotFinite)
		require.InDelta(t, sum/float64(n), r.LogLikelihood.Mean, 1e-9)
		for _, level := range r.Levels { // an interval that ends at a value with a probability of its own holds more
			require.Greater(t, level.Observed, level.Nominal-0.03, c.name)
		}
		require.InDelta(t, 1, r.ZSquare, 0.15)
	}
}

// TestLowRankIsLearned: a model learns the covariance of its tasks; its file keeps it, and an interrupted run ends with the same bits.
func TestLowRankIsLearned(t *testing.T) {
	ctx := context.Background()
	mc := cnp.Default(cnp.CNPCurve, "", 1)
	mc.Channels, mc.Likelihood, mc.Floor = []int{32, 32, 32}, "lowrank:2", 0
	l, err := cnp.ParseLikelihood(&mc)
	require.NoError(t, err)
	const n = 5
	var params []float64
	for i := range n { // two waves and a little noise
		x := float64(i) / 4
		params = append(params, 0.3*x, 0.2, math.Sqrt2*math.Cos(2*x), math.Sqrt2*math.Sin(2*x))
	}
	src := known{l, params, n}
	tc := DefaultConfig(1500)
	tc.Adam.Rate, tc.EvalEvery, tc.EvalTasks, tc.Batch, tc.CheckpointEvery = 0.01, 0, 0, 16, 0
	run := newRun(t, mc, src, tc, Options[float32]{})
	require.NoError(t, run.Train(ctx))

	b, err := src.Batch(2000, 77, 0)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "m.safetensors")
	require.NoError(t, weights.Save(path, run.Model(), nil))
	again, err := weights.Load[float32](path, weights.Options{})
	require.NoError(t, err)
	p, err := eval.Model(again)(ctx, b)
	require.NoError(t, err)
	same, err := eval.Model(run.Model())(ctx, b)
	require.NoError(t, err)
	require.Equal(t, same, p)

	sum, _ := p.LogDensities(2000, b.Y, nil)
	own, alone := 0.0, 0.0
	joint := l.(cnp.JointLikelihood)
	for k := range 2000 {
		y := make([]float64, n)
		for i := range y {
			y[i] = float64(b.Y[k*n+i])
			alone += l.LogDensity(y[i], params[i*4:(i+1)*4])
		}
		own += joint.LogDensityOf(y, params)
	}
	require.InDelta(t, own/2000/n, sum/2000/n, 0.02)
	require.Greater(t, own-alone, 2000*n*0.3)
	cov, one := p.Task(0, 2000).Covariance(), &cnp.Prediction[float64]{Likelihood: l, Params: params, Mean: make([]float64, n),
		Std: make([]float64, n)}
	require.InDeltaSlice(t, one.Covariance(), cov, 0.12)
	found, err := eval.Joint(ctx, eval.Predicted(eval.Model(again)), task.Source[float32](src), eval.Options{Tasks: 500, Seed: 5})
	require.NoError(t, err)
	require.InDelta(t, own/2000/n, found.LogLikelihood.Mean, 0.1)
	apart, err := eval.Joint(ctx, eval.Independent(eval.Model(again)), task.Source[float32](src), eval.Options{Tasks: 500, Seed: 5})
	require.NoError(t, err)
	require.Less(t, apart.LogLikelihood.Mean, found.LogLikelihood.Mean-0.3)

	for _, c := range []Config{{Steps: 1, Batch: 1, Passes: 1, Adam: tc.Adam, Beta: 0.5}} {
		model, err := cnp.New[float32](mc, 1)
		require.NoError(t, err)
		_, err = NewRun(model, src, c, Options[float32]{})
		require.ErrorContains(t, err, "lowrank:2")
	}
}
