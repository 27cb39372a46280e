package group

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The poses of two lifts and of the same two shifted differ by no more than ShiftError says: for shifts that are off by nothing,
// by rounding and by more, all angles, and sizes from small to large.
func TestShiftErrorBoundsPoses(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	for _, g := range []Shifter{NewT(1, 0), NewT(2, 0), NewT(3, 0), NewSE2(0)} {
		tight := math.Inf(1)
		n := g.AlgebraDim()
		pose, shifted := make([]float64, PoseDim(g)), make([]float64, PoseDim(g))
		for range 20000 {
			size := math.Ldexp(1, rng.IntN(24)-12)
			noise := size * math.Ldexp(float64(rng.IntN(2)), -rng.IntN(60)-1)
			angle := math.Pi * (2*rng.Float64() - 1)
			if rng.IntN(8) == 0 {
				angle = []float64{math.Pi, -math.Pi, 0, math.Pi / 2}[rng.IntN(4)]
			}
			var lifts [4][]float64 // a, b and c, d
			for k := range lifts {
				lifts[k] = make([]float64, n)
				for c := range lifts[k] {
					lifts[k][c] = size * rng.NormFloat64()
				}
				if g.Name() == "SE(2)" {
					lifts[k][0] = angle
				}
			}
			var coords [4][]float64
			for k := range lifts {
				var kind float64
				coords[k], kind = g.ShiftCoords(lifts[k], nil)
				require.True(t, kind == angle || g.Name() != "SE(2)")
			}
			s, most := 0.0, 0.0
			for c := range coords[0] {
				by := size * rng.NormFloat64()
				coords[2][c] = coords[0][c] + by
				coords[3][c] = coords[1][c] + by + noise*(2*rng.Float64()-1)
				// The differences of differences as they are: each of these is rounded far below what the bound leaves for it.
				s = max(s, math.Abs((coords[2][c]-coords[0][c])-(coords[3][c]-coords[1][c])))
				for k := range coords {
					most = max(most, math.Abs(coords[k][c]))
				}
			}
			s += 0x1p-52 * most
			g.RelativePose(pose, lifts[0], nil, lifts[1], nil)
			g.RelativePose(shifted, lifts[2], nil, lifts[3], nil)
			bound := g.ShiftError(s, most)
			for c := range pose {
				diff := math.Abs(pose[c] - shifted[c])
				if !(diff <= bound) {
					t.Fatalf("%s: lifts %v: poses %v and %v, bound %g", g.Name(), lifts, pose, shifted, bound)
				}
				if noise > 1e-9*size && diff > 0 {
					tight = min(tight, bound/diff)
				}
			}
		}
		require.Less(t, tight, 1.2, "%s: a bound that is never reached", g.Name())
	}
}

// What bounds nothing says so.
func TestShiftErrorOfBadNumbers(t *testing.T) {
	for _, g := range []Shifter{NewT(2, 0), NewSE2(0)} {
		for _, bad := range []float64{math.Inf(1), math.NaN()} {
			require.False(t, g.ShiftError(bad, 1) < 1e300)
			require.False(t, g.ShiftError(0, bad) < 1e300)
		}
	}
}
