package likelihood

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScalesQuantile: the quantile's distribution function is the mixture's, far out as well.
func TestScalesQuantile(t *testing.T) {
	l := scalesOf(likelihoodOf(t, "scales:0.9*0.001,0.09*1,0.01*500", OutputStd, 0))
	last := math.Inf(-1)
	for _, q := range []float64{0, 1e-12, 1e-6, 1e-3, 0.04, 0.05, 0.06, 0.3, 0.5, 0.7, 0.95, 1 - 1e-3, 1} {
		z := l.quantile(q, 1)
		require.GreaterOrEqual(t, z, last)
		last = z
		below := 0.0
		for k, a := range l.nodes[0].factor {
			below += l.nodes[0].share[k] * 0.5 * math.Erfc(-z/a/math.Sqrt2)
		}
		require.InDelta(t, q, below, 1e-9*q+1e-15)
	}
	require.True(t, math.IsInf(l.quantile(0, 1), -1) && math.IsInf(l.quantile(1, 1), 1))
	require.True(t, math.IsNaN(l.quantile(math.NaN(), 1)))
}

// TestScalesNodes: between two nodes the density is the mean of theirs, by the logarithm of the deviation; beyond, that of the nearest.
func TestScalesNodes(t *testing.T) {
	l := likelihoodOf(t, "scales:0.1@1*0.5;0.4@0.5*1,0.5*2;3@1*1", OutputStd, 0)
	density := func(y, std float64, share, factor []float64) (sum float64) {
		for k, a := range factor {
			sum += share[k] * math.Exp(logNormal(y, 0.3, a*std))
		}
		return sum
	}
	for _, z := range []float64{0, -1, 6} {
		for _, c := range []struct {
			std           float64
			share, factor []float64
		}{
			{0.01, []float64{1}, []float64{0.5}}, {0.1, []float64{1}, []float64{0.5}},
			{0.2, []float64{0.5, 0.25, 0.25}, []float64{0.5, 1, 2}},
			{0.4, []float64{0.5, 0.5}, []float64{1, 2}}, {3, []float64{1}, []float64{1}}, {50, []float64{1}, []float64{1}},
		} {
			y := 0.3 + z*c.std
			require.InDelta(t, math.Log(density(y, c.std, c.share, c.factor)), l.LogDensity(y, []float64{0.3, c.std}), 1e-9)
		}
	}
	_, ok := l.(Rescaler)
	require.False(t, ok)
}
