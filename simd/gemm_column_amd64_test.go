//go:build !purego

package simd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestGemmColumn wants the bits of a product with one column from the functions for vectors, however many rows the column has.
func TestGemmColumn(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		if CurrentLevel() != Generic {
			t.Run("F32", testGemmColumn[float32])
			t.Run("F64", testGemmColumn[float64])
		}
	})
}

func testGemmColumn[T Float](t *testing.T) {
	rng := testkit.Rand(81)
	sizes := []int{1, 2, 5, gemvTall - 1, gemvTall, gemvNarrow, gemvNarrow + 1, 300}
	for i := range 100 {
		m, k := sizes[rng.IntN(len(sizes))], sizes[i%len(sizes)]
		alpha, beta := []T{1, -1, 0.7}[i%3], []T{0, 1, 0.25}[rng.IntN(3)]
		pad := rng.IntN(3)
		b, before := testkit.Normal[T](rng, k), testkit.Normal[T](rng, m)
		want, got := make([]T, m), make([]T, m)

		lda := k + pad
		a := testkit.CopyAtEnd(t, testkit.Normal[T](rng, (m-1)*lda+k))
		copy(want, before)
		Gemv(want, a, lda, b, alpha, beta, m, k)
		copy(got, before)
		Gemm(got, 1, a, lda, b, 1, alpha, beta, m, 1, k)
		require.Equal(t, want, got, "Gemm %d %d", m, k)
		copy(got, before)
		GemmNT(got, 1, a, lda, b, k, alpha, beta, m, 1, k)
		require.Equal(t, want, got, "GemmNT %d %d", m, k)

		lda = m + pad
		a = testkit.CopyAtEnd(t, testkit.Normal[T](rng, (k-1)*lda+m))
		copy(want, before)
		GemvT(want, a, lda, b, alpha, beta, k, m)
		copy(got, before)
		GemmTN(got, 1, a, lda, b, 1, alpha, beta, m, 1, k)
		require.Equal(t, want, got, "GemmTN %d %d", m, k)
		copy(got, before)
		for j := range m {
			GemmTN(got[j:], 1, a[j:], lda, b, 1, alpha, beta, 1, 1, k)
		}
		require.Equal(t, want, got, "GemmTN row by row %d %d", m, k)
	}
}
