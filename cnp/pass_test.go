package cnp

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers"
)

// TestObjective: the loss with noise is the mean over values seen with noise, its gradients are its derivatives, a weight
// changes these alone, and Tasks divides it.
func TestObjective(t *testing.T) {
	rng := testkit.Rand(90)
	const n, noise, scale, h = 7, 0.3, 0.25, 1e-6
	mean, y, std := testkit.Normal[float64](rng, n), testkit.Normal[float64](rng, n), make([]float64, n)
	for i := range std {
		std[i] = 0.05 + rng.Float64()
	}
	mask := []bool{true, true, false, true, true, true, true}
	loss := func() float64 {
		return gaussianLoss(make([]float64, n), make([]float64, n), mean, std, y, mask, scale, Objective{Noise: noise})
	}
	// The mean of a quadratic over a noise is its mean over the noise at +1 and -1 deviations.
	mean2 := 0.0
	for _, e := range []float64{-noise, noise} {
		seen := make([]float64, n)
		for i, v := range y {
			seen[i] = v + e
		}
		ll, _ := LogLikelihood(mean, std, seen, mask)
		mean2 -= scale * ll / 2
	}
	require.InDelta(t, mean2, loss(), 1e-12)
	dMean, dStd := make([]float64, n), make([]float64, n)
	gaussianLoss(dMean, dStd, mean, std, y, mask, scale, Objective{Noise: noise})
	for i := range n {
		for _, k := range []struct{ at, got *float64 }{{&mean[i], &dMean[i]}, {&std[i], &dStd[i]}} {
			keep := *k.at
			*k.at = keep + h
			up := loss()
			*k.at = keep - h
			down := loss()
			*k.at = keep
			require.InDelta(t, (up-down)/(2*h), *k.got, 1e-8*(1+math.Abs(*k.got)), "value %d", i)
		}
	}
	// A weight changes the gradients by s^2β, not the loss.
	const beta = 0.5
	m2, s2 := make([]float64, n), make([]float64, n)
	require.Equal(t, loss(), gaussianLoss(m2, s2, mean, std, y, mask, scale, Objective{Noise: noise, Beta: beta}))
	for i, s := range std {
		require.InDelta(t, dMean[i]*s, m2[i], 1e-12, "value %d", i)
		require.InDelta(t, dStd[i]*s, s2[i], 1e-12, "value %d", i)
	}

	m, err := New[float64](Default(CNPCurve, "", 1), 1)
	require.NoError(t, err)
	b := &Batch[float64]{B: 2, Nc: 1, Nt: 2, XContext: []float64{0, 1}, YContext: []float64{1, 2}, XTarget: []float64{0, 1, 2, 3}}
	p, err := m.(TrainableRegressor[float64]).Differentiate(context.Background(), b, layers.Train)
	require.NoError(t, err)
	g := layers.NewGrads(m.State())
	own, err := p.Gradient([]float64{1, 2, 3, 4}, g)
	require.NoError(t, err)
	wider, err := p.GradientOf(Objective{Tasks: 8}, []float64{1, 2, 3, 4}, g)
	require.NoError(t, err)
	require.InDelta(t, own/4, wider, 1e-12)
	for _, beta := range []float64{-0.1, 1.1, math.NaN()} {
		_, err = p.GradientOf(Objective{Beta: beta}, []float64{1, 2, 3, 4}, g)
		require.ErrorIs(t, err, ErrRange)
	}
	require.Empty(t, p.NotFinite())
}
