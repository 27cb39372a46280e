package tabletask

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// TestParseGrid: axes keep their order, dates are numbers on the clock of the column, and what is no grid is refused.
func TestParseGrid(t *testing.T) {
	days := func(int) (*tabular.Clock, error) { return tabular.ParseClock(tabular.UnixDays, "") }
	axes, err := parseGrid([]string{"lon=-10:10:5", "time=1970-01-03", "lat=50:60.5:10"}, []string{"lat", "lon", "time"}, days)
	require.NoError(t, err)
	require.Equal(t, []axis{{"lon", []float64{-10, -5, 0, 5, 10}}, {"time", []float64{2}}, {"lat", []float64{50, 60}}}, axes)
	table := gridTable(axes, []string{"lat", "lon", "time"})
	require.Equal(t, 10, table.Rows())
	require.Equal(t, []float64{50, -10, 2, 60, -10, 2, 50, -5, 2}, table.Values[:9])
	for text, words := range map[string]string{"lat=1:2": "need FROM:TO:STEP", "lat=a:2:1": `"a" is not a number`,
		"lat=2:1:1": "steps of 1 do not lead from 2 to 1", "lat=1:2:-1": "steps of -1 do not lead from 1 to 2",
		"lat=1:2:0": "steps of 0 do not lead from 1 to 2", "x=1:2:1": "the inputs are lat", "lat=0:1e9:1e-9": "need 1 to",
		"lat=NaN": "not a finite number"} {
		_, err := parseGrid(strings.Fields(text), []string{"lat"}, days)
		require.ErrorContains(t, err, words)
	}
	hours := func(int) (*tabular.Clock, error) { return tabular.ParseClock("hours since 2000-01-01", "") }
	axes, err = parseGrid([]string{"time=2000-01-02:2000-01-03:0.5"}, []string{"time"}, hours)
	require.NoError(t, err)
	require.Equal(t, []float64{24, 36, 48}, axes[0].values)
	for text, want := range map[string][]float64{"time=2000-01-31:2000-04-30:1mo": {720, 1416, 2160, 2880},
		"time=2000-01-01T06:00:2000-01-01T06:30:00Z:15 min": {6, 6.25, 6.5}, "time=2000-01-01 12:00": {12},
		"time=2000-02-01:2000-01-01:-1 month": {744, 0}, "time=0:48:1d": {0, 24, 48},
		"time=2000-01-01 00:00:00+02:00:2000-01-01 00:00:10+02:00:5s": {-2, -2 + 5/3600., -2 + 10/3600.}} {
		axes, err = parseGrid([]string{text}, []string{"time"}, hours)
		require.NoError(t, err, text)
		require.InDeltaSlice(t, want, axes[0].values, 1e-12, text)
	}
	for text, words := range map[string]string{"time=2000-01-01:2001-01-01:1.5mo": "no whole number of months",
		"time=2000-01-01:2001-01-01:-1mo": "do not lead from", "time=2000-01-01:2001-01-01:0mo": "do not lead from",
		"time=2000-01-01:2001-01-01:1e300y": "no whole number", "time=-1e9:1e9:1mo": "years 1 to 9999",
		"time=2000-01-01:2001-01-01:1q": "nor a time such as 1d", "time=2000-01-01:2001-01-01": "need FROM:TO:STEP",
		"time=2000-01-01:9999-01-01:1s": "need 1 to"} {
		_, err := parseGrid([]string{text}, []string{"time"}, hours)
		require.ErrorContains(t, err, words, text)
	}
	_, err = parseGrid([]string{"time=1500-01-01:2000-01-01:1000"}, []string{"time"}, hours)
	require.ErrorContains(t, err, "before 1582-10-15") // another day in the file's calendar, which is not the proleptic one
	_, err = parseGrid([]string{"time=2000-01-02:30:1"}, []string{"time"}, hours)
	require.ErrorContains(t, err, "two dates or two numbers")
	_, err = parseGrid([]string{"time=2000-01-02"}, []string{"time"}, func(int) (*tabular.Clock, error) { return nil, nil })
	require.ErrorContains(t, err, "without a unit of time")
	_, err = parseGrid([]string{"time=0:1:1h"}, []string{"time"}, func(int) (*tabular.Clock, error) { return nil, nil })
	require.ErrorContains(t, err, "without a unit of time")
}

// TestCells: cells of the plane cover the places, and their sides are multiples of their size.
func TestCells(t *testing.T) {
	in := tabular.Of([]tabular.Column{{Name: "x", Values: []float64{0.3, 1.1}}, {Name: "y", Values: []float64{-0.1, -0.1}}})
	in.Name = "t.csv"
	names, columns := []string{"x", "y"}, []int{0, 1}
	axes, err := cells(0.5, []float64{0.3, -0.1, 1.1, -0.1}, in, names, columns)
	require.NoError(t, err)
	require.Equal(t, []axis{{"y", []float64{-0.25}}, {"x", []float64{0.25, 0.75, 1.25}}}, axes)
	axes, err = cells(0.1, []float64{0.3, 0, 0.6, 1}, in, names, columns)
	require.NoError(t, err)
	require.Len(t, axes[1].values, 3) // 0.3 is a side, whatever it is in binary
	for _, size := range []float64{1e-9, 1e-300} {
		_, err := cells(size, []float64{0, 0, 1, 1}, in, names, columns)
		require.ErrorContains(t, err, "need larger ones")
	}
	_, err = cells(1, []float64{1, 2, 3}, in, []string{"a", "b", "c"}, []int{0, 1, 1})
	require.ErrorContains(t, err, "need two inputs, and t.csv has 3")
	series := tabular.Of([]tabular.Column{{Name: "day", Unit: tabular.UnixDays, Values: []float64{1, 2}}})
	_, err = cells(2, []float64{1, 2}, series, []string{"day"}, []int{0})
	require.ErrorContains(t, err, "say from when to when, as in day=2006-01-01:2006-12-31:2d")
	_, err = cells(1, nil, in, names, columns)
	require.ErrorContains(t, err, "no rows")
	for _, bad := range []string{"", "0", "-1", "x", "NaN", "Inf"} {
		_, alone, err := cellSize([]string{bad})
		require.True(t, alone)
		require.ErrorContains(t, err, "need the side of a cell", bad)
	}
	_, alone, err := cellSize([]string{"x=0:1:1"})
	require.NoError(t, err)
	require.False(t, alone)
}
