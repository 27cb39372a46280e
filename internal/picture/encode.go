package picture

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"github.com/equivcnp/equivcnp/internal/raster"
)

// WritePNG writes values pix [c, h, w] as a 16-bit PNG, grey for c = 1 and RGB for c = 3. Values are clipped to [0, 1];
// NaN is written as 0. It panics for other c or a wrong length.
func WritePNG(w io.Writer, pix []float32, c, height, width int) error {
	if !isImage(len(pix), c, height, width) || c != 1 && c != 3 {
		panic("picture: WritePNG: pix is not [1 or 3, h, w]")
	}
	n := height * width
	level := func(i int) uint16 { return uint16(math.Round(65535 * clip(float64(pix[i])))) }
	if c == 1 {
		im := image.NewGray16(image.Rect(0, 0, width, height))
		for i := range n {
			im.SetGray16(i%width, i/width, color.Gray16{Y: level(i)})
		}
		return png.Encode(w, im)
	}
	im := image.NewNRGBA64(image.Rect(0, 0, width, height)) // encoded without alpha: every pixel is opaque
	for i := range n {
		im.SetNRGBA64(i%width, i/width, color.NRGBA64{R: level(i), G: level(n + i), B: level(2*n + i), A: 65535})
	}
	return png.Encode(w, im)
}

// ImageFiles are the formats of WriteLike.
const ImageFiles = ".png .tif .tiff"

// WriteLike writes values [C, scale·H, scale·W] that were predicted of an image, as a file of that name: TIFF, which says
// where they are as the image's file does, or a 16-bit PNG.
func WriteLike(w io.Writer, name string, im *raster.Image, pix []float32, scale int, deviation bool) error {
	if raster.IsTIFFName(name) {
		return im.EncodeTIFF(w, pix, scale, deviation)
	}
	return WritePNG(w, pix, im.C, scale*im.H, scale*im.W)
}

// isImage reports whether so many values are an image [c, h, w] with at least one pixel.
func isImage(n, c, h, w int) bool {
	return c > 0 && h > 0 && w > 0 && n%c == 0 && n/c%h == 0 && n/c/h == w
}

// maxSide bounds the sides of a drawing, and maxPixels its pixels.
const (
	maxSide   = 1 << 20
	maxPixels = 1 << 28
)

// newDrawing is a blank sheet of paper. It panics if it would be too large; what asks for a drawing looks at its size before.
func newDrawing(what string, width, height int) *image.NRGBA {
	if width < 0 || height < 0 || width > maxSide || height > maxSide || height > 0 && width > maxPixels/height {
		panic(fmt.Sprintf("picture: %s: a drawing of %d x %d pixels is too large", what, width, height))
	}
	im := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.Draw(im, im.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	return im
}

// sides is the side of n pixels in a drawing, no more than maxSide and one.
func sides(scale, n int) int {
	if scale > 0 && n > maxSide/scale {
		return maxSide + 1
	}
	return max(0, scale) * max(0, n)
}

// clip limits v to [0, 1]; NaN gives 0.
func clip(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	return min(v, 1)
}
