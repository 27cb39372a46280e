package cnp_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/layers"
)

// A true value that does not count is as if its target were padding: it is not read, and loss and gradients are those of the others.
func TestGradientCounts(t *testing.T) {
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.Channels, c.Hidden, c.Mid, c.PointsPerUnit = []int{4, 6, 4}, 4, 4, 8
	m, err := cnp.New[float64](c, 1)
	require.NoError(t, err)
	b := &cnp.Batch[float64]{B: 1, Nc: 2, Nt: 3, XContext: []float64{0, 1}, YContext: []float64{1, 2}, XTarget: []float64{0.25, 0.5, 0.75}}
	gradient := func(y []float64, o cnp.Objective, mask []bool) (float64, [][]float64) {
		b.TargetMask = mask
		p, err := m.(cnp.TrainableRegressor[float64]).Differentiate(context.Background(), b, layers.Eval)
		require.NoError(t, err)
		g := layers.NewGrads(m.State())
		loss, err := p.GradientOf(o, y, g)
		require.NoError(t, err)
		return loss, g.Data
	}
	want, grads := gradient([]float64{1, 0, 3}, cnp.Objective{}, []bool{true, false, true})
	got, same := gradient([]float64{1, math.NaN(), 3}, cnp.Objective{Counts: []bool{true, false, true}}, nil)
	require.Equal(t, want, got)
	for k := range grads {
		for i, v := range grads[k] {
			if !(math.Abs(v-same[k][i]) <= 1e-14+1e-10*math.Abs(v)) {
				t.Fatalf("parameter %d: gradient %d is %g, need %g", k, i, same[k][i], v)
			}
		}
	}
}
