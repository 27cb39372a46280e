package eval

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// TestFitScales: errors drawn from a mixture give it back; one normal is the root mean square.
func TestFitScales(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	z, squares := make([]deviation, 200000), 0.0
	for i := range z {
		a := 0.1
		if rng.Float64() < 0.3 {
			a = 4
		}
		z[i] = deviation{math.Abs(a * rng.NormFloat64()), 1}
		squares += z[i].z * z[i].z
	}
	fit := func(z []deviation, normals int) (share, factor []float64) {
		mix := fitScales(slices.Clone(z), Calibration{normals, 3})
		require.Len(t, mix, 1, "all deviations are the same")
		return mix[0].Share, mix[0].Factor
	}
	share, factor := fit(z, 2)
	require.InDeltaSlice(t, []float64{0.7, 0.3}, share, 0.01)
	require.InEpsilon(t, 0.1, factor[0], 0.02)
	require.InEpsilon(t, 4.0, factor[1], 0.02)
	share, factor = fit(z, 1)
	require.Equal(t, []float64{1}, share)
	require.InEpsilon(t, math.Sqrt(squares/float64(len(z))), factor[0], 0.02)
	share, factor = fit(slices.Repeat([]deviation{{0, 1}}, 500), 3) // errors of 0
	for k, a := range factor {
		require.Equal(t, leastFactor, a)
		require.False(t, math.IsNaN(share[k]))
	}

	// Small deviations are right, large ones three times as large as they should be, and those between between.
	var both []deviation
	for range 50000 {
		std := math.Exp(math.Log(1e-3) * rng.Float64())
		node := math.Log(std/1e-3) / math.Log(1e3)
		a := 1.0
		if rng.Float64() < node {
			a = 1.0 / 3
		}
		both = append(both, deviation{math.Abs(a * rng.NormFloat64()), std})
	}
	mix := fitScales(both, Calibration{1, 2})
	require.Len(t, mix, 2)
	require.InDelta(t, 1, mix[0].Factor[0], 0.04)
	require.InDelta(t, 1.0/3, mix[1].Factor[0], 0.02)
	require.InEpsilon(t, 1e-3, mix[0].At, 0.2)
	require.InEpsilon(t, 1, mix[1].At, 0.2)
}

// TestCalibrate: a model whose deviations are wrong gets right ones, on tasks that it was not calibrated on.
func TestCalibrate(t *testing.T) {
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.PointsPerUnit, c.EncoderLength, c.Fill, c.Channels = 8, 0.5, 0.2, []int{4, 4}
	m, err := cnp.New[float32](c, 3)
	require.NoError(t, err)
	rbf, err := task.KernelByName("rbf")
	require.NoError(t, err)
	curves := task.PaperTest(rbf)
	curves.Targets, curves.MaxContext = 30, 9
	src := task.CurveSource[float32]{Name: "rbf", Curves: curves}
	for _, normals := range []int{1, 3} {
		out, err := Calibrate(context.Background(), m, Model(m), src, Options{Tasks: 200, Seed: 5}, Calibration{normals, 1})
		require.NoError(t, err)
		other := Options{Tasks: 200, Seed: 6}
		before, err := Run(context.Background(), Model(m), src, other)
		require.NoError(t, err)
		after, err := Run(context.Background(), Model(out), src, other)
		require.NoError(t, err)
		require.Greater(t, after.LogLikelihood.Mean, before.LogLikelihood.Mean)
		require.InDelta(t, before.RMSE, after.RMSE, 1e-5)
		require.Less(t, after.CalibrationError, 0.05)
		require.InDelta(t, 1, after.ZSquare, 0.3)
		again, err := Calibrate(context.Background(), out, Model(out), src, Options{Tasks: 200, Seed: 5}, Calibration{normals, 1})
		require.NoError(t, err)
		require.Equal(t, out.Config().Likelihood[:12], again.Config().Likelihood[:12], "an earlier calibration is replaced")
	}
	_, err = Calibrate(context.Background(), m, Model(m), src, Options{Tasks: 2, Seed: 5}, Calibration{1, 1})
	require.ErrorContains(t, err, "at least 100")
	_, err = Calibrate(context.Background(), m, Model(m), src, Options{Tasks: 20, Seed: 5}, Calibration{1, 0})
	require.ErrorContains(t, err, "at least 1")
}
