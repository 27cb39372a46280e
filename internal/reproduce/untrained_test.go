package reproduce

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// TestPopulationRows: a population of a few tasks is nearly as good as the process that drew them, jointly and target by target, and
// better than interpolation of each context alone.
func TestPopulationRows(t *testing.T) {
	src := task.RCNPSource[float32]{Process: "eq", Dx: 1}
	kind := tableKind{Options: krige.Options{Dim: 1}}
	p, err := learn(t.Context(), src, kind, 12, 3)
	require.NoError(t, err)
	measured := func(d eval.Density[float32]) *eval.JointReport {
		r, err := eval.Joint(t.Context(), d, src, eval.Options{Tasks: 16, Batch: 4, Seed: 3})
		require.NoError(t, err)
		require.Zero(t, r.NotFinite)
		return r
	}
	joint, alone := measured(p.density(true)), measured(p.density(false))
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
	_, err = learn(t.Context(), src, kind, 2, 3)
	require.ErrorContains(t, err, "too few values")
}

// TestPositiveTables: of several outputs with positive values, populations and interpolation have densities of the values themselves, which
// integrate to 1, and of those that are known alone.
func TestPositiveTables(t *testing.T) {
	kind := tableKind{Options: krige.Options{Dim: 1}, outputs: 2, positive: true}
	p, err := learn(t.Context(), task.PredPreySource[float32]{Mode: "forecasting"}, kind, 8, 3)
	require.NoError(t, err)
	require.Len(t, p.of, 2)
	r, err := kind.interpolation()
	require.NoError(t, err)
	gap := float32(math.NaN())
	tasks := &task.Tasks[float32]{Curves: &cnp.Batch[float32]{B: 1, Nc: 4, Nt: 1, XContext: []float64{10, 10.5, 11, 12},
		YContext: []float32{40, gap, gap, 30, 50, gap, gap, 20}, XTarget: []float64{10.7}},
		Y: []float32{45, gap}, Known: []bool{true, false}}
	for name, density := range map[string]eval.Density[float32]{"joint": p.density(true), "independent": p.density(false),
		"interpolation": eval.Independent(eval.Model[float32](r))} {
		var total float64
		const steps = 500
		for i := range steps { // of the logarithm of the value, by midpoints
			log := -6 + 20*(float64(i)+0.5)/steps
			tasks.Y[0] = float32(math.Exp(log))
			found, err := density(t.Context(), tasks)
			require.NoError(t, err)
			total += 20. / steps * math.Exp(found[0]+log)
		}
		if !(math.Abs(total-1) < 2e-3) {
			t.Errorf("%s: the density integrates to %g", name, total)
		}
	}
}
