package krige

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFarTargets: targets that are too far away to compute with are refused by row, those a little nearer are predicted, and a longitude
// may be any number.
func TestFarTargets(t *testing.T) {
	ctx := t.Context()
	x, y := []float64{0, 1, 2, 3}, []float64{1, 2, 3.5, 2}
	for _, far := range []float64{1e300, -1.7e308} {
		for n := 2; n <= len(y); n++ {
			m, err := Fit(ctx, x[:n], y[:n], Options{Dim: 1})
			require.NoError(t, err)
			_, _, err = m.Predict(ctx, []float64{1, far})
			require.ErrorIs(t, err, ErrInput)
			require.ErrorContains(t, err, "targets: row 1, column 0 is")
			_, err = m.Samples(ctx, []float64{1, far}, 2, 1)
			require.ErrorIs(t, err, ErrInput)
			requireFinite(t, m, []float64{1, math.Copysign(1e50, far)})
		}
	}
	globe, err := Fit(ctx, []float64{10, 20, -30, 40, 5, 70}, []float64{1, 2, 4}, Options{Dim: 2, Sphere: true})
	require.NoError(t, err)
	requireFinite(t, globe, []float64{10, 1.7e308, -90, -1.7e308})
	mean, _, err := globe.Predict(ctx, []float64{5, 71, 5, 71 - 360*1000})
	require.NoError(t, err)
	require.Equal(t, mean[0], mean[1])
}

// TestBeyondRange: of values whose logarithms are predicted, a target that is far away has moments and samples that no float64 holds,
// and so have samples of the largest values. They are refused by row.
func TestBeyondRange(t *testing.T) {
	ctx := t.Context()
	x := []float64{1, 2, 3, 4, 5, 6}
	for _, v := range []Values{Logarithmic, Positive} {
		m, err := Fit(ctx, x, []float64{1, 2, 1, 2, 1, 2}, Options{Dim: 1, Values: v})
		require.NoError(t, err)
		requireFinite(t, m, []float64{2.5, 9})
		_, _, err = m.Predict(ctx, []float64{2.5, 1e6})
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, "targets: row 1: the prediction +Inf")
		_, err = m.Samples(ctx, []float64{2.5, 1e6}, 20, 1)
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, "targets: row 1: the sample +Inf")
	}
	m, err := Fit(ctx, x[:5], []float64{1.7e308, 0, 1.3e308, 1.2e308, 1.5e308}, Options{Dim: 1})
	require.NoError(t, err)
	_, _, err = m.Predict(ctx, []float64{0})
	require.NoError(t, err)
	_, err = m.Samples(ctx, []float64{0}, 50, 1)
	require.ErrorContains(t, err, "targets: row 0: the sample +Inf")
}

// requireFinite: predictions and samples at targets are numbers.
func requireFinite(t *testing.T, m *Model, targets []float64) {
	t.Helper()
	mean, std, err := m.Predict(t.Context(), targets)
	require.NoError(t, err)
	drawn, err := m.Samples(t.Context(), targets, 2, 1)
	require.NoError(t, err)
	for i := range mean {
		require.True(t, std[i] > 0)
		for _, v := range []float64{mean[i], std[i], drawn[0][i], drawn[1][i]} {
			require.False(t, math.IsNaN(v-v), "target %d: %v ± %v", i, mean[i], std[i])
		}
	}
}

// TestLargestNumbers: tables in units of 2^1000 are predicted as those in units of 1, and the whole range of coordinates may be used.
func TestLargestNumbers(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(1, 2))
	const unit = 0x1p1000
	for _, n := range []int{1, 2, 3, 12} {
		x, y, large := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = rng.NormFloat64(), 10+rng.NormFloat64()
			large[i] = unit * y[i]
		}
		m, err := Fit(ctx, x, y, Options{Dim: 1})
		require.NoError(t, err)
		p, err := Fit(ctx, x, large, Options{Dim: 1})
		require.NoError(t, err)
		mean, std, err := m.Predict(ctx, []float64{0, 2})
		require.NoError(t, err)
		largeMean, largeStd, err := p.Predict(ctx, []float64{0, 2})
		require.NoError(t, err)
		for i := range mean {
			require.InEpsilon(t, mean[i], largeMean[i]/unit, 1e-12, "%d values", n)
			require.InEpsilon(t, std[i], largeStd[i]/unit, 1e-12, "%d values", n)
		}
	}
	x, y := make([]float64, 12), make([]float64, 12)
	for i := range x {
		x[i], y[i] = 1.7e308*float64(i%3-1), rng.NormFloat64()
	}
	x[0], x[1] = 1.7e308, 1.7e308 // the mean is not in the middle
	m, err := Fit(ctx, x, y, Options{Dim: 1})
	require.NoError(t, err)
	requireFinite(t, m, []float64{-1.7e308, 0, 1.7e308})
	for i := range y {
		y[i] = math.Copysign(1.7e308, float64(i%3)-0.5)
	}
	m, err = Fit(ctx, x, y, Options{Dim: 1})
	require.NoError(t, err)
	if _, _, err = m.Predict(ctx, []float64{0}); err != nil {
		require.ErrorContains(t, err, "targets: row 0: the prediction")
	}
}

// TestSharedFar: a table far from those that share a covariance is fitted alone.
func TestSharedFar(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var xs, ys [][]float64
	for range 4 {
		x, y, _ := processDraw(rng, 12)
		xs, ys = append(xs, x), append(ys, y)
	}
	s, err := FitShared(t.Context(), xs, ys, Options{Dim: 1})
	require.NoError(t, err)
	require.NotNil(t, s)
	m, err := s.Fit(t.Context(), []float64{1e300, 2e300, 3e300, 5e300}, []float64{1, 2, 4, 3})
	require.NoError(t, err)
	requireFinite(t, m, []float64{1e300, 4e300})
}

// TestPopulationExtremes: tables whose values are all of one place, and what is too far from the tables.
func TestPopulationExtremes(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(1, 2))
	for d := 1; d <= 2; d++ {
		var xs, ys [][]float64
		for range 8 {
			x, y := make([]float64, 9*d), make([]float64, 9)
			for i := range x {
				x[i] = 3
			}
			for i := range y {
				y[i] = rng.NormFloat64()
			}
			xs, ys = append(xs, x), append(ys, y)
		}
		p, err := FitPopulation(ctx, xs, ys, Options{Dim: d})
		require.NoError(t, err)
		require.NotNil(t, p)
		mean, std, err := p.Predict(ctx, xs[0], ys[0], xs[0][:d])
		require.NoError(t, err)
		require.True(t, math.Abs(mean[0]) < 1 && std[0] > 0.3 && std[0] < 3, "%g ± %g", mean[0], std[0])
		far := append([]float64{1e300}, xs[0][1:]...)
		_, _, err = p.Predict(ctx, xs[0][:d], ys[0][:1], far)
		require.ErrorContains(t, err, "targets: row 0, column 0 is 1e+300")
		_, _, err = p.Predict(ctx, far, ys[0], xs[0])
		require.ErrorContains(t, err, "x: row 0, column 0 is 1e+300")
		_, err = p.LogDensity(ctx, xs[0][:d], []float64{1e300}, xs[0][:d], []float64{1})
		require.ErrorIs(t, err, ErrInput)
		_, err = FitPopulation(ctx, [][]float64{{1, 2}}, [][]float64{nil}, Options{Dim: d})
		require.ErrorIs(t, err, ErrInput)
	}
}

// TestPopulationCancel: a fit ends when it is told so, wherever it is.
func TestPopulationCancel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var xs, ys [][]float64
	for range 12 {
		x, y, _ := processDraw(rng, 24)
		xs, ys = append(xs, x), append(ys, y)
	}
	for _, after := range []time.Duration{0, time.Millisecond, 30 * time.Millisecond, 200 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		p, err := FitPopulation(ctx, xs, ys, Options{Dim: 1})
		if err == nil { // a fast machine
			require.NotNil(t, p)
		} else {
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Nil(t, p)
		}
		cancel()
	}
}
