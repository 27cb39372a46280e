package task

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSource: a batch is a function of seed and step, and every one of both gives another.
func TestSource(t *testing.T) {
	s := CurveSource[float32]{Name: "rbf", Curves: Curves{GP: GP{RBF(1), DefaultJitter}, Lo: -2, Hi: 2, Targets: 8, MaxContext: 4}}
	seen := map[float32]bool{}
	for seed := range uint64(3) {
		for step := -1; step < 3; step++ {
			b, err := s.Batch(2, seed, step)
			require.NoError(t, err)
			again, err := s.Batch(2, seed, step)
			require.NoError(t, err)
			require.Equal(t, b, again)
			require.Len(t, b.Y, 16)
			require.False(t, seen[b.Y[0]])
			seen[b.Y[0]] = true
		}
	}
	require.Equal(t, "rbf curves with jitter 1e-08, 8 uniform targets on [-2, 2], 0 to 4 of them context", s.String())
	s.Name, s.Curves.Process = "sawtooth", Sawtooth{3, 5}
	require.Equal(t, "sawtooth curves, 8 uniform targets on [-2, 2], 0 to 4 of them context", s.String())
	s.Curves.Targets = 0
	_, err := s.Batch(1, 1, 1)
	require.ErrorContains(t, err, "targets = 0")
}
