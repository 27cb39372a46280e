package cnp

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBadSizes: what is nil, or has more values than can be counted, is an error of every model, and of every plan.
func TestBadSizes(t *testing.T) {
	ctx := context.Background()
	huge := []*Batch[float32]{nil, {B: math.MaxInt/2 + 1}, {B: math.MaxInt/2 + 1, Nc: math.MaxInt/2 + 1},
		{B: math.MaxInt/2 + 1, Nt: math.MaxInt/2 + 1}, {B: math.MaxInt, Nc: 2, Nt: 2}, {B: 2, Nt: math.MaxInt}}
	for name, m := range smallCurves(t) {
		for _, b := range huge {
			p, err := m.Predict(ctx, b)
			if b != nil && b.Nc+b.Nt == 0 {
				require.NoError(t, err)
				require.Empty(t, p.Mean, name)
			} else {
				require.ErrorIs(t, err, ErrShape, name)
				require.Nil(t, p)
			}
			_, err = m.(TrainableRegressor[float32]).Differentiate(ctx, b, 0)
			require.ErrorIs(t, err, ErrShape, name)
		}
	}
	for name, m := range smallImages(t, 1) {
		for _, im := range []*Images[float32]{nil, {B: math.MaxInt/2 + 1, C: 1, H: 2, W: 2},
			{B: math.MaxInt >> 23, C: 1, H: 1 << 12, W: 1 << 12}, {B: 1, C: 1, H: -1, W: 4}} {
			_, err := m.Complete(ctx, im)
			require.ErrorIs(t, err, ErrShape, name)
			_, err = m.(TrainableCompleter[float32]).Differentiate(ctx, im, 0)
			require.ErrorIs(t, err, ErrShape, name)
		}
	}

	plan, err := lineModel[float32](t, func(*Config) {}).PlanInterval(ctx, -1, 1)
	require.NoError(t, err)
	require.NoError(t, plan.Predict(ctx, newPrediction[float32](Normal, 0), huge[1]), "tasks of nothing")
	for _, b := range append(huge[2:], nil) {
		require.ErrorIs(t, plan.Predict(ctx, newPrediction[float32](Normal, 0), b), ErrShape)
	}
	require.ErrorIs(t, plan.Predict(ctx, nil, &Batch[float32]{B: 1}), ErrShape, "nowhere to write")

	m := imageModel[float32](t, "T(2)", 1, 1)
	for name, g := range map[string]Geometry{
		"negative": Grid(-1, 64), "none": Grid(0, 0), "overflow": Grid(math.MaxInt/2+1, math.MaxInt/2+1), "too large": Grid(1<<15, 1<<15),
		"no scale": Upsampled(4, 4, 0), "negative scale": Upsampled(4, 4, -2), "huge scale": Upsampled(4, 4, math.MaxInt>>22),
		"negative side": Upsampled(-4, 4, 2),
	} {
		_, err := m.PlanGeometry(ctx, g, PlanOptions{})
		require.ErrorIs(t, err, ErrShape, name)
	}
	images, err := m.PlanGeometry(ctx, Grid(4, 4), PlanOptions{})
	require.NoError(t, err)
	im := &Images[float32]{B: 1, C: 1, H: 4, W: 4, Pixels: make([]float32, 16), Mask: make([]bool, 16)}
	require.ErrorIs(t, images.Predict(ctx, nil, im), ErrShape)
	require.ErrorIs(t, images.Predict(ctx, newPrediction[float32](Normal, 16), nil), ErrShape)
}
