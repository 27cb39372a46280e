package group

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/linalg"
)

// The poses of two lifts and of the same two shifted differ by no more than TranslationError says: for shifts that are off by nothing,
// by rounding and by more, all angles, equal and not, and sizes from small to large.
func TestTranslationErrorBoundsPoses(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	for _, g := range []TranslationInvariant{NewT(1, 0), NewT(2, 0), NewT(3, 0), NewSE2(0)} {
		tight := math.Inf(1)
		_, rigid := g.(*SE2)
		n, dim := g.AlgebraDim(), g.TranslationDim()
		pose, shifted := make([]float64, PoseDim(g)), make([]float64, PoseDim(g))
		for range 40000 {
			size := math.Ldexp(1, rng.IntN(24)-12)
			noise := size * math.Ldexp(float64(rng.IntN(2)), -rng.IntN(60)-1)
			var angles [2]float64 // of a and c, of b and d
			for k := range angles {
				angles[k] = math.Pi * (2*rng.Float64() - 1)
				if rng.IntN(4) == 0 {
					angles[k] = []float64{math.Pi, -math.Pi, 0, math.Pi / 2}[rng.IntN(4)]
				}
			}
			switch rng.IntN(3) {
			case 0:
				angles[1] = angles[0]
			case 1:
				angles[1] = angles[0] - math.Copysign(math.Pi*(1-0.01*rng.Float64()), angles[0])
			}
			// lift has coordinates x, but for rounding.
			lift := func(x []float64, angle float64) []float64 {
				if !rigid {
					return x
				}
				a := make([]float64, n)
				linalg.Motion2{Theta: angle, X: x[0], Y: x[1]}.Log((*[3]float64)(a))
				return a
			}
			var points [4][]float64 // a, b and c, d
			for k := range points {
				points[k] = make([]float64, dim)
			}
			for c := range dim {
				by := size * rng.NormFloat64()
				points[0][c], points[1][c] = size*rng.NormFloat64(), size*rng.NormFloat64()
				points[2][c] = points[0][c] + by
				points[3][c] = points[1][c] + by + noise*(2*rng.Float64()-1)
			}
			var lifts, coords [4][]float64
			kind, most := make([]float64, 4), 0.0
			for k, x := range points {
				lifts[k], coords[k] = lift(x, angles[k%2]), make([]float64, dim)
				g.TranslationCoords(coords[k], kind[k:k+1], lifts[k], nil)
				require.True(t, kind[k] == lifts[k][0] || !rigid)
				for _, x := range coords[k] {
					most = max(most, math.Abs(x))
				}
			}
			require.True(t, kind[0] == kind[2] && kind[1] == kind[3])
			s := 0.0
			for c := range dim {
				// The differences of differences as they are: each of these is rounded far below what the bound leaves for it.
				s = max(s, math.Abs((coords[2][c]-coords[0][c])-(coords[3][c]-coords[1][c])))
			}
			s += 0x1p-52 * most
			g.RelativePose(pose, lifts[0], nil, lifts[1], nil)
			g.RelativePose(shifted, lifts[2], nil, lifts[3], nil)
			bound := g.TranslationError(s, most)
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

// Coordinates and kinds of many lifts are those of each alone.
func TestTranslationCoordsOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 14))
	for _, g := range []TranslationInvariant{NewT(2, 0), NewSE2(0)} {
		l := LiftPoints(g, []float64{1, 2, -3, 0.5, 0, 0, 7, -1}, map[bool]int{true: 11, false: 1}[g.MaxLifts() == 0], 0)
		for i := range l.A {
			if rng.IntN(3) == 0 {
				l.A[i] += rng.NormFloat64()
			}
		}
		n, dim := l.Rows(), g.TranslationDim()
		x, kind := make([]float64, n*dim), make([]float64, n)
		g.TranslationCoords(x, kind, l.A, l.Q)
		one, oneKind := make([]float64, dim), make([]float64, 1)
		for i := range n {
			a, q := l.Row(i)
			g.TranslationCoords(one, oneKind, a, q)
			require.Equal(t, one, x[i*dim:(i+1)*dim])
			require.Equal(t, oneKind, kind[i:i+1])
		}
	}
}

// What bounds nothing says so.
func TestTranslationErrorOfBadNumbers(t *testing.T) {
	for _, g := range []TranslationInvariant{NewT(2, 0), NewSE2(0)} {
		for _, bad := range []float64{math.Inf(1), math.NaN()} {
			require.False(t, g.TranslationError(bad, 1) < 1e300)
			require.False(t, g.TranslationError(0, bad) < 1e300)
		}
	}
}
