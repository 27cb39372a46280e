package recipe

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// TestStretch: a model that starts from one whose lattice has another step predicts, of places that are as many times as far apart, what
// the other one does.
func TestStretch(t *testing.T) {
	c := cnp.DefaultLevels(2, 2, 1)
	c.Channels, c.PointsPerUnit, c.EncoderLength = []int{8, 8}, 8, 0.125
	fine, err := cnp.New[float32](c, 3)
	require.NoError(t, err)
	c.PointsPerUnit, c.EncoderLength = 2, 0.5
	coarse, err := cnp.New[float32](c, 4)
	require.NoError(t, err)
	require.NoError(t, startFrom(coarse, fine))
	b := &cnp.Batch[float32]{B: 1, Nc: 3, Nt: 2, XContext: []float64{0, 0, 0.25, 0.5, -0.375, 0.125}, YContext: []float32{1, -1, 0.5},
		XTarget: []float64{0.125, 0.25, -0.5, 0}}
	want, err := fine.(cnp.Regressor[float32]).Predict(t.Context(), b)
	require.NoError(t, err)
	for _, x := range [][]float64{b.XContext, b.XTarget} {
		for i := range x {
			x[i] *= 4
		}
	}
	got, err := coarse.(cnp.Regressor[float32]).Predict(t.Context(), b)
	require.NoError(t, err)
	for i := range want.Mean {
		require.InDelta(t, want.Mean[i], got.Mean[i], 1e-5*(1+math.Abs(float64(want.Mean[i]))))
		require.InDelta(t, want.Std[i], got.Std[i], 1e-5*(1+math.Abs(float64(want.Std[i]))))
	}
}

// TestStartMixture: all normals of a mixture begin near the one of the model that it starts from, and not with the same numbers.
func TestStartMixture(t *testing.T) {
	c := cnp.DefaultLevels(2, 1, 1)
	c.Channels, c.DimY = []int{8, 8}, 2
	one, err := cnp.New[float32](c, 3)
	require.NoError(t, err)
	c.Likelihood = "mixture:3"
	several, err := cnp.New[float32](c, 4)
	require.NoError(t, err)
	require.NoError(t, startFrom(several, one))
	// Numbers of a value that have one mean and one deviation begin as those of a normal do, and others from them.
	c.Likelihood = "scales:0.7*1,0.3*2"
	scaled, err := cnp.New[float32](c, 5)
	require.NoError(t, err)
	require.NoError(t, startFrom(scaled, one))
	c.Likelihood = "mixture:3"
	fromScaled, err := cnp.New[float32](c, 4)
	require.NoError(t, err)
	require.NoError(t, startFrom(fromScaled, scaled))
	for i, p := range several.State() {
		require.Equal(t, p.Data, fromScaled.State()[i].Data, p.Name)
	}
	b := &cnp.Batch[float32]{B: 1, Nc: 3, Nt: 2, XContext: []float64{0, 0.25, -0.375}, YContext: []float32{1, -1, 0.5, 2, 0, 1},
		XTarget: []float64{0.125, -0.5}}
	want, err := one.(cnp.Regressor[float32]).Predict(t.Context(), b)
	require.NoError(t, err)
	got, err := several.(cnp.Regressor[float32]).Predict(t.Context(), b)
	require.NoError(t, err)
	require.Len(t, got.Params, 4*9)
	for i, mean := range want.Mean {
		p := got.Params[9*i:][:9]
		for k := 0; k < 9; k += 3 {
			require.InDelta(t, mean, p[k+1], 0.3)
			require.InEpsilon(t, want.Std[i], p[k+2], 0.3)
		}
		require.NotEqual(t, p[1], p[4])
	}
}

// TestStartOutputs: a model of other outputs, or of another width, is no start of a mixture or of a joint distribution.
func TestStartOutputs(t *testing.T) {
	for _, name := range []string{"mixture:3", "lowrank:2"} {
		for _, dy := range []int{1, 3} {
			c := cnp.DefaultLevels(2, 1, 1)
			c.Channels, c.DimY = []int{8, 8}, 2
			from, err := cnp.New[float32](c, 3)
			require.NoError(t, err)
			c.DimY, c.Likelihood = dy, name
			to, err := cnp.New[float32](c, 4)
			require.NoError(t, err)
			require.ErrorContains(t, startFrom(to, from), "it has 2 outputs, this model")
			c.DimY, c.Channels = 2, []int{16, 8}
			wide, err := cnp.New[float32](c, 4)
			require.NoError(t, err)
			require.ErrorContains(t, startFrom(wide, from), "shape")
		}
	}
}
