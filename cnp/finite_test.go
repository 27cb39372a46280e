package cnp

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFinite: values that overflow on the way are an error, of models and of plans, and never a prediction of NaN.
func TestFinite(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]Config{"cnp": Default(CNPCurve, "", 1), "convcnp": Default(ConvCNPCurve, "", 1),
		"equivcnp": Default(EquivCNPCurve, "T(1)", 1), "levels": levelsConfig("T(1)", 1)} {
		m, err := New[float32](c, 1)
		require.NoError(t, err, name)
		for _, y := range []float32{-3e38, 3e38, 1e30, 1} {
			b := &Batch[float32]{B: 1, Nc: 3, Nt: 2, XContext: []float64{0, 0.1, 0.2}, YContext: []float32{y, y, y},
				XTarget: []float64{0.05, 0.5}}
			p, err := m.(Regressor[float32]).Predict(ctx, b)
			if err != nil {
				require.ErrorIs(t, err, ErrValue, name)
				require.NotEqual(t, float32(1), y)
			} else {
				require.NoError(t, p.finite(nil), name)
			}
			if e, ok := m.(*EquivCNP[float32]); ok {
				plan, err := e.Plan(ctx, Interval(-4, 4), PlanOptions{})
				if err != nil {
					continue
				}
				dst := &Prediction[float32]{Mean: make([]float32, 2), Std: make([]float32, 2)}
				if err := plan.Predict(ctx, dst, b); err == nil {
					require.NoError(t, dst.finite(nil), name)
				}
			}
		}
	}
	views, seen := Default(EquivCNPImage, "Sim(2)", 1), DefaultViews()
	views.Lifts, views.Views = 4, &seen
	for name, c := range map[string]Config{"cnp": Default(CNPImage, "", 1), "convcnp": Default(ConvCNPImage, "", 1),
		"equivcnp": Default(EquivCNPImage, "T(2)", 1),
		"views":    views} {
		m, err := New[float32](c, 1)
		require.NoError(t, err, name)
		im := &Images[float32]{B: 1, C: 1, H: 4, W: 4, Pixels: make([]float32, 16), Mask: make([]bool, 16)}
		for i := range im.Pixels {
			im.Pixels[i], im.Mask[i] = -math.MaxFloat32, true
		}
		p, err := m.(Completer[float32]).Complete(ctx, im)
		if err == nil {
			require.NoError(t, p.finite(nil), name)
		}
		for _, v := range []float32{-math.MaxFloat32, 1} {
			for i := range im.Pixels {
				im.Pixels[i] = v
			}
			plan, err := m.Plan(ctx, Pixels(4, 4), PlanOptions{})
			require.NoError(t, err, name)
			p = plan.NewPrediction(im)
			if err := plan.Predict(ctx, p, im); err != nil {
				require.ErrorIs(t, err, ErrValue, name)
				require.NotEqual(t, float32(1), v, name)
			} else {
				require.NoError(t, p.finite(nil), name)
			}
		}
	}
	bad := &Prediction[float32]{Mean: []float32{1, float32(math.NaN())}, Std: []float32{1, 1}}
	require.ErrorIs(t, bad.finite(nil), ErrValue)
	require.NoError(t, bad.finite(func(i int) bool { return i == 0 }))
}
