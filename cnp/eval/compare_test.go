package eval

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// Kriging with the process's own kernel is the process, but for the trend: given many points, it is nearly as good, and
// better than anything else here.
func TestBaselines(t *testing.T) {
	g := task.GP{Kernel: task.Matern32(1), Jitter: 1e-6}
	c := task.Curves{GP: g, Lo: -2, Hi: 2, Targets: 60, MinContext: 12, MaxContext: 30}
	src := task.CurveSource[float64]{Name: "matern32", Curves: c}
	noisy := func(d float64) float64 {
		if d == 0 {
			return g.Kernel(0) + g.Jitter
		}
		return g.Kernel(d)
	}
	got, err := Compare(context.Background(), []Predictor[float64]{Oracle[float64](g), Kriging[float64](noisy), IDW[float64]()},
		src, Options{Tasks: 100, Seed: 3})
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, Paired{}, got[0].LogLikelihood)
	require.Less(t, math.Abs(got[1].LogLikelihood.Mean), 0.25, "a trend that nobody knows costs a little")
	require.LessOrEqual(t, got[1].LogLikelihood.Mean, 4*got[1].LogLikelihood.Error)
	require.Greater(t, got[2].SquaredError.Mean, 5*got[2].SquaredError.Error)
	require.Less(t, got[2].LogLikelihood.Mean, -0.5)
	require.Equal(t, 100, got[2].Tasks)
	alone, err := Run(context.Background(), IDW[float64](), src, Options{Tasks: 100, Seed: 3})
	require.NoError(t, err)
	require.Equal(t, alone, got[2].Report)
	require.InDelta(t, got[2].Report.LogLikelihood.Mean-got[0].Report.LogLikelihood.Mean, got[2].LogLikelihood.Mean, 1e-9)
}

// Baselines predict each output from the points where it is known, and need not have any; kriging reproduces a plane.
func TestBaselinesGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	nan := math.NaN()
	b := &cnp.Batch[float64]{B: 2, Nc: 8, Nt: 3, ContextMask: make([]bool, 16)}
	plane := func(x []float64) float64 { return 3 + 2*x[0] - x[1] }
	for i := range 16 {
		x := []float64{rng.Float64(), rng.Float64()}
		b.ContextMask[i] = i < 7
		y := []float64{plane(x), 5}
		if i%2 == 1 {
			y[1] = nan
		}
		b.XContext, b.YContext = append(b.XContext, x...), append(b.YContext, y...)
	}
	for range 6 {
		b.XTarget = append(b.XTarget, rng.Float64(), rng.Float64())
	}
	tasks := &task.Tasks[float64]{Curves: b, Y: make([]float64, 12)}
	p, err := Kriging[float64](func(d float64) float64 { return task.RBF(0.5)(d) + task.Noise(1e-4)(d) })(context.Background(), tasks)
	require.NoError(t, err)
	for i := range 3 {
		require.InDelta(t, plane(b.XTarget[2*i:2*i+2]), p.Mean[2*i], 1e-6)
		require.InDelta(t, 5, p.Mean[2*i+1], 1e-6)
		require.Greater(t, p.Std[2*i], 0.01)
	}
	require.Equal(t, []float64{0, 0}, p.Mean[6:8], "a task without context")
	require.InDelta(t, 1, p.Std[6], 1e-4)
	p, err = IDW[float64]()(context.Background(), tasks)
	require.NoError(t, err)
	require.InDelta(t, 5, p.Mean[1], 1e-12)
	require.Equal(t, 1.0, p.Std[1])
	b.XTarget[0], b.XTarget[1] = b.XContext[2], b.XContext[3]
	p, err = IDW[float64]()(context.Background(), tasks)
	require.NoError(t, err)
	require.Equal(t, b.YContext[2], p.Mean[0])
}
