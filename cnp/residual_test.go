package cnp

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLatticeResidual measures what a lattice leaves of equivariance where it cannot follow the data: under rotations
// about the origin neither its axes nor its axis-parallel box turn along. A finer lattice helps until the box alone is
// left. The numbers stand in the package's documentation.
func TestLatticeResidual(t *testing.T) {
	residual := func(density float64) float64 {
		c := Default(EquivCNPCurve, "SO(2)", 1)
		c.PointsPerUnit, c.Margin, c.Fill, c.Channels, c.Hidden, c.Mid = density, 0.5, 0.05, []int{6, 8, 6}, 12, 5
		model, err := New[float64](c, 3)
		require.NoError(t, err)
		perturb(model.State(), 5)
		m := model.(Regressor[float64])
		rng := rand.New(rand.NewPCG(12, 1))
		b := randomBatch[float64](rng, 1, 10, 40, 2, 1)
		want, err := m.Predict(context.Background(), b)
		require.NoError(t, err)
		mean, variance := 0.0, 0.0
		for _, v := range want.Mean {
			mean += v / float64(len(want.Mean))
		}
		for _, v := range want.Mean {
			variance += (v - mean) * (v - mean) / float64(len(want.Mean))
		}
		const turns = 5
		sum := 0.0
		for range turns {
			a := []float64{math.Pi * (2*rng.Float64() - 1)}
			moved := *b
			moved.XContext, moved.XTarget = act(t, m.(*EquivCNP[float64]).group, a, b.XContext),
				act(t, m.(*EquivCNP[float64]).group, a, b.XTarget)
			got, err := m.Predict(context.Background(), &moved)
			require.NoError(t, err)
			for i := range got.Mean {
				sum += math.Pow(got.Mean[i]-want.Mean[i], 2) / float64(turns*len(got.Mean))
			}
		}
		return math.Sqrt(sum / variance)
	}
	var r [4]float64
	for i, density := range []float64{1, 2, 4, 8} {
		r[i] = residual(density)
		t.Logf("%g points per unit: rotations move the mean by %.2f of its standard deviation over the targets", density, r[i])
		require.Greater(t, r[i], 0.01, "a lattice that turned along would be news")
	}
	require.Less(t, r[2], r[0]/2)
	require.Less(t, r[3], r[0]/2)
}
