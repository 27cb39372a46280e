package cnp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/neighbor"
)

// TestPlanRefusesBeforeArranging: neighbourhoods that leave no room for their arrangements are refused as soon as they are known; and a
// plan that arranges them one after the other is the one that arranges them at once.
func TestPlanRefusesBeforeArranging(t *testing.T) {
	m := planModel[float32](t, "SE(2)", 4, "")
	g := Grid(20, 20)
	soft, err := m.PlanGeometry(t.Context(), g, PlanOptions{})
	require.NoError(t, err)
	hard, err := m.PlanGeometry(t.Context(), g, PlanOptions{Memory: 1 << 30})
	require.NoError(t, err)
	im := planImages[float32](1, 2, 20, 20, 3)
	require.Equal(t, runPlan(t, soft, im), runPlan(t, hard, im))

	points := group.LiftPoints(m.group, g.Points, 4, m.cfg.LiftSeed)
	r := m.psi.Radius()
	for _, block := range m.blocks {
		for _, conv := range block.Conv {
			r = max(r, conv.Depthwise.Radius())
		}
	}
	n, err := neighbor.Ball(points, points, neighbor.Options{Radius: r})
	require.NoError(t, err)
	_, err = m.PlanGeometry(t.Context(), g, PlanOptions{Memory: n.Bytes() * 8 / 5})
	require.ErrorIs(t, err, ErrMemory)
	require.True(t, strings.Contains(err.Error(), "while they are arranged"), err.Error())
}

func runPlan(t *testing.T, p *ImagePlan[float32], im *Images[float32]) *Prediction[float32] {
	t.Helper()
	d := &Prediction[float32]{Mean: make([]float32, im.B*p.Values()), Std: make([]float32, im.B*p.Values())}
	require.NoError(t, p.Predict(t.Context(), d, im))
	return d
}
