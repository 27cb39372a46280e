package krige

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPopulationAxial: a population of fields with a period along both axes finds it, and predicts other fields about as well as the
// process that drew them.
func TestPopulationAxial(t *testing.T) {
	const d, n, period = 2, 60, 1.3
	kernel := &kernel{metric: [6]float64{1, 1, 1}, parts: []part{{shape: squared, variance: 1, inverse: 1 / 2.5}}, noise: 0.05}
	kernel.axial.width, kernel.axial.frequency = 0.15, math.Pi/period
	density := func(x, y []float64, n int) (sums, float64) {
		u := unit{index: upTo(n)}
		u.features.growAxes(d, tri(n))
		u.fill(x, d, false)
		var r room
		s, ok := u.evaluate(y, &driftColumns{}, kernel, &r)
		require.True(t, ok)
		return s, -s.logdet - s.yy/2 - float64(n)/2*math.Log(2*math.Pi)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func() (x, y []float64) {
		for range n * d {
			x = append(x, 4*rng.Float64()-2)
		}
		u := unit{index: upTo(n)}
		u.features.growAxes(d, tri(n))
		u.fill(x, d, false)
		a, y := make([]float64, tri(n)), make([]float64, n)
		var w scratch
		require.True(t, u.factor(a, kernel, &w, nil))
		correlated(y, a, rng)
		return x, y
	}
	var xs, ys [][]float64
	for range 32 {
		x, y := draw()
		xs, ys = append(xs, x), append(ys, y)
	}
	ctx := context.Background()
	p, err := FitPopulation(ctx, xs, ys, Options{Dim: d})
	require.NoError(t, err)
	require.True(t, p.axial)
	for _, k := range p.kernels {
		if k.spec.axial > 0 {
			require.InEpsilon(t, period, math.Abs(p.frame.unit[0])*math.Pi/k.kernel.axial.frequency, 0.02)
		}
	}
	var lost float64
	const held, context = 24, 30
	for range held {
		x, y := draw()
		got, err := p.LogDensity(ctx, x[:context*d], y[:context], x[context*d:], y[context:])
		require.NoError(t, err)
		_, all := density(x, y, n)
		_, given := density(x, y, context)
		lost += (all - given - got) / (n - context) / held
	}
	t.Logf("%.4f nats a target behind the process", lost)
	require.Less(t, lost, 0.03)
}
