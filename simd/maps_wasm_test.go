//go:build goexperiment.simd && go1.27 && !purego

package simd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestWASM128Bits holds the elementwise functions to the bits of their twins, which the generator's table repeats operation
// by operation: for special values and both sides of every threshold, for random bits, and for every remainder of a vector.
func TestWASM128Bits(t *testing.T) {
	require.Equal(t, WASM128, CurrentLevel())
	rng, x := testkit.Rand(300), awkward32(4000)
	for _, edge := range []float32{expMaxF32, expMinF32, sigmoidMaxF32, sigmoidMinF32, tanhSplitF32, tanhMaxF32, math.Sqrt2 - 1, 0.881} {
		for _, v := range []float32{edge, -edge} {
			x = append(x, v, math.Nextafter32(v, 1000), math.Nextafter32(v, -1000))
		}
	}
	for range 200_000 {
		x = append(x, math.Float32frombits(rng.Uint32()), float32(40*rng.NormFloat64()))
	}
	got, want := make([]float32, len(x)), make([]float32, len(x))
	for name, f := range map[string][2]func(dst, x []float32){
		"exp":      {expF32, expF32Generic},
		"sigmoid":  {sigmoidF32, sigmoidF32Generic},
		"swish":    {swishF32, swishF32Generic},
		"softplus": {softplusF32, softplusF32Generic},
		"tanh":     {tanhF32, tanhF32Generic},
		"relu":     {reluF32, reluGeneric[float32]},
		"axpy": {func(dst, x []float32) { copy(dst, x); axpyF32(dst, 0.3, x) },
			func(dst, x []float32) { copy(dst, x); axpyGeneric(dst, 0.3, x) }},
		"scale": {func(dst, x []float32) { scaleF32(dst, 0.3, x) }, func(dst, x []float32) { scaleGeneric(dst, 0.3, x) }},
	} {
		t.Run(name, func(t *testing.T) {
			f[0](got, x)
			f[1](want, x)
			for i := range x {
				if !testkit.SameBits(got[i:i+1], want[i:i+1]) {
					t.Fatalf("%s(%v) = %v, the twin has %v", name, x[i], got[i], want[i])
				}
			}
			for n := range 9 {
				clear(got)
				f[0](got[:n], x[:n])
				require.True(t, testkit.SameBits(got[:n], want[:n]), n)
				require.Zero(t, got[n], n)
			}
		})
	}
}

// TestWASM128SumBits holds set convolution and moments to the bits of their twins, whose sums they compute in the same order.
func TestWASM128SumBits(t *testing.T) {
	rng := testkit.Rand(301)
	for _, d := range []int{1, 2, 3, setConvDims} {
		for _, n := range []int{0, 1, setConvBlock - 1, setConvBlock + 1} {
			for _, c := range []int{0, 1, 2, 3, 15, setConvChannels, setConvChannels + 3} {
				const targets, gamma, scale = 9, 0.7, -1.3
				at, x := testkit.Awkward[float64](rng, targets*d), testkit.Normal[float64](rng, n*d)
				phi := testkit.Awkward[float32](rng, n*c)
				got, want := make([]float32, targets*c), make([]float32, targets*c)
				setConvF32(got, at, x, phi, d, c, gamma, scale)
				setConvGeneric(want, at, x, phi, d, c, gamma, scale)
				require.True(t, testkit.SameBits(got, want), "d=%d n=%d c=%d", d, n, c)
			}
		}
	}
	t.Run("moments F32", testWASM128MomentBits[float32])
	t.Run("moments F64", testWASM128MomentBits[float64])
}

func testWASM128MomentBits[T Float](t *testing.T) {
	rng := testkit.Rand(302)
	for _, rows := range []int{0, 1, 2, 37} {
		for c := 1; c < 20; c++ {
			for _, draw := range []func() []T{
				func() []T { return testkit.Normal[T](rng, rows*c) },
				func() []T { return testkit.Awkward[T](rng, rows*c) },
			} {
				for _, most := range []int{0, 1, 4} { // weights up to it; without weights for 0
					x, weight := draw(), []int32(nil)
					for range rows * min(most, 1) {
						weight = append(weight, int32(rng.IntN(most+1)))
					}
					mean, variance, wantMean, wantVariance := make([]float64, c), make([]float64, c), make([]float64, c), make([]float64, c)
					total := weightedMoments(mean, variance, x, weight, c)
					require.Equal(t, weightedMomentsGeneric(wantMean, wantVariance, x, weight, c), total)
					require.True(t, testkit.SameBits(mean, wantMean) && testkit.SameBits(variance, wantVariance), "rows=%d c=%d", rows, c)
				}
			}
		}
	}
}
