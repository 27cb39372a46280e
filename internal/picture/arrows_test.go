package picture

import (
	"bytes"
	"image/png"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWriteArrows: fields with and without covariance, context and targets are drawn, and what is not finite is refused.
func TestWriteArrows(t *testing.T) {
	a := &Arrows{Title: "a field", XLabel: "east", YLabel: "north", X: []float64{0, 0, 1, 0, 0, 1}, V: []float64{1, 0, 0, 2, 0, 0},
		Covariance: []float64{0.1, 0, 0, 0.1, 0.1, 0.05, 0.05, 0.1, 0, 0, 0, 0}, ContextX: []float64{0.5, 0.5}, ContextV: []float64{-1, 1}}
	var b bytes.Buffer
	require.NoError(t, WriteArrows(&b, "png", a))
	im, err := png.Decode(&b)
	require.NoError(t, err)
	require.Equal(t, im.Bounds().Dx(), im.Bounds().Dy())
	dark := 0
	for y := range im.Bounds().Dy() {
		for x := range im.Bounds().Dx() {
			if r, g, bl, _ := im.At(x, y).RGBA(); r < g && g < bl {
				dark++
			}
		}
	}
	require.Greater(t, dark, 1000, "blue arrows and ellipses")
	for _, few := range []*Arrows{{}, {X: []float64{1, 2}, V: []float64{0, 0}}, {ContextX: []float64{1, 2}, ContextV: []float64{3, 4}}} {
		require.NoError(t, WriteArrows(&b, "svg", few))
	}
	require.ErrorContains(t, WriteArrows(&b, "svg", &Arrows{X: []float64{1, 2}, V: []float64{math.NaN(), 0}}), "NaN")
	require.ErrorContains(t, WriteArrows(&b, "svg", &Arrows{X: []float64{1, 2}}), "2 coordinates with 0 components")
}
