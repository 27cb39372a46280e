package group

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHalfTurn: the relative angle of two opposite points is +π from either side and however both were turned before.
func TestHalfTurn(t *testing.T) {
	for _, d := range []float64{math.Pi, -math.Pi, math.Nextafter(-math.Pi, 0), 3 * math.Pi, -3 * math.Pi} {
		require.InDelta(t, math.Pi, relativeAngle(d), 1e-14, "%v", d)
	}
	for _, d := range []float64{0, 1, -1, 3, -3, -math.Pi + 1e-13, math.Pi - 1e-13} {
		require.Equal(t, d, relativeAngle(d))
	}
	require.True(t, math.IsNaN(relativeAngle(math.NaN())))

	for _, g := range []Group{NewSO2(0), NewRxSO2(0)} {
		for i := range 100 {
			s, c := math.Sincos(0.0631 * float64(i))
			l := LiftPoints(g, []float64{2 * c, 2 * s, -2 * c, -2 * s}, 1, 0)
			for _, ij := range [][2]int{{0, 1}, {1, 0}} {
				pose := make([]float64, PoseDim(g))
				ai, qi := l.Row(ij[0])
				aj, qj := l.Row(ij[1])
				g.RelativePose(pose, ai, qi, aj, qj)
				require.InDelta(t, math.Pi, pose[g.AlgebraDim()-1], 1e-14, "%s, pair %v, turn %d", g.Name(), ij, i)
			}
		}
	}

	// Stabiliser samples of SE(2): the same relative poses, half turns included, after a turn that permutes the samples.
	g := NewSE2(0)
	for _, k := range []int{2, 4, 6} {
		x := []float64{0.3, -0.7, 1.1, 0.4}
		turned := make([]float64, 4)
		a := []float64{2 * math.Pi / float64(k), 0.5, -2}
		for p := 0; p < 4; p += 2 {
			g.Act(turned[p:p+2], a, x[p:p+2])
		}
		before, after := LiftPoints(g, x, k, 0), LiftPoints(g, turned, k, 0)
		for l := range k {
			for m := range k {
				var p, q [3]float64
				ai, _ := before.Row(l)
				aj, _ := before.Row(k + m)
				g.RelativePose(p[:], ai, nil, aj, nil)
				bi, _ := after.Row((l + 1) % k) // the sample that the turn takes l to
				bj, _ := after.Row(k + (m+1)%k)
				g.RelativePose(q[:], bi, nil, bj, nil)
				for e := range p {
					require.InDelta(t, p[e], q[e], 1e-12, "K = %d, samples %d and %d", k, l, m)
				}
			}
		}
	}
}
