package eval_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/train"
)

// TestNothing: no model, no source and no density are errors that say so.
func TestNothing(t *testing.T) {
	ctx, opt := t.Context(), eval.Options{Tasks: 2}
	curves := task.BenchmarkSource[float32]{Process: "matern", Dx: 1}
	_, err := eval.Run(ctx, eval.Model[float32](nil), curves, opt)
	require.ErrorIs(t, err, cnp.ErrConfig)
	_, err = eval.Equivariance(ctx, nil, curves, opt)
	require.ErrorIs(t, err, cnp.ErrConfig)
	_, err = eval.Symmetries(ctx, nil, curves, opt)
	require.ErrorIs(t, err, cnp.ErrConfig)
	_, err = eval.Joint(ctx, eval.Chained[float32](nil, cnp.Chain{}), curves, opt)
	require.ErrorIs(t, err, cnp.ErrConfig)
	_, err = train.Evaluate(ctx, nil, curves, 1, 2, 2)
	require.ErrorIs(t, err, cnp.ErrConfig)
	_, err = eval.Joint(ctx, nil, curves, opt)
	require.EqualError(t, err, "eval: the density is nil")
	_, err = eval.Run(ctx, eval.IDW[float32](), nil, opt)
	require.EqualError(t, err, "eval: the source of the tasks is nil")
}
