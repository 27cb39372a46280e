package task

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
)

// Pictures is a kind of images of one size: drawn on demand, or picked from a set.
type Pictures interface {
	// Size returns channels, height and width.
	Size() (c, h, w int)
	// Draw writes one image [c, h, w], of pictures with values in [0, 1], to dst; NaN is a value that is missing.
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

// Indexed are pictures of a set.
type Indexed interface {
	Pictures
	// Len is the number of images.
	Len() int
	// DrawAt is Draw for image i.
	DrawAt(i int, dst []float32, rng *rand.Rand)
	// MaskAt returns which pixels [h, w] of image i are observed, nil where that is to be drawn.
	MaskAt(i int) []bool
}

// ImageSource is the Source of partly observed images. A pixel that lacks a value in some channel is not observed.
type ImageSource[T cnp.Float] struct {
	Pictures Pictures
	Rates    Rates // of images that do not bring their own mask
	// InOrder takes the images of a set one after the other, batch after batch, instead of picking them at random. It does
	// nothing for pictures that are no set.
	InOrder bool
}

// Len is the number of different tasks, 0 where there is no end to them.
func (s ImageSource[T]) Len() int {
	if x, ok := s.Pictures.(Indexed); ok && s.InOrder {
		return x.Len()
	}
	return 0
}

// inOrder is the place in a set of n of the i-th task of batch step of size b.
func inOrder(step, b, i, n int) int { return ((step%n*b+i)%n + n) % n }

// Batch implements Source.
func (s ImageSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	if err := s.Rates.Validate(); err != nil {
		return nil, err
	}
	c, h, w := s.Pictures.Size()
	if n < 0 || c < 1 || h < 1 || w < 1 {
		return nil, fmt.Errorf("task: %d images of %d x %d pixels with %d channels", n, w, h, c)
	}
	set, _ := s.Pictures.(Indexed)
	if set != nil && set.Len() < 1 {
		return nil, fmt.Errorf("task: no images in %v", s.Pictures)
	}
	rng := StepRand(seed, step)
	im := &cnp.Images[T]{B: n, C: c, H: h, W: w, Pixels: make([]T, n*c*h*w), Mask: make([]bool, n*h*w)}
	var known []bool
	pix := make([]float32, c*h*w)
	for i := range n {
		mask, observed := im.Mask[i*h*w:(i+1)*h*w], []bool(nil)
		if set != nil {
			k := rng.IntN(set.Len())
			if s.InOrder {
				k = inOrder(step, n, i, set.Len())
			}
			set.DrawAt(k, pix, rng)
			observed = set.MaskAt(k)
		} else {
			s.Pictures.Draw(pix, rng)
		}
		for k, v := range pix {
			im.Pixels[i*len(pix)+k] = T(v)
		}
		if observed != nil {
			copy(mask, observed)
		} else {
			s.Rates.Mask(mask, rng)
		}
		for k, v := range pix {
			if v == v {
				continue
			}
			if mask[k%(h*w)] = false; known == nil {
				known = slices.Repeat([]bool{true}, len(im.Pixels))
			}
			known[i*len(pix)+k] = false
		}
	}
	return &Tasks[T]{Images: im, Y: append([]T(nil), im.Pixels...), Known: known}, nil
}

// String implements Source.
func (s ImageSource[T]) String() string {
	order := ""
	if s.Len() > 0 {
		order = ", in order"
	}
	if set, ok := s.Pictures.(Indexed); ok && set.Len() > 0 && set.MaskAt(0) != nil {
		return fmt.Sprintf("%v%s, observed where their masks say", s.Pictures, order)
	}
	return fmt.Sprintf("%v%s, %g to %g of the pixels context", s.Pictures, order, s.Rates.Min, s.Rates.Max)
}
