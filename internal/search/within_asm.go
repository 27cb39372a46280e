//go:build !purego && (amd64 || arm64)

package search

import "github.com/equivcnp/equivcnp/internal/race"

const (
	// withinPoints is how many points a call of assembly looks at: the scheduler cannot preempt it, and this many take
	// some tens of microseconds if all are kept. A multiple of 64, as pieces begin with a word of bits.
	withinPoints = 1 << 16
	// withoutBits is the same where no bits are given: allBits then stands for them.
	withoutBits = 64 * len(allBits)
)

// allBits has a bit for every point.
var allBits = func() (w [64]uint64) {
	for i := range w {
		w[i] = ^uint64(0)
	}
	return w
}()

// withinPieces goes through the points piece by piece. (Not a loop around a function value, and no pointers kept: either
// would move the callers' small arrays to the heap.)
type withinPieces struct {
	points, size int
	lo, n        int // the current piece
	kept         int // by the pieces so far
}

func newWithinPieces(index, label []int32, bits []uint64, x []float64) withinPieces {
	race.Read(label)
	race.Read(bits)
	race.Read(x)
	race.Write(index[:len(label)])
	size := withinPoints
	if bits == nil {
		size = withoutBits
	}
	return withinPieces{points: len(label), size: size}
}

// next moves on to the next piece, if there is one. Results of a piece go on where the last one's end; as no more are kept
// than seen, whole vectors may be stored there.
func (p *withinPieces) next() bool {
	p.lo += p.n
	p.n = min(p.size, p.points-p.lo)
	return p.n > 0
}

// bits are the piece's.
func (p *withinPieces) bits(bits []uint64) *uint64 {
	if bits == nil {
		return &allBits[0]
	}
	return &bits[p.lo>>6]
}
