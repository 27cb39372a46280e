package search

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

func TestSmallest(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		t.Run("F32", testSmallest[float32])
		t.Run("F64", testSmallest[float64])
	})
}

func testSmallest[T Float](t *testing.T) {
	rng := testkit.Rand(63)
	for _, n := range []int{0, 1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100, 128, 129, 300, 1 << 14, 1<<14 + 1} {
		for _, k := range []int{0, 1, 7, 8, 9, 31, 32, 63, 64, 65, 500} {
			type pair struct {
				d T
				j int32
			}
			pairs, index, dist2 := make([]pair, n), make([]int32, n), make([]T, n)
			for i := range pairs {
				d := T(rng.IntN(6)) // many ties
				switch rng.IntN(4) {
				case 0:
					d = T(rng.ExpFloat64())
				case 1:
					d = []T{0, T(math.SmallestNonzeroFloat32), math.MaxFloat32, T(math.Inf(1))}[rng.IntN(4)]
				}
				pairs[i] = pair{d, int32(rng.IntN(math.MaxInt32))}
				index[i], dist2[i] = pairs[i].j, d
			}
			slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.j, b.j)) })
			index, dist2 = testkit.CopyAtEnd(t, index), testkit.CopyAtEnd(t, dist2)
			want := min(n, k)
			outIndex, outDist2 := testkit.AtEnd[int32](t, want+Slack), testkit.AtEnd[T](t, want+Slack)
			require.Equal(t, want, Smallest(outIndex, outDist2, index, dist2, k))
			for i, p := range pairs[:want] {
				if outIndex[i] != p.j || outDist2[i] != p.d {
					t.Fatalf("n=%d k=%d: pair %d is (%v, %d), want (%v, %d)", n, k, i, outDist2[i], outIndex[i], p.d, p.j)
				}
			}
		}
	}
}

func TestSmallestRefuses(t *testing.T) {
	f, i := make([]float32, 64), make([]int32, 64)
	for name, run := range map[string]func(){
		"search: Smallest: k = -1, need at least 0":              func() { Smallest(i, f, i[:3], f[:3], -1) },
		"search: Smallest: len(dist2) = 2, need 3":               func() { Smallest(i, f, i[:3], f[:2], 1) },
		"search: Smallest: len(outIndex) = 17, need at least 18": func() { Smallest(i[:17], f, i[:3], f[:3], 2) },
		"search: Smallest: len(outDist2) = 18, need at least 19": func() { Smallest(i, f[:18], i[:3], f[:3], 4) },
	} {
		require.PanicsWithValue(t, name, run)
	}
}
