package krige

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// series is a line of so many values, one a step.
func series(n int, value func(i int) float64) (x, y []float64) {
	for i := range n {
		x, y = append(x, float64(i)), append(y, value(i))
	}
	return x, y
}

// TestLongSeason predicts a long series whose season is longer than what lies near a target: in a gap, and beyond the end, where the same
// time of earlier years is all that tells.
func TestLongSeason(t *testing.T) {
	const n, period, noise = 1100, 250, 0.1
	rng := rand.New(rand.NewPCG(1, 2))
	weather := 0.0
	truth := func(i int) float64 {
		return math.Sin(2*math.Pi*float64(i)/period) + 0.5*math.Sin(4*math.Pi*float64(i)/period+1)
	}
	x, y := series(n, func(i int) float64 {
		weather = 0.8*weather + 0.6*rng.NormFloat64()
		return truth(i) + noise*weather
	})
	const from, to = 500, 600
	x, y = append(x[:from:from], x[to:]...), append(y[:from:from], y[to:]...)
	m, err := Fit(t.Context(), x, y, Options{Dim: 1})
	require.NoError(t, err)
	require.False(t, m.exact)
	for _, part := range [][2]int{{from, to}, {n, n + period}, {-period, 0}} {
		var targets []float64
		for i := part[0]; i < part[1]; i++ {
			targets = append(targets, float64(i))
		}
		mean, std, err := m.Predict(t.Context(), targets)
		require.NoError(t, err)
		var square, deviation float64
		for i, v := range mean {
			e := v - truth(part[0]+i)
			square += e * e / float64(len(mean))
			deviation += std[i] / float64(len(mean))
		}
		require.Less(t, math.Sqrt(square), 1.5*noise, "values %d", part)
		require.Less(t, deviation, 4*noise, "values %d", part)
	}
}

// TestLongSteps forecasts the hours that follow a weekend, whose loads are lower, and fills a gap of them. Each of these hours depends on
// the same hour of other weeks, and not on that of the last row.
func TestLongSteps(t *testing.T) {
	const week = 168
	truth := func(i int) float64 {
		v := math.Sin(2 * math.Pi * float64(i) / 24)
		if i%week >= 5*24 {
			v -= 3
		}
		return v
	}
	for _, gap := range [][2]int{{6 * week, 6*week + 36}, {3 * week, 3*week + 36}} {
		rng := rand.New(rand.NewPCG(1, 2))
		weather := 0.0
		x, y := series(6*week, func(i int) float64 {
			weather = 0.8*weather + 0.6*rng.NormFloat64()
			return truth(i) + 0.1*weather
		})
		if gap[1] < len(x) {
			x, y = append(x[:gap[0]:gap[0]], x[gap[1]:]...), append(y[:gap[0]:gap[0]], y[gap[1]:]...)
		}
		m, err := Fit(t.Context(), x, y, Options{Dim: 1, Calendar: []float64{week}})
		require.NoError(t, err)
		require.False(t, m.exact)
		best := m.Report().Members[0]
		require.InDelta(t, week, max(best.Period, best.LongPeriod), 1)
		var targets []float64
		for i := gap[0] + 3; i < gap[1]; i++ {
			targets = append(targets, float64(i))
		}
		mean, std, err := m.Predict(t.Context(), targets)
		require.NoError(t, err)
		for i, v := range mean {
			require.InDelta(t, truth(int(targets[i])), v, 0.8, "%g", targets[i])
			require.Less(t, std[i], 0.8, "%g", targets[i])
		}
	}
}

// TestLongPeriod finds seasons of which the last 640 values have hardly two cycles, or less than one.
func TestLongPeriod(t *testing.T) {
	for _, c := range [][2]float64{{2000, 365}, {3000, 700}} {
		rng := rand.New(rand.NewPCG(1, 2))
		weather := 0.0
		x, y := series(int(c[0]), func(i int) float64 {
			weather = 0.8*weather + 0.6*rng.NormFloat64()
			a := 2 * math.Pi * float64(i) / c[1]
			return math.Sin(a) + 0.5*math.Sin(2*a+1) + 0.1*weather
		})
		m, err := Fit(t.Context(), x, y, Options{Dim: 1})
		require.NoError(t, err)
		require.InDelta(t, c[1], m.report.Members[0].Period, 0.02*c[1])
	}
}

// TestSeasonSamples draws samples half a season beyond a series: they deviate as much as predictions say.
func TestSeasonSamples(t *testing.T) {
	for _, n := range []int{400, 900} { // exact, and not
		rng := rand.New(rand.NewPCG(1, 2))
		period := float64(n) / 4
		weather := 0.0
		x, y := series(n, func(i int) float64 {
			weather = 0.8*weather + 0.6*rng.NormFloat64()
			return math.Sin(2*math.Pi*float64(i)/period) + 0.5*math.Sin(4*math.Pi*float64(i)/period+1) + 0.1*weather
		})
		m, err := Fit(t.Context(), x, y, Options{Dim: 1})
		require.NoError(t, err)
		require.NotEmpty(t, m.seasonsOf())
		var targets []float64
		for i := range 60 {
			targets = append(targets, float64(n+i)+period/2)
		}
		require.InDelta(t, 1, math.Sqrt(sampledSquare(t, m, targets, 200, 1)), 0.15, "%d values", n)
	}
}

// TestLongForecast forecasts a long series that rises and falls at slopes that change. Deviations beyond its end must be larger than the
// processes say, as errors of earlier forecasts were.
func TestLongForecast(t *testing.T) {
	const n, ahead = 700, 70
	rng := rand.New(rand.NewPCG(5, 3))
	level, slope := 0.0, 0.0
	x, y := series(n+ahead, func(i int) float64 {
		if rng.Float64() < 1./200 {
			slope = 0.5 * rng.NormFloat64()
		}
		level += slope + rng.NormFloat64()
		return level
	})
	m, err := Fit(t.Context(), x[:n], y[:n], Options{Dim: 1})
	require.NoError(t, err)
	var square [2]float64
	for k := range square {
		if k == 1 {
			m.mix.reach = nil
		}
		mean, std, err := m.Predict(t.Context(), x[n:])
		require.NoError(t, err)
		for i, v := range mean {
			z := (y[n+i] - v) / std[i]
			square[k] += z * z / ahead
		}
	}
	require.Less(t, square[0], 0.8*square[1])
}
