package search

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/race"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

func TestExtent(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testExtent[float32])
		t.Run("F64", testExtent[float64])
	})
}

func testExtent[T Float](t *testing.T) {
	rng := testkit.Rand(64)
	for dim := 1; dim <= MaxDim; dim++ {
		for _, n := range []int{1, 2, 15, 16, 31, 32, 33, 64, 100, 333} {
			x := testkit.AtEnd[T](t, n*dim)
			for i := range x {
				x[i] = T(rng.NormFloat64()) * T(1+i%dim)
			}
			for range 4 { // the extremes of an axis, anywhere
				x[rng.IntN(len(x))] = T(rng.IntN(3)-1) * 1e30
			}
			low, high, wantLow, wantHigh := make([]T, dim), make([]T, dim), make([]T, dim), make([]T, dim)
			for axis := range dim {
				wantLow[axis], wantHigh[axis] = T(math.Inf(1)), T(math.Inf(-1))
				for i := axis; i < len(x); i += dim {
					wantLow[axis], wantHigh[axis] = min(wantLow[axis], x[i]), max(wantHigh[axis], x[i])
				}
			}
			name := fmt.Sprintf("dim=%d n=%d", dim, n)
			require.True(t, Extent(low, high, x), name)
			require.Equal(t, wantLow, low, name)
			require.Equal(t, wantHigh, high, name)
			at := rng.IntN(len(x))
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				x[at] = T(bad)
				require.False(t, Extent(low, high, x), "%s x[%d] = %g", name, at, bad)
			}
		}
	}
	// More than goes to assembly at a time.
	long := make([]T, 3*(gridPiece+99))
	long[len(long)-101], long[3*gridPiece/2] = 5, -7
	low, high := make([]T, 3), make([]T, 3)
	require.True(t, Extent(low, high, long))
	wantLow, wantHigh := make([]T, 3), make([]T, 3)
	wantHigh[(len(long)-101)%3], wantLow[3*gridPiece/2%3] = 5, -7
	require.Equal(t, wantLow, low)
	require.Equal(t, wantHigh, high)
	long[len(long)/2] = T(math.NaN())
	require.False(t, Extent(low, high, long))
	if !race.Enabled {
		require.Zero(t, testing.AllocsPerRun(3, func() { Extent(low, high, long) }))
	}
}

func TestGridCells(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testGridCells[float32])
		t.Run("F64", testGridCells[float64])
	})
}

func testGridCells[T Float](t *testing.T) {
	rng := testkit.Rand(65)
	awkward := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), -0.99, -1, -1.5, -1e20, 0.999,
		1, 1.5, 2147483647, 2147483648, 4294967295, 4294967296, 1e20, math.SmallestNonzeroFloat64}
	for _, n := range append(lengths(), gridPiece+5) {
		for _, stride := range []int{1, 2, 3, 7} {
			if n > 1000 && stride > 1 {
				continue
			}
			x := testkit.AtEnd[T](t, max(0, (n-1)*stride+1))
			for i := range x {
				if x[i] = T(10 * rng.Float64()); rng.IntN(3) == 0 {
					x[i] = T(awkward[rng.IntN(len(awkward))])
				}
			}
			for _, c := range []struct {
				low, inv     T
				cells, width int32
			}{{0, 1, 8, 1}, {0, 1, math.MaxInt32, 1}, {1.25, 0.5, 3, 1000}, {0, 0, 1, 5}} {
				at := testkit.AtEnd[int32](t, n)
				want := make([]int32, n)
				for i := range at {
					at[i] = int32(rng.IntN(100))
					// Truncated in float64, where every int32 is exact.
					k := c.cells - 1
					if f := math.Trunc(float64((x[i*stride] - c.low) * c.inv)); f >= 0 && f < float64(k) {
						k = int32(f)
					}
					want[i] = at[i] + c.width*k
				}
				Cells(at, x, stride, c.low, c.inv, c.cells, c.width)
				require.Equal(t, want, at, "n=%d stride=%d %+v", n, stride, c)
			}
		}
	}
}

func TestGridRefuses(t *testing.T) {
	f, i := make([]float32, 6), make([]int32, 4)
	for name, run := range map[string]func(){
		"search: Extent: len(x) = 5, need a positive multiple of 2":    func() { Extent(f[:2], f[:2], f[:5]) },
		"search: Extent: len(x) = 0, need a positive multiple of 2":    func() { Extent(f[:2], f[:2], nil) },
		"search: Extent: len(high) = 1, need 2":                        func() { Extent(f[:2], f[:1], f) },
		"search: Extent: dim = 0, need 1 to 8":                         func() { Extent(nil, nil, f) },
		"search: Cells: stride = 0, cells = 1, need at least 1":        func() { Cells(i, f, 0, 0, 1, 1, 1) },
		"search: Cells: stride = 1, cells = 0, need at least 1":        func() { Cells(i, f, 1, 0, 1, 0, 1) },
		"search: Cells: len(x) = 6 is too short for 4 numbers 2 apart": func() { Cells(i, f, 2, 0, 1, 1, 1) },
		"search: Cells: len(x) = 0 is too short for 4 numbers 2 apart": func() { Cells[float32](i, nil, 2, 0, 1, 1, 1) },
	} {
		require.PanicsWithValue(t, name, run)
	}
	Cells(i, f, 1, 0, 1, 1, 1)
	Cells[float32](nil, nil, 2, 0, 1, 1, 1)
}
