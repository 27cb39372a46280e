package cnp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNothing: what is given no model or no configuration returns an error that says so.
func TestNothing(t *testing.T) {
	ctx := t.Context()
	b := &Batch[float32]{B: 1, Nc: 1, Nt: 1, XContext: []float64{0}, YContext: []float32{1}, XTarget: []float64{2}}
	im := &Images[float32]{B: 1, C: 1, H: 2, W: 2, Pixels: make([]float32, 4), Mask: make([]bool, 4)}
	for name, err := range map[string]error{
		"SampleCurves": second(SampleCurves(ctx, CurvePredictor[float32](nil), b, SampleOptions{Samples: 1})),
		"SampleImages": second(SampleImages(ctx, ImagePredictor[float32](nil), im, SampleOptions{Samples: 1})),
		"JointCurves":  second(JointCurves(ctx, nil, b, []float32{1}, Chain{})),
		"JointImages":  second(JointImages(ctx, nil, im, make([]float32, 4), Chain{})),
		"LiveCurves":   second(LiveCurves[float32](ctx, nil, Scattered(), PlanOptions{})),
		"LiveImages":   second(LiveImages[float32](ctx, nil, Pixels(2, 2), PlanOptions{})),
		"Smoothness":   second(MeasureSmoothness[float32](ctx, nil)),
		"With":         second(With[float32](nil, Options{})),
		"Batch.Check":  b.Check(nil),
		"Images.Check": im.Check(nil),
		"CheckDensity": CheckDensity(nil, b, true),
		"CheckSupport": CheckSupport(nil, "y", []float32{1}, nil, 1),
	} {
		require.ErrorIs(t, err, ErrConfig, name)
	}
	_, _, err := Standardise(nil, b)
	require.ErrorIs(t, err, ErrConfig)
	_, _, err = StandardiseTasks(nil, b, []float32{1})
	require.ErrorIs(t, err, ErrConfig)
	_, _, err = Seen(nil, b)
	require.ErrorIs(t, err, ErrConfig)

	c := small(CNPCurve, "", 1)
	require.ErrorIs(t, CheckDensity[float32](&c, nil, true), ErrShape)
	require.ErrorIs(t, second(NewPrediction[float32](&c, -1)), ErrShape)
	require.PanicsWithValue(t, "cnp: Turned: points of 0 coordinates, need 2 or 3", func() {
		(&Config{}).Turned([]float64{1, 2}, [3]float64{})
	})
}

func second[V any](_ V, err error) error { return err }
