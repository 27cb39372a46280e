package raster

import "math"

// Cover returns an image of h x w pixels: the whole one is scaled until it covers them, and what juts out is cut off,
// as much on either side. A pixel is the mean of those around it with weights that fall linearly to the next pixel, of
// the smaller image of the two: no detail is left that the new pixels cannot hold. Missing values have no weight; where
// they would have most of it, the pixel is missing. The image must not be empty; one of that size is returned as it is.
func (im *Image) Cover(h, w int) *Image {
	if im.H == h && im.W == w {
		return im
	}
	step := min(float64(im.H)/float64(h), float64(im.W)/float64(w)) // pixels of the old image per new one
	out := &Image{C: im.C, H: h, W: w, Pix: make([]float32, im.C*h*w), Translucent: im.Translucent}
	rows, columns := tents(h, im.H, step), tents(w, im.W, step)
	values, known := make([]float64, im.H*w), make([]float64, im.H*w) // sums along rows of values and of weights
	for c := range im.C {
		for y := range im.H {
			from := im.Pix[(c*im.H+y)*im.W:][:im.W]
			for x, t := range columns {
				sum, weight := 0.0, 0.0
				for k, a := range t.weights {
					if v := from[t.first+k]; v == v {
						sum, weight = sum+a*float64(v), weight+a
					}
				}
				values[y*w+x], known[y*w+x] = sum, weight
			}
		}
		for y, t := range rows {
			for x := range w {
				sum, weight := 0.0, 0.0
				for k, a := range t.weights {
					sum, weight = sum+a*values[(t.first+k)*w+x], weight+a*known[(t.first+k)*w+x]
				}
				v := math.NaN()
				if weight >= 0.5 {
					v = sum / weight
				}
				out.Pix[(c*h+y)*w+x] = float32(v)
			}
		}
	}
	return out
}

// tent holds the weights of a new pixel along one side, of old pixels from the first on. They sum to 1.
type tent struct {
	first   int
	weights []float64
}

// tents are those of n new pixels, step old ones apart, around the middle of the old ones. The middles of the outermost
// lie in the image.
func tents(n, old int, step float64) []tent {
	out, half := make([]tent, n), max(step, 1)
	for i := range out {
		at := float64(old)/2 + (float64(i)+0.5-float64(n)/2)*step - 0.5 // in old pixels, whose middles are whole numbers
		first := max(0, int(math.Ceil(at-half)))
		last := min(old-1, int(math.Floor(at+half)))
		t, sum := tent{first: first}, 0.0
		for k := first; k <= last; k++ {
			a := max(0, 1-math.Abs(float64(k)-at)/half)
			t.weights, sum = append(t.weights, a), sum+a
		}
		for k := range t.weights {
			t.weights[k] /= sum
		}
		out[i] = t
	}
	return out
}
