//go:build !purego

package simd

import (
	"math"
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

// TestStreamed stores everything that has whole lines past the caches, up to an unreadable page and beside numbers that must stay,
// and wants the bits of what goes through them.
func TestStreamed(t *testing.T) {
	own, ownProduct, ownFew := streamFrom, streamProductFrom, streamFewFrom
	defer func() { streamFrom, streamProductFrom, streamFewFrom = own, ownProduct, ownFew }()
	rng := testkit.Rand(78)
	// both calls compute into a slice that ends on a page, as many elements before its end as shift says.
	both := func(t *testing.T, size, shift int, compute func(dst []float32), what string, args ...any) {
		var results [2][]float32
		for i, from := range []int{math.MaxInt, 0} {
			streamFrom, streamProductFrom, streamFewFrom = from, from, from
			results[i] = testkit.AtEnd[float32](t, size+shift)
			for q := range results[i] {
				results[i][q] = 7
			}
			compute(results[i][:size])
		}
		require.True(t, testkit.SameBits(results[0], results[1]), append([]any{what}, args...)...)
	}
	eachLevel(t, func(t *testing.T) {
		for _, s := range [][4]int{{1010, 32, 32, 6}, {61, 64, 64, 3}, {13, 64, 80, 64}, {6, 96, 96, 65}, {40, 128, 128, 9},
			{29, 160, 160, 400}, {35, 64, 65, 5}} {
			m, n, ldc, k := s[0], s[1], s[2], s[3]
			a, bias := testkit.Normal[float32](rng, m*k), testkit.Normal[float32](rng, n)
			b := Pack(testkit.Normal[float32](rng, k*n), n, k, n)
			for _, act := range []Activation{ActNone, ActReLU, ActTanh} {
				for _, shift := range []int{0, 1, 16} {
					both(t, m*ldc, shift, func(c []float32) { GemmPackedF32(c, ldc, a, k, b, bias, act, m) }, "%v, %v, shift %d",
						s, act, shift)
				}
			}
		}
		for _, widths := range [][4]int{{2, 32, 32, 128}, {3, 12, 64, 64}, {3, 7, 32, 64}, {4, 16, 65, 64}, {2, 32, 32, 96},
			{3, 48, 16, 112}} {
			net, _ := weightNetOf[float32](rng, widths, true)
			scratch := make([]float32, WeightNetScratch(&net))
			for _, rows := range []int{1, 5, 6, 7, 13, weightNetTile, weightNetTile + 1, 95} {
				pose := testkit.Normal[float32](rng, rows*widths[0])
				for _, shift := range []int{0, 1} {
					both(t, rows*widths[3], shift, func(w []float32) { WeightNetF32(w, pose, &net, rows, scratch) },
						"%v, %d rows, shift %d", widths, rows, shift)
				}
			}
		}
	})
}

// TestPastCaches: results of whole lines stream from the set size on.
func TestPastCaches(t *testing.T) {
	const from = 64 << 10
	c := alignedSlice[float32](32 << 10)
	require.True(t, pastCaches(c, 32, 512, from))
	require.True(t, pastCaches(c, 16<<10, 1, from))
	require.False(t, pastCaches(c, 32, 511, from), "too small")
	require.False(t, pastCaches(c, 40, 600, from), "rows begin within lines")
	require.False(t, pastCaches(c[1:], 32, 600, from), "begins within a line")
	require.False(t, pastCaches[float32](nil, 32, 0, from))
}

// TestCrowdedRows: products whose rows of A lie a multiple of 4 KB apart have the same bits whether these are copied or not.
func TestCrowdedRows(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testCrowdedRows[float32](t, 1024) })
	t.Run("float64", func(t *testing.T) { testCrowdedRows[float64](t, 512) })
}

func testCrowdedRows[T Float](t *testing.T, lda int) {
	own := firstCache
	defer func() { firstCache = own }()
	rng := testkit.Rand(78)
	const m, n, k, eight = 131, 130, 300, 32 << 10 // bytes, in eight ways
	a, b := testkit.Normal[T](rng, m*lda), testkit.Normal[T](rng, k*n)
	packed := Pack(b, n, k, n)
	eachLevel(t, func(t *testing.T) {
		firstCache = eight
		require.Equal(t, level == AVX512, rowsCrowd[T](lda, m, n, k))
		require.False(t, rowsCrowd[T](lda-32, m, n, k))
		var want, wantPacked []T
		for _, size := range []int{eight, eight + 1} {
			firstCache = size
			c, p := make([]T, m*n), make([]T, m*n)
			Gemm(c, n, a, lda, b, n, 1, 0, m, n, k)
			GemmPacked(p, n, a, lda, packed, nil, ActNone, m)
			if want == nil {
				want, wantPacked = c, p
			}
			require.True(t, testkit.SameBits(want, c))
			require.True(t, testkit.SameBits(wantPacked, p))
		}
	})
}
