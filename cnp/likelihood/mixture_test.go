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

// Density, moments, quantiles and samples of a mixture of normals belong to each other, for shares of 0, equal normals and such as lie far
// apart; quantiles rise, and NaN stays NaN.
func TestComponents(t *testing.T) {
	l, err := Parse("mixture:3", Options{Values: 1})
	require.NoError(t, err)
	for name, p := range map[string][]float64{
		"apart":       {0.2, -5, 0.1, 0.3, 0, 2, 0.5, 4, 0.01},
		"share of 0":  {0, 1e6, 1e-3, 0.4, 1, 2, 0.6, -2, 0.5},
		"equal":       {0.1, 3, 2, 0.7, 3, 2, 0.2, 3, 2},
		"tiny share":  {1e-12, 1e3, 1, 0.5, 0, 1, 0.5 - 1e-12, 1, 1},
		"float32":     {0.8895964622, 1.0153586, 0.17144634, 0.051199898, -0.28530666, 0.17880231, 0.05920365, 0.7752684, 0.2358964},
		"all but one": {1, 0.5, 0.25, 0, 0, 1, 0, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			last := math.Inf(-1)
			for _, q := range []float64{0, 1e-9, 1e-3, 0.1, 0.3, 0.5, 0.5 + 1e-12, 0.7, 0.9, 1 - 1e-3, 1 - 1e-9, 1} {
				y := l.Quantile(q, p)
				require.True(t, y >= last, "quantile %g: %g below %g", q, y, last)
				last = y
				if math.IsInf(y, 0) {
					require.True(t, q == 0 || q == 1)
					continue
				}
				require.InEpsilon(t, q, beside(y, p, false), 1e-6*(1+1e-8/q))
				require.InDelta(t, 1, beside(y, p, false)+beside(y, p, true), 1e-7)
				const h = 1e-5
				slope := (beside(y+h, p, false) - beside(y-h, p, false)) / (2 * h)
				require.InDelta(t, slope, math.Exp(l.LogDensity(y, p)), 1e-4*(1+slope)/p[2])
			}
			mean, std := l.Moments(p)
			var m1, m2 float64
			const steps = 5000
			for k := range steps { // by quantiles
				y := l.Quantile((float64(k)+0.5)/steps, p)
				m1, m2 = m1+y/steps, m2+y*y/steps
			}
			require.InDelta(t, mean, m1, 2e-3*std)
			require.InDelta(t, std, math.Sqrt(m2-m1*m1), 2e-3*std)
		})
	}
	for i := range 9 {
		p := []float64{0.2, -5, 0.1, 0.3, 0, 2, 0.5, 4, 0.01}
		p[i] = math.NaN()
		mean, _ := l.Moments(p)
		require.True(t, math.IsNaN(l.Quantile(0.3, p)), "parameter %d", i)
		require.True(t, math.IsNaN(l.LogDensity(0.3, p)), "parameter %d", i)
		require.True(t, i%3 == 2 || math.IsNaN(mean), "parameter %d", i)
	}
	raw, p := make([]float64, 9), make([]float64, 9)
	raw[3] = math.NaN()
	l.Parameters(p, raw)
	require.True(t, math.IsNaN(l.Sample(rand.New(rand.NewPCG(1, 2)), p)))
}

// An ensemble of mixtures knows the probabilities of its members, as it asks each of them for many.
func TestEnsembleOfComponents(t *testing.T) {
	l, err := Parse("mixture:2", Options{Values: 1})
	require.NoError(t, err)
	both, p := EqualParts(l, l), []float64{0.3, -1, 0.5, 0.7, 2, 1.5, 0.5, 0, 0.1, 0.5, 8, 0.3}
	for _, q := range []float64{1e-6, 0.05, 0.5, 0.9, 1 - 1e-6} {
		y := both.Quantile(q, p)
		require.InDelta(t, q, (beside(y, p[:6], false)+beside(y, p[6:], false))/2, 1e-12)
	}
	require.Equal(t, beside(0.5, p[:6], false), probability(l, 0.5, p[:6]))
}
