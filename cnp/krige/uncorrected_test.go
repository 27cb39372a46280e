package krige

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUncorrected: a report of a fit without the check does not say that deviations were multiplied.
func TestUncorrected(t *testing.T) {
	var x, y []float64
	for i := range 12 {
		x, y = append(x, float64(i)), append(y, math.Sin(1.7*float64(i)))
	}
	for _, noCheck := range []bool{false, true} {
		m, err := Fit(t.Context(), x, y, Options{Dim: 1, NoCheck: noCheck})
		require.NoError(t, err)
		require.Equal(t, noCheck, m.Report().Uncorrected)
		text := m.Report().String()
		if noCheck {
			require.Contains(t, text, "deviations were not corrected")
			require.NotContains(t, text, "multiplied")
		} else {
			require.Contains(t, text, "deviations were multiplied by")
		}
	}
}
