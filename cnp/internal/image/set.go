package image

import (
	"math/bits"

	"github.com/equivcnp/equivcnp/layers"
)

// Set is a set of the pixels of an image, row by row.
type Set struct {
	h, w, words int
	bits        []uint64
}

// NewSet returns the empty set of pixels of an image.
func NewSet(h, w int) Set {
	words := (w + 63) / 64
	return Set{h, w, words, make([]uint64, h*words)}
}

// Add adds the patch around a pixel.
func (s *Set) Add(pixel int, p Patch) {
	y, x := pixel/s.w, pixel%s.w
	for k := range p.Lo {
		row := y + k - p.Above
		lo, hi := max(0, x+p.Lo[k]), min(s.w-1, x+p.Hi[k])
		if row < 0 || row >= s.h || lo > hi {
			continue
		}
		line := s.bits[row*s.words : (row+1)*s.words]
		for j := lo / 64; j <= hi/64; j++ {
			from, to := max(lo-64*j, 0), min(hi-64*j, 63)
			line[j] |= ^uint64(0) << from & (^uint64(0) >> (63 - to))
		}
	}
}

// Take removes from s what is in need as well, and appends it to dst as runs of pixels, counted row by row.
func (s *Set) Take(dst []layers.RowRun, need *Set) []layers.RowRun {
	for i, w := range s.bits {
		both := w & need.bits[i]
		if both == 0 {
			continue
		}
		s.bits[i] &^= both
		base := i/s.words*s.w + i%s.words*64
		for both != 0 {
			lo := bits.TrailingZeros64(both)
			n := bits.TrailingZeros64(^(both >> lo))
			dst = append(dst, layers.RowRun{Lo: base + lo, Hi: base + lo + n})
			if lo+n == 64 {
				break
			}
			both &= ^uint64(0) << (lo + n)
		}
	}
	return dst
}

// Fill adds all pixels.
func (s *Set) Fill() {
	for y := range s.h {
		s.Add(y*s.w, Patch{Lo: []int{0}, Hi: []int{s.w - 1}})
	}
}

// Clear takes all pixels from the set.
func (s *Set) Clear() { clear(s.bits) }
