package krige

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// The mixture of a prediction has the moments of Predict, a density close to that of the draws, and knows either side of a jump.
func TestWavesMixture(t *testing.T) {
	p := wavesKnown()
	table, theta := waveDraw(p.waves, rand.New(rand.NewPCG(23, 1)), 12)
	m, err := NewPopulationModel(func() cnp.Config { c := cnp.Default(PopulationArchitecture, "", 1); return c }(), p)
	require.NoError(t, err)
	jump := (math.Round(theta[0]*0.1-theta[1]) + theta[1]) / theta[0] // the sawtooth falls there
	for _, n := range []int{0, 1, 3, 6, 12} {
		b := &cnp.Batch[float32]{B: 1, Nc: n, Nt: 5, XContext: table.x[:n], XTarget: []float64{-0.8, 0.3, jump, jump + 1e-3, 0.55}}
		for _, y := range table.y[:n] {
			b.YContext = append(b.YContext, float32(y))
		}
		y := make([]float64, n)
		for i := range y {
			y[i] = float64(b.YContext[i])
		}
		got, err := m.Predict(t.Context(), b)
		require.NoError(t, err)
		mean, std, err := p.Predict(t.Context(), table.x[:n], y, b.XTarget)
		require.NoError(t, err)
		samples, err := p.Samples(t.Context(), table.x[:n], y, b.XTarget, 4000, 3, false)
		require.NoError(t, err)
		for i := range mean {
			require.Equal(t, [2]float32{float32(mean[i]), float32(std[i])}, [2]float32{got.Mean[i], got.Std[i]})
			params := make([]float64, 3*waveNormals)
			for k := range params {
				params[k] = float64(got.Params[i*len(params)+k])
			}
			a, s := got.Distribution().Moments(params)
			require.InDelta(t, mean[i], a, 1e-5)
			require.InDelta(t, std[i], s, 1e-4)
			// Half of the samples lie below the median, and so on; draws of the wave are few.
			for _, q := range []float64{0.1, 0.25, 0.5, 0.75, 0.9} {
				v, below := got.QuantileAt(i, q), 0.0
				for _, s := range samples {
					if s[i] <= v {
						below += 1.0 / 4000
					}
				}
				require.InDelta(t, q, below, 0.05, "%d values, target %d", n, i)
			}
		}
	}
}

// Draws in two places are two normals, and draws within their residuals are one.
func TestCut(t *testing.T) {
	var sums []valueSums
	of := func(values ...float64) []int {
		sums = make([]valueSums, 1)
		for _, v := range values {
			s := sums[len(sums)-1]
			s.add(v, 0.01)
			sums = append(sums, s)
		}
		return cut(sums, 14)
	}
	var near, two []float64
	for i := range 40 {
		near, two = append(near, 0.001*float64(i)), append(two, 0.001*float64(i)+math.Floor(float64(i)/15))
	}
	require.Equal(t, []int{40}, of(near...))
	require.Equal(t, []int{15, 30, 40}, of(two...))
	require.Equal(t, []int{1}, of(3))
	require.Equal(t, []int{40}, of(make([]float64, 40)...))
}

// Large tasks, which are too many values for one covariance, have the waves of small ones.
func TestWavesSampleLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("a large task takes seconds: left out with -short")
	}
	p := wavesKnown()
	m, err := NewPopulationRegressor(p)
	require.NoError(t, err)
	table, theta := waveDraw(p.waves, rand.New(rand.NewPCG(24, 1)), populationDrawn)
	b := &cnp.Batch[float32]{B: 1, Nc: populationDrawn, Nt: 3, XContext: table.x, XTarget: []float64{-0.8, 0.3, 0.55}}
	for _, y := range table.y {
		b.YContext = append(b.YContext, float32(y))
	}
	out, err := m.SampleCurves(t.Context(), b, cnp.SampleOptions{Samples: 4, Chain: cnp.Chain{Seed: 5}, Function: true})
	require.NoError(t, err)
	again, err := m.SampleCurves(t.Context(), b, cnp.SampleOptions{Samples: 2, Chain: cnp.Chain{Seed: 5}, Function: true})
	require.NoError(t, err)
	require.Equal(t, again, out[:6])
	for s := range 4 {
		for i, x := range b.XTarget {
			want, _ := p.waves.forms[0].at(theta[0]*x - theta[1])
			require.InDelta(t, want, out[s*3+i], 0.05)
		}
	}
}
