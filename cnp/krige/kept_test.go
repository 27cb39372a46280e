package krige

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp"
)

// TestKeeping: a task that comes again is not fitted again, and predicted as before; other values, places and numbers of tasks are.
func TestKeeping(t *testing.T) {
	r := (&Regressor{opt: Options{Dim: 1}, outputs: 2}).Keeping()
	batch := func(value float32, targets ...float64) *cnp.Batch[float32] {
		b := &cnp.Batch[float32]{B: 1, Nc: 4, Nt: len(targets), XContext: []float64{0, 1, 2, 3}, XTarget: targets}
		b.YContext = []float32{1, 5, 2, 3, value, 4, 1, 0}
		return b
	}
	models := func(b *cnp.Batch[float32]) (out []*Model) {
		out = make([]*Model, b.B*2)
		err := r.each(context.Background(), b, func(t, c int, m *Model, _ []float64, _ []int) error {
			out[2*t+c] = m
			return nil
		})
		require.NoError(t, err)
		return out
	}
	first := models(batch(3, 0.5))
	again := models(batch(3, 1.5, 9))
	require.Same(t, first[0], again[0])
	require.Same(t, first[1], again[1])
	other := models(batch(4, 0.5))
	require.NotSame(t, first[0], other[0])
	require.Same(t, first[1], other[1]) // whose values are the same
	moved := batch(4, 0.5)
	moved.XContext[3] = 3.5
	require.NotSame(t, other[1], models(moved)[1])

	b := batch(3, 0.5, 2.5)
	want, err := (&Regressor{opt: r.opt, outputs: 2}).Predict(t.Context(), b)
	require.NoError(t, err)
	for range 2 {
		got, err := r.Predict(t.Context(), b)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
