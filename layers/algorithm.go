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
