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
