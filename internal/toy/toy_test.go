package toy

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

func batch() *cnp.Batch[float32] {
	return &cnp.Batch[float32]{B: 2, Nc: 3, Nt: 4, XContext: []float64{-1, 0, 1, -1, 0.5, 9}, YContext: []float32{1, 2, 3, -1, 1, 100},
		XTarget: []float64{-1, 0, 0.3, 40, -1, 0.5, 2, 3}, ContextMask: []bool{true, true, true, true, true, false},
		TargetMask: []bool{true, true, true, true, true, true, true, false}}
}

// TestToy: a model that is registered is configured, built, saved, loaded, planned, predicted and sampled like
// those of package cnp, by functions that know nothing of it.
func TestToy(t *testing.T) {
	ctx, b := context.Background(), batch()
	require.Contains(t, cnp.Architectures, Architecture)
	require.False(t, Architecture.Image())
	c := cnp.Default(Architecture, "", 1)
	m, err := cnp.New[float32](c, 1)
	require.NoError(t, err)
	m.State()[0].Data[0] = 0.25

	path := filepath.Join(t.TempDir(), "toy.safetensors")
	require.NoError(t, weights.Save(path, m, nil))
	opened, err := weights.Load[float32](path, weights.Options{})
	require.NoError(t, err)
	require.Equal(t, m.Config(), opened.Config())
	require.Equal(t, m.State(), opened.State())

	want, err := opened.(cnp.Regressor[float32]).Predict(ctx, b)
	require.NoError(t, err)
	require.NoError(t, want.Check(func(i int) bool { return b.TargetMask[i] }))
	require.InDelta(t, 1, want.Mean[0], 1e-3, "the value that was observed there")
	require.InDelta(t, 1, want.Std[3], 1e-6, "away from the context")
	require.InDelta(t, 1, want.Mean[5], 1e-3)
	require.Zero(t, want.Std[7], "padding")

	plan, err := opened.Plan(ctx, cnp.Scattered(), cnp.PlanOptions{})
	require.NoError(t, err)
	planned := plan.NewPrediction(b)
	require.NoError(t, plan.Predict(ctx, planned, b))
	require.Equal(t, want, planned)
	_, err = opened.Plan(ctx, cnp.Pixels(8, 8), cnp.PlanOptions{})
	require.ErrorIs(t, err, cnp.ErrNoPlan)

	l, err := predict.LikelihoodOf(opened)
	require.NoError(t, err)
	require.Equal(t, []string{"mean", "std", "quantiles", "samples"}, predict.Names(predict.Outputs(l)))
	tensors, err := (&predict.Result{Prediction: want, Shape: []int{2, 4, 1}, Counts: b.TargetMask}).Tensors()
	require.NoError(t, err)
	require.Equal(t, predict.Tensor{Name: "mean", Shape: []int{2, 4, 1}, Values: want.Mean}, tensors[0])

	samples, err := cnp.SampleCurves(ctx, opened.(cnp.Regressor[float32]), b, cnp.SampleOptions{Samples: 3})
	require.NoError(t, err)
	require.Len(t, samples, 3*8)
	joint, err := cnp.JointCurves(ctx, opened.(cnp.Regressor[float32]), b, make([]float32, 8), cnp.Chain{})
	require.NoError(t, err)
	require.Len(t, joint.LogDensity, 8)
	both, err := cnp.Ensemble(m, opened)
	require.NoError(t, err)
	mixed, err := both.(cnp.Regressor[float32]).Predict(ctx, b)
	require.NoError(t, err)
	require.Equal(t, want.Mean, mixed.Mean)
	_, err = cnp.EstimateModel(opened, cnp.Work{Batch: 1, Context: 10, Targets: 10})
	require.NoError(t, err)
}

// TestRefused: what is wrong with a configuration or a batch of such a model is named as for all others.
func TestRefused(t *testing.T) {
	c := cnp.Default(Architecture, "", 1)
	c.Likelihood = "lowrank:4"
	require.ErrorIs(t, c.Validate(), cnp.ErrConfig)
	require.ErrorContains(t, c.Validate(), "a smoother predicts normals")
	c = cnp.Default(Architecture, "", 0)
	require.ErrorContains(t, c.Validate(), "dim_y = 0")
	m, err := cnp.New[float64](cnp.Default(Architecture, "", 1), 1)
	require.NoError(t, err)
	_, err = m.(cnp.Regressor[float64]).Predict(context.Background(), &cnp.Batch[float64]{B: 1, Nc: 1, Nt: 1, XContext: []float64{1}})
	require.ErrorIs(t, err, cnp.ErrShape)
	require.Panics(t, func() { cnp.RegisterArchitecture(cnp.CNPCurve, cnp.Maker{}) }, "a name that is taken")
}
