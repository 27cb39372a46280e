package krige

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSimple: mean and deviation of the table on the scale on which its values are normal, and a mean of the nearest rows by inverse
// squared distances; with log densities on the scale of the report's.
func TestSimple(t *testing.T) {
	x, y := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, []float64{1, 2, 4, 3, 5, 9, 7, 6, 8, 5}
	for _, values := range []Values{Plain, Logarithmic} {
		m, err := Fit(t.Context(), x, y, Options{Dim: 1, Values: values})
		require.NoError(t, err)
		bend := straight
		if values == Logarithmic {
			bend = logarithm
		}
		bent, slope, _ := bend.to(y, 1)
		mu, sd := moments(bent)
		constant, distances, err := m.Simple([]float64{2.5, 40, 3})
		require.NoError(t, err)
		for _, q := range []float64{0.1, 0.5, 0.9} {
			z := math.Sqrt2 * math.Erfinv(2*q-1)
			want := bend.from(mu + z*sd*math.Sqrt(11./9)) // of 10 values: 10/9 without bias, and 11/10 for the mean
			require.InDeltaSlice(t, []float64{want, want, want}, constant.Quantile(q), 1e-6)
		}
		var sum, total float64
		for i, v := range bent {
			w := 1 / ((x[i] - 2.5) * (x[i] - 2.5))
			sum, total = sum+w*v, total+w
		}
		near := distances.Quantile(0.5)
		require.InDelta(t, bend.from(sum/total), near[0], 1e-6)
		require.InDelta(t, y[3], near[2], 1e-6)
		require.InDelta(t, -3-slope+math.Log(sd), m.OverDeviation(-3), 1e-9)
	}
	m, err := Fit(t.Context(), x[:3], []float64{2, 2, 2}, Options{Dim: 1})
	require.NoError(t, err)
	constant, distances, err := m.Simple([]float64{5})
	require.NoError(t, err)
	require.Equal(t, []float64{2}, constant.Mean)
	require.Equal(t, constant.Std, distances.Std)
	_, _, err = m.Simple([]float64{math.NaN()})
	require.ErrorIs(t, err, ErrInput)
}
