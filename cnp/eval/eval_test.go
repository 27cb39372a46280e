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

// TestMeter compares the figures for two tasks with values computed by hand.
func TestMeter(t *testing.T) {
	var m Meter
	Add(&m, []float64{0, 1, 9}, []float64{1, 2, 9}, []float64{0, 3, 9}, []bool{true, true, false})
	Add(&m, []float64{0}, []float64{1}, []float64{3}, nil)
	Add(&m, []float64{0}, []float64{1}, []float64{3}, []bool{false}) // does not count
	c := 0.5 * math.Log(2*math.Pi)
	a, b := (-c+(-0.5-math.Log(2)-c))/2, -4.5-c
	r := m.Report()
	require.Equal(t, 2, r.Tasks)
	require.Equal(t, 3, r.Values)
	require.InDelta(t, (a+b)/2, r.LogLikelihood.Mean, 1e-12)
	require.InDelta(t, math.Abs(a-b)/math.Sqrt2, r.LogLikelihood.Std, 1e-12)
	require.InDelta(t, (2+9.0)/2, r.SquaredError.Mean, 1e-12)
	require.InDelta(t, math.Sqrt((4+9)/3.0), r.RMSE, 1e-12)
	require.InDelta(t, (0+1+9)/3.0, r.ZSquare, 1e-12)
	require.InDelta(t, 4/3.0, r.Spread, 1e-12)
	require.InDelta(t, 1/3.0, r.Levels[0].Observed, 1e-12)
	require.InDelta(t, 2/3.0, r.Levels[10].Observed, 1e-12, "3 is beyond 2.58")
	require.Zero(t, r.NotFinite)

	for _, bad := range [][3]float64{{math.NaN(), 1, 0}, {0, 0, 0}, {0, -1, 0}, {0, math.NaN(), 0}, {0, math.Inf(1), 0},
		{math.Inf(1), 1, 0}} {
		var m Meter
		Add(&m, bad[:1], bad[1:2], bad[2:], nil)
		require.Equal(t, 1, m.Report().NotFinite)
		require.Zero(t, m.Report().Tasks)
		require.True(t, math.IsNaN(m.Report().LogLikelihood.Mean))
	}
	require.Panics(t, func() { Add(&m, []float64{0}, []float64{1}, nil, nil) })
}

// TestCalibration: values drawn from what is predicted are calibrated; a spread of half the size is not.
func TestCalibration(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 20000
	mean, std, half, y := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range y {
		mean[i], std[i] = float32(rng.NormFloat64()), float32(math.Exp(rng.NormFloat64()))
		half[i] = std[i] / 2
		y[i] = mean[i] + std[i]*float32(rng.NormFloat64())
	}
	var good, narrow Meter
	Add(&good, mean, std, y, nil)
	Add(&narrow, mean, half, y, nil)
	require.Less(t, good.Report().CalibrationError, 0.01)
	require.InDelta(t, 1, good.Report().ZSquare, 0.05)
	require.InDelta(t, 4, narrow.Report().ZSquare, 0.2)
	for _, l := range narrow.Report().Levels {
		require.InDelta(t, math.Erf(math.Erfinv(l.Nominal)/2), l.Observed, 0.015)
	}
	require.Greater(t, narrow.Report().CalibrationError, 0.15)
}

// TestOracle: of all predictors, the process that drew the curves has the best likelihood, and it is calibrated; the batch
// size only changes which tasks are seen.
func TestOracle(t *testing.T) {
	c := task.PaperTestOf(task.GP{Kernel: task.RBF(1), Jitter: 1e-2})
	c.Targets, c.MinContext, c.MaxContext = 100, 1, 3
	src := task.CurveSource[float64]{Name: "rbf", Curves: c}
	opt := Options{Tasks: 600, Seed: 1}
	best, err := Run(context.Background(), Oracle[float64](c.GP), src, opt)
	require.NoError(t, err)
	require.Equal(t, 600, best.Tasks)
	require.Equal(t, 600*100, best.Values)
	require.Less(t, best.CalibrationError, 0.03, "2 % are context points, better known than new observations; the rest is chance")
	require.InDelta(t, 1, best.ZSquare, 0.1)
	for _, k := range []task.Kernel{task.RBF(0.5), task.RBF(2), task.Matern52(1)} {
		other, err := Run(context.Background(), Oracle[float64](task.GP{Kernel: k, Jitter: 1e-2}), src, opt)
		require.NoError(t, err)
		require.Greater(t, best.LogLikelihood.Mean, other.LogLikelihood.Mean)
	}
	var calls []int
	opt.Tasks = 60
	best, err = Run(context.Background(), Oracle[float64](c.GP), src, opt)
	require.NoError(t, err)
	opt.Progress = func(done, total int) { calls = append(calls, done, total) }
	again, err := Run(context.Background(), Oracle[float64](c.GP), src, opt)
	require.NoError(t, err)
	require.Equal(t, best, again)
	require.Equal(t, []int{0, 60, 16, 60, 32, 60, 48, 60, 60, 60}, calls)

	images := task.ImageSource[float64]{Pictures: task.TestDigits(), Rates: task.PaperRates}
	_, err = Run(context.Background(), Oracle[float64](c.GP), images, opt)
	require.ErrorContains(t, err, "predicts no images")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Run(ctx, Oracle[float64](c.GP), src, opt)
	require.ErrorIs(t, err, context.Canceled)
	opt.Tasks = 0
	_, err = Run(context.Background(), Oracle[float64](c.GP), src, opt)
	require.ErrorContains(t, err, "0 tasks")
}

// TestLastImages: of a batch that has more images than were asked for, the others are not predicted, and those that are say the same.
func TestLastImages(t *testing.T) {
	src := task.ImageSource[float64]{Pictures: task.Digits{H: 8, W: 8, Height: 6, Motions: task.Upright},
		Rates: task.Rates{Min: 0.5, Max: 0.5}}
	var sizes []int
	require.NoError(t, Tasks(context.Background(), src, Options{Tasks: 7, Batch: 4, Seed: 3}, func(b *task.Tasks[float64], n int) error {
		whole, err := src.Batch(4, 3, len(sizes))
		require.NoError(t, err)
		require.Equal(t, n, Count(b))
		require.Equal(t, whole.Y[:n*64], b.Y)
		require.Equal(t, whole.Images.Pixels[:n*64], b.Images.Pixels)
		require.Equal(t, whole.Images.Mask[:n*64], b.Images.Mask)
		require.Equal(t, 4, whole.Images.B)
		sizes = append(sizes, n)
		return nil
	}))
	require.Equal(t, []int{4, 3}, sizes)

	known := make([]bool, 24)
	known[9] = true
	b := firstImages(&task.Tasks[float64]{Images: &cnp.Images[float64]{B: 3, C: 2, H: 2, W: 2, Pixels: make([]float64, 24),
		Mask: make([]bool, 12)}, Y: make([]float64, 24), Known: known}, 2)
	require.Equal(t, known[:16], b.Known)
	require.Len(t, b.Y, 16)
	require.Len(t, b.Images.Pixels, 16)
	require.Len(t, b.Images.Mask, 8)
}

// TestEquivariance: the differences are of the size of rounding for an equivariant model, and larger for another one.
func TestEquivariance(t *testing.T) {
	ctx, opt := context.Background(), Options{Tasks: 3, Batch: 2, Seed: 1}
	measure := func(c cnp.Config, src task.Source[float64]) []Difference {
		m, err := cnp.New[float64](c, 1)
		require.NoError(t, err)
		d, err := Equivariance(ctx, m, src, opt)
		require.NoError(t, err)
		return d
	}
	curves := task.PaperTest(task.RBF(1))
	curves.Targets, curves.MinContext, curves.MaxContext = 12, 3, 5
	src := task.CurveSource[float64]{Name: "rbf", Curves: curves}
	c := cnp.Default(cnp.EquivCNPCurve, "T(1)", 1)
	c.PointsPerUnit, c.Fill = 0, 0.5
	d := measure(c, src)
	require.Len(t, d, 1)
	require.Equal(t, "random element of T(1)", d[0].Move)
	require.Equal(t, 36, d[0].Values)
	require.Less(t, d[0].MeanMax+d[0].StdMax+math.Abs(d[0].LogLikelihood), 1e-9)
	d = measure(cnp.Default(cnp.CNPCurve, "", 1), src)
	require.Equal(t, "random element of T(1)", d[0].Move)
	require.Greater(t, d[0].MeanRMS, 1e-3)
	require.GreaterOrEqual(t, d[0].MeanMax, d[0].MeanRMS)

	images := task.ImageSource[float64]{Pictures: task.Digits{H: 12, W: 12, Height: 8, Motions: task.Upright},
		Rates: task.Rates{Min: 0.5, Max: 0.5}}
	for group, turns := range map[string]bool{"SO(2)": true, "T(2)": false} {
		c := cnp.Default(cnp.EquivCNPImage, group, 1)
		c.Channels, c.Blocks, c.Hidden, c.Mid, c.Fill, c.BlockFill = []int{6}, 1, 6, 4, 0.05, 0.05
		d := measure(c, images)
		require.Len(t, d, 2)
		require.Equal(t, "shift by 6 pixels", d[0].Move)
		require.Equal(t, 3*36, d[0].Values)
		require.Equal(t, "quarter turn", d[1].Move)
		require.Equal(t, 3*144, d[1].Values)
		if turns {
			require.Less(t, d[1].MeanMax+d[1].StdMax, 1e-9)
			require.Greater(t, d[0].MeanMax, 1e-6)
		} else {
			require.Greater(t, d[1].MeanMax, 1e-6)
		}
	}
	c = cnp.Default(cnp.EquivCNPImage, "T(2)", 1)
	c.Channels, c.Blocks, c.Hidden, c.Mid, c.Fill, c.BlockFill = []int{6}, 1, 6, 4, 0.2, 0.2
	d = measure(c, task.ImageSource[float64]{Pictures: task.Digits{H: 6, W: 6, Height: 4, Motions: task.Upright}, Rates: task.PaperRates})
	require.Len(t, d, 1, "a shift by 6 leaves nothing of 6 x 6 pixels")
	_, err := Run(ctx, Model[float64](must(t, cnp.Default(cnp.CNPCurve, "", 1))), images, opt)
	require.ErrorContains(t, err, "the tasks are images")
}

func must(t *testing.T, c cnp.Config) cnp.Model[float64] {
	m, err := cnp.New[float64](c, 1)
	require.NoError(t, err)
	return m
}

// TestPredictorSizes: a predictor of one's own that gives nothing, or too much, is an error and not a panic, wherever predictors are taken.
func TestPredictorSizes(t *testing.T) {
	src, opt := task.CurveSource[float64]{Name: "rbf", Curves: task.PaperTest(task.RBF(1))}, Options{Tasks: 2, Seed: 1}
	of := func(n int) Predictor[float64] {
		return func(context.Context, *task.Tasks[float64]) (*cnp.Prediction[float64], error) {
			return &cnp.Prediction[float64]{Mean: make([]float64, 1), Std: make([]float64, n)}, nil
		}
	}
	none := func(context.Context, *task.Tasks[float64]) (*cnp.Prediction[float64], error) { return nil, nil }
	for want, p := range map[string]Predictor[float64]{
		"eval: the predictor is nil": nil,
		"eval: " + cnp.ErrShape.Error() + ": the predictor gave no prediction, and no error":   none,
		"eval: " + cnp.ErrShape.Error() + ": the predictor gave 1 means and 3 deviations for ": of(3),
	} {
		_, err := Run(t.Context(), p, src, opt)
		require.ErrorContains(t, err, want)
	}
}
