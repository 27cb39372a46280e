package krige

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCholesky multiplies factors, solutions and inverses out.
func TestCholesky(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var w square
	for _, n := range []int{1, 2, 7, 31, 32, 33, 64, 100} {
		m := make([]float64, tri(n))
		for i := range n {
			for j := range i + 1 {
				m[tri(i)+j] = 0.3 * rng.NormFloat64()
			}
			m[tri(i)+i] = 1 + rng.Float64()
		}
		product := make([]float64, tri(n)) // of m and its transpose
		for i := range n {
			for j := range i + 1 {
				product[tri(i)+j] = dot(m[tri(i):], m[tri(j):], j+1)
			}
		}
		right := make([]float64, 3*n)
		for i := range right {
			right[i] = rng.NormFloat64()
		}
		a, z := append([]float64{}, product...), append([]float64{}, right...)
		require.True(t, cholesky(a, n, z, &w))
		forward(a, right[:n], n)
		requireClose(t, right[:n], z[:n], 1e-9, "solution")
		for i := range n {
			require.InDelta(t, m[tri(i)+i], 1/a[tri(i)+i], 1e-9)
			requireClose(t, m[tri(i):tri(i)+i], a[tri(i):tri(i)+i], 1e-9, "factor")
		}
		inv := inverse(a, n)
		for i := range n {
			var sum float64
			for j := range n {
				sum += inv[i*n+j] * product[tri(max(i, j))+min(i, j)]
			}
			require.InDelta(t, 1, sum, 1e-7)
		}
	}
	require.False(t, cholesky([]float64{1, 2, 1}, 2, nil, &w))
	require.True(t, cholesky(nil, 0, nil, &w))
}
