package serve

import (
	"math"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// TestPopulation: a population from a model file is served like a network, with samples, and answers what it predicts itself.
func TestPopulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var xs, ys [][]float64
	for range 9 {
		phase := 2 * math.Pi * rng.Float64()
		var x, y []float64
		for range 12 {
			a, b := rng.Float64(), rng.Float64()
			x, y = append(x, a, b), append(y, 2+math.Sin(3*a+phase)+math.Cos(2*b-phase)+0.1*rng.NormFloat64())
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	p, err := krige.FitPopulation(t.Context(), xs, ys, krige.Options{Dim: 2})
	require.NoError(t, err)
	m, err := krige.NewPopulationRegressor(p)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "days.safetensors")
	require.NoError(t, weights.Save(path, cnp.Model[float32](m), nil))
	s := newServer(t, func(o *Options) { o.Models = []Source{{Name: "days", Path: path}} })
	w := do(s, "POST", "/v2/models/days/infer", nil, planeRequest(t, 1, 0, 5, map[string]any{"samples": 3, "seed": 4}))
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	got := answersOf(t, w.Body.Bytes())
	mean, std, err := p.Predict(t.Context(), []float64{0, 0, 1, 0, 0, 1, 1, 1, 0.5, 0.2}, []float64{1, 2, 3, 2.5, float64(float32(1.7))},
		[]float64{0.5, 0.5, 0.1, 0.8})
	require.NoError(t, err)
	for i := range mean {
		require.InDelta(t, mean[i], got["mean"][i], 1e-6)
		require.InDelta(t, std[i], got["std"][i], 1e-6)
	}
	require.Len(t, got["samples"], 6)
}
