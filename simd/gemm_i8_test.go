package simd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// productI8 is C = A·Bᵀ, element by element.
func productI8(a []int8, lda int, b []int8, ldb, m, n, k int) []int32 {
	c := make([]int32, m*n)
	for i := range m {
		for j := range n {
			sum := int64(0)
			for p := range k {
				sum += int64(a[i*lda+p]) * int64(b[j*ldb+p])
			}
			c[i*n+j] = int32(sum)
		}
	}
	return c
}

// TestGemmI8: products of any shape are exact, between pages that cannot be read, at every level, and nothing beside them is written.
func TestGemmI8(t *testing.T) { eachLevel(t, testGemmI8) }

func testGemmI8(t *testing.T) {
	rng := testkit.Rand(311)
	for _, extreme := range []bool{false, true} {
		numbers := func(n int) []int8 {
			x := testkit.AtEnd[int8](t, n)
			for i := range x {
				x[i] = int8(rng.IntN(256) - 128)
				if extreme {
					x[i] = []int8{-128, 127}[rng.IntN(8)/7]
				}
			}
			return x
		}
		for _, size := range [][3]int{{0, 5, 3}, {3, 0, 5}, {3, 5, 0}, {1, 1, 1}, {12, 32, 16}, {13, 33, 17}, {12, 31, 19}, {11, 40, 64},
			{14, 96, 18}, {25, 65, 100}, {25, 72, 101}, {25, 71, 101}, {40, 7, 384}, {37, 129, 1030}, {13, 1, 16}, {300, 64, 20}} {
			m, n, k := size[0], size[1], size[2]
			for _, gap := range []int{0, 3} {
				lda, ldb, ldc := k+gap, k+2*gap, n+gap
				a, b := numbers(max(0, (m-1)*lda+k)), numbers(max(0, (n-1)*ldb+k))
				c := testkit.AtEnd[int32](t, max(0, (m-1)*ldc+n))
				want := productI8(a, lda, b, ldb, m, n, k)
				for _, packed := range []bool{false, true} {
					for i := range c {
						c[i] = math.MinInt32 + 7
					}
					if packed {
						p := PackI8(b, ldb, n, k)
						require.Equal(t, []int{n, k}, []int{p.N(), p.K()})
						GemmPackedI8(c, ldc, a, lda, p, m)
					} else {
						GemmNTI8(c, ldc, a, lda, b, ldb, m, n, k)
					}
					for i, v := range c {
						if i%ldc >= n {
							require.EqualValues(t, math.MinInt32+7, v, "%v: behind row %d", size, i/ldc)
							continue
						}
						if w := want[i/ldc*n+i%ldc]; v != w {
							t.Fatalf("%v gap %d packed %v: c[%d, %d] = %d, want %d", size, gap, packed, i/ldc, i%ldc, v, w)
						}
					}
				}
			}
		}
	}
}

// TestGemmI8Long: sums are exact up to 131,071 columns, and right modulo 2³² beyond.
func TestGemmI8Long(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		const m, n = 12, 2
		for k, want := range map[int]int32{131_071: 131_071 << 14, 131_072: math.MinInt32} {
			a, b, c := make([]int8, m*k), make([]int8, n*k), make([]int32, m*n)
			for i := range a {
				a[i] = -128
			}
			for i := range b {
				b[i] = -128
			}
			GemmNTI8(c, n, a, k, b, k, m, n, k)
			for _, v := range c {
				require.Equal(t, want, v, k)
			}
		}
	})
}

// TestGemmI8Panics: sizes are checked.
func TestGemmI8Panics(t *testing.T) {
	a, c := make([]int8, 40), make([]int32, 40)
	require.PanicsWithValue(t, "simd: GemmPackedI8: b = nil", func() { GemmPackedI8(c, 4, a, 4, nil, 2) })
	require.PanicsWithValue(t, "simd: PackI8: len(b) = 40, need 41", func() { PackI8(a, 33, 2, 8) })
	p := PackI8(a, 10, 4, 10)
	require.PanicsWithValue(t, "simd: GemmPackedI8: len(c) = 40, need 44", func() { GemmPackedI8(c, 4, make([]int8, 110), 10, p, 11) })
	require.PanicsWithValue(t, "simd: GemmPackedI8: len(a) = 40, need 50", func() { GemmPackedI8(c, 4, a, 10, p, 5) })
	require.PanicsWithValue(t, "simd: GemmNTI8: len(b) = 40, need 50", func() { GemmNTI8(c, 5, a, 10, a, 10, 4, 5, 10) })
	require.Panics(t, func() { GemmPackedI8(c, 4, a, 10, p, -1) })
	require.Panics(t, func() { GemmNTI8(c, 3, a, 10, a, 10, 4, 4, 10) }, "ldc < n")
	require.Panics(t, func() { GemmNTI8(c, math.MaxInt, a, 10, a, 10, 4, 4, 10) })
}

// TestGemmI8Allocations: a packed product allocates nothing.
func TestGemmI8Allocations(t *testing.T) {
	a, c := make([]int8, 20*33), make([]int32, 20*40)
	p := PackI8(make([]int8, 40*33), 33, 40, 33)
	require.Zero(t, testing.AllocsPerRun(10, func() { GemmPackedI8(c, 40, a, 33, p, 20) }))
}
