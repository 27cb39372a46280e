//go:build !purego

package simd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestGemmBlocksNEON tries every product on both sides of every block size of this level.
func TestGemmBlocksNEON(t *testing.T) {
	atNEON(t)
	t.Run("F32", testGemmBlocksNEON[float32])
	t.Run("F64", testGemmBlocksNEON[float64])
}

func testGemmBlocksNEON[T Float](t *testing.T) {
	rng := testkit.Rand(31)
	around := func(n int) []int { return []int{n - 1, n, n + 1} }
	var ms, ns, ks []int
	for n := 1; n <= 2*gemmTile+1; n++ {
		ns = append(ns, n)
	}
	ms = append(append(append(ms, ns...), around(packedHeight)...), around(gemmHeight)...)
	ks = append(append([]int{1, 2, 3, 4, 5, 7, 8, 9, 2*gemmDepth + 5}, around(gemmDepth)...), around(packedDepth)...)
	cases := 300
	if testing.Short() {
		cases = 6 * len(ms) // every height with every alpha and beta
	}
	for _, p := range products[T]() {
		t.Run(p.name, func(t *testing.T) {
			for i := range cases {
				m, n, k := ms[i%len(ms)], ns[rng.IntN(len(ns))], ks[rng.IntN(len(ks))]
				alpha, beta := T(1), T(0)
				if p.name[0] == 'G' {
					alpha, beta = []T{1, -0.75}[i%2], []T{0, 1, 2.5}[i%3]
				}
				checkProduct(t, p, m, n, k, rng.IntN(4), alpha, beta, rng)
			}
		})
	}
}

// TestPackedActivationNEON wants the activation's own bits where rows follow each other and where they do not, past a block of rows.
func TestPackedActivationNEON(t *testing.T) {
	atNEON(t)
	const m, n, k = packedHeight + 9, 11, 6
	rng := testkit.Rand(32)
	a, b, bias := testkit.Normal[float32](rng, m*k), Pack(testkit.Normal[float32](rng, n*k), n, k, n), testkit.Normal[float32](rng, n)
	for _, ldc := range []int{n, n + 3} {
		linear, got := make([]float32, m*ldc), make([]float32, m*ldc)
		GemmPackedF32(linear, ldc, a, k, b, bias, ActNone, m)
		GemmPackedF32(got, ldc, a, k, b, bias, ActTanh, m)
		for i := range m {
			TanhF32(linear[i*ldc:][:n], linear[i*ldc:][:n])
		}
		require.True(t, testkit.SameBits(got, linear), "ldc=%d", ldc)
	}
}
