package pretrained_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/layers"
)

// spiked is an image of noise, a third of it observed, of which one observed pixel has a value of its own.
func spiked[T cnp.Float](side int, spike float64) *cnp.Images[T] {
	rng, at := rand.New(rand.NewPCG(1, 2)), 5*side+6
	im := &cnp.Images[T]{B: 1, C: 1, H: side, W: side, Pixels: make([]T, side*side), Mask: make([]bool, side*side)}
	for p := range im.Mask {
		im.Mask[p], im.Pixels[p] = rng.IntN(3) == 0, T(rng.Float64())
	}
	im.Mask[at] = true
	if spike != 0 {
		im.Pixels[at] = T(spike)
	}
	return im
}

func planned[T cnp.Float](t *testing.T, m cnp.Model[T], precision cnp.Precision, side int) func(*cnp.Images[T]) *cnp.Prediction[T] {
	t.Helper()
	p, err := m.Plan(t.Context(), cnp.Pixels(side, side), cnp.PlanOptions{Precision: precision})
	require.NoError(t, err)
	return func(im *cnp.Images[T]) *cnp.Prediction[T] {
		out := p.NewPrediction(im)
		require.NoError(t, p.Predict(t.Context(), out, im))
		return out
	}
}

// TestSpike: one huge pixel moves means and deviations of pixels that cannot see it by at most 1e-3, in predictions by
// transforms in float32, in bfloat16's bands and in passes of training. Who cannot see it, float64 says, which computes
// no sum of the two by transforms.
func TestSpike(t *testing.T) {
	const side, bound = 64, 1e-3
	for _, name := range []string{"digits-T2-local", "digits-SE2-local", "digits-T2-small"} {
		file, err := pretrained.File(name)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "m.safetensors")
		require.NoError(t, os.WriteFile(path, file, 0o600))
		exact, err := weights.Load[float64](path, weights.Options{})
		require.NoError(t, err)
		m, err := pretrained.Load(name)
		require.NoError(t, err)
		type predictor = func(*cnp.Images[float32]) *cnp.Prediction[float32]
		ways := map[string]predictor{
			"float32":  planned(t, m, cnp.Float32, side),
			"bfloat16": planned(t, m, cnp.BFloat16, side),
			"training": func(im *cnp.Images[float32]) *cnp.Prediction[float32] {
				pass, err := m.(interface {
					Differentiate(ctx context.Context, im *cnp.Images[float32], mode layers.Mode) (*cnp.Pass[float32], error)
				}).Differentiate(t.Context(), im, layers.Eval)
				require.NoError(t, err)
				return pass.Prediction
			},
		}
		reference := planned(t, exact, cnp.Float32, side)
		calm := reference(spiked[float64](side, 0))
		before := map[string]*cnp.Prediction[float32]{}
		for way, predict := range ways {
			before[way] = predict(spiked[float32](side, 0))
		}
		for _, spike := range []float64{1e3, 1e4, 1e5, 1e6} {
			want := reference(spiked[float64](side, spike))
			for way, predict := range ways {
				got, blind, worst := predict(spiked[float32](side, spike)), 0, 0.0
				for i := range got.Mean {
					if math.Abs(want.Mean[i]-calm.Mean[i]) > 1e-7 || math.Abs(want.Std[i]-calm.Std[i]) > 1e-7 {
						continue
					}
					blind++
					for _, d := range []float32{got.Mean[i] - before[way].Mean[i], got.Std[i] - before[way].Std[i]} {
						require.False(t, math.IsNaN(float64(d)))
						worst = max(worst, math.Abs(float64(d)))
					}
				}
				t.Logf("%s, %s, %g: %.1e at %d pixels", name, way, spike, worst, blind)
				require.Greater(t, blind, side*side/3)
				require.LessOrEqual(t, worst, bound, "%s, %s, %g", name, way, spike)
			}
		}
	}
}
