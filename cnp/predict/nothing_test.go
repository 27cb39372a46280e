package predict_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// TestNoModel: what is given no model returns an error that says so.
func TestNoModel(t *testing.T) {
	ctx := t.Context()
	b, im := &cnp.Batch[float32]{}, &cnp.Images[float32]{B: 1, C: 1, H: 1, W: 1, Pixels: []float32{0}, Mask: []bool{true}}
	var none *predict.Model
	for _, m := range []cnp.Model[float32]{nil, none, &predict.Model{}} {
		_, err := predict.PrepareCurves(m, b, predict.Options{})
		require.ErrorIs(t, err, cnp.ErrConfig, "%T", m)
		_, err = predict.PrepareImages(m, im, predict.Options{})
		require.ErrorIs(t, err, cnp.ErrConfig, "%T", m)
	}
	_, err := predict.Check(ctx, nil, b)
	require.ErrorIs(t, err, cnp.ErrConfig)
	_, err = predict.Draw(ctx, nil, b, predict.DrawOptions{})
	require.ErrorIs(t, err, cnp.ErrConfig)
	_, err = predict.Complete(ctx, nil, im, 0, cnp.PlanOptions{})
	require.ErrorIs(t, err, cnp.ErrConfig)
	_, err = predict.LikelihoodOf(nil)
	require.ErrorIs(t, err, cnp.ErrConfig)
	require.False(t, predict.IsUniversal(nil))
	_, err = predict.Build(nil, nil)
	require.EqualError(t, err, "no state of a model")

	path := filepath.Join(t.TempDir(), "none.safetensors")
	require.EqualError(t, weights.Save[float32](path, nil, nil), path+": invalid model configuration: no model")
	require.NoFileExists(t, path)
	_, _, err = weights.Recognize(nil)
	require.ErrorIs(t, err, weights.ErrArchitecture)
	_, err = weights.DescribeState("m.pth", nil)
	require.EqualError(t, err, "m.pth: no state of a model")
}
