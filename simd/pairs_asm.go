//go:build !purego && (amd64 || arm64)

package simd

import "unsafe"

const (
	// maxPairs is how many points a call of a pair kernel looks at: the scheduler cannot preempt it, and this many take
	// some tens of microseconds if all are kept. A multiple of 64, as pieces begin with a word of bits.
	maxPairs = 1 << 16
	// maxUnsieved is the same without bits: allBits then stands for them.
	maxUnsieved = 64 * len(allBits)
)

// allBits has a bit for every point.
var allBits = func() (w [64]uint64) {
	for i := range w {
		w[i] = ^uint64(0)
	}
	return w
}()

// pairPieces goes through the points piece by piece. (Not a loop around a function value, and no pointers kept: either
// would move the callers' small arrays to the heap.)
type pairPieces struct {
	points, size int
	lo, n        int // the current piece
	kept         int // by the pieces so far
}

func newPairPieces[T Float](index []int32, pose []T, label []int32, bits []uint64, x []T) pairPieces {
	if raceEnabled {
		raceRead(label)
		raceRead(bits)
		raceRead(x)
		raceWrite(index[:len(label)])
		raceWrite(pose)
	}
	size := maxPairs
	if bits == nil {
		size = maxUnsieved
	}
	return pairPieces{points: len(label), size: size}
}

// next moves on to the next piece, if there is one. Results of a piece go on where the last one's end; as no more are kept
// than seen, whole vectors may be stored there.
func (p *pairPieces) next() bool {
	p.lo += p.n
	p.n = min(p.size, p.points-p.lo)
	return p.n > 0
}

// bits are the piece's.
func (p *pairPieces) bits(bits []uint64) *uint64 {
	if bits == nil {
		return &allBits[0]
	}
	return &bits[p.lo>>6]
}

// floatsOf views where the piece's poses go, nil for none, and where its points start; F is T.
func floatsOf[F, T Float](p *pairPieces, pose, x []T) (to, from *F) {
	if pose != nil {
		to = (*F)(unsafe.Pointer(&pose[p.kept]))
	}
	return to, (*F)(unsafe.Pointer(&x[p.lo]))
}

// is32 tells which type T is, at compile time.
func is32[T Float]() bool { return unsafe.Sizeof(T(0)) == 4 }
