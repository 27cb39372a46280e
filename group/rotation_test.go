package group

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The poses of two lifts and of the same two turned differ by no more than RotationError says: for any angles, sizes from rounding's
// to large, and errors from none to the largest it stands for.
func TestRotationErrorBoundsPoses(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	for _, g := range []RotationInvariant{NewSO2(0), NewRxSO2(0), NewRxSO2(0.9)} {
		tight := math.Inf(1)
		for range 20000 {
			angle := 2 * math.Pi * float64(rng.IntN(6)) / 6
			noise := math.Ldexp(rng.Float64(), -rng.IntN(60)-1) * float64(rng.IntN(2))
			size := math.Ldexp(1, rng.IntN(24)-12)
			var a, b [2][]float64 // a lift and where it is turned to
			for k := range a {
				v := []float64{math.Pi * (2*rng.Float64() - 1), size * rng.NormFloat64()}
				to := math.Remainder(v[0]+angle+noise*(rng.Float64()-0.5), 2*math.Pi)
				w := []float64{min(max(to, -math.Pi), math.Pi), v[1] + noise*(rng.Float64()-0.5)}
				if g.Name() == "R>0xSO(2)" {
					v[0], v[1], w[0], w[1] = v[1], v[0], w[1], w[0]
				} else {
					v[1], w[1] = math.Abs(v[1]), math.Abs(w[1])
				}
				a[k], b[k] = v, w
			}
			n := g.AlgebraDim()
			pose, turned := make([]float64, PoseDim(g)), make([]float64, PoseDim(g))
			g.RelativePose(pose, a[0][:n], a[0][n:], a[1][:n], a[1][n:])
			g.RelativePose(turned, b[0][:n], b[0][n:], b[1][:n], b[1][n:])
			if !(max(g.Distance(pose), g.Distance(turned)) < 0.99*g.HalfTurnDistance()) {
				continue
			}
			bound := 0.0
			for k := range a {
				bound += g.RotationError(a[k][:n], a[k][n:], b[k][:n], b[k][n:], angle)
			}
			if bound > 0.01 {
				continue
			}
			for c := range pose {
				diff := math.Abs(pose[c] - turned[c])
				if !(diff <= bound) {
					t.Fatalf("%s: lifts %v, turned by %v %v: poses %v and %v, bound %g", g.Name(), a, angle, b, pose, turned, bound)
				}
				if noise > 1e-9 && diff > 0 {
					tight = min(tight, bound/diff)
				}
			}
		}
		require.Less(t, tight, 1.2, "%s: a bound that is never reached", g.Name())
	}
}

// What bounds nothing says so.
func TestRotationErrorOfBadLifts(t *testing.T) {
	g := NewRxSO2(0)
	for _, bad := range []float64{4, -4, math.Inf(1), math.NaN()} {
		require.False(t, g.RotationError([]float64{0, bad}, nil, []float64{0, 0}, nil, 0) < 1, "angle %v", bad)
		require.False(t, g.RotationError([]float64{0, 0}, nil, []float64{0, bad}, nil, 0) < 1, "angle %v", bad)
	}
	require.False(t, g.RotationError([]float64{math.NaN(), 0}, nil, []float64{0, 0}, nil, 0) < 1)
	require.False(t, g.RotationError([]float64{0, 0}, nil, []float64{math.Inf(1), 0}, nil, 0) < 1)
}
