//go:build !purego

package simd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestCacheBlocking forces sizes of the first-level cache, from less than any machine has to more, and wants the same bits.
func TestCacheBlocking(t *testing.T) {
	own := firstCache
	defer func() { firstCache = own }()
	rng := testkit.Rand(77)
	const m, n, k, rows = 61, 70, 333, 99
	a, b, bias := testkit.Normal[float32](rng, m*k), Pack(testkit.Normal[float32](rng, k*n), n, k, n), testkit.Normal[float32](rng, n)
	layer := func(in, out int) Dense[float32] {
		return Dense[float32]{Pack(testkit.Normal[float32](rng, in*out), out, in, out), testkit.Normal[float32](rng, out)}
	}
	net := [3]Dense[float32]{layer(2, 32), layer(32, 32), layer(32, 128)}
	pose, scratch := testkit.Normal[float32](rng, 2*rows), make([]float32, WeightNetScratch(&net))
	eachLevel(t, func(t *testing.T) {
		var products, weights []float32
		for _, size := range []int{1, 4 << 10, 16 << 10, 32 << 10, 48 << 10, 64 << 10, 1 << 30} {
			firstCache = size
			c, w := make([]float32, m*n), make([]float32, rows*128)
			GemmPackedF32(c, n, a, k, b, bias, ActReLU, m)
			WeightNetF32(w, pose, &net, rows, scratch)
			if products == nil {
				products, weights = c, w
			}
			require.True(t, testkit.SameBits(products, c), "product, %d bytes", size)
			require.True(t, testkit.SameBits(weights, w), "WeightNet, %d bytes", size)
		}
	})
}

// TestPanelDepth: parts of any k are positive, bounded and cover it.
func TestPanelDepth(t *testing.T) {
	own := firstCache
	defer func() { firstCache = own }()
	for _, size := range []int{1, 32 << 10, 48 << 10, 1 << 30} {
		firstCache = size
		for _, k := range []int{0, 1, 31, 33, 128, 129, 256, 2048, 2049, 100000} {
			d := panelDepth(k)
			require.Positive(t, d)
			require.LessOrEqual(t, d, gemmDepth)
		}
		for _, out := range []int{1, 32, 128, 1 << 16} {
			rows := weightNetRows(32, 32, out)
			require.Positive(t, rows)
			require.LessOrEqual(t, rows, weightNetTile)
		}
	}
	firstCache = 48 << 10
	require.Equal(t, 256, panelDepth(256))
	require.Equal(t, 200, panelDepth(600))
	require.Equal(t, 42, weightNetRows(32, 32, 128))
}
