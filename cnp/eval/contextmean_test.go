package eval

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// TestContextMean: means and deviations are those of what a task observes of an output, and one training value.
func TestContextMean(t *testing.T) {
	nan := math.NaN()
	c := cnp.Config{DimX: 1, DimY: 2, Trained: &cnp.Trained{Y: []cnp.Range{{Mean: 10, Std: 3}, {Mean: -1, Std: 0.5}}}}
	predict, err := ContextMean[float64](&c)
	require.NoError(t, err)
	p, err := predict(t.Context(), &task.Tasks[float64]{Curves: &cnp.Batch[float64]{B: 2, Nc: 3, Nt: 2,
		YContext:    []float64{13, -1, 16, nan, 99, 99, 0, 0, 0, 0, 0, 0},
		ContextMask: []bool{true, true, false, false, false, false}}, Y: make([]float64, 8)})
	require.NoError(t, err)
	std := math.Sqrt((9+9+36)/3. - 9) // of 10 ± 3, 13 and 16
	require.InDeltaSlice(t, []float64{13, -1, 13, -1, 10, -1, 10, -1}, p.Mean, 1e-12)
	require.InDeltaSlice(t, []float64{std, math.Sqrt(0.125), std, math.Sqrt(0.125), 3, 0.5, 3, 0.5}, p.Std, 1e-12)

	p, err = predict(t.Context(), &task.Tasks[float64]{Images: &cnp.Images[float64]{B: 1, C: 2, H: 1, W: 3,
		Pixels: []float64{13, 16, nan, -1, 7, 7}, Mask: []bool{true, true, false}}, Y: make([]float64, 6)})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{13, 13, 13, 5. / 3, 5. / 3, 5. / 3}, p.Mean, 1e-12)

	c.Trained = nil
	_, err = ContextMean[float64](&c)
	require.ErrorIs(t, err, ErrNoConstant)
}
