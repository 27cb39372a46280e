package raster

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Mask says which pixels of an h x w image are observed [h, w]: those whose grey level in im is at least 50 %, and that
// are not transparent. The error for a mask of another size names the path and both sizes.
func (im *Image) Mask(path string, h, w int) ([]bool, error) {
	if im.H != h || im.W != w {
		return nil, fmt.Errorf("%s: %w: the mask has %d x %d pixels, the image %d x %d", path, ErrSize, im.W, im.H, w, h)
	}
	mask := make([]bool, h*w)
	for i, v := range im.Grey().Pix {
		mask[i] = v >= 0.5
	}
	return mask, nil
}

// RandomMask observes round(rate·h·w) pixels of an h x w image, picked at random without replacement. Equal arguments
// give equal masks on every machine. rate must be in [0, 1].
func RandomMask(h, w int, rate float64, seed uint64) []bool {
	if h < 0 || w < 0 || h > 0 && w > maxHeld/h || !(rate >= 0 && rate <= 1) {
		panic(fmt.Sprintf("raster: RandomMask: %d x %d pixels at rate %g, need at most %d pixels and a rate from 0 to 1", h, w,
			rate, maxHeld))
	}
	n := h * w
	mask := make([]bool, n)
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	for _, i := range rng.Perm(n)[:int(math.Round(rate*float64(n)))] {
		mask[i] = true
	}
	return mask
}

// Count returns how many pixels a mask observes.
func Count(mask []bool) int {
	n := 0
	for _, m := range mask {
		if m {
			n++
		}
	}
	return n
}
