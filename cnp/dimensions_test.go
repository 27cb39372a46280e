package cnp

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDimensions: in three and five coordinates plans, which are for lattices, predict as models do, and the chain rule moves with its
// task: its first target is predicted as it is alone, samples of moved tasks are the same ones, and likelihoods too. Without a lattice
// features stand at the points.
func TestDimensions(t *testing.T) {
	points := func(group string) Config {
		c := small(EquivCNPCurve, group, 1)
		c.PointsPerUnit, c.Fill, c.Readout = 0, 0.6, ReadoutQueries
		return c
	}
	for name, c := range map[string]Config{
		"levels/T(3)": levelsConfig("T(3)", 1), "points/T(3)": points("T(3)"), "points/T(5)": points("T(5)"),
	} {
		t.Run(name, func(t *testing.T) {
			m, err := New[float64](c, 3)
			require.NoError(t, err)
			r := m.(Regressor[float64])
			ctx := context.Background()
			rng := rand.New(rand.NewPCG(1, uint64(c.DimX)))
			b := randomBatch[float64](rng, 2, 9, 5, c.DimX, 1)
			want, err := r.Predict(ctx, b)
			require.NoError(t, err)
			requireVaries(t, want, 1)

			first := *b
			first.B, first.XContext, first.YContext, first.XTarget = 1, b.XContext[:9*c.DimX], b.YContext[:9], b.XTarget[:5*c.DimX]
			alone, err := r.Predict(ctx, &first)
			require.NoError(t, err)
			if plan, err := m.Plan(ctx, Scattered(), PlanOptions{}); c.Levels == 0 {
				require.ErrorIs(t, err, ErrNoPlan, "features stand at the points of a task")
			} else {
				require.NoError(t, err)
				planned := plan.NewPrediction(&first)
				require.NoError(t, plan.Predict(ctx, planned, &first))
				require.InDeltaSlice(t, alone.Mean, planned.Mean, 1e-9)
				require.InDeltaSlice(t, alone.Std, planned.Std, 1e-9)
			}

			y := []float64{0.1, -0.4, 1, 0.3, 0, 2, -1, 0.5, 0.2, 0.7}
			joint, err := JointCurves(ctx, r, &first, y[:5], Chain{Order: OrderGiven})
			require.NoError(t, err)
			require.InDelta(t, alone.Mean[0], joint.Mean[0], 1e-9)
			require.NotEqual(t, alone.Mean[4], joint.Mean[4], "the last target is told of the others")
			drawn, err := SampleCurves(ctx, r, b, SampleOptions{Samples: 2, Chain: Chain{Seed: 5}})
			require.NoError(t, err)

			moved := *b
			moved.XContext, moved.XTarget = append([]float64(nil), b.XContext...), append([]float64(nil), b.XTarget...)
			for _, x := range [][]float64{moved.XContext, moved.XTarget} {
				for i := range x {
					x[i] += float64(3 * (i%c.DimX + 1)) // whole lattice steps
				}
			}
			again, err := SampleCurves(ctx, r, &moved, SampleOptions{Samples: 2, Chain: Chain{Seed: 5}})
			require.NoError(t, err)
			require.InDeltaSlice(t, drawn, again, 1e-6)
			here, err := JointCurves(ctx, r, b, y, Chain{Growth: 0.5})
			require.NoError(t, err)
			there, err := JointCurves(ctx, r, &moved, y, Chain{Growth: 0.5})
			require.NoError(t, err)
			require.InDeltaSlice(t, here.Mean, there.Mean, 1e-7)
		})
	}
}
