package picture

import (
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
)

// WritePNG writes values pix [c, h, w] as a 16-bit PNG, grey for c = 1 and RGB for c = 3. Values are clipped to [0, 1];
// NaN is written as 0. It panics for other c or a wrong length.
func WritePNG(w io.Writer, pix []float32, c, height, width int) error {
	n := height * width
	if (c != 1 && c != 3) || len(pix) != c*n {
		panic("picture: WritePNG: pix is not [1 or 3, h, w]")
	}
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

// clip limits v to [0, 1]; NaN gives 0.
func clip(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	return min(v, 1)
}
