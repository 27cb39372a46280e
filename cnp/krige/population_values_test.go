package krige

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/likelihood"
)

// onScale makes the numbers of a population those of a scale.
func onScale(p *Population, b bend, amounts bool) *Population {
	p.bend, p.amounts = b, amounts
	return p
}

// The population of logarithms is that of the values: their densities are those of the logarithms over the values.
func TestPopulationLogarithms(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(1, 2))
	var xs, ys, logs [][]float64
	for range 24 {
		x, y, _ := processDraw(rng, 30)
		values := make([]float64, len(y))
		for i, v := range y {
			values[i] = math.Exp(v)
			y[i] = math.Log(values[i])
		}
		xs, logs, ys = append(xs, x), append(logs, y), append(ys, values)
	}
	p, err := FitPopulation(ctx, xs, ys, Options{Dim: 1, Values: Logarithmic})
	require.NoError(t, err)
	require.Equal(t, Logarithmic, p.Values())
	amounts, err := FitPopulation(ctx, xs, ys, Options{Dim: 1, Values: Positive})
	require.NoError(t, err)
	require.Equal(t, Positive, amounts.Values())
	require.Equal(t, "logarithm", amounts.Scale())
	q, err := FitPopulation(ctx, xs, logs, Options{Dim: 1})
	require.NoError(t, err)

	x, y, targets, values := xs[0][:4], ys[0][:4], xs[0][4:9], ys[0][4:9]
	want, err := q.LogDensity(ctx, x, logs[0][:4], targets, logs[0][4:9])
	require.NoError(t, err)
	each, err := q.LogDensities(ctx, x, logs[0][:4], targets, logs[0][4:9])
	require.NoError(t, err)
	for i, v := range logs[0][4:9] {
		want, each[i] = want-v, each[i]-v
	}
	for _, p := range []*Population{p, amounts} {
		got, err := p.LogDensity(ctx, x, y, targets, values)
		require.NoError(t, err)
		require.InDelta(t, want, got, 1e-9)
		own, err := p.LogDensities(ctx, x, y, targets, values)
		require.NoError(t, err)
		require.InDeltaSlice(t, each, own, 1e-9)

		mean, std, err := p.Predict(ctx, x, y, targets)
		require.NoError(t, err)
		m, s, err := q.Predict(ctx, x, logs[0][:4], targets)
		require.NoError(t, err)
		for i := range m {
			m[i], s[i] = logarithm.moments(m[i], s[i], math.Inf(1))
		}
		require.InDeltaSlice(t, m, mean, 1e-9)
		require.InDeltaSlice(t, s, std, 1e-9)

		drawn, err := p.Samples(ctx, x, y, targets, 3, 7, false)
		require.NoError(t, err)
		bent, err := q.Samples(ctx, x, logs[0][:4], targets, 3, 7, false)
		require.NoError(t, err)
		for k, row := range bent {
			for i, v := range row {
				require.InEpsilon(t, math.Exp(v), drawn[k][i], 1e-9)
			}
		}
	}
	got, err := p.LogDensity(ctx, x, y, targets[:2], []float64{1, 0})
	require.NoError(t, err)
	require.Equal(t, math.Inf(-1), got)
	own, err := p.LogDensities(ctx, x, y, targets[:2], []float64{-1, 1})
	require.NoError(t, err)
	require.Equal(t, math.Inf(-1), own[0])
	require.False(t, math.IsInf(own[1], 0))
	_, _, err = p.Predict(ctx, []float64{1}, []float64{0}, targets)
	require.ErrorContains(t, err, "0 has no logarithm")
	_, _, err = amounts.Predict(ctx, []float64{1}, []float64{-1}, targets)
	require.ErrorIs(t, err, ErrInput)
	none, err := p.LogDensity(ctx, x, y, nil, nil)
	require.NoError(t, err)
	require.Zero(t, none)
}

// Amounts are never negative, whatever their scale.
func TestPopulationAmounts(t *testing.T) {
	low := onScale(learnedProcess(t), straight, true)
	mean, _, err := low.Predict(t.Context(), []float64{1, 2}, []float64{0.3, 0}, []float64{3, 2.5})
	require.NoError(t, err)
	drawn, err := low.Samples(t.Context(), []float64{1, 2}, []float64{0.3, 0}, []float64{3, 2.5}, 200, 1, false)
	require.NoError(t, err)
	zeros := 0
	for _, row := range append(drawn, mean) {
		for _, v := range row {
			require.GreaterOrEqual(t, v, 0.0)
			if v == 0 {
				zeros++
			}
		}
	}
	require.Positive(t, zeros)
}

// Waves on a scale are those of bent values, and a model's distributions are what its populations say, whether it has waves, scales, or
// both.
func TestPopulationScaledWaves(t *testing.T) {
	ctx := t.Context()
	p, q := wavesKnown(), onScale(wavesKnown(), logarithm, false)
	x, targets := []float64{0, 0.21, 0.47, 0.7, 0.9, 1.3}, []float64{1.1, 0.3}
	bent := []float64{0.05, 0.22, 0.43, 0.71, 0.93, 0.33}
	y := make([]float64, len(bent))
	for i, v := range bent {
		y[i] = math.Exp(v)
		bent[i] = math.Log(y[i])
	}
	want, err := p.LogDensities(ctx, x, bent, targets, []float64{0.1, 0.2})
	require.NoError(t, err)
	got, err := q.LogDensities(ctx, x, y, targets, []float64{math.Exp(0.1), math.Exp(0.2)})
	require.NoError(t, err)
	require.InDelta(t, want[0]-0.1, got[0], 1e-9)
	require.InDelta(t, want[1]-0.2, got[1], 1e-9)

	for _, c := range []struct {
		of   []*Population
		want string
	}{
		{[]*Population{learnedProcess(t), q}, "bent-normal:16"},
		{[]*Population{wavesKnown(), onScale(learnedProcess(t), root, true)}, "bent-normal:16"},
		{[]*Population{learnedProcess(t), onScale(learnedProcess(t), logarithm, false)}, "bent-normal"},
		{[]*Population{learnedProcess(t), wavesKnown()}, "mixture:16"},
	} {
		m, err := NewPopulationRegressor(c.of...)
		require.NoError(t, err)
		cfg := m.Config()
		require.Equal(t, c.want, cfg.Likelihood)
		b := &cnp.Batch[float32]{B: 1, Nc: len(x), Nt: len(targets), XContext: x, XTarget: targets, TargetMask: []bool{true, false}}
		for _, v := range y {
			b.YContext = append(b.YContext, float32(v), float32(v))
		}
		out, err := m.Predict(ctx, b)
		require.NoError(t, err)
		family, err := likelihood.Parse(cfg.Likelihood, likelihood.Options{Architecture: string(PopulationArchitecture), Values: 2})
		require.NoError(t, err)
		n := family.Outputs()
		wide := make([]float64, n)
		context := make([]float64, len(y))
		for i, v := range y {
			context[i] = float64(float32(v))
		}
		for o, of := range c.of {
			for i, v := range out.Params[o*n : (o+1)*n] {
				wide[i] = float64(v)
			}
			mean, std := family.Moments(wide)
			require.InEpsilon(t, mean, out.Mean[o], 1e-3)
			require.InEpsilon(t, std, out.Std[o], 2e-2)
			values := []float64{0.7, 1.2}
			own, err := of.LogDensities(ctx, x, context, []float64{targets[0], targets[0]}, values)
			require.NoError(t, err)
			tolerance := 1e-4
			if of.waves != nil { // 16 normals for 256 draws
				tolerance = 0.2
			}
			for i, v := range values {
				require.InDelta(t, own[i], family.LogDensity(v, wide), tolerance)
			}
		}
		samples, err := m.SampleCurves(ctx, b, cnp.SampleOptions{Samples: 2})
		require.NoError(t, err)
		for _, v := range samples {
			require.False(t, math.IsNaN(float64(v)))
		}
	}
}
