package predict_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
)

// TestRefused: what no model can predict from is an error of everything that takes tasks, and not a panic.
func TestRefused(t *testing.T) {
	ctx := t.Context()
	x, y := []float64{0, 1}, []float32{1, 2}
	for _, name := range []string{"rbf-levels", "universal-1"} {
		m, err := predict.OpenRegressor(ctx, predict.OpenOptions{}, name)
		require.NoError(t, err)
		for what, b := range map[string]*cnp.Batch[float32]{
			"nil":          nil,
			"short values": {B: 1, Nc: 2, Nt: 1, XContext: x, YContext: y[:1], XTarget: x[:1]},
			"short mask":   {B: 1, Nc: 2, Nt: 1, XContext: x, YContext: y, XTarget: x[:1], ContextMask: []bool{true}},
			"no mask":      {B: 1, Nc: 2, Nt: 1, XContext: x, YContext: y, XTarget: x[:1], TargetMask: []bool{}},
			"negative":     {B: 1, Nc: -2, Nt: 1, XTarget: x[:1]},
			"huge":         {B: math.MaxInt, Nc: math.MaxInt, Nt: math.MaxInt},
			"aux":          {B: 1, Nc: 2, Nt: 1, XContext: x, YContext: y, XTarget: x[:1], AuxContext: y},
		} {
			for _, raw := range []bool{false, true} {
				_, err = predict.PrepareCurves(m, b, predict.Options{Raw: raw, Sample: &cnp.SampleOptions{Samples: 1}})
				require.ErrorIs(t, err, cnp.ErrShape, "%s: %s", name, what)
				_, err = predict.Draw(ctx, m, b, predict.DrawOptions{Sample: cnp.SampleOptions{Samples: 1}, Standardise: !raw})
				require.ErrorIs(t, err, cnp.ErrShape, "%s: %s", name, what)
			}
			_, err = predict.Check(ctx, m, b)
			require.ErrorIs(t, err, cnp.ErrShape, "%s: %s", name, what)
			_, err = predict.Check(ctx, m, &cnp.Batch[float32]{}, b)
			require.ErrorContains(t, err, "batch 1: ", "%s: %s", name, what)
		}
		_, err = predict.PrepareCurves(m, &cnp.Batch[float32]{}, predict.Options{Quantiles: []float64{0.5, math.NaN()}})
		require.ErrorContains(t, err, "quantile NaN")
	}
	m, err := predict.OpenCompleter(ctx, predict.OpenOptions{}, "digits-T2-small")
	require.NoError(t, err)
	pixels, mask := make([]float32, 64), make([]bool, 64)
	for what, im := range map[string]*cnp.Images[float32]{
		"nil":        nil,
		"empty":      {},
		"no rows":    {B: 1, C: 1},
		"short mask": {B: 1, C: 1, H: 8, W: 8, Pixels: pixels, Mask: mask[:63]},
		"channels":   {B: 1, C: 3, H: 8, W: 8, Pixels: pixels, Mask: mask},
		"negative":   {B: -1, C: 1, H: 8, W: 8},
		"huge":       {B: math.MaxInt, C: 1, H: math.MaxInt, W: math.MaxInt},
		"many":       {B: math.MaxInt >> 12, C: 1, H: 8, W: 8},
	} {
		_, err = predict.PrepareImages(m, im, predict.Options{})
		require.ErrorIs(t, err, cnp.ErrShape, what)
		_, err = predict.Complete(ctx, m, im, 0, cnp.PlanOptions{})
		require.ErrorIs(t, err, cnp.ErrShape, what)
	}
	prepared, err := predict.PrepareImages(m, &cnp.Images[float32]{C: 1, H: 8, W: 8}, predict.Options{})
	require.NoError(t, err)
	p, err := prepared.Predict(ctx)
	require.NoError(t, err)
	require.Empty(t, p.Mean)
	mask[9], pixels[9] = true, float32(math.NaN())
	im := &cnp.Images[float32]{B: 1, C: 1, H: 8, W: 8, Pixels: pixels, Mask: mask}
	_, err = predict.PrepareImages(m, im, predict.Options{})
	require.ErrorContains(t, err, "image[0, 0, 1, 1] = NaN")
	pixels[9] = 1
	want, err := predict.Complete(ctx, m, im, 0, cnp.PlanOptions{})
	require.NoError(t, err)
	got, err := predict.Complete(ctx, m, im, -1, cnp.PlanOptions{})
	require.NoError(t, err)
	require.Equal(t, want.Mean, got.Mean)
}
