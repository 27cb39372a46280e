package simd

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestGemmRuns compares with one product after the other, bit by bit: runs that are empty, longer than a tile, up against the
// last row, that meet each other, and that share a matrix; columns that fill vectors and such that do not.
func TestGemmRuns(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testGemmRuns[float32])
		t.Run("F64", testGemmRuns[float64])
	})
}

func testGemmRuns[T Float](t *testing.T) {
	const rowsC, rowsA, matrices = 80, 75, 3
	runs := []Run{
		{C: 3, A: 70, B: 0, N: 5}, {C: 5, A: 0, B: 1, N: 20}, {C: 80, A: 75, B: 2}, {C: 40, A: 2, B: 2, N: 1},
		{C: 10, A: 5, B: 2, N: 70}, {C: 79, A: 74, B: 0, N: 1}, {C: 0, A: 0, B: 1, N: 75},
	}
	rng := testkit.Rand(17)
	for _, s := range [][2]int{{1, 1}, {16, 8}, {16, 32}, {32, 16}, {8, 5}, {24, 3}, {20, 7}, {48, 1}, {64, 40}, {80, 2},
		{16, 2100}, {16, 0}, {0, 3}} {
		n, k := s[0], s[1]
		for _, beta := range []T{0, 1, -0.5} {
			t.Run(fmt.Sprintf("n=%d/k=%d/beta=%v", n, k, beta), func(t *testing.T) {
				a := testkit.CopyAtEnd(t, testkit.Normal[T](rng, rowsA*k))
				b := testkit.CopyAtEnd(t, testkit.Normal[T](rng, matrices*k*n))
				want := testkit.Normal[T](rng, rowsC*n)
				if beta == 0 && n > 0 {
					want[10*n] = T(math.NaN()) // is written, and must not be read
				}
				c := testkit.CopyAtEnd(t, want)
				a0, b0 := append([]T(nil), a...), append([]T(nil), b...)
				for _, r := range runs {
					if n > 0 {
						Gemm(want[r.C*n:], n, a[r.A*k:], k, b[r.B*k*n:], n, 1, beta, r.N, n, k)
					}
				}
				GemmRuns(c, a, b, runs, beta, n, k)
				require.True(t, testkit.SameBits(c, want))
				require.True(t, testkit.SameBits(a, a0) && testkit.SameBits(b, b0), "inputs changed")
			})
		}
	}
}

// TestGemmRunsRefuses: no run leaves its slices, whatever its numbers are, and none is computed before all are checked.
func TestGemmRunsRefuses(t *testing.T) {
	const n, k = 16, 8
	for name, r := range map[string]Run{
		"negative":       {N: -1},
		"row of c":       {C: 8, N: 3},
		"row of a":       {A: 5, N: 2},
		"before c":       {C: -1, N: 1},
		"before a":       {A: -1, N: 1},
		"matrix":         {B: 2, N: 1},
		"before b":       {B: -1, N: 1},
		"sum overflows":  {C: math.MaxInt, N: 1},
		"rows overflow":  {A: math.MaxInt, N: 2},
		"empty but away": {C: 11},
	} {
		t.Run(name, func(t *testing.T) {
			c, a, b := make([]float32, 10*n), make([]float32, 6*k), make([]float32, 2*k*n)
			for i := range a {
				a[i] = 1
			}
			for i := range b {
				b[i] = 1
			}
			message := fmt.Sprintf("simd: GemmRunsF32: runs[1] = %+v leaves 10 rows of c, 6 of a, or 2 matrices", r)
			require.PanicsWithValue(t, message, func() { GemmRunsF32(c, a, b, []Run{{N: 2}, r}, 0, n, k) })
			require.Equal(t, make([]float32, 10*n), c)
		})
	}
	require.PanicsWithValue(t, "simd: GemmRunsF32: len(b) = 6, need 4", func() {
		GemmRunsF32(make([]float32, 2), make([]float32, 2), make([]float32, 6), nil, 0, 2, 2)
	})
	require.Panics(t, func() { GemmRunsF64(make([]float64, 3), nil, nil, nil, 0, 2, 2) })
	require.Panics(t, func() { GemmRunsF64(nil, make([]float64, 3), nil, nil, 0, 2, 2) })
	require.Panics(t, func() { GemmRunsF64(nil, nil, nil, nil, 0, -1, 2) })
	require.Panics(t, func() { GemmRunsF64(nil, nil, make([]float64, 1), nil, 0, 2, 0) })
}

func TestGemmRunsDoesNotAllocate(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		c, a, b := make([]float32, 10*16), make([]float32, 6*8), make([]float32, 2*8*16)
		runs := []Run{{C: 1, A: 2, B: 1, N: 4}}
		require.Zero(t, testing.AllocsPerRun(2, func() { GemmRunsF32(c, a, b, runs, 1, 16, 8) }))
	})
}
