package krige

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCalendar: of a season with two high peaks in a year half a year is found, which a year that the calendar names corrects.
func TestCalendar(t *testing.T) {
	const year, months = 365.2425, 12 * 9
	rng := rand.New(rand.NewPCG(3, 4))
	season := func(x float64) float64 {
		return 3*math.Sin(4*math.Pi*x/year) + math.Sin(2*math.Pi*x/year)
	}
	x, y := make([]float64, months), make([]float64, months)
	for i := range x {
		x[i] = year / 12 * float64(i)
		y[i] = season(x[i]) + 0.4*rng.NormFloat64()
	}
	next := make([]float64, 12)
	for i := range next {
		next[i] = year / 12 * float64(months+i)
	}
	rmse := func(calendar ...float64) float64 {
		m, err := Fit(context.Background(), x, y, Options{Dim: 1, Calendar: calendar})
		require.NoError(t, err)
		mean, _, err := m.Predict(context.Background(), next)
		require.NoError(t, err)
		var sum float64
		for i, v := range mean {
			sum += (v - season(next[i])) * (v - season(next[i]))
		}
		return math.Sqrt(sum / float64(len(next)))
	}
	require.Greater(t, rmse(), 0.4)
	require.Less(t, rmse(year, 7, 1), 0.25)
	// A week and a day are too short for months, and 10 years too long for 9 of them.
	require.Equal(t, rmse(), rmse(7, 1, 10*year))
}

// TestPeriodTwice: a period that is named twice, or by the calendar too, counts once.
func TestPeriodTwice(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x, y := make([]float64, 80), make([]float64, 80)
	for i := range x {
		x[i] = float64(i)
		y[i] = 100 + 10*math.Sin(2*math.Pi*x[i]/7) + 3*rng.NormFloat64()
	}
	fitted := func(opt Options) []Member {
		opt.Dim = 1
		m, err := Fit(context.Background(), x, y, opt)
		require.NoError(t, err)
		return m.Report().Members
	}
	once := fitted(Options{Calendar: []float64{365.2425, 7, 1}})
	require.Equal(t, once, fitted(Options{Calendar: []float64{365.2425, 7, 1}, Periods: []float64{7}}))
	once = fitted(Options{Periods: []float64{7}})
	require.Equal(t, once, fitted(Options{Periods: []float64{7, 7, 7.0001}}))
}

func TestCalendarErrors(t *testing.T) {
	for _, o := range []Options{{Dim: 1, Calendar: []float64{0}}, {Dim: 1, Calendar: []float64{math.Inf(1)}},
		{Dim: 2, Calendar: []float64{1}}} {
		_, err := Fit(context.Background(), []float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}[:4/o.Dim], o)
		require.ErrorIs(t, err, ErrInput)
	}
}
