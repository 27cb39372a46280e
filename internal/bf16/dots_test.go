package bf16

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// TestGemmDots compares with float64 products, and the kernel with portable Go, bit for bit, with matrices that end at unreadable memory.
func TestGemmDots(t *testing.T) {
	testkit.EachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(95)
		for _, size := range [][3]int{{1, 8, 32}, {12, 32, 32}, {13, 24, 64}, {57, 128, 128}, {0, 8, 32}} {
			m, k, n := size[0], size[1], size[2]
			for _, act := range []simd.Activation{simd.ActNone, simd.ActReLU} {
				ldb, ldc := k+rng.IntN(3), n+rng.IntN(3)
				bt := testkit.Normal[float32](rng, n*ldb)
				p := PackDots(bt, ldb, k, n)
				a := testkit.CopyAtEnd(t, make([]simd.BF16, DotsRows(m)*k))
				simd.BF16FromF32(a, testkit.Normal[float32](rng, len(a)))
				var bias []float32
				if act == simd.ActReLU {
					bias = testkit.CopyAtEnd(t, testkit.Normal[float32](rng, n))
				}
				c := testkit.CopyAtEnd(t, testkit.Awkward[float32](rng, max(0, (m-1)*ldc+n)))
				portable := append([]float32(nil), c...)
				GemmDots(c, ldc, a, p, bias, act, m)
				start := bias
				if bias == nil {
					start = make([]float32, n)
				}
				gemmDotsGeneric(portable, ldc, a, p, start, act, m)
				require.True(t, testkit.SameBits(portable, c), "%v %v", size, act)
				b := make([]simd.BF16, len(bt))
				simd.BF16FromF32(b, bt)
				for i := range m {
					for j := range n {
						sum := float64(start[j])
						bound := math.Abs(sum)
						for q := range k {
							v := float64(a[i*k+q].Float32()) * float64(b[j*ldb+q].Float32())
							sum, bound = sum+v, bound+math.Abs(v)
						}
						if act == simd.ActReLU {
							sum = max(sum, 0)
						}
						if d := math.Abs(float64(c[i*ldc+j]) - sum); !(d <= float64(k+1)*0x1p-23*bound) {
							t.Fatalf("%v: c[%d,%d] = %g, want %g", size, i, j, c[i*ldc+j], sum)
						}
					}
				}
			}
		}
	})
}

// TestGemmDotsAwkward: what is not finite stays so, subnormals are 0, and ReLU keeps NaN.
func TestGemmDotsAwkward(t *testing.T) {
	rng := testkit.Rand(96)
	const m, k, n = 24, 8, 32
	for _, act := range []simd.Activation{simd.ActNone, simd.ActReLU} {
		for range 20 {
			a, c, want := make([]simd.BF16, m*k), make([]float32, m*n), make([]float32, m*n)
			simd.BF16FromF32(a, testkit.Awkward[float32](rng, len(a)))
			p := PackDots(testkit.Awkward[float32](rng, n*k), k, k, n)
			bias := testkit.Awkward[float32](rng, n)
			GemmDots(c, n, a, p, bias, act, m)
			gemmDotsGeneric(want, n, a, p, bias, act, m)
			for i, v := range want {
				if math.IsNaN(float64(v)) {
					require.True(t, math.IsNaN(float64(c[i])), i)
					continue
				}
				require.Equal(t, math.Float32bits(v), math.Float32bits(c[i]), "%d: %g, %g", i, v, c[i])
			}
		}
	}
}

// TestGemmDotsPanics: sizes are checked, and those that do not fit are refused.
func TestGemmDotsPanics(t *testing.T) {
	x := make([]float32, 12*64)
	require.Nil(t, PackDots(x, 8, 8, 31))
	require.Nil(t, PackDots(x, 12, 12, 32))
	require.Nil(t, PackDots(x, 0, 0, 32))
	p, a := PackDots(x, 8, 8, 32), make([]simd.BF16, 12*8)
	require.Equal(t, []int{0, 12, 12, 24}, []int{DotsRows(0), DotsRows(1), DotsRows(12), DotsRows(13)})
	require.PanicsWithValue(t, "bf16: GemmDots: b = nil", func() { GemmDots(x, 32, a, nil, nil, simd.ActNone, 1) })
	require.PanicsWithValue(t, fmt.Sprintf("bf16: GemmDots: act = %d, need ActNone or ActReLU", simd.ActTanh),
		func() { GemmDots(x, 32, a, p, nil, simd.ActTanh, 1) })
	require.PanicsWithValue(t, "bf16: GemmDots: len(a) = 95, need 96", func() { GemmDots(x, 32, a[:95], p, nil, simd.ActNone, 1) })
	require.Panics(t, func() { GemmDots(x[:31], 32, a, p, nil, simd.ActNone, 1) })
	require.Panics(t, func() { GemmDots(x, 31, a, p, nil, simd.ActNone, 2) })
	require.Panics(t, func() { GemmDots(x, 32, a, p, x[:31], simd.ActNone, 1) })
}
