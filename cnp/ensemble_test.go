package cnp

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// An ensemble of curves, or images, is the mixture of what its members predict; equal members are one model.
func TestEnsemble(t *testing.T) {
	ctx := context.Background()
	c := Default(EquivCNPCurve, "T(1)", 1)
	c.PointsPerUnit, c.Channels, c.Hidden, c.Mid = 8, []int{4, 4, 4}, 4, 2
	var models []Model[float32]
	for seed := range uint64(3) {
		m, err := New[float32](c, seed)
		require.NoError(t, err)
		models = append(models, m)
	}
	e, err := Ensemble(models...)
	require.NoError(t, err)
	b := &Batch[float32]{B: 2, Nc: 2, Nt: 3, XContext: []float64{0, 1, 2, 3}, YContext: []float32{1, 2, 3, 4},
		XTarget: []float64{0, 0.5, 1, 2, 2.5, 3}}
	p, err := e.(Regressor[float32]).Predict(ctx, b)
	require.NoError(t, err)
	var alone []*Prediction[float32]
	for _, m := range models {
		one, err := m.(Regressor[float32]).Predict(ctx, b)
		require.NoError(t, err)
		alone = append(alone, one)
	}
	for i := range p.Mean {
		mean, square, density := 0.0, 0.0, 0.0
		for _, one := range alone {
			mean += float64(one.Mean[i]) / 3
			density += math.Exp(one.LogDensityAt(i, 1.5)) / 3
		}
		for _, one := range alone {
			square += (float64(one.Std[i])*float64(one.Std[i]) + math.Pow(float64(one.Mean[i])-mean, 2)) / 3
		}
		require.InDelta(t, mean, float64(p.Mean[i]), 1e-6)
		require.InDelta(t, math.Sqrt(square), float64(p.Std[i]), 1e-6)
		require.InDelta(t, math.Log(density), p.LogDensityAt(i, 1.5), 1e-6)
	}
	require.NoError(t, p.Check(nil))
	require.Len(t, p.Slice(1, 3).Params, 2*6)

	// Samples are the members' own, in turns, the first one's bit for bit.
	opt := SampleOptions{Samples: 5, Chain: Chain{Seed: 9}}
	all, err := SampleCurves(ctx, e.(Regressor[float32]), b, opt)
	require.NoError(t, err)
	require.Len(t, all, 5*6)
	opt.Samples = 2
	first, err := SampleCurves(ctx, models[0].(Regressor[float32]), b, opt)
	require.NoError(t, err)
	require.Equal(t, first[:6], all[:6])
	require.Equal(t, first[6:], all[3*6:4*6])
	require.NotEqual(t, all[:6], all[6:12])

	// Units: every member brings tasks into its own range.
	far := *b
	far.YContext = []float32{1e4, 2e4, 3e4, 4e4}
	known := c
	known.Trained = &Trained{X: []Range{{Min: 0, Max: 3, Mean: 1.5, Std: 1}}, Y: []Range{{Min: -1, Max: 1, Std: 0.5}}}
	twin, err := New[float32](known, 0)
	require.NoError(t, err)
	both, err := Ensemble(twin, twin)
	require.NoError(t, err)
	want, err := Standardised(twin.(Regressor[float32])).Predict(ctx, &far)
	require.NoError(t, err)
	got, err := Standardised(both.(Regressor[float32])).Predict(ctx, &far)
	require.NoError(t, err)
	require.Equal(t, want.Mean, got.Mean)
	require.InDeltaSlice(t, want.Std, got.Std, 1e-2)

	one, err := Ensemble(models[0])
	require.NoError(t, err)
	require.Equal(t, models[0], one)
	image, err := New[float32](Default(CNPImage, "", 1), 1)
	require.NoError(t, err)
	for _, bad := range [][]Model[float32]{nil, {models[0], image}} {
		_, err := Ensemble(bad...)
		require.ErrorIs(t, err, ErrConfig)
	}
	pair, err := Ensemble(image, image)
	require.NoError(t, err)
	im := &Images[float32]{B: 1, C: 1, H: 3, W: 4, Pixels: make([]float32, 12), Mask: make([]bool, 12)}
	single, err := image.(Completer[float32]).Complete(ctx, im)
	require.NoError(t, err)
	double, err := pair.(Completer[float32]).Complete(ctx, im)
	require.NoError(t, err)
	require.Equal(t, single.Mean, double.Mean)
	require.InDeltaSlice(t, single.Std, double.Std, 1e-6)
}

// An ensemble needs what its members keep together, and what one of them needs while it predicts.
func TestEnsembleEstimate(t *testing.T) {
	image, err := New[float32](Default(EquivCNPImage, "SO(2)", 1), 1)
	require.NoError(t, err)
	c := Default(EquivCNPCurve, "T(1)", 1)
	curve, err := New[float32](c, 1)
	require.NoError(t, err)
	for _, tt := range []struct {
		m Model[float32]
		w Work
	}{{image, Work{Batch: 2, H: 40, W: 40, Weights: implicitMemory}}, {curve, Work{Batch: 64, Context: 50, Targets: 1000, Span: 4}}} {
		one, err := EstimateModel(tt.m, tt.w)
		require.NoError(t, err)
		e, err := Ensemble(tt.m, tt.m, tt.m)
		require.NoError(t, err)
		all, err := EstimateModel(e, tt.w)
		require.NoError(t, err)
		require.Equal(t, []int64{3 * one.Parameters, 3 * one.Geometry, 3 * one.Weights}, []int64{all.Parameters, all.Geometry, all.Weights})
		require.Greater(t, all.Features, one.Features)
		require.Less(t, all.Features, 3*one.Features)
	}
	absurd, err := Ensemble(image, image)
	require.NoError(t, err)
	n, err := EstimateModel(absurd, Work{Batch: 1 << 30, H: 1 << 20, W: 1 << 20, Scale: 1000})
	require.NoError(t, err)
	require.ErrorIs(t, n.Check(1<<40), ErrMemory)
}
