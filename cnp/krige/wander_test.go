package krige

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// walk draws a random walk of n values, smoothed by as many values before as given.
func walk(n, smooth int, seed uint64) (x, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	steps := make([]float64, n+smooth)
	for i := range steps {
		steps[i] = rng.NormFloat64()
	}
	var sum float64
	for i := range n {
		for _, s := range steps[i : i+smooth] {
			sum += s
		}
		x, y = append(x, float64(i)), append(y, sum)
	}
	return x, y
}

// TestWanders: forecasts of random walks are little behind the best possible ones.
func TestWanders(t *testing.T) {
	const n, ahead, series = 80, 16, 24
	var lost, far float64
	for seed := range uint64(series) {
		x, y := walk(n+ahead, 1, seed)
		m, err := Fit(t.Context(), x[:n], y[:n], Options{Dim: 1})
		require.NoError(t, err)
		require.Positive(t, m.wanders)
		p, err := m.At(t.Context(), x[n:])
		require.NoError(t, err)
		for k, v := range y[n:] {
			own, _ := (&Prediction{mean: p.mean[k : k+1], std: p.std[k : k+1]}).LogDensity([]float64{v})
			lost += (logNormal(v, y[n-1], float64(k+1)) - own) / ahead / series
		}
		far += math.Abs(p.Mean[ahead-1]-y[n-1]) / math.Sqrt(ahead) / series
	}
	t.Logf("lost %.3f nats, mean %.3f deviations from the last value", lost, far)
	require.Less(t, lost, 0.2)
	require.Less(t, far, 0.45)
}

// TestWandersBeyond: members that wander change nothing within a series, and what lies beyond its ends begins where it ends.
func TestWandersBeyond(t *testing.T) {
	x, y := walk(60, 4, 3)
	m, err := Fit(t.Context(), x, y, Options{Dim: 1})
	require.NoError(t, err)
	require.Positive(t, m.wanders)
	var within, beyond, wander float64
	for _, b := range m.members {
		within, beyond = within+b.weight, beyond+b.beyond
		if b.weight == 0 {
			wander += b.beyond
		}
	}
	require.InDelta(t, 1, within, 1e-12)
	require.InDelta(t, 1, beyond, 1e-12)
	require.InDelta(t, m.wanders, wander, 1e-12)
	var total float64
	for _, b := range m.Report().Members {
		total += b.WeightBeyond
		require.InDelta(t, 1, b.Step, 1e-6)
	}
	require.InDelta(t, 1, total, 1e-12)

	alone, err := m.At(t.Context(), []float64{10.5, 59})
	require.NoError(t, err)
	both, err := m.At(t.Context(), []float64{10.5, 59, 70, -8})
	require.NoError(t, err)
	require.Equal(t, alone.Mean, both.Mean[:2])
	require.Equal(t, alone.Std, both.Std[:2])
	one := slices.Clone(m.members)
	m.members = slices.DeleteFunc(slices.Clone(one), func(b *member) bool { return b.weight == 0 })
	m.wanders = 0
	without, err := m.At(t.Context(), []float64{10.5, 59, 70, -8})
	require.NoError(t, err)
	require.Equal(t, alone.Mean, without.Mean[:2])
	require.NotEqual(t, both.Mean[2:], without.Mean[2:])
	m.members, m.wanders = one, wander
	near, err := m.At(t.Context(), []float64{59, 59 + 1e-6, 60 - 1e-6, 60})
	require.NoError(t, err)
	for _, v := range [][]float64{near.Mean, near.Std} {
		require.InDelta(t, v[0], v[1], 1e-4)
		require.InDelta(t, v[2], v[3], 1e-4)
	}
}

// TestWandersNot: where a process that wanders is far less likely than others, there is none, however far.
func TestWandersNot(t *testing.T) {
	for _, n := range []int{60, 600} {
		var x, y []float64
		for i := range n {
			v := float64(i) / 8
			x, y = append(x, v), append(y, math.Sin(v)+0.3*math.Sin(2.3*v))
		}
		m, err := Fit(t.Context(), x, y, Options{Dim: 1})
		require.NoError(t, err)
		require.Zero(t, m.wanders)
		require.False(t, slices.ContainsFunc(m.members, func(b *member) bool { return b.weight == 0 }))
		_, std, err := m.Predict(t.Context(), []float64{x[n-1] + 1})
		require.NoError(t, err)
		require.Positive(t, std[0])
	}
}

// TestGlide compares the covariance with the difference of exponentials that it is.
func TestGlide(t *testing.T) {
	s := &spec{dim: 1, shape: glide, wanders: true}
	k := s.kernel([]float64{math.Log(9), math.Log(0.1), math.Log(0.1), math.Log(0.3)})
	require.Equal(t, 4, s.params())
	var f features
	f.grow(1, 3, false)
	for i, d := range []float64{0, 0.2, 5} {
		f.set(i, []float64{0}, []float64{d})
	}
	f.dot = make([]float64, 3) // no trend
	got := make([]float64, 3)
	k.covariances(got, &f, new(scratch))
	for i, d := range []float64{0, 0.2, 5} {
		require.InDelta(t, (30*math.Exp(-d/9)-math.Exp(-d/0.3))/29, got[i], 1e-12)
	}
}
