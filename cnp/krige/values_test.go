package krige

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLimitedMoments: moments of logarithms' exponentials that count for at most twice the largest value, or the median, are means over
// evenly spaced quantiles, and where logarithms are certain those of the whole distribution.
func TestLimitedMoments(t *testing.T) {
	for _, p := range [][3]float64{{1, 0.5, 2}, {1, 0.5, 0}, {-3, 2, 1}, {5, 3, 4}, {0, 12, 1}, {-40, 26, 3}, {2, 40, 1}, {-700, 300, 2},
		{7, 2.72, 10.2}} {
		mean, std := logarithm.moments(p[0], p[1], p[2])
		q := &Prediction{mean: p[:1], std: p[1:2], bend: logarithm}
		limit := math.Exp(max(p[0], p[2]) + math.Ln2)
		const n = 20000
		sum, square := 0.0, 0.0
		for i := range n {
			v := min(q.Quantile((float64(i) + 0.5) / n)[0], limit)
			sum, square = sum+v/n, square+v*v/n
		}
		require.InEpsilon(t, sum, mean, 2e-3, p)
		require.InEpsilon(t, math.Sqrt(square-sum*sum), std, 2e-3, p)
	}
	mean, std := logarithm.moments(3, 0.08, 3)
	m, s := logarithm.moments(3, 0.08, math.Inf(1))
	require.Equal(t, [2]float64{m, s}, [2]float64{mean, std})
	mean, std = root.moments(2, 1, 0)
	m, s = root.moments(2, 1, 5)
	require.Equal(t, [2]float64{m, s}, [2]float64{mean, std})
}

// TestSkewedAmounts: of a dozen amounts over five orders of magnitude the logarithms are uncertain by as many. Means and deviations stay
// those of amounts that the table may be said to know of, in any unit; quantiles and densities are those of the whole distribution.
func TestSkewedAmounts(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	y := []float64{3, 26000, 40, 900, 1, 7000, 15, 250, 20000, 2, 120, 5000}
	for _, unit := range []float64{1, 0x1p-40} {
		for _, v := range []Values{Logarithmic, Positive} {
			m, err := Fit(t.Context(), x, moved(y, func(_ int, a float64) float64 { return unit * a }), Options{Dim: 1, Values: v})
			require.NoError(t, err)
			require.Equal(t, "logarithm", m.Report().Bend)
			p, err := m.At(t.Context(), []float64{3.5, 20, 60})
			require.NoError(t, err)
			most, median := p.Quantile(0.995), p.Quantile(0.5)
			for i := range p.Mean {
				limit := 2 * max(26000*unit, median[i])
				require.True(t, p.Mean[i] > median[i] && p.Mean[i] < limit/2, "target %d: %g, median %g", i, p.Mean[i], median[i])
				require.True(t, p.Std[i] > p.Mean[i]/2 && p.Std[i] <= limit/2, "target %d: %g", i, p.Std[i])
				require.Greater(t, most[i], limit, "target %d", i)
			}
		}
	}
	one, err := Fit(t.Context(), []float64{0}, []float64{1000}, Options{Dim: 1, Values: Logarithmic})
	require.NoError(t, err)
	mean, std, err := one.Predict(t.Context(), []float64{1})
	require.NoError(t, err)
	require.True(t, mean[0] > 500 && mean[0] < 1500 && std[0] <= 1000, "%g ± %g", mean[0], std[0])
}

// TestZeroAmounts: amounts of 0 make square roots no likelier than the other amounts do, in any unit, and their log density is that of a
// value that was recorded as 0.
func TestZeroAmounts(t *testing.T) {
	x := make([]float64, 24)
	y := []float64{6, 3, 5, 7, 5, 0, 4, 8, 6, 5, 3, 7, 4, 0, 5, 9, 6, 4, 5, 2, 7, 5, 10, 4}
	for i := range x {
		x[i] = float64(i)
	}
	var want float64
	for _, unit := range []float64{1, 0x1p-60, 0x1p60} {
		m, err := Fit(t.Context(), x, moved(y, func(_ int, a float64) float64 { return unit * a }), Options{Dim: 1, Values: Positive})
		require.NoError(t, err)
		require.Empty(t, m.Report().Bend)
		roots := moved(y, func(_ int, a float64) float64 { return unit * a * a })
		m, err = Fit(t.Context(), x, roots, Options{Dim: 1, Values: Positive})
		require.NoError(t, err)
		require.Equal(t, "square root", m.Report().Bend)
		p, err := m.At(t.Context(), x)
		require.NoError(t, err)
		density, n := p.LogDensity(roots)
		require.Equal(t, 24, n)
		if density += math.Log(unit); unit == 1 {
			want = density
		}
		require.InDelta(t, want, density, 1e-6)
		at0, _ := p.LogDensity(append([]float64{0}, nans(23)...))
		at2, _ := p.LogDensity(append([]float64{unit * 2}, nans(23)...))
		require.Less(t, at0, at2+1, "half of the smallest amount has a density like the smallest one's")
	}
}

func nans(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// TestLogDensityUnits: log densities of values in units that are 1e300 times as large are smaller by its logarithm: squares of deviations
// that are beyond float64 are not needed.
func TestLogDensityUnits(t *testing.T) {
	x, y, targets := []float64{0, 1, 2, 3, 4, 5}, []float64{1, 3, 2, 5, 4, 4.5}, []float64{0.5, 9}
	density := func(unit float64) float64 {
		own := make([]float64, len(y))
		for i, v := range y {
			own[i] = v * unit
		}
		m, err := Fit(t.Context(), x, own, Options{Dim: 1})
		require.NoError(t, err)
		p, err := m.At(t.Context(), targets)
		require.NoError(t, err)
		mean, _ := p.LogDensity([]float64{2 * unit, 3 * unit})
		return mean
	}
	for _, unit := range []float64{0x1p-900, 0x1p900} {
		require.InDelta(t, density(1)-math.Log(unit), density(unit), 1e-6)
	}
}
