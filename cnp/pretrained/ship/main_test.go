package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// What a turned model predicts of turned vectors is what the model predicted, turned.
func TestTurnVectors(t *testing.T) {
	c := cnp.DefaultLevels(2, 2, 2)
	c.Group, c.DimX, c.PointsPerUnit, c.EncoderLength, c.Likelihood, c.Channels = "T(2)", 2, 1, 1, "full", []int{6, 8}
	c.Outputs = []cnp.FieldType{cnp.Vector}
	m, err := cnp.New[float32](c, 3)
	require.NoError(t, err)
	b, err := task.VectorSource[float32]{Kernel: "rbf", Targets: 9}.Batch(1, 1, 1)
	require.NoError(t, err)
	predict := func(b *cnp.Batch[float32]) *cnp.Prediction[float32] {
		p, err := m.(cnp.Regressor[float32]).Predict(context.Background(), b)
		require.NoError(t, err)
		return p
	}
	before := predict(b.Curves)
	y := b.Curves.YContext
	for i := 0; i < len(y); i += 2 {
		y[i], y[i+1] = y[i+1], -y[i]
	}
	require.NoError(t, turnVectors(m))
	after := predict(b.Curves)
	for i := range 9 {
		require.InDelta(t, before.Mean[2*i+1], after.Mean[2*i], 1e-5)
		require.InDelta(t, -before.Mean[2*i], after.Mean[2*i+1], 1e-5)
		x, y := before.TargetCovariances()[4*i:], after.TargetCovariances()[4*i:]
		require.InDelta(t, x[3], y[0], 1e-5)
		require.InDelta(t, -x[1], y[1], 1e-5)
		require.InDelta(t, x[0], y[3], 1e-5)
	}
	plain, err := cnp.New[float32](cnp.Default(cnp.EquivCNPCurve, "T(1)", 1), 1)
	require.NoError(t, err)
	require.ErrorContains(t, turnVectors(plain), "one vector in the plane")
}
