package picture

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDateTicks(t *testing.T) {
	at := func(text string) float64 {
		v, err := time.Parse("2006-01-02 15:04:05", text)
		require.NoError(t, err)
		return float64(v.Unix()) / 86400
	}
	days := dateTicks{func(v float64) float64 { return v }}
	for _, c := range []struct{ from, to, ticks, label string }{
		{"2024-02-27 06:00:00", "2024-03-03 06:00:00", "2024-02-28 2024-02-29 2024-03-01 2024-03-02 2024-03-03", "t"},
		{"2024-01-03 00:00:00", "2024-02-02 00:00:00", "2024-01-08 2024-01-15 2024-01-22 2024-01-29", "t"}, // Mondays
		{"1958-12-15 00:00:00", "1959-05-02 00:00:00", "1959-01 1959-02 1959-03 1959-04 1959-05", "t"},
		{"1949-01-01 00:00:00", "1960-12-01 00:00:00", "1950 1952 1954 1956 1958 1960", "t"},
		{"0999-01-01 00:00:00", "2001-01-01 00:00:00", "1000 1200 1400 1600 1800 2000", "t"},
		{"2024-03-31 22:00:00", "2024-04-01 08:00:00", "31 Mar 22:00|1 Apr 00:00|1 Apr 02:00|1 Apr 04:00|1 Apr 06:00|1 Apr 08:00",
			"t, 2024"},
		{"2024-03-31 23:50:00", "2024-04-01 00:12:00", "23:50 23:55 00:00 00:05 00:10", "t, from 2024-03-31"},
	} {
		lo, hi := at(c.from), at(c.to)
		var labels []string
		for _, tick := range days.Ticks(lo, hi) {
			labels = append(labels, tick.Label)
			require.True(t, tick.Value >= lo-1e-9 && tick.Value <= hi+1e-9, "%s: tick %s at %v", c.from, tick.Label, tick.Value)
		}
		separator := " "
		if strings.Contains(c.ticks, "|") {
			separator = "|"
		}
		require.Equal(t, c.ticks, strings.Join(labels, separator), "%s to %s", c.from, c.to)
		require.Equal(t, c.label, days.named("t", lo, hi))
	}
	hours := dateTicks{func(v float64) float64 { return at("2024-05-06 00:00:00") + v/24 }}
	ticks := hours.Ticks(0, 48)
	require.Equal(t, "6 May 00:00", ticks[0].Label)
	require.InDelta(t, 12, ticks[1].Value, 1e-9)
	for _, v := range [][2]float64{{0, 1e-7}, {-1e12, 1e12}, {1e9, 1e9 + 5}} { // no dates, and neither a panic nor an endless loop
		require.NotEmpty(t, days.Ticks(v[0], v[1]))
	}
	require.NotEmpty(t, dateTicks{func(float64) float64 { return math.NaN() }}.Ticks(0, 1))
}
