//go:build !purego

package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// streamTest is from how many bytes on results are stored past the caches here.
const streamTest = 2<<10 + 8

func sameBits[T Float](a, b T) bool {
	return math.Float64bits(float64(a)) == math.Float64bits(float64(b))
}

// TestStreams compares results that are stored past the caches with the same results stored through them, bit by bit, for
// slices of every alignment that end at an unreadable page.
func TestStreams(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testStreams[float32](t) })
	t.Run("float64", func(t *testing.T) { testStreams[float64](t) })
}

func testStreams[T Float](t *testing.T) {
	defer func(from int) { streamMapFrom = from }(streamMapFrom)
	rng, words := rand.New(rand.NewPCG(7, 1)), 2<<10/int(unsafe.Sizeof(T(0)))
	half := func(f func(dst, x []T)) func(dst, x, y []T) { return func(dst, x, _ []T) { f(dst, x) } }
	functions := map[string]func(dst, x, y []T){
		"Add": Add[T], "Sub": Sub[T], "Mul": Mul[T], "Div": Div[T],
		"ReLUGrad": ReLUGrad[T], "SigmoidGrad": SigmoidGrad[T], "SoftplusGrad": SoftplusGrad[T], "SwishGrad": SwishGrad[T],
		"Sqrt": half(Sqrt[T]), "Exp": half(Exp[T]), "Sigmoid": half(Sigmoid[T]), "Swish": half(Swish[T]),
		"Tanh": half(Tanh[T]), "ReLU": half(ReLU[T]),
		"Scale": func(dst, x, _ []T) { Scale(dst, T(1.7), x) },
		"Max":   Max[T], "Min": Min[T], "Abs": half(Abs[T]), "Clip": func(dst, x, _ []T) { Clip(dst, x, -1, 2) },
		"Floor": half(Floor[T]), "Ceil": half(Ceil[T]), "Trunc": half(Trunc[T]), "RoundToEven": half(RoundToEven[T]),
	}
	eachLevel(t, func(t *testing.T) {
		for name, f := range functions {
			for _, n := range []int{words, words + 1, words + 17, 2*words - 1, 3*words + 29} {
				for _, offset := range []int{0, 1, 7, 15} {
					x, y := testkit.AtEnd[T](t, n), testkit.AtEnd[T](t, n)
					for i := range x {
						x[i], y[i] = T(8*rng.Float64()-4), T(8*rng.Float64()-4)
					}
					want, whole := make([]T, n), make([]T, n+offset+8)
					streamMapFrom = 1 << 40
					f(want, x, y)
					streamMapFrom = streamTest
					got := whole[offset:][:n:n]
					f(got, x, y)
					for i, v := range want {
						if !sameBits(got[i], v) {
							t.Fatalf("%s, n = %d, offset %d: [%d] = %v, through the caches %v", name, n, offset, i, got[i], v)
						}
					}
					for i, v := range whole {
						if (i < offset || i >= offset+n) && v != 0 {
							t.Fatalf("%s, n = %d, offset %d: wrote %v at %d", name, n, offset, v, i-offset)
						}
					}
					end := testkit.AtEnd[T](t, n)
					f(end, x, y)
					f(x, x, y) // in place
					for i, v := range want {
						require.True(t, sameBits(end[i], v) && sameBits(x[i], v), "%s, n = %d: %d", name, n, i)
					}
				}
			}
		}
	})
}

// TestStreamsBF16 is TestStreams for conversions, whose inputs and results differ in size.
func TestStreamsBF16(t *testing.T) {
	defer func(from int) { streamMapFrom = from }(streamMapFrom)
	rng := rand.New(rand.NewPCG(7, 2))
	eachLevel(t, func(t *testing.T) {
		for _, n := range []int{2<<10/4 + 5, 2<<10 - 1, 2<<10 + 33, 5*2<<10 + 77} {
			for offset := range 3 {
				t.Run(fmt.Sprintf("n=%d/offset=%d", n, offset), func(t *testing.T) {
					x := testkit.CopyAtEnd(t, testkit.Awkward[float32](rng, n))
					half, back := make([]BF16, n+offset), make([]float32, n+offset)
					wantHalf, wantBack := make([]BF16, n), make([]float32, n)
					streamMapFrom = 1 << 40
					BF16FromF32(wantHalf, x)
					F32FromBF16(wantBack, wantHalf)
					streamMapFrom = streamTest
					BF16FromF32(half[offset:], x)
					F32FromBF16(back[offset:], wantHalf)
					require.Equal(t, wantHalf, half[offset:])
					require.True(t, testkit.SameBits(wantBack, back[offset:]))
				})
			}
		}
	})
}

// TestStreamsAllocate checks that a large result allocates nothing.
func TestStreamsAllocate(t *testing.T) {
	defer func(from int) { streamMapFrom = from }(streamMapFrom)
	streamMapFrom = streamTest
	dst, x := make([]float32, 1<<12), make([]float32, 1<<12)
	require.Zero(t, testing.AllocsPerRun(100, func() { FloorF32(dst, x) }))
}
