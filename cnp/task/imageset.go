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
	Pix     []float32 // [N, C, H, W] in [0, 1]
	// Mask [N, H, W] says which pixels are observed, where the files say it; else it is nil.
	Mask []bool
	// Skipped says, for each file of a folder that was not taken, which and why.
	Skipped []string
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
