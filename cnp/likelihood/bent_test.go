package likelihood

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestBent: density, quantiles and moments of each scale belong together. The oracle of the density is a difference of the
// distribution function, that of the moments the mean over many evenly spaced quantiles.
func TestBent(t *testing.T) {
	mixed, err := Parse(BentName+":2", Options{Architecture: "population"})
	require.NoError(t, err)
	two := func(bend Bend) []float64 { return []float64{0.3, 1.2, 0.2, 0.7, 2.5, 0.1, float64(bend)} }
	for _, p := range [][]float64{{1.5, 0.3, float64(Straight)}, {1.5, 0.3, float64(Root)}, {0.3, 0.7, float64(Root)},
		{-0.5, 0.5, float64(Root)}, {4.01, 0.5, float64(Root)}, {3.99, 0.5, float64(Root)}, {1.5, 0.3, float64(Logarithm)},
		{3, 0.4, float64(Amount)}, two(Straight), two(Root), two(Logarithm), two(Amount)} {
		l := Family(Bent{})
		if len(p) == 3 {
			p = append(p, ZeroRoot, Unlimited)
		} else {
			l = mixed
		}
		mean, std := l.Moments(p)
		const n = 20000
		sum, square := 0.0, 0.0
		for i := range n {
			v := l.Quantile((float64(i)+0.5)/n, p)
			sum, square = sum+v/n, square+v*v/n
		}
		require.InEpsilon(t, sum, mean, 1e-3, p)
		require.InEpsilon(t, math.Sqrt(square-sum*sum), std, 5e-3, p)
		for _, q := range []float64{0.1, 0.5, 0.8} {
			lo, hi := l.Quantile(q-1e-4, p), l.Quantile(q+1e-4, p)
			if lo == hi { // at 0, where a root's normal is cut
				continue
			}
			require.InEpsilon(t, 2e-4/(hi-lo), math.Exp(l.LogDensity(l.Quantile(q, p), p)), 1e-4, p)
		}
		rng := testkit.Rand(1)
		below := 0
		for range 4000 {
			if l.Sample(rng, p) < l.Quantile(0.9, p) {
				below++
			}
		}
		require.InDelta(t, 0.9, float64(below)/4000, 0.03, p)
	}
	l := Bent{}
	amount := []float64{-1, 0.5, float64(Amount), ZeroRoot, 0}
	require.Zero(t, l.Quantile(0.5, amount))
	mean, _ := l.Moments(amount)
	require.Zero(t, mean)
	require.True(t, math.IsInf(mixed.LogDensity(0, two(Logarithm)), -1))
	require.Panics(t, func() { mixed.Gradient(nil, 0, nil, nil) })
	require.True(t, math.IsInf(l.LogDensity(-1, []float64{0, 1, float64(Root), ZeroRoot, 0}), -1))
	require.True(t, math.IsInf(l.LogDensity(0, []float64{0, 1, float64(Logarithm), ZeroRoot, 0}), -1))
	require.Panics(t, func() { l.Gradient(nil, 0, nil, nil) })
}

// TestBelow: both ways to compute a part of a moment agree where they meet.
func TestBelow(t *testing.T) {
	for _, a := range []float64{-0.7, -5, -20} {
		for k := 1.0; k <= 2; k++ {
			meet := (25 - a) / k
			require.InEpsilon(t, below(a, meet*(1-1e-13), k), below(a, meet*(1+1e-13), k), 1e-8, "%g, %g", a, k)
		}
	}
}

// TestBentZero: what a value of 0 counts for on the scale of roots is a parameter.
func TestBentZero(t *testing.T) {
	at := func(zero float64) float64 {
		return Bent{}.LogDensity(0, []float64{1, 0.5, float64(Root), zero, Unlimited})
	}
	require.InDelta(t, math.Log(10), at(0.01)-at(0.1), 1e-12)
}

// TestBentHidden: interpolations alone have it, and it is not listed among what a model can be trained under.
func TestBentHidden(t *testing.T) {
	require.False(t, slices.Contains(Names(), BentName))
	_, err := Parse(BentName, Options{Architecture: "equivcnp"})
	require.ErrorContains(t, err, "interpolations")
	l, err := Parse(BentName, Options{Architecture: "krige"})
	require.NoError(t, err)
	require.Equal(t, Bent{}, l)
	for _, arg := range []string{"", "2", "16"} {
		l, err := Parse(strings.TrimSuffix(BentName+":"+arg, ":"), Options{Architecture: "population"})
		require.NoError(t, err)
		require.Equal(t, strings.TrimSuffix(BentName+":"+arg, ":"), l.Name())
	}
	for _, name := range []string{BentName + ":1", BentName + ":17", BentName + ":x"} {
		_, err := Parse(name, Options{Architecture: "population"})
		require.ErrorContains(t, err, "2 to 16", name)
	}
	_, err = Parse(BentName+":2", Options{Architecture: "krige"})
	require.ErrorContains(t, err, "no argument")
}
