package radix

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Against a stable sort that compares: lengths around the limits, digits of every width, many keys alike, lower halves in any order.
func TestByUpper(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, few - 1, few, few + 1, 100, 1000} {
		for _, most := range []uint32{0, 1, 5, 127, 128, 255, 256, 1<<14 - 1, 1 << 14, 65535, 65536, 1<<24 - 1, 1 << 24,
			math.MaxInt32, math.MaxUint32} {
			keys, spare := make([]uint64, n), make([]uint64, n+3)
			for i := range keys {
				keys[i] = rng.Uint64N(uint64(most)+1)<<32 | uint64(rng.Uint32())
			}
			want := slices.Clone(keys)
			slices.SortStableFunc(want, func(a, b uint64) int { return cmp.Compare(a>>32, b>>32) })
			got, other := ByUpper(keys, spare, most)
			require.Equal(t, want, got, "n %d, most %d", n, most)
			require.Len(t, other, n)
			if n > 0 {
				require.NotSame(t, &got[0], &other[0])
			}
		}
	}
}

func BenchmarkByUpper(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{16, 64, 256, 1024} {
		for _, most := range []uint32{255, 6000, 65535} {
			from, keys, spare := make([]uint64, n), make([]uint64, n), make([]uint64, n)
			for i := range from {
				from[i] = rng.Uint64N(uint64(most)+1)<<32 | uint64(i)
			}
			b.Run(fmt.Sprintf("n=%d/most=%d", n, most), func(b *testing.B) {
				for b.Loop() {
					copy(keys, from)
					ByUpper(keys, spare, most)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
			})
		}
	}
}
