package layers

import (
	"github.com/equivcnp/equivcnp/internal/spectral"
)

// Algorithm says how depthwise convolutions in float32 are computed under a flat arrangement. Float64 and tiles know
// sums over pairs only.
type Algorithm string

// The algorithms.
const (
	// Auto takes whichever is estimated to be faster. On a pixel grid under translations that is transforms, unless balls are small.
	Auto Algorithm = ""
	// Direct sums over the pairs of each row. An error is at most (n+8)·eps of the sum of a row's terms, each taken as positive.
	Direct Algorithm = "direct"
	// Transforms goes by Fourier transforms along the rows of a grid, and is Direct where rows are those of no grid or
	// balls are wider than 111 pixels. It takes a fifth of the multiply-adds. A result is off by at most some eps · Σ
	// |weights| · |features|, where the sum is over the grid's rows that a ball reaches, and |.| is the Euclidean norm
	// over a ball's and an image's row: relative to the largest results, hardly more than Direct; relative to each
	// result, more where neighbours are much larger. Rows of the grid that see a number that is not finite, or so large
	// that a transform overflows, are computed by Direct.
	Transforms Algorithm = "transforms"
	// NoDepthwise is for arrangements that no separable convolution uses: it saves memory.
	NoDepthwise Algorithm = "none"
	// TransformsOnly is Transforms where Auto takes these, and otherwise NoDepthwise: an embedding's sums go by transforms as well.
	TransformsOnly Algorithm = "transforms only"
)

// Algorithms lists those that compute something, in the order of documentation.
var Algorithms = []Algorithm{Auto, Direct, Transforms}

func stopped(stop func() bool) bool { return stop != nil && stop() }

// pairWork is what a pair costs, as a multiple of a multiply-add of lines in spectral's estimate of work: gathered sums are not as
// fast as sums down a column.
const pairWork = 1.3

// takesTransforms reports whether an algorithm goes by transforms where these are faster.
func takesTransforms(algorithm Algorithm) bool {
	return algorithm == Transforms || algorithm != Direct && spectral.Fast()
}

// liftedBytes bounds the transforms that a goroutine holds at a time where points have several lifts, so that they stay
// in the second-level cache. A band has at least leastBand rows and, unless it ends the image or a part, a multiple of
// them. One of more than evenBand rows, which transforms fewer twice, is cut where there are too few bands to keep all
// goroutines busy to the end.
const (
	liftedBytes = 3 << 19
	leastBand   = 16
	evenBand    = 64
)

// A part of an image is leastPart rows, and more where their sums take less than partBytes: sums pass through the dense
// map while they are in a cache, and take little memory. Tests change both.
var leastPart, partBytes = 128, 8 << 20

// bandRows is how many of the grid's rows, of which there are high, a goroutine computes at a time. No bits depend on it.
func bandRows(t *spectral.Tiling, channels, images, high int) int {
	rows := (high + leastBand - 1) / leastBand * leastBand
	units := func() int { return images * spectral.Slabs(channels) * t.Tiles() * ((high + rows - 1) / rows) }
	for rows > leastBand && (t.Lifts > 1 && t.WorkspaceBytes(rows) > liftedBytes || units() < workers() || rows > evenBand &&
		units() < 4*workers()) {
		rows = (rows/2 + leastBand - 1) / leastBand * leastBand
	}
	return rows
}

// partHeight is how many of the grid's rows make a part of an image.
func partHeight(t *spectral.Tiling, channels int) int {
	return min(t.H, max(leastPart, partBytes/(4*t.W*channels)/leastBand*leastBand))
}
