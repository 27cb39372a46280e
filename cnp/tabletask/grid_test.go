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
	_, err = parseGrid([]string{"time=1500-01-01:2000-01-01:1000"}, []string{"time"}, hours)
	require.ErrorContains(t, err, "before 1582-10-15") // another day in the file's calendar, which is not the proleptic one
	_, err = parseGrid([]string{"time=2000-01-02:30:1"}, []string{"time"}, hours)
	require.ErrorContains(t, err, "two dates or two numbers")
	_, err = parseGrid([]string{"time=2000-01-02"}, []string{"time"}, func(int) (*tabular.Clock, error) { return nil, nil })
	require.ErrorContains(t, err, "without a unit of time")
}
