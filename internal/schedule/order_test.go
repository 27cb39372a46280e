package schedule

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestByLift(t *testing.T) {
	require.Equal(t, []int32{0, 3, 6, 1, 4, 7, 2, 5, 8}, ByLift(9, 3))
	require.Equal(t, []int32{0, 1}, ByLift(2, 1))
	require.Empty(t, ByLift(0, 4))
	require.Equal(t, []int32{0, 1, 2}, ByLift(3, math.MaxInt))
}

// TestZOrder: along the curve, quarters of the square follow each other, and so do theirs.
func TestZOrder(t *testing.T) {
	got := zOrder([]float64{0, 0, 1, 0, 0, 1, 1, 1, 3, 3, 2, 2, 3, 0})
	for i := 1; i < 4; i++ {
		require.Greater(t, got[i], got[i-1], "%d", i)
	}
	require.Greater(t, got[5], got[3])
	require.Greater(t, got[4], got[5])
	require.Greater(t, got[6], got[3])
	require.Less(t, got[6], got[5])
	require.Equal(t, []uint32{0, 0}, zOrder([]float64{5, 5, 5, 5}))
	require.Len(t, zOrder([]float64{-math.MaxFloat64, 1, math.MaxFloat64, 2}), 2)
	require.Empty(t, zOrder(nil))
}
