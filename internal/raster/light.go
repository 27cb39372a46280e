package raster

import (
	"fmt"
	"math"
)

// checkLight refuses floats that are no light from 0 to 1, such as heights, and takes a pixel of which one channel is missing as missing.
func (im *Image) checkLight(name string) error {
	n := im.H * im.W
	lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
	for i := range n {
		whole := true
		for c := range im.C {
			v := im.Pix[c*n+i]
			if whole = whole && v == v; v == v {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		for c := 0; !whole && c < im.C; c++ {
			im.Pix[c*n+i] = float32(math.NaN())
		}
	}
	if lo < 0 || hi > 1 {
		return fmt.Errorf("%s: %w: floats from %g to %g, and models of images know values from 0 to 1: scale them, or use raster, which "+
			"takes numbers as they are", name, ErrImage, lo, hi)
	}
	return nil
}
