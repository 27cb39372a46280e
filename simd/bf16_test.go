package simd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// bf16Nearest rounds in float64, where half way between neighbours is exact.
func bf16Nearest(x float32) BF16 {
	u := math.Float32bits(x)
	if x != x {
		return BF16(u>>16 | 0x40)
	}
	low := BF16(u >> 16)
	a := float64(math.Float32frombits(uint32(low) << 16))
	b := float64(math.Float32frombits(uint32(low+1) << 16))
	if math.IsInf(float64(x), 0) {
		return low
	}
	if math.IsInf(b, 0) { // the next one would be 2^128
		b = math.Copysign(0x1p128, b)
	}
	switch below, above := math.Abs(float64(x)-a), math.Abs(b-float64(x)); {
	case below < above, below == above && low%2 == 0:
		return low
	}
	return low + 1
}

// checkBF16 rounds numbers at any place of a slice.
func checkBF16(t *testing.T, x []float32) {
	t.Helper()
	dst := testkit.AtEnd[BF16](t, len(x))
	BF16FromF32(dst, x)
	for i, v := range x {
		if want := bf16Nearest(v); dst[i] != want {
			t.Fatalf("n=%d: %g (%#x) becomes %#x, want %#x", len(x), v, math.Float32bits(v), dst[i], want)
		}
	}
}

func TestBF16FromF32(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(60)
		for _, n := range lengths() {
			checkBF16(t, testkit.CopyAtEnd(t, testkit.Awkward[float32](rng, n)))
			if n > 0 {
				checkBF16(t, testkit.CopyAtStart(t, testkit.Awkward[float32](rng, n))[1:])
			}
		}
		// Every bfloat16 with the awkward lower halves, or with all of them.
		halves := []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff}
		if *long {
			halves = halves[:0]
			for h := range uint32(1 << 16) {
				halves = append(halves, h)
			}
		}
		x := make([]float32, 1<<16)
		for _, h := range halves {
			for u := range x {
				x[u] = math.Float32frombits(uint32(u)<<16 | h)
			}
			checkBF16(t, x)
		}
	})
}

func TestF32FromBF16(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		all := make([]BF16, 1<<16)
		for u := range all {
			all[u] = BF16(u)
		}
		x := make([]float32, len(all))
		F32FromBF16(x, all)
		for u, v := range x {
			require.Equal(t, uint32(u)<<16, math.Float32bits(v)) // NaN included
		}
		for _, n := range lengths() {
			src := testkit.AtEnd[BF16](t, n)
			copy(src, all[0x3f80:])
			dst := testkit.AtEnd[float32](t, n)
			F32FromBF16(dst, src)
			for i, v := range dst {
				require.Equal(t, src[i].Float32(), v)
			}
		}
	})
}
