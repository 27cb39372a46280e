package neighbor

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/simd"
)

// sortedScores are the scores that are numbers, the best first.
func sortedScores(scores []float64, largest bool) (index []int32, sorted []float64) {
	for i, s := range scores {
		if s == s {
			index = append(index, int32(i))
		}
	}
	slices.SortFunc(index, func(a, b int32) int {
		switch sa, sb := scores[a], scores[b]; {
		case sa == sb:
			return cmp.Compare(a, b)
		case sa > sb == largest:
			return -1
		}
		return 1
	})
	for _, i := range index {
		sorted = append(sorted, scores[i])
	}
	return index, sorted
}

// requireBest wants the best of all scores, and -1 and NaN where there are too few.
func requireBest(t *testing.T, scores []float64, largest bool, index []int32, score []float32) {
	t.Helper()
	order, sorted := sortedScores(scores, largest)
	for j := range index {
		if j >= len(order) {
			require.Equal(t, int32(-1), index[j])
			require.True(t, math.IsNaN(float64(score[j])))
			continue
		}
		if order[j] != index[j] || !(float32(sorted[j]) == score[j]) {
			t.Fatalf("place %d of %d: row %d with score %v, want row %d with %v", j, len(order), index[j], score[j], order[j], sorted[j])
		}
	}
}

func isLargest(by Similarity) bool { return by == DotProduct || by == Cosine }

// TestVectorsBF16 compares with a search of the same rows in float32. For Cosine rows are divided by their lengths with one rounding more,
// so there scores and places may differ by that.
func TestVectorsBF16(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 1))
	for _, by := range []Similarity{SquaredL2, DotProduct, Cosine, L1} {
		for _, size := range [][3]int{{0, 32, 3}, {5, 33, 9}, {700, 64, 10}, {300, 5000, 4}, {5000, 32, 5}} {
			n, dim, k := size[0], size[1], size[2]
			if testing.Short() && n*dim > 50_000 {
				continue
			}
			half, wide := make([]simd.BF16, n*dim), make([]float32, n*dim)
			for i := range wide {
				wide[i] = float32(rng.NormFloat64())
			}
			if n > 100 {
				wide[50*dim], wide[60*dim] = float32(math.NaN()), float32(math.Inf(1))
				clear(wide[70*dim : 71*dim])
				for j := range dim { // lengths that a float32 cannot have the inverse of, or only a subnormal one
					wide[80*dim+j] *= 1e-40
					wide[90*dim+j] *= 1e37
				}
			}
			simd.BF16FromF32(half, wide)
			simd.F32FromBF16(wide, half)
			v, err := NewVectorsBF16(half, dim, by)
			require.NoError(t, err)
			require.Equal(t, n, v.Len())
			plain, err := NewVectors(wide, dim, by)
			require.NoError(t, err)
			for _, q := range []int{1, 3, 40} {
				queries := make([]float32, q*dim)
				for i := range queries {
					queries[i] = float32(rng.NormFloat64())
				}
				index, score := make([]int32, q*k), make([]float32, q*k)
				v.Search(index, score, queries, k)
				wantIndex, want := make([]int32, q*k), make([]float32, q*k)
				plain.Search(wantIndex, want, queries, k)
				for i := range index {
					if by != Cosine {
						require.Equal(t, wantIndex[i], index[i], "%v %v", by, size)
						require.Equal(t, math.Float32bits(want[i]), math.Float32bits(score[i]), "%v %v", by, size)
					} else if index[i] < 0 || wantIndex[i] < 0 {
						require.Equal(t, wantIndex[i], index[i], "%v", size)
					} else {
						require.InDelta(t, want[i], score[i], 4*0x1p-23, "%v", size)
						exact := make([]float32, 1)
						simd.CosineRowsF32(exact, wide[int(index[i])*dim:], dim, queries[i/k*dim:][:dim])
						require.InDelta(t, exact[0], score[i], float64(dim+10)*0x1p-23)
					}
				}
			}
		}
	}
}

// TestVectorsI8 compares with sorting exact scores: extremes, ties, rows of zeros.
func TestVectorsI8(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 1))
	for _, by := range []Similarity{SquaredL2, DotProduct, Cosine, L1} {
		for _, size := range [][3]int{{0, 32, 3}, {5, 33, 9}, {700, 64, 10}, {5000, 1, 40}, {20000, 16, 5}} {
			n, dim, k := size[0], size[1], size[2]
			if testing.Short() && n*dim > 50_000 {
				continue
			}
			rows := make([]int8, n*dim)
			for i := range rows {
				rows[i] = int8(rng.IntN(256) - 128)
				if i/dim%7 == 3 {
					rows[i] = int8(-128 + 255*(i%2))
				}
			}
			if n > 100 {
				clear(rows[70*dim : 71*dim])
			}
			v, err := NewVectorsI8(rows, dim, by)
			require.NoError(t, err)
			require.Equal(t, n, v.Len())
			for _, q := range []int{1, 40} {
				queries := make([]int8, q*dim)
				for i := range queries {
					queries[i] = int8(rng.IntN(256) - 128)
				}
				clear(queries[(q-1)*dim:])
				index, score := make([]int32, q*k), make([]float32, q*k)
				v.Search(index, score, queries, k)
				for i := range q {
					scores := make([]float64, n)
					for r := range scores {
						dot, l2, l1, a, b := 0, 0, 0, 0, 0
						for j, x := range queries[i*dim:][:dim] {
							x, y := int(x), int(rows[r*dim+j])
							dot, l2, l1, a, b = dot+x*y, l2+(x-y)*(x-y), l1+max(x-y, y-x), a+x*x, b+y*y
						}
						scores[r] = [...]float64{SquaredL2: float64(l2), DotProduct: float64(dot), L1: float64(l1),
							Cosine: float64(dot) / (math.Sqrt(float64(a)) * math.Sqrt(float64(b)))}[by]
					}
					requireBest(t, scores, isLargest(by), index[i*k:][:k], score[i*k:][:k])
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

func TestVectorsNarrowErrors(t *testing.T) {
	_, err := NewVectorsBF16(make([]simd.BF16, 10), 3, Cosine)
	require.EqualError(t, err, "neighbor: NewVectorsBF16: "+ErrShape.Error()+": 10 numbers do not fill rows of 3")
	_, err = NewVectorsI8(make([]int8, 10), 0, Cosine)
	require.ErrorIs(t, err, ErrShape)
	_, err = NewVectorsI8(nil, 3, 7)
	require.ErrorIs(t, err, ErrOption)
	_, err = NewVectorsI8(nil, 33_026, SquaredL2)
	require.ErrorIs(t, err, ErrShape)
	_, err = NewVectorsI8(nil, 131_072, L1)
	require.ErrorContains(t, err, "at most 131071")
	v, err := NewVectorsI8(make([]int8, 6), 3, L1)
	require.NoError(t, err)
	require.PanicsWithValue(t, "neighbor: VectorsI8.Search: k = -1, need at least 0", func() { v.Search(nil, nil, nil, -1) })
	b, err := NewVectorsBF16(make([]simd.BF16, 6), 3, L1)
	require.NoError(t, err)
	require.PanicsWithValue(t, "neighbor: VectorsBF16.Search: len(index) = 1, len(score) = 1, len(queries) = 4: "+
		"need 1·1 twice and a multiple of 3", func() { b.Search(make([]int32, 1), make([]float32, 1), make([]float32, 4), 1) })
}

// TestTop compares with sorting, whatever the parts and their order, with ties, NaN and infinities.
func TestTop(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 1))
	trials := 200
	if testing.Short() {
		trials = 50
	}
	for trial := range trials {
		n, k, largest := rng.IntN(1500), rng.IntN(40), trial%2 == 0
		scores, wide := make([]float32, n), make([]float64, n)
		for i := range scores {
			switch scores[i] = float32(rng.NormFloat64()); rng.IntN(20) {
			case 0:
				scores[i] = float32(math.NaN())
			case 1:
				scores[i] = float32(math.Inf(1 - 2*rng.IntN(2)))
			case 2, 3, 4, 5:
				scores[i] = float32(rng.IntN(3) - 1)
			}
			wide[i] = float64(scores[i])
		}
		top, err := NewTop(k, largest)
		require.NoError(t, err)
		top.Offer([]float32{3, 5}, 7)
		top.Reset()
		var cuts []int
		for at := 0; at < n; at += 1 + rng.IntN(400) {
			cuts = append(cuts, at)
		}
		parts := rng.Perm(len(cuts))
		kept := make([]int32, k)
		score := make([]float32, k)
		for i, p := range parts {
			hi := n
			if p+1 < len(cuts) {
				hi = cuts[p+1]
			}
			top.Offer(scores[cuts[p]:hi], cuts[p])
			if i == len(parts)/2 {
				top.Best(kept, score) // does not disturb
			}
		}
		order, _ := sortedScores(wide, largest)
		require.Equal(t, min(k, len(order)), top.Len())
		got := top.Best(kept, score)
		require.Equal(t, top.Len(), got)
		requireBest(t, wide, largest, kept[:got], score[:got])
		if got > 0 && got == k {
			require.Equal(t, score[got-1], top.Bound())
		}
		if got > 1 {
			require.Equal(t, 1, top.Best(kept[:1], score[:1]))
			require.Equal(t, order[0], kept[0])
		}
	}
	top, err := NewTop(2, true)
	require.NoError(t, err)
	require.Equal(t, float32(math.Inf(-1)), top.Bound())
	zeros := make([]float32, 300)
	require.Zero(t, testing.AllocsPerRun(10, func() { top.Reset(); top.Offer(zeros, 5) }))
	require.PanicsWithValue(t, "neighbor: Top.Offer: items 2147483647 to 2147483648: need 0 to 2147483647",
		func() { top.Offer(make([]float32, 2), math.MaxInt32) })
	require.PanicsWithValue(t, "neighbor: Top.Best: len(index) = 1, len(score) = 2",
		func() { top.Best(make([]int32, 1), make([]float32, 2)) })
	_, err = NewTop(-1, true)
	require.ErrorIs(t, err, ErrOption)
}

func BenchmarkTop(b *testing.B) {
	rng := rand.New(rand.NewPCG(20, 1))
	scores := make([]float32, 1<<20)
	for i := range scores {
		scores[i] = rng.Float32()
	}
	top, err := NewTop(10, true)
	require.NoError(b, err)
	b.SetBytes(4 << 20)
	for b.Loop() {
		top.Reset()
		top.Offer(scores, 0)
	}
}

// TestVectorsZeroValue: what no constructor made says so, and rows without a length are refused by that and not as an incomplete row.
func TestVectorsZeroValue(t *testing.T) {
	want := "the zero value has no rows, not even their length"
	require.PanicsWithValue(t, "neighbor: Vectors.Search: "+want, func() { new(Vectors).Search(nil, nil, nil, 1) })
	require.PanicsWithValue(t, "neighbor: VectorsBF16.Search: "+want, func() { new(VectorsBF16).Search(nil, nil, nil, 1) })
	require.PanicsWithValue(t, "neighbor: VectorsI8.Search: "+want, func() { new(VectorsI8).Search(nil, nil, nil, 1) })
	_, err := NewVectors(make([]float32, 10), 0, Cosine)
	require.EqualError(t, err, "neighbor: NewVectors: "+ErrShape.Error()+": dim = 0, need at least 1")
}

// TestDimensionsNamed: an impossible number of axes is the error, whether or not the numbers fill rows of it.
func TestDimensionsNamed(t *testing.T) {
	for _, c := range []struct {
		n, dim int
		want   string
	}{{12, 0, "dim = 0, need 1 to 8"}, {12, -1, "dim = -1, need 1 to 8"}, {12, 9, "dim = 9, need 1 to 8"},
		{18, 9, "dim = 9, need 1 to 8"}, {13, 3, "13 numbers do not fill rows of 3"}} {
		_, err := NewTree(make([]float64, c.n), c.dim, nil)
		require.EqualError(t, err, "neighbor: NewTree: "+ErrShape.Error()+": "+c.want)
	}
	_, err := NewGrid(make([]float32, 10), 4, 1)
	require.ErrorContains(t, err, "dim = 4, need 1 to 3")
}
