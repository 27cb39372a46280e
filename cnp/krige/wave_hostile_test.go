package krige

import (
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tables that no wave is known from do no harm to estimation: places that are all equal, as many coordinates as there may be, the sphere,
// and large tables.
func TestWavesOfHostileTables(t *testing.T) {
	for name, c := range map[string]struct {
		opt            Options
		tables, values int
		place          func(rng *rand.Rand, i int) float64
	}{
		"one place":        {Options{Dim: 1}, 8, 8, func(*rand.Rand, int) float64 { return 3 }},
		"two places":       {Options{Dim: 1}, 8, 9, func(_ *rand.Rand, i int) float64 { return float64(i % 2) }},
		"many coordinates": {Options{Dim: MaxDim}, 8, 10, func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() }},
		"the sphere":       {Options{Dim: 2, Sphere: true}, 8, 12, func(rng *rand.Rand, _ int) float64 { return 80 * rng.Float64() }},
		"far places":       {Options{Dim: 1}, 8, 9, func(rng *rand.Rand, i int) float64 { return 1e30 * float64(i*i*i) }},
		"large tables":     {Options{Dim: 1}, 8, 20_000, func(rng *rand.Rand, _ int) float64 { return rng.Float64() }},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && c.values > 1000 {
				t.Skip("large tables take seconds: left out with -short")
			}
			rng := rand.New(rand.NewPCG(41, 1))
			var xs, ys [][]float64
			for range c.tables {
				var x, y []float64
				for i := range c.values {
					for range c.opt.Dim {
						x = append(x, c.place(rng, i))
					}
					y = append(y, rng.NormFloat64())
				}
				xs, ys = append(xs, x), append(ys, y)
			}
			p, err := FitPopulation(t.Context(), xs, ys, c.opt)
			require.NoError(t, err)
			if p == nil {
				return
			}
			require.Nil(t, p.waves)
			_, _, err = p.Predict(t.Context(), xs[0], ys[0], xs[0][:c.opt.Dim])
			require.NoError(t, err)
		})
	}
}

// A population of waves has the same bits on one goroutine and on several.
func TestWavesLearnedRepeat(t *testing.T) {
	if testing.Short() {
		t.Skip("two populations are learned: left out with -short")
	}
	rng := rand.New(rand.NewPCG(42, 1))
	xs, ys := populationOfWaves(rng, 8, 40, sawtooth, 0.05, 0, 0)
	learn := func(n int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
		p, err := FitPopulation(t.Context(), xs, ys, Options{Dim: 2})
		require.NoError(t, err)
		text, err := json.Marshal(p)
		require.NoError(t, err)
		return string(text)
	}
	one := learn(1)
	require.Contains(t, one, wavesKind)
	require.Equal(t, one, learn(4))
}
