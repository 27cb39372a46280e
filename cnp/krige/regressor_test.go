package krige

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestRegressor holds a batch of tasks to each of them alone.
func TestRegressor(t *testing.T) {
	r := Named("universal-2")
	require.NotNil(t, r)
	b := &cnp.Batch[float32]{B: 2, Nc: 30, Nt: 20, ContextMask: make([]bool, 60), TargetMask: make([]bool, 40)}
	var want []float64
	for task := range 2 {
		x, y := table(30, 2, 0.1, uint64(71+task))
		targets, _ := table(20, 2, 0, uint64(73+task))
		b.XContext, b.XTarget = append(b.XContext, x...), append(b.XTarget, targets...)
		n := 30 - 5*task // the rest is padding
		for i, v := range y {
			b.YContext, b.ContextMask[30*task+i] = append(b.YContext, float32(v)), i < n
			y[i] = float64(float32(v))
		}
		for i := range 20 {
			b.TargetMask[20*task+i] = i > 0
		}
		mean, _ := predict(t, x[:2*n], y[:n], targets, Options{Dim: 2})
		want = append(append(want, 0), mean[1:]...)
	}
	p, err := r.Predict(t.Context(), b)
	require.NoError(t, err)
	for i, v := range want {
		require.InDelta(t, v, float64(p.Mean[i]), 1e-6)
	}
	need, err := cnp.EstimateModel[float32](r, cnp.Work{Batch: 2, Context: 30, Targets: 20})
	require.NoError(t, err)
	require.Greater(t, need.Bytes(), int64(1<<20))
	for _, function := range []bool{false, true} {
		samples, err := cnp.SampleCurves[float32](t.Context(), r, b, cnp.SampleOptions{Samples: 3, Function: function})
		require.NoError(t, err)
		require.Len(t, samples, 3*40)
		require.Zero(t, samples[20], "a masked target")
	}
	b.YContext = b.YContext[1:]
	_, err = r.Predict(t.Context(), b)
	require.ErrorIs(t, err, cnp.ErrShape)
	require.ErrorContains(t, err, "y_context has 59 values")
}

// A task without values has a prior, and the other tasks have what they have alone.
func TestEmptyTask(t *testing.T) {
	for _, opt := range []Options{{Dim: 1}, {Dim: 1, Values: Positive}} {
		r, err := NewRegressor(opt)
		require.NoError(t, err)
		alone := &cnp.Batch[float32]{B: 1, Nc: 3, Nt: 2, XContext: []float64{0, 1, 2}, YContext: []float32{3, 4, 3},
			XTarget: []float64{0.5, 9}}
		b := &cnp.Batch[float32]{B: 2, Nc: 3, Nt: 2, XContext: []float64{5, 6, 7, 0, 1, 2}, YContext: []float32{1, 1, 1, 3, 4, 3},
			XTarget: []float64{0.5, 9, 0.5, 9}, ContextMask: []bool{false, false, false, true, true, true}}
		p, err := r.Predict(t.Context(), b)
		require.NoError(t, err)
		require.Equal(t, []float32{0, 0}, p.Mean[:2])
		require.Equal(t, []float32{1, 1}, p.Std[:2])
		q, err := r.Predict(t.Context(), alone)
		require.NoError(t, err)
		require.Equal(t, q.Mean, p.Mean[2:])
		require.Equal(t, q.Std, p.Std[2:])
		samples, err := r.SampleCurves(t.Context(), b, cnp.SampleOptions{Samples: 2})
		require.NoError(t, err)
		require.NotZero(t, samples[0])
		cfg := r.Config()
		require.Equal(t, []string{"task 0 has no context: its prediction is the prior"}, cnp.Notes(&cfg, b))
		require.Empty(t, cnp.Notes(&cfg, alone))
	}
}

func TestNamed(t *testing.T) {
	for i, name := range Names() {
		r := Named(name)
		require.NotNil(t, r, name)
		if i < MaxDim {
			require.Equal(t, i+1, r.Config().DimX)
		}
	}
	cfg := Named("universal-globe").Config()
	require.True(t, cfg.Degrees())
	require.Nil(t, Named("rbf-levels"))
}

// TestOutputsOf: each output has its own kind of values, and the distribution of a prediction is that of the table alone, with
// the quantiles and densities of what is not normal.
func TestOutputsOf(t *testing.T) {
	rng := testkit.Rand(3)
	const n = 30
	x, y := make([]float64, n), make([]float32, 0, 3*n)
	for i := range x {
		x[i] = float64(i) / 4
		v := math.Sin(x[i]) + 0.1*rng.NormFloat64()
		y = append(y, float32(v), float32(math.Exp(2*v)), float32(max(0, v)))
	}
	r, err := NewRegressor(Options{Dim: 1})
	require.NoError(t, err)
	kinds := []Values{Plain, Logarithmic, Positive}
	r = r.OutputsOf(kinds)
	require.Equal(t, "universal-1", r.Name())
	targets := []float64{0.3, 2.1, 7.9}
	p, err := r.Predict(t.Context(), &cnp.Batch[float32]{B: 1, Nc: n, Nt: 3, XContext: x, YContext: y, XTarget: targets})
	require.NoError(t, err)
	require.NoError(t, p.Check(nil))
	for c, kind := range kinds {
		var own []float64
		for i := c; i < len(y); i += 3 {
			own = append(own, float64(y[i]))
		}
		m, err := Fit(t.Context(), x, own, Options{Dim: 1, Values: kind})
		require.NoError(t, err)
		want, err := m.At(t.Context(), targets)
		require.NoError(t, err)
		for _, q := range []float64{0.05, 0.5, 0.9} {
			for k, v := range want.Quantile(q) {
				require.InDelta(t, v, p.QuantileAt(3*k+c, q), 1e-5*(1+math.Abs(v)), "output %d", c)
			}
		}
		for k := range targets {
			at := want.Quantile(0.7)[k]
			one := &Prediction{mean: want.mean[k : k+1], std: want.std[k : k+1], bend: want.bend, positive: want.positive}
			density, _ := one.LogDensity([]float64{at})
			require.InDelta(t, density, p.LogDensityAt(3*k+c, at), 1e-4, "output %d", c)
			var params []float64
			for _, v := range p.Params[5*(3*k+c) : 5*(3*k+c+1)] {
				params = append(params, float64(v))
			}
			mean, _ := p.Likelihood.Moments(params)
			require.InDelta(t, want.Mean[k], mean, 1e-5*(1+math.Abs(mean)))
		}
	}
}

// TestRegressorShapes: sizes that no batch has are errors, and tasks of nothing take no memory, however many there are.
func TestRegressorShapes(t *testing.T) {
	r, err := NewRegressor(Options{Dim: 1})
	require.NoError(t, err)
	for _, b := range []*cnp.Batch[float32]{nil, {B: -1, Nc: 1, Nt: 1},
		{B: -1, Nc: -1, Nt: 1, XContext: []float64{1}, YContext: []float32{1}},
		{B: math.MaxInt/2 + 1, Nc: 4, Nt: 4}, {B: 1, Nt: 1, XTarget: []float64{0}, TargetMask: []bool{}}} {
		_, err = r.Predict(t.Context(), b)
		require.ErrorIs(t, err, cnp.ErrShape)
		_, err = r.SampleCurves(t.Context(), b, cnp.SampleOptions{Samples: 1})
		require.ErrorIs(t, err, cnp.ErrShape)
		_, _, _, err = r.Learn(t.Context(), b)
		require.ErrorIs(t, err, cnp.ErrShape)
	}
	p, err := r.Predict(t.Context(), &cnp.Batch[float32]{B: math.MaxInt})
	require.NoError(t, err)
	require.Empty(t, p.Mean)
}
