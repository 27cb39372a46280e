package task

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUniversal holds draws to their seed, and exact predictions to their coverage.
func TestUniversal(t *testing.T) {
	for d := 1; d <= 3; d++ {
		u := Universal{Dim: d, Least: 5, Most: 60, Targets: 10, Gaussian: true}
		inside, total := 0, 0
		for i := range 250 {
			a, err := u.Draw(3, i)
			require.NoError(t, err)
			b, err := u.Draw(3, i)
			require.NoError(t, err)
			require.Equal(t, a, b)
			require.Len(t, a.X, d*len(a.Y))
			for k, y := range a.YTarget {
				total++
				if math.Abs(y-a.Mean[k]) < 1.96*a.Std[k] {
					inside++
				}
			}
		}
		require.InDelta(t, 0.95, float64(inside)/float64(total), 0.03)
	}
	wide := Universal{Dim: 2, Least: 5, Most: 40, Targets: 4}
	changed := 0
	for i := range 40 {
		a, err := wide.Draw(1, i)
		require.NoError(t, err)
		if a.Mean == nil {
			changed++
		}
	}
	require.Greater(t, changed, 8)
	batch, err := wide.Batch(3, 1, 2)
	require.NoError(t, err)
	first, err := wide.Draw(1, 6)
	require.NoError(t, err)
	require.Equal(t, float32(first.YTarget[0]), batch.Y[0])
	_, err = Universal{Dim: 4, Least: 1, Most: 2, Targets: 1}.Draw(1, 1)
	require.ErrorContains(t, err, "4 inputs")
}

var _ Source[float32] = Universal{}
