// Package spectral computes depthwise convolutions over grids by transforms along the rows of the grid.
//
// Under translations every point of a grid sees the same steps to its neighbours, each with a vector of weights, one weight for each
// channel. So a layer is a convolution with as many taps as there are steps: 317 within the paper's radius. A discrete Fourier transform
// along the rows turns the taps of a row into products: what is left is, for each frequency, a convolution down the columns, with as many
// taps as a ball is high. That takes a fifth of the multiply-adds, and its cost grows with a ball's height and not with its area.
//
// # Lines
//
// Channels go by slabs of 16, the float32 numbers of a line of the caches. All arithmetic is on lines: transforms need no shuffles.
//
// # Tiles
//
// A row of W points is transformed at once if it fits: a transform of n points is periodic, so that n - W zeros must separate the ends of
// the row. Longer rows go by tiles: a tile takes as many points more as the steps reach, and gives what these do not disturb. A row of
// results depends on the rows that it sees and on its tile, and on nothing else: its bits are the same in any band of rows, any batch, and
// on any number of goroutines.
//
// # Products
//
// A product of complex numbers takes three real ones, after Gauss: with features a + bi and weights c + di,
//
//	real part  c·(a+b) - b·(c+d)        imaginary part  c·(a+b) + a·(d-c)
//
// So a frequency has three slots, a, b and a+b, each of which is convolved with real weights, (d-c), -(c+d) and c.
// Transforms produce slots, and their inverses take them; see [Slots].
//
// # Gradients
//
// The gradient to the features is a convolution with the steps back, see [Grid.Transposed], and that to the weights a
// correlation of features and of the gradient to the sums: by frequency, products of complex numbers, summed down the
// columns. With p + qi and a + bi these are p·a - q·b and (p+q)·(a+b) - p·a - q·b, so that sums over the products of
// slots are enough; see [Tiling.Correlate]. Both take the transform of the gradient to the sums: where nothing is cut,
// [Plan.Gradients] computes it once.
//
// # Errors
//
// A result is off by at most a small multiple of eps · Σ over dy of |row of weights at dy| · |row of features at y+dy|,
// where a row is that of a tile and |.| its Euclidean norm. So an error is small beside the largest results of a tile
// and not beside each: features much smaller than their neighbours in the same rows lose digits. What is not finite
// spreads over the whole row of a tile; [Plan.Band] tells of that, and callers compute such rows directly.
package spectral

import "github.com/equivcnp/equivcnp/internal/cpu"

// lanes is how many channels stand in a line.
const lanes = 16

// level is what the dispatchers switch on.
var level cpu.Level

func init() { cpu.Follow(&level) }

// Transforms have 16·3, 16·5 or 16·7 points. The factors have no common divisor, so that a transform is one in two
// dimensions without any factors in between (I. J. Good, The interaction algorithm and practical Fourier analysis, J.
// R. Statist. Soc. B 20 (1958), 361-372): point x stands in row x/16 mod odd and in column x/odd mod 16, frequency k in
// row k mod odd and in column k mod 16.
const columns = 16

// transform is one size of transform.
type transform struct {
	odd, points, slots int
	place, backwards   []int32 // of each point, and of minus each, the line in which it stands, in bytes; twice, as points go round
	parts              []part  // of each slot
}

// part says what a slot holds: of that frequency the real part, the imaginary part, or their sum.
type part struct {
	frequency int
	kind      partKind
}

type partKind uint8

const (
	alone partKind = iota // the real part of a frequency that has no other
	realPart
	imaginaryPart
	bothParts
)

// complexColumns are the columns of frequencies of which a transform gives all rows. Frequencies come in pairs k and
// points - k, one the conjugate of the other. Which one of a pair is given follows from how the transform along 16
// points arrives at it; columns 0 and 8 are real along 16 points, and half of their rows is enough.
var complexColumns = [...]int{1, 9, 5, 13, 2, 10, 4}

// transforms are the sizes, smallest first.
var transforms = [...]*transform{newTransform(3), newTransform(5), newTransform(7)}

func newTransform(odd int) *transform {
	t := &transform{odd: odd, points: columns * odd}
	for x := range t.points {
		// odd·column ≡ x mod 16, and 16·row ≡ x mod odd
		row, column := 0, 0
		for odd*column%columns != x%columns {
			column++
		}
		for columns*row%odd != x%odd {
			row++
		}
		t.place = append(t.place, int32(4*lanes*(row*columns+column)))
	}
	t.place = append(t.place, t.place...)
	for x := range t.place {
		t.backwards = append(t.backwards, t.place[(2*t.points-x)%t.points])
	}
	frequency := func(row, column int) int {
		k := column
		for k%odd != row {
			k += columns
		}
		return k
	}
	for _, column := range []int{0, columns / 2} {
		t.parts = append(t.parts, part{frequency(0, column), alone})
		for row := 1; row <= odd/2; row++ {
			t.addComplex(frequency(row, column))
		}
	}
	for _, column := range complexColumns {
		for row := range odd {
			t.addComplex(frequency(row, column))
		}
	}
	t.slots = len(t.parts)
	return t
}

func (t *transform) addComplex(k int) {
	t.parts = append(t.parts, part{k, realPart}, part{k, imaginaryPart}, part{k, bothParts})
}

// weight is what the slots of a frequency are multiplied by on the way back.
func (p part) weight(points int) float32 {
	if p.kind == alone {
		return 1 / float32(points)
	}
	return 2 / float32(points)
}
