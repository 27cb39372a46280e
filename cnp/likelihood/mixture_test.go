package likelihood

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// equalPartsCase is a mixture of two normals.
func equalPartsCase() (equalParts, []float64) {
	return equalParts{[]Family{normal{}, normal{}}}, []float64{-1, 0.5, 2, 1.5}
}

// Density, quantiles, moments and samples of a mixture belong to each other.
func TestEqualParts(t *testing.T) {
	l, p := equalPartsCase()
	sum, mean, square := 0.0, 0.0, 0.0
	const step = 1e-3
	for y := -20.0; y < 25; y += step {
		d := math.Exp(l.LogDensity(y, p)) * step
		sum, mean, square = sum+d, mean+d*y, square+d*y*y
	}
	require.InDelta(t, 1, sum, 1e-9)
	a, s := l.Moments(p)
	require.InDelta(t, mean, a, 1e-9)
	require.InDelta(t, math.Sqrt(square-mean*mean), s, 1e-9)
	for _, q := range []float64{1e-6, 0.05, 0.3, 0.5, 0.9, 1 - 1e-6} {
		y := l.Quantile(q, p)
		require.InDelta(t, q, (math.Erfc((-1-y)/(0.5*math.Sqrt2))+math.Erfc((2-y)/(1.5*math.Sqrt2)))/4, 1e-12)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	n, below, drawn := 200000, 0, 0.0
	median := l.Quantile(0.5, p)
	for range n {
		y := l.Sample(rng, p)
		drawn += y
		if y <= median {
			below++
		}
	}
	require.InDelta(t, a, drawn/float64(n), 5*s/math.Sqrt(float64(n)))
	require.InDelta(t, 0.5, float64(below)/float64(n), 2.5/math.Sqrt(float64(n)))

	// Values that have a probability of their own: the quantile stays at them as long as that lasts.
	spiked, err := Parse(spikedBetaName, Options{Values: 1})
	require.NoError(t, err)
	own := []float64{1, 0.5, 2, 3}
	both := equalParts{[]Family{spiked, spiked}}
	params := append(append([]float64{}, own...), 0.2, -1, 1.5, 2)
	zero := (math.Exp(spiked.LogDensity(0, own)) + math.Exp(spiked.LogDensity(0, params[4:]))) / 2
	require.Zero(t, both.Quantile(zero-1e-9, params))
	require.Positive(t, both.Quantile(zero+1e-6, params))
	for _, q := range []float64{0.5, 0.7} {
		y := both.Quantile(q, params)
		require.InDelta(t, q, both.below(y, params), 1e-9)
	}
	lo, hi := both.Support()
	require.Equal(t, []float64{0, 1}, []float64{lo, hi})
	require.True(t, math.IsInf(both.LogDensity(2, params), -1) || math.IsNaN(both.LogDensity(2, params)))
}

// TestMixtureObserved: after an observation with noise, the mixture is what Bayes' rule makes of it.
func TestMixtureObserved(t *testing.T) {
	l, err := Parse("mixture:2", Options{Values: 1})
	require.NoError(t, err)
	before := []float64{0.3, -1, 0.5, 0.7, 2, 1.5}
	const y, noise, step = 0.4, 0.8, 1e-3
	evidence := 0.0
	for v := -20.0; v < 20; v += step {
		evidence += math.Exp(l.LogDensity(v, before)+logNormal(y, v, noise)) * step
	}
	after := append([]float64{}, before...)
	l.(Observer).Observe(after, y, noise)
	for _, v := range []float64{-2, 0, 0.4, 1, 3} {
		require.InDelta(t, l.LogDensity(v, before)+logNormal(y, v, noise)-math.Log(evidence), l.LogDensity(v, after), 1e-9)
	}
	// Where no normal comes near, shares stay.
	far := append([]float64{}, before...)
	l.(Observer).Observe(far, 1e200, 1e-3)
	require.Equal(t, []float64{0.3, 0.7}, []float64{far[0], far[3]})
	for _, bad := range []string{"mixture", "mixture:1", "mixture:17", "mixture:x"} {
		_, err := Parse(bad, Options{Values: 1})
		require.ErrorContains(t, err, "need a number of normals from 2 to 16")
	}
}
