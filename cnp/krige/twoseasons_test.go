package krige

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// hourlyLoad is a made-up load: days have one shape, and weekends another, less.
func hourlyLoad(n int, weekend float64, seed uint64) (x, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	noise := 0.0
	for i := range n {
		noise = 0.9*noise + 8*rng.NormFloat64()
		a := 2 * math.Pi * float64(i) / 24
		v := 500 + 80*math.Sin(a-2) + 40*math.Sin(2*a) + noise
		if i/24%7 >= 5 {
			v -= weekend * (1 + 0.3*math.Sin(a-1))
		}
		x, y = append(x, float64(i)/24), append(y, v)
	}
	return x, y
}

// TestTwoSeasons forecasts a day of a load that has a day and a week, from the ends of a Friday and of a Sunday, of tables that are exact
// and that are not. The weekend must be seen to come and to go.
func TestTwoSeasons(t *testing.T) {
	for _, days := range []int{26, 28, 54, 56} {
		x, y := hourlyLoad(24*(days+1), 90, uint64(days))
		n := 24 * days
		m, err := Fit(t.Context(), x[:n], y[:n], Options{Dim: 1, Calendar: CalendarDays()})
		require.NoError(t, err)
		mean, std, err := m.Predict(t.Context(), x[n:])
		require.NoError(t, err)
		var sum, inside float64
		for i, v := range mean {
			e := math.Abs(v - y[n+i])
			if sum += e / 24; e < 2*std[i] {
				inside++
			}
		}
		require.Less(t, sum, 45.0, "%d days", days) // a season of a day alone misses by the 90 of a weekend
		require.Greater(t, inside, 18.0, "%d days", days)
	}
}

// TestOneSeason fits a series with a day and no week: it is given none.
func TestOneSeason(t *testing.T) {
	x, y := hourlyLoad(24*26, 0, 3)
	m, err := Fit(t.Context(), x, y, Options{Dim: 1, Calendar: CalendarDays()})
	require.NoError(t, err)
	best := m.Report().Members[0]
	require.InDelta(t, 1, best.Period, 0.02)
	require.Zero(t, best.LongPeriod)
}
