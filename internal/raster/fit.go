package raster

import (
	"fmt"
)

// Enlarge repeats every pixel of an image, and of its mask, scale times along both sides.
func Enlarge(im *Image, mask []bool, scale int) (*Image, []bool) {
	h, w := scale*im.H, scale*im.W
	big := *im
	big.H, big.W, big.Pix = h, w, make([]float32, im.C*h*w)
	observed := make([]bool, h*w)
	for y := range h {
		for x := range w {
			from := y/scale*im.W + x/scale
			observed[y*w+x] = mask[from]
			for c := range im.C {
				big.Pix[(c*h+y)*w+x] = im.Pix[c*im.H*im.W+from]
			}
		}
	}
	return &big, observed
}

// Fit gives the image a model's number of channels, and notes what that changed.
func (im *Image) Fit(channels int) (fit *Image, notes []string, err error) {
	if im.Translucent {
		notes = append(notes, "the image has transparent pixels: those that are more transparent than opaque are not observed")
	}
	if err := im.Unplaced(); err != nil {
		notes = append(notes, fmt.Sprintf("the outputs do not say where their pixels are: %v", err))
	}
	switch {
	case channels != 1 && channels != 3:
		return nil, notes, fmt.Errorf("the model has %d channels; an image file is grey (1) or in colour (3), use predict", channels)
	case channels == 1 && im.C == 3:
		notes = append(notes, "the image is in colour and the model is for grey ones: converted to grey")
		return im.Grey(), notes, nil
	case channels == 3 && im.C == 1:
		notes = append(notes, "the image is grey and the model is for colour ones: given three equal channels")
		return im.Colour(), notes, nil
	}
	return im, notes, nil
}

// MeanSquare is the mean of (a - b)² where b is known, NaN where it is nowhere.
func MeanSquare(a, b []float32) float64 {
	sum, n := 0.0, 0
	for i := range a {
		if d := float64(a[i]) - float64(b[i]); b[i] == b[i] {
			sum, n = sum+d*d, n+1
		}
	}
	return sum / float64(n)
}

// Variance is the mean of (v - m)² where v is known, of their mean m: what no constant falls below. It is NaN where v is nowhere known.
func Variance(v []float32) float64 {
	sum, n := 0.0, 0
	for _, x := range v {
		if x == x {
			sum, n = sum+float64(x), n+1
		}
	}
	mean, sum2 := sum/float64(n), 0.0
	for _, x := range v {
		if d := float64(x) - mean; x == x {
			sum2 += d * d
		}
	}
	return sum2 / float64(n)
}
