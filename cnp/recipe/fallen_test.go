package recipe

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/cnp/train"
)

// TestFallen: a score has fallen where it is below the best one by more than both scores' errors explain.
func TestFallen(t *testing.T) {
	best := train.Score{Tasks: 100, LogLikelihood: -1, Std: 1}
	for _, c := range []struct {
		last float64
		want bool
	}{{-0.9, false}, {-1, false}, {-1.28, false}, {-1.29, true}, {-3, true}} {
		require.Equal(t, c.want, fallen(best, train.Score{Tasks: 100, LogLikelihood: c.last, Std: 1}), c.last)
	}
	require.True(t, fallen(train.Score{Tasks: 1}, train.Score{Tasks: 1, LogLikelihood: -0.1}))
}

// TestDegrees: latitude and longitude are known by their names, in either order.
func TestDegrees(t *testing.T) {
	for _, in := range [][]string{{"lat", "lon"}, {"Lon", "LAT"}, {"longitude", "latitude"}} {
		require.True(t, degrees(in), in)
	}
	for _, in := range [][]string{{"lat"}, {"lat", "latitude"}, {"x1", "x2"}, {"lat", "lon", "depth"}} {
		require.False(t, degrees(in), in)
	}
}
