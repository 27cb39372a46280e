package pretrained

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// TestStandardisedCost: on tasks of the kind that a model was trained on, bringing each into the model's units costs at most what not
// knowing their mean and scale must. Before waves kept their units, bench-sawtooth lost 260 nats a value; with a deviation that only
// neighbouring values have, vectors lost 0.09 to 0.14.
func TestStandardisedCost(t *testing.T) {
	field := func(kernel string) task.VectorSource[float32] {
		return task.VectorSource[float32]{Kernel: kernel, MinContext: 50, MaxContext: 50, Targets: 40}
	}
	for _, c := range []struct {
		model string
		src   task.Source[float32]
		tasks int
		most  float64 // nats a value
	}{
		{"bench-sawtooth", task.BenchmarkSource[float32]{Process: "sawtooth", Dx: 1}, 16, 1e-9},
		{"joint-sawtooth", task.JointSource[float32]{Process: "sawtooth"}, 16, 1e-9},
		{"vectors-divergence-free", field("divergence-free"), 8, 0.06},
		{"vectors-rbf", field("rbf"), 8, 0.04},
	} {
		any, err := Load(c.model)
		require.NoError(t, err)
		m := any.(cnp.Regressor[float32])
		opt := eval.Options{Tasks: c.tasks, Seed: 5}
		raw, err := eval.Run(context.Background(), eval.Model(any), c.src, opt)
		require.NoError(t, err)
		scaled, err := eval.Run(context.Background(), eval.Model[float32](cnp.Standardised(m)), c.src, opt)
		require.NoError(t, err)
		require.LessOrEqual(t, raw.LogLikelihood.Mean-scaled.LogLikelihood.Mean, c.most, c.model)
	}
}
