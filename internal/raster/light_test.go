package raster

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFloatImages: floats are an image where they are light, and else refused by a word of what reads them.
func TestFloatImages(t *testing.T) {
	nan := float32(math.NaN())
	im, err := Decode(floats(t, []float32{0, 0.25, nan, 1}), "a.tif")
	require.NoError(t, err)
	require.Equal(t, []float32{0, 0.25}, im.Pix[:2])
	require.True(t, im.Pix[2] != im.Pix[2])
	im, err = Decode(floats(t, []float32{0, 0.25, nan, 1}, []float32{0.5, 0, 0, 0}, []float32{0, 0, 0, 1}), "a.tif")
	require.NoError(t, err)
	require.Equal(t, 3, im.C)
	for c := range 3 { // where one channel is missing, the pixel is
		require.True(t, im.Pix[4*c+2] != im.Pix[4*c+2])
	}
	for _, bad := range [][]float32{{0, 0.5, 1, 1.5}, {-1, 0, 0, 1}, {0, 200, 300, nan}} {
		_, err := Decode(floats(t, bad), "a.tif")
		require.ErrorIs(t, err, ErrImage)
		require.ErrorContains(t, err, "use raster")
	}
}
