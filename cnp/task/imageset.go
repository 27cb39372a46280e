package task

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// ErrData is wrapped by errors about the content of a user's files.
var ErrData = errors.New("not usable as data")

// maxValues bounds what a set of images may hold: 2^28 values, a gigabyte.
const maxValues = 1 << 28

// ImageSet is a set of images of one size, read from a user's files.
type ImageSet struct {
	Name    string // where it is from
	N       int
	C, H, W int
	Pix     []float32 // [N, C, H, W], of pictures in [0, 1]; NaN where a value is missing
	// Mask [N, H, W] says which pixels are observed, where the files say it; else it is nil.
	Mask []bool
	// Levels is what the files' integers were divided by, of arrays whose integers are levels; else 0.
	Levels int
	// Skipped says, for each file of a folder that was not taken, which and why.
	Skipped []string
}

// inLevels says of a set that its values were so many levels; 0: that they were none.
func (s *ImageSet) inLevels(levels int) {
	if s.Levels = levels; levels > 0 {
		s.Name += fmt.Sprintf(" in levels of %d", levels)
	}
}

// Missing is the number of pixels that lack a value in some channel. They are never observed; as targets, channels count each on its own.
func (s *ImageSet) Missing() (pixels int) {
	n := s.H * s.W
	for i := range s.N {
		im := s.Image(i)
		for p := range n {
			for c := range s.C {
				if v := im[c*n+p]; v != v {
					pixels++
					break
				}
			}
		}
	}
	return pixels
}

// usable refuses infinite values, naming them, and leaves out images without any value; name is what errors call the
// images, such as the array that they are from.
func (s *ImageSet) usable(name string) error {
	n, per, kept := s.H*s.W, s.C*s.H*s.W, []int(nil)
	for i := range s.N {
		im, known := s.Image(i), false
		for k, v := range im {
			if v == v && v-v != 0 {
				return fmt.Errorf("%w: %s is %v in image %d, channel %d, row %d, column %d", ErrData, name, v, i, k/n, k/s.W%s.H, k%s.W)
			}
			known = known || v == v
		}
		if !known {
			s.Skipped = append(s.Skipped, fmt.Sprintf("%s has no value at all in image %d", name, i))
			continue
		}
		kept = append(kept, i)
	}
	switch len(kept) {
	case 0:
		return fmt.Errorf("%w: %s has no value at all", ErrData, name)
	case s.N:
		return nil
	}
	pix, mask := make([]float32, 0, len(kept)*per), []bool(nil)
	for _, i := range kept {
		if pix = append(pix, s.Image(i)...); s.Mask != nil {
			mask = append(mask, s.Mask[i*n:(i+1)*n]...)
		}
	}
	s.N, s.Pix, s.Mask = len(kept), pix, mask
	return nil
}

// Image returns image i [C, H, W].
func (s *ImageSet) Image(i int) []float32 {
	n := s.C * s.H * s.W
	return s.Pix[i*n : (i+1)*n : (i+1)*n]
}

// sized returns what is wrong with n images of that size, which are about to be read.
func sized(n, c, h, w int) error {
	if n < 1 || c < 1 || h < 1 || w < 1 || c > maxValues || h > maxValues/c || w > maxValues/(c*h) || n > maxValues/(c*h*w) {
		return fmt.Errorf("%w: %d images of %d x %d pixels with %d channels, need at least one value and at most %d",
			ErrData, n, w, h, c, maxValues)
	}
	return nil
}

// Moved is a set of images that are moved at random.
type Moved struct {
	*ImageSet
	Motions Motions
}

// Size implements Pictures.
func (s Moved) Size() (c, h, w int) { return s.C, s.H, s.W }

// Draw implements Pictures: each image is equally likely.
func (s Moved) Draw(dst []float32, rng *rand.Rand) { s.DrawAt(rng.IntN(s.N), dst, rng) }

// Len implements Indexed.
func (s Moved) Len() int { return s.N }

// DrawAt implements Indexed.
func (s Moved) DrawAt(i int, dst []float32, rng *rand.Rand) {
	if s.Motions == Upright {
		copy(dst, s.Image(i))
		return
	}
	Move(dst, s.Image(i), s.C, s.H, s.W, s.Motions.Draw(rng))
}

// MaskAt implements Indexed: a set's own masks hold for images as they are, not for moved ones.
func (s Moved) MaskAt(i int) []bool {
	if s.Mask == nil || s.Motions != Upright {
		return nil
	}
	return s.Mask[i*s.H*s.W : (i+1)*s.H*s.W]
}

// String implements Pictures.
func (s Moved) String() string {
	return fmt.Sprintf("%d images of %d x %d pixels, %v, from %s", s.N, s.W, s.H, s.Motions, s.Name)
}
