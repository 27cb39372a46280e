package task

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Windows are tasks whose points lie together, and are drawn by the seed.
func TestWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	s := &CurveSet{Name: "cloud", Dx: 2, Dy: 1}
	var c Curve
	for range 2000 {
		c.X = append(c.X, 100*rng.Float64(), 10*rng.Float64())
		c.Y = append(c.Y, rng.NormFloat64())
	}
	s.Curves = []Curve{c}
	src := CurveSetSource[float64]{Set: s, MinContext: 3, MaxContext: 5, Window: []float64{20, 0}, Most: 50}
	b, err := src.Batch(8, 4, 0)
	require.NoError(t, err)
	again, err := src.Batch(8, 4, 0)
	require.NoError(t, err)
	require.Equal(t, b, again)
	require.Equal(t, 50, b.Curves.Nt)
	starts := map[float64]bool{}
	for k := range 8 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := k * b.Curves.Nt; i < (k+1)*b.Curves.Nt; i++ {
			if b.Curves.TargetMask[i] {
				lo, hi = min(lo, b.Curves.XTarget[2*i]), max(hi, b.Curves.XTarget[2*i])
			}
		}
		require.LessOrEqual(t, hi-lo, 20.0)
		require.Greater(t, hi-lo, 5.0)
		starts[lo] = true
	}
	require.Len(t, starts, 8)
	w := src.Work(8)
	require.Equal(t, 50, w.Targets)
	require.InDelta(t, 20, w.Span, 1e-9)
	require.Contains(t, src.String(), "windows of [20 0], of at most 50 points, in 1 tasks from cloud")
}
