package picture

import (
	"bytes"
	"image/png"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWriteCharts: lines over numbers and points over names, with values that cannot be drawn left out.
func TestWriteCharts(t *testing.T) {
	lines := &Chart{Title: "lines", XLabel: "x", YLabel: "y", Series: []Series{
		{Name: "a", X: []float64{0, 1, 2}, Y: []float64{1, math.NaN(), 2}, Err: []float64{0.1, 0.1, 0.2}},
		{Name: "b", X: []float64{0, 1}, Y: []float64{1, 2}},
		{Name: "none", X: []float64{0}, Y: []float64{math.Inf(1)}},
	}}
	names := &Chart{Names: []string{"one", "two"},
		Series: []Series{{Name: "a", X: []float64{0, 1}, Y: []float64{-1, 2}, Err: []float64{1, 1}}}}
	for _, c := range []*Chart{lines, names, {}} {
		var b, again, svg bytes.Buffer
		require.NoError(t, WriteCharts(&b, "png", c))
		require.NoError(t, WriteCharts(&again, "png", c))
		require.Equal(t, b.Bytes(), again.Bytes())
		im, err := png.Decode(&b)
		require.NoError(t, err)
		require.Equal(t, 960, im.Bounds().Dx())
		require.NoError(t, WriteCharts(&svg, "svg", c))
		for _, n := range c.Names {
			require.Contains(t, svg.String(), n)
		}
	}
	require.ErrorContains(t, WriteCharts(&bytes.Buffer{}, "gif", lines), `"gif"`)
	lines.Series[0].X = nil
	require.ErrorContains(t, WriteCharts(&bytes.Buffer{}, "png", lines), `series "a" has 0 x, 3 y`)
}
