package raster

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCover: an image is scaled until it covers the size, cut off around its middle, and keeps its level and its slopes.
func TestCover(t *testing.T) {
	ramp := func(h, w int) *Image { // x to the right in units of the height
		im := &Image{C: 2, H: h, W: w, Pix: make([]float32, 2*h*w)}
		for i := range h * w {
			im.Pix[i], im.Pix[h*w+i] = float32((float64(i%w)+0.5-float64(w)/2)/float64(h)), 0.25
		}
		return im
	}
	for _, c := range []struct{ h, w, toH, toW int }{{90, 160, 9, 9}, {160, 90, 9, 9}, {4, 6, 12, 12}, {30, 20, 7, 5}, {1, 1, 3, 4},
		{5, 7, 1, 1}} {
		im := ramp(c.h, c.w)
		got := im.Cover(c.toH, c.toW)
		require.Equal(t, []int{2, c.toH, c.toW, 2 * c.toH * c.toW}, []int{got.C, got.H, got.W, len(got.Pix)})
		step := min(float64(c.h)/float64(c.toH), float64(c.w)/float64(c.toW))
		for i := range c.toH * c.toW {
			require.InDelta(t, 0.25, got.Pix[c.toH*c.toW+i], 1e-6)
			if x := i % c.toW; x > 0 && x < c.toW-1 && c.toH > 1 && c.h > 1 { // at the edge the weights are one-sided
				require.InDelta(t, (float64(x)+0.5-float64(c.toW)/2)*step/float64(c.h), got.Pix[i], 1e-6, "%v %d", c, i)
			}
		}
	}
	stripes := &Image{C: 1, H: 64, W: 64, Pix: make([]float32, 64*64)}
	for i := range stripes.Pix {
		stripes.Pix[i] = float32(i % 2)
	}
	for _, v := range stripes.Cover(8, 8).Pix { // which nearest pixels would show as black or white
		require.InDelta(t, 0.5, v, 0.02)
	}
	same := ramp(3, 3)
	require.Same(t, same, same.Cover(3, 3))
}

// TestCoverMissing: what is missing takes no part, and a pixel that mostly consists of it is missing.
func TestCoverMissing(t *testing.T) {
	im := &Image{C: 1, H: 8, W: 8, Pix: make([]float32, 64)}
	for i := range im.Pix {
		im.Pix[i] = 0.5
		if i%8 < 4 {
			im.Pix[i] = float32(math.NaN())
		}
	}
	im.Pix[7] = float32(math.NaN())
	got := im.Cover(2, 2)
	for i, v := range got.Pix {
		require.Equal(t, i%2 == 0, v != v, i)
		require.True(t, v != v || v == 0.5, "%v", v)
	}
}
