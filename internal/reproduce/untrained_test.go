package reproduce

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// TestPopulationRows: a population of a few tasks is nearly as good as the process that drew them, jointly and target by target, and
// better than interpolation of each context alone.
func TestPopulationRows(t *testing.T) {
	src := task.RCNPSource[float32]{Process: "eq", Dx: 1}
	p, err := learn(t.Context(), src, krige.Options{Dim: 1}, 12, 3)
	require.NoError(t, err)
	measured := func(d eval.Density[float32]) *eval.JointReport {
		r, err := eval.Joint(t.Context(), d, src, eval.Options{Tasks: 16, Batch: 4, Seed: 3})
		require.NoError(t, err)
		require.Zero(t, r.NotFinite)
		return r
	}
	joint, alone := measured(ofPopulation(p, 1, true)), measured(ofPopulation(p, 1, false))
	if !(joint.KL.Mean < 0.03) {
		t.Errorf("jointly %g nats a target behind the process", joint.KL.Mean)
	}
	if !(alone.KL.Mean < alone.Diagonal.Mean+0.05) {
		t.Errorf("independent: %g nats a target behind the process, the best are %g", alone.KL.Mean, alone.Diagonal.Mean)
	}
	interpolated := measured(eval.Independent(eval.Model[float32](krige.Named("universal-1"))))
	if !(interpolated.KL.Mean > alone.KL.Mean) {
		t.Errorf("interpolation of each context is %g behind the process, a population %g", interpolated.KL.Mean, alone.KL.Mean)
	}
	_, err = learn(t.Context(), src, krige.Options{Dim: 1}, 2, 3)
	require.ErrorContains(t, err, "too few values")
}
