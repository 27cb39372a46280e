package simd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestDistances compares with sums in float64, in memory that ends at an unreadable page, and wants a row's bits whatever stands beside it.
func TestDistances(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(93)
		for _, n := range append(lengths(), 384, 768, 4099) {
			m, lda := 1+rng.IntN(9), n+rng.IntN(4)
			a := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, (m-1)*lda+n))
			x, dst := testkit.CopyAtEnd(t, testkit.Normal[float32](rng, n)), testkit.CopyAtEnd(t, make([]float32, m))
			half := testkit.CopyAtEnd(t, make([]BF16, len(a)))
			BF16FromF32(half, a)
			rounded := make([]float32, len(a))
			F32FromBF16(rounded, half)
			for name, f := range map[string]struct {
				run    func(dst, a []float32, lda int, x []float32)
				half   func(dst []float32, a []BF16, lda int, x []float32)
				term   func(v, w float64) float64
				cosine bool
			}{
				"dot":    {DotRowsF32, DotRowsBF16, func(v, w float64) float64 { return v * w }, false},
				"L2":     {SquaredL2RowsF32, SquaredL2RowsBF16, func(v, w float64) float64 { return (v - w) * (v - w) }, false},
				"L1":     {L1RowsF32, L1RowsBF16, func(v, w float64) float64 { return math.Abs(v - w) }, false},
				"cosine": {CosineRowsF32, CosineRowsBF16, func(v, w float64) float64 { return v * w }, true},
			} {
				if f.cosine && n == 0 {
					continue
				}
				check := func(dst, a []float32) {
					t.Helper()
					for i, got := range dst {
						sum, size, va, vx := 0.0, 0.0, 0.0, 0.0
						for j, w := range x {
							v := float64(a[i*lda+j])
							s := f.term(v, float64(w))
							sum, size, va, vx = sum+s, size+math.Abs(s), va+v*v, vx+float64(w)*float64(w)
						}
						if f.cosine {
							sum, size = sum/math.Sqrt(va*vx), 1
						}
						if d := math.Abs(float64(got) - sum); !(d <= float64(n+8)*0x1p-23*size) {
							t.Fatalf("%s, n=%d: %g, want %g", name, n, got, sum)
						}
					}
				}
				f.run(dst, a, lda, x)
				check(dst, a)
				i := rng.IntN(m)
				alone := make([]float32, 1)
				f.run(alone, a[i*lda:], lda, x)
				require.True(t, testkit.SameBits(alone, dst[i:i+1]), "%s, n=%d", name, n)
				f.half(dst, half, lda, x)
				check(dst, rounded)
			}
		}
	})
}

// TestCosineRange wants the cosines of vectors whose dot products leave the range of float32.
func TestCosineRange(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, size := range []float32{1e-44, 1e-30, 1e-22, 1e19, 3e37} {
			a, x, dst := []float32{size, 0, 0, size, size, 0, -size, -size, size}, []float32{3 * size, 0, 4 * size}, make([]float32, 3)
			CosineRowsF32(dst, a, 3, x)
			require.InDeltaSlice(t, []float64{0.6, 0.6 / math.Sqrt2, 0.2 / math.Sqrt(3)}, dst, 11*0x1p-23, "%g", size)
			if size < 1e-40 {
				continue // bfloat16 keeps too few bits
			}
			half := make([]BF16, len(a))
			BF16FromF32(half, a)
			clear(dst)
			CosineRowsBF16(dst, half, 3, x)
			require.InDeltaSlice(t, []float64{0.6, 0.6 / math.Sqrt2, 0.2 / math.Sqrt(3)}, dst, 11*0x1p-23, "bfloat16, %g", size)
		}
	})
}

func TestDistancesI8(t *testing.T) { eachLevel(t, testDistancesI8) }

func testDistancesI8(t *testing.T) {
	a, x, dst := []int8{-128, 127, 3, 99, 5, -6, 7}, []int8{127, -128, -1}, make([]int32, 2)
	DotRowsI8(dst, a, 4, x)
	require.Equal(t, []int32{-128*127 - 127*128 - 3, 5*127 + 6*128 - 7}, dst)
	SquaredL2RowsI8(dst, a, 4, x)
	require.Equal(t, []int32{255*255*2 + 16, 122*122*2 + 64}, dst)
	L1RowsI8(dst, a, 4, x)
	require.Equal(t, []int32{514, 252}, dst)
	cosines := make([]float32, 3)
	CosineRowsI8(cosines, []int8{3, 4, 0, 0, -128, -128}, 2, []int8{-127, 0})
	require.InDelta(t, -0.6, cosines[0], 0x1p-23)
	require.True(t, math.IsNaN(float64(cosines[1])))
	require.InDelta(t, 1/math.Sqrt2, cosines[2], 0x1p-23)
	long, far := make([]int8, 131_071), make([]int8, 131_071) // as many columns as dot products may have; the distance overflows
	for i := range long {
		long[i], far[i] = 127, -128
	}
	CosineRowsI8(cosines[:1], long, len(long), far)
	require.InDelta(t, -1, cosines[0], 0x1p-23)
	CosineRowsI8(cosines[:1], far, len(long), far)
	require.InDelta(t, 1, cosines[0], 0x1p-23)
	require.PanicsWithValue(t, "simd: L1RowsI8: len(a) = 7, need 11", func() { L1RowsI8(make([]int32, 3), a, 4, x) })
}

// TestDistancesI8Kernels wants the exact sums at every level, in memory that ends and begins at unreadable pages.
func TestDistancesI8Kernels(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		rng := testkit.Rand(94)
		for _, n := range append(lengths(), 384, 768, 4099) {
			m, lda := 1+rng.IntN(9), n+rng.IntN(4)
			a, x := make([]int8, (m-1)*lda+n), make([]int8, n)
			for i := range a {
				a[i] = int8(rng.IntN(256) - 128)
			}
			for i := range x {
				x[i] = int8(rng.IntN(256) - 128)
				if rng.IntN(4) == 0 {
					x[i] = -128
				}
			}
			for name, f := range map[string]struct {
				run  func(dst []int32, a []int8, lda int, x []int8)
				term func(v, w int) int
			}{
				"dot": {DotRowsI8, func(v, w int) int { return v * w }},
				"L2":  {SquaredL2RowsI8, func(v, w int) int { return (v - w) * (v - w) }},
				"L1":  {L1RowsI8, func(v, w int) int { return max(v-w, w-v) }},
				"cosine": {func(dst []int32, a []int8, lda int, x []int8) {
					cosines := testkit.CopyAtEnd(t, make([]float32, len(dst)))
					CosineRowsI8(cosines, a, lda, x)
					DotRowsI8(dst, a, lda, x)
					for i, d := range dst {
						row, want := a[i*lda:][:len(x)], float64(d)
						if want != 0 {
							squares := make([]int32, 2)
							DotRowsI8(squares[:1], row, len(x), row)
							DotRowsI8(squares[1:], x, len(x), x)
							want /= math.Sqrt(float64(squares[0])) * math.Sqrt(float64(squares[1]))
							require.InEpsilon(t, want, float64(cosines[i]), 0x1p-22)
						}
					}
				}, func(v, w int) int { return v * w }},
			} {
				want := make([]int32, m)
				for i := range want {
					for j, w := range x {
						want[i] += int32(f.term(int(a[i*lda+j]), int(w)))
					}
				}
				for place, copied := range map[string]func([]int8) []int8{
					"at end":   func(x []int8) []int8 { return testkit.CopyAtEnd(t, x) },
					"at start": func(x []int8) []int8 { return testkit.CopyAtStart(t, x) },
				} {
					got := testkit.CopyAtEnd(t, make([]int32, m))
					f.run(got, copied(a), lda, copied(x))
					require.Equal(t, want, got, "%s of %d %s", name, n, place)
				}
			}
		}
	})
}

// TestDistancesEmpty measures rows without elements, which need not exist.
func TestDistancesEmpty(t *testing.T) {
	for _, lda := range []int{0, 5, math.MaxInt} {
		for name, f := range map[string]func(dst, a []float32, lda int, x []float32){
			"squared": SquaredL2RowsF32, "l1": L1RowsF32, "dot": DotRowsF32, "cosine": CosineRowsF32,
		} {
			dst := []float32{1, 2, 3}
			f(dst, []float32{7}, lda, nil)
			for _, v := range dst {
				require.True(t, v == 0 || name == "cosine" && v != v, "%s: %v", name, dst)
			}
		}
		for _, f := range []func(dst []float32, a []BF16, lda int, x []float32){SquaredL2RowsBF16, L1RowsBF16, DotRowsBF16} {
			dst := []float32{1, 2, 3}
			f(dst, nil, lda, nil)
			require.Equal(t, make([]float32, 3), dst)
		}
		half, narrow := []float32{1, 2, 3}, []float32{1, 2, 3}
		CosineRowsBF16(half, nil, lda, nil)
		CosineRowsI8(narrow, nil, lda, nil)
		for i := range half {
			require.True(t, half[i] != half[i] && narrow[i] != narrow[i], "%v %v", half, narrow)
		}
		for _, f := range []func(dst []int32, a []int8, lda int, x []int8){SquaredL2RowsI8, L1RowsI8, DotRowsI8} {
			dst := []int32{1, 2, 3}
			f(dst, nil, lda, nil)
			require.Equal(t, make([]int32, 3), dst)
		}
	}
}
