package search

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// castWords copies words into the memory of guarded float64 numbers.
func castWords(at []float64, x []uint64) []uint64 {
	if len(at) == 0 {
		return []uint64{}
	}
	y := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(at))), len(at))
	copy(y, x)
	return y
}

// Candidates against distances on the circle, with differences at every border.
func TestCandidates(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(75)
		edges := []uint16{0, 1, 100, 1<<14 - 1, 1 << 14, 1<<15 - 1, 1 << 15, 1<<15 + 1, 1<<16 - 1}
		draw := func() uint16 {
			if rng.IntN(2) == 0 {
				return edges[rng.IntN(len(edges))]
			}
			return uint16(rng.Uint32())
		}
		for _, words := range []int{0, 1, 2, 3, 9} {
			for d := 1; d <= 4; d++ {
				x, u, r := testkit.AtEnd[uint16](t, 64*words*d), make([]uint16, d), make([]uint16, d)
				for i := range x {
					x[i] = draw()
				}
				for c := range u {
					u[c], r[c] = draw(), draw()
				}
				bits, want := castWords(testkit.AtEnd[float64](t, words), make([]uint64, words)), make([]uint64, words)
				Candidates(bits, x, u, r)
				for j := range 64 * words {
					all := true
					for c := range d {
						gap := int(u[c]) - int(x[c*64*words+j])
						gap = max(gap, -gap)
						all = all && min(gap, 1<<16-gap) <= int(r[c])
					}
					if all {
						want[j/64] |= 1 << (j % 64)
					}
				}
				require.Equal(t, want, append([]uint64{}, bits...), "d=%d words=%d", d, words)
			}
		}
	})
}
