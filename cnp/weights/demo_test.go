package weights_test

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/safetensors"
)

// TestDemoModel compares the shipped model with predictions that its training script wrote: a formulation of the image
// model by ordinary convolutions in float64, which shares no code with this library.
func TestDemoModel(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "demo")
	m, err := weights.Load[float32](filepath.Join(dir, "digit-T2.safetensors"), weights.Options{})
	require.NoError(t, err)
	require.Equal(t, "T(2)", m.Config().Group)
	f, err := safetensors.Read(filepath.Join(dir, "expected.safetensors"))
	require.NoError(t, err)
	get := func(name string) []float32 {
		x := f.Get(name)
		require.NotNil(t, x, name)
		v, err := x.Float32s()
		require.NoError(t, err)
		return v
	}
	shape, mask := f.Get("image").Shape, get("mask")
	im := &cnp.Images[float32]{B: shape[0], C: shape[1], H: shape[2], W: shape[3], Pixels: get("image")}
	for _, v := range mask {
		im.Mask = append(im.Mask, v != 0)
	}
	p, err := m.(cnp.Completer[float32]).Complete(context.Background(), im)
	require.NoError(t, err)
	for name, got := range map[string][]float32{"mean": p.Mean, "std": p.Std} {
		for i, want := range get(name) {
			if d := math.Abs(float64(got[i] - want)); !(d <= 1e-5) {
				t.Fatalf("%s %d is %v, the script has %v", name, i, got[i], want)
			}
		}
	}
	ll, n := cnp.LogLikelihood(p.Mean, p.Std, im.Pixels, nil)
	require.Greater(t, ll/float64(n), 1.0, "a trained model, not noise")
}
