package krige

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Residuals of which none is far off leave room for one: a value of another table may lie on the wrong side of a jump.
func TestResidualsFarOff(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, narrow := range []float64{0, 0.01, 0.3} {
		r := make([]folded, 4000)
		for i := range r {
			r[i].v = narrow * rng.NormFloat64()
		}
		d := learnResidual(r, 0)
		require.InDelta(t, max(narrow, foldFloor), d.narrow, 0.1*narrow+1e-9)
		require.Greater(t, d.broad, 0.4, "deviation %g", narrow)
		require.InDelta(t, foldRare, d.rare, 5e-3)
	}
}

// A waveform with one jump has two lines and the jump where it is, though the jump is at the end of a piece and some tables are shifted.
func TestFoldJump(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, jump := range []float64{0, 0.25, 0.4996} {
		var points []folded
		for table := range 32 {
			shift := 0.002 * rng.NormFloat64()
			for range 150 {
				u := rng.Float64()
				at := u + shift - jump
				points = append(points, folded{u, sawtooth(at-math.Floor(at)) + 0.1*rng.NormFloat64(), table})
			}
		}
		g, _, pieces := foldBest(points, (int(jump*waveCells)+3)%waveCells)
		require.LessOrEqual(t, pieces, 4)
		for _, away := range []float64{0.006, 0.05, 0.3} {
			for _, side := range []float64{-away, away} {
				y, _ := g.at(jump + side)
				require.InDelta(t, sawtooth(side-math.Floor(side)), y, 0.05, "a jump at %g: %g beside it", jump, side)
			}
		}
	}
}
