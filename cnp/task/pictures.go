package task

import (
	"fmt"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/cnp"
)

// Pictures is a kind of images of one size: drawn on demand, or picked from a set.
type Pictures interface {
	// Size returns channels, height and width.
	Size() (c, h, w int)
	// Draw writes one image [c, h, w] with values in [0, 1] to dst.
	Draw(dst []float32, rng *rand.Rand)
	// String names the images and everything that they depend on.
	String() string
}

// Rates is the range of an image's context rate: each image has its own, uniform in it, and observes every pixel with that
// probability, independent of all others.
type Rates struct{ Min, Max float64 }

// PaperRates is the paper's range: from a hundredth of the pixels to a half of them.
var PaperRates = Rates{0.01, 0.5}

// Validate reports what is no range of probabilities.
func (r Rates) Validate() error {
	if !(r.Min >= 0 && r.Min <= r.Max && r.Max <= 1) {
		return fmt.Errorf("task: context rates %g to %g, need 0 <= min <= max <= 1", r.Min, r.Max)
	}
	return nil
}

// Mask draws which pixels are observed, and returns how many are.
func (r Rates) Mask(dst []bool, rng *rand.Rand) int {
	rate, n := r.Min+(r.Max-r.Min)*rng.Float64(), 0
	for i := range dst {
		if dst[i] = rng.Float64() < rate; dst[i] {
			n++
		}
	}
	return n
}

// ImageSource is the Source of partly observed images.
type ImageSource[T cnp.Float] struct {
	Pictures Pictures
	Rates    Rates
}

// Batch implements Source.
func (s ImageSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	if err := s.Rates.Validate(); err != nil {
		return nil, err
	}
	c, h, w := s.Pictures.Size()
	if n < 0 || c < 1 || h < 1 || w < 1 {
		return nil, fmt.Errorf("task: %d images of %d x %d pixels with %d channels", n, w, h, c)
	}
	rng := StepRand(seed, step)
	im := &cnp.Images[T]{B: n, C: c, H: h, W: w, Pixels: make([]T, n*c*h*w), Mask: make([]bool, n*h*w)}
	pix := make([]float32, c*h*w)
	for i := range n {
		s.Pictures.Draw(pix, rng)
		for k, v := range pix {
			im.Pixels[i*len(pix)+k] = T(v)
		}
		s.Rates.Mask(im.Mask[i*h*w:(i+1)*h*w], rng)
	}
	return &Tasks[T]{Images: im, Y: append([]T(nil), im.Pixels...)}, nil
}

// String implements Source.
func (s ImageSource[T]) String() string {
	return fmt.Sprintf("%v, %g to %g of the pixels context", s.Pictures, s.Rates.Min, s.Rates.Max)
}
