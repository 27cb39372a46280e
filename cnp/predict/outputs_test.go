package predict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
)

// TestShapes: the shapes of the table are those that results have.
func TestShapes(t *testing.T) {
	for _, name := range []string{"", "normal:noise", "lowrank:3", "full", "mixture:2", "bernoulli-gamma"} {
		cfg := cnp.Default(cnp.EquivCNPCurve, "T(1)", 2)
		cfg.Likelihood = name
		m, err := cnp.New[float32](cfg, 1)
		if err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		l, err := predict.LikelihoodOf(m)
		require.NoError(t, err)
		p, err := cnp.NewPrediction[float32](&cfg, 2*4*2)
		require.NoError(t, err)
		for i := range p.Std {
			p.Std[i] = 1
		}
		r := &predict.Result{Prediction: p, Shape: []int{2, 4, 2}, Samples: make([]float32, 3*16), Drawn: 3,
			Quantiles: []float64{0.5}, Counts: make([]bool, 16)}
		require.Equal(t, []int{-1, -1, 2}, predict.TargetShape(&cfg))
		for _, o := range predict.Outputs(l) {
			tensors, err := r.Tensors(o.Name)
			require.NoError(t, err, o.Name)
			n := 1
			for i, k := range tensors[0].Shape {
				n *= k
				if known := o.Shape(predict.TargetShape(&cfg), l)[i]; known >= 0 {
					require.Equal(t, known, k, "%s %s", name, o.Name)
				}
			}
			require.Len(t, tensors[0].Values, n, "%s %s", name, o.Name)
			size, ok := o.Size(r.Shape, l, 3, 1)
			require.True(t, ok)
			require.Equal(t, int64(n), size)
		}
		_, err = r.Tensors("median")
		require.ErrorIs(t, err, predict.ErrOutput)
	}
	e, err := cnp.Ensemble(model(t, ""), model(t, "lowrank:3"))
	require.NoError(t, err)
	l, err := predict.LikelihoodOf(e)
	require.NoError(t, err)
	require.Equal(t, []string{"mean", "std", "params", "quantiles", "samples"}, predict.Names(predict.Outputs(l)))
	require.Equal(t, 4, l.Outputs())
}

func model(t *testing.T, likelihood string) cnp.Model[float32] {
	cfg := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	cfg.Likelihood = likelihood
	m, err := cnp.New[float32](cfg, 1)
	require.NoError(t, err)
	return m
}
