package tabular

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Durations are months or days, and a month later is a day of the next month.
func TestDuration(t *testing.T) {
	for text, want := range map[string][2]float64{"1d": {0, 1}, "-6h": {0, -0.25}, "0.5y": {6, 0}, "1 month": {1, 0}, "3mo": {3, 0},
		"2 weeks": {0, 14}, "90m": {0, 0.0625}, "90 min": {0, 0.0625}, "864s": {0, 0.01}, "864ms": {0, 1e-5}, "2years": {24, 0}} {
		months, days, ok := ParseDuration(text)
		require.True(t, ok, text)
		require.Equal(t, want[0], months, text)
		require.InDelta(t, want[1], days, 1e-15, text)
	}
	for _, bad := range []string{"", "1", "d", "1q", "1e999d", "NaNd", "1 d d", "1D"} {
		_, _, ok := ParseDuration(bad)
		require.False(t, ok, bad)
	}
	day, ok := Days("2024-01-31 06:00")
	require.True(t, ok)
	for months, want := range map[int]string{1: "2024-02-29 06:00", 2: "2024-03-31 06:00", -1: "2023-12-31 06:00", 13: "2025-02-28 06:00"} {
		later, _ := Days(want)
		require.Equal(t, later, AddMonths(day, months), want)
	}
}
