package neighbor

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/simd"
)

// TestVectors compares searches with sorting all scores: every similarity, few queries and many, ties, and rows that are no numbers.
func TestVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for _, by := range []Similarity{SquaredL2, DotProduct, Cosine, L1} {
		for _, size := range [][3]int{{0, 32, 3}, {5, 33, 9}, {700, 64, 10}, {20000, 32, 5}} {
			n, dim, k := size[0], size[1], size[2]
			if testing.Short() && n > 1000 {
				continue
			}
			rows := make([]float32, n*dim)
			for i := range rows {
				rows[i] = float32(rng.NormFloat64())
			}
			for i := n / 2; i < n/2+n/10; i++ { // copies of other rows
				copy(rows[i*dim:][:dim], rows[(i-n/2)*dim:])
			}
			if n > 100 {
				rows[50*dim] = float32(math.NaN())
				rows[60*dim] = float32(math.Inf(1))
			}
			v, err := NewVectors(rows, dim, by)
			require.NoError(t, err)
			for _, q := range []int{1, 3, 40} {
				queries := make([]float32, q*dim)
				for i := range queries {
					queries[i] = float32(rng.NormFloat64())
				}
				if n > 0 {
					copy(queries, rows[:dim])
				}
				index, score := make([]int32, q*k), make([]float32, q*k)
				v.Search(index, score, queries, k)
				for i := range q {
					want := bruteVectors(v, queries[i*dim:][:dim])
					for j := range k {
						if j >= len(want) {
							require.Equal(t, int32(-1), index[i*k+j])
							require.True(t, math.IsNaN(float64(score[i*k+j])))
							continue
						}
						require.Equal(t, want[j].index, index[i*k+j], "%v %v query %d place %d", by, size, i, j)
						require.Equal(t, v.by.scoreOf(want[j].cost), score[i*k+j])
					}
				}
				before := runtime.GOMAXPROCS(1)
				again, scores := make([]int32, q*k), make([]float32, q*k)
				v.Search(again, scores, queries, k)
				runtime.GOMAXPROCS(before)
				require.Equal(t, index, again)
			}
		}
	}
}

// TestVectorsRange wants the rows that sorting finds where products of rows and queries leave the range of float32, or nearly: a product of
// matrices and a sum over a row may then be infinite or 0 where the other one is not.
func TestVectorsRange(t *testing.T) {
	const n, dim, q, k = 3000, 3, 8, 130
	for _, by := range []Similarity{SquaredL2, DotProduct, Cosine, L1} {
		for _, size := range []float64{1e-23, 3e-23, 1e-22, 1e18, 1e19, 3e19} {
			rng := rand.New(rand.NewPCG(9, 1))
			rows, queries := make([]float32, n*dim), make([]float32, q*dim)
			for i := range rows {
				rows[i] = float32(size * rng.NormFloat64())
			}
			copy(queries, rows[len(rows)/2:])
			v, err := NewVectors(rows, dim, by)
			require.NoError(t, err)
			index, score := make([]int32, q*k), make([]float32, q*k)
			v.Search(index, score, queries, k)
			for i := range q {
				for j, want := range bruteVectors(v, queries[i*dim:][:dim])[:k] {
					require.Equal(t, want.index, index[i*k+j], "%v %g query %d place %d", by, size, i, j)
					require.Equal(t, v.by.scoreOf(want.cost), score[i*k+j])
				}
			}
		}
	}
}

// TestVectorsWithoutLimit: a query that nothing is found for, as one of zeros by the cosine, does not have all rows compared with the
// others, too. Lengths that are far too large show whether products decide: these then say that no row of a later block is near.
func TestVectorsWithoutLimit(t *testing.T) {
	const n, dim, q, far = 3 * vectorRows, 8, 5, 2*vectorRows + 7
	rows, queries := make([]float32, n*dim), make([]float32, q*dim)
	for i := range rows {
		rows[i] = float32(1 + i%3)
	}
	clear(rows[far*dim:][:dim])
	queries[0] = float32(math.NaN())
	v, err := NewVectors(rows, dim, SquaredL2)
	require.NoError(t, err)
	index, score := make([]int32, q), make([]float32, q)
	v.Search(index, score, queries, 1)
	require.Equal(t, []int32{-1, far, far, far, far}, index)
	for i := range v.norms {
		v.norms[i] = 1e15
	}
	v.Search(index, score, queries, 1)
	require.Equal(t, int32(-1), index[0])
	for _, best := range index[1:] {
		require.Less(t, best, int32(vectorRows))
	}
}

type bruteScore struct {
	cost  float64
	index int32
}

func bruteVectors(v *Vectors, query []float32) []bruteScore {
	dst := make([]float32, v.n)
	query = append([]float32(nil), query...)
	sign := 1.0
	switch v.by {
	case SquaredL2:
		simd.SquaredL2RowsF32(dst, v.rows, v.dim, query)
	case L1:
		simd.L1RowsF32(dst, v.rows, v.dim, query)
	case Cosine:
		normalize(query)
		fallthrough
	default:
		simd.DotRowsF32(dst, v.rows, v.dim, query)
		sign = -1
	}
	var all []bruteScore
	for i, d := range dst {
		if d == d {
			all = append(all, bruteScore{sign * float64(d), int32(i)})
		}
	}
	slices.SortFunc(all, func(a, b bruteScore) int {
		switch {
		case a.cost < b.cost:
			return -1
		case a.cost > b.cost:
			return 1
		}
		return cmp.Compare(a.index, b.index)
	})
	return all
}

func TestVectorsErrors(t *testing.T) {
	_, err := NewVectors(make([]float32, 10), 3, Cosine)
	require.ErrorIs(t, err, ErrShape)
	_, err = NewVectors(make([]float32, 9), 3, 9)
	require.ErrorIs(t, err, ErrOption)
	v, err := NewVectors(make([]float32, 9), 3, L1)
	require.NoError(t, err)
	require.Equal(t, 3, v.Len())
	const quarter = 1 << (bits.UintSize - 2) // of the values of an int: 4 times it is 0
	for _, bad := range []struct {
		index, score, queries, k int
		message                  string
	}{
		{3, 2, 3, 2, "len(index) = 3, len(score) = 2, len(queries) = 3: need 1·2 twice and a multiple of 3"},
		{0, 0, 3, -1, "k = -1, need at least 0"},
		{0, 0, 12, quarter, fmt.Sprintf("len(index) = 0, len(score) = 0, len(queries) = 12: need 4·%d twice and a multiple of 3", quarter)},
	} {
		require.PanicsWithValue(t, "neighbor: Vectors.Search: "+bad.message, func() {
			v.Search(make([]int32, bad.index), make([]float32, bad.score), make([]float32, bad.queries), bad.k)
		})
	}
}
