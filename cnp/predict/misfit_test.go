package predict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// TestImageMisfit: a model is judged by what it was not shown, and beside what anybody could say of it.
func TestImageMisfit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 200
	pixels, mask := make([]float32, 2*n), make([]bool, n)
	for i := range pixels {
		pixels[i] = float32(0.5 + 0.2*rng.NormFloat64())
		mask[i%n] = i%3 == 0
	}
	predicted := func(mean func(i int) float64, std float64) *cnp.Prediction[float32] {
		p := &cnp.Prediction[float32]{Mean: make([]float32, 2*n), Std: make([]float32, 2*n), Likelihood: cnp.Normal}
		for i := range p.Mean {
			p.Mean[i], p.Std[i] = float32(mean(i)), float32(std)
		}
		return p
	}
	truth := func(i int) float64 { return float64(pixels[i]) }
	half := func(int) float64 { return 0.5 }
	require.Empty(t, ImageMisfit(predicted(truth, 0.1), pixels, mask))
	require.Contains(t, ImageMisfit(predicted(half, 0.01), pixels, mask), "do not trust this completion")
	require.Contains(t, ImageMisfit(predicted(half, math.NaN()), pixels, mask), "a log density of NaN")
	require.Empty(t, ImageMisfit(predicted(func(i int) float64 { // what it was shown is not what it is judged by
		if mask[i%n] {
			return 9
		}
		return truth(i)
	}, 0.1), pixels, mask))

	few, all, none := make([]bool, n), make([]bool, n), make([]bool, n)
	for i := range n {
		few[i], all[i] = i < 4, true
	}
	for _, mask := range [][]bool{few, all, none, nil} {
		require.Empty(t, ImageMisfit(predicted(half, 0.01), pixels, mask))
	}
	for i := range pixels { // one grey, which a constant knows
		pixels[i] = 1
	}
	require.Contains(t, ImageMisfit(predicted(half, 0.1), pixels, mask), "do not trust")
	for i := range pixels {
		pixels[i] = float32(math.NaN())
	}
	require.Empty(t, ImageMisfit(predicted(half, 0.01), pixels, mask))
}
