package raster

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVariance: a constant misses the known values by their variance at least.
func TestVariance(t *testing.T) {
	nan := float32(math.NaN())
	v := []float32{1, nan, 2, 6}
	require.InDelta(t, 14.0/3, Variance(v), 1e-12)
	require.InDelta(t, MeanSquare([]float32{3, 3, 3, 3}, v), Variance(v), 1e-12)
	require.Zero(t, Variance([]float32{0.3, nan, 0.3}))
	require.True(t, math.IsNaN(Variance([]float32{nan})))
}
