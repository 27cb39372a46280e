package schedule

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestByFirst: rows that list the poses of the row before are found, and in runs of enough of them the pairs go by the
// first row's points, equal ones as they came; other rows stay as they are, and so does what was given.
func TestByFirst(t *testing.T) {
	const points, poses, least = 40, 60, 8
	rng := rand.New(rand.NewPCG(4, 1))
	r := &Rows{Offsets: []int{5}}
	var runs []int // where each begins
	for _, run := range []struct{ rows, pairs int }{{7, 20}, {8, 20}, {1, 30}, {30, 50}, {9, 0}, {12, 1}, {8, 3}} {
		runs = append(runs, r.Len())
		list := make([]int32, run.pairs)
		for k := range list {
			list[k] = int32(rng.IntN(poses))
		}
		for range run.rows {
			for _, q := range list {
				r.Index, r.Pose = append(r.Index, int32(rng.IntN(points))), append(r.Pose, q)
			}
			r.Offsets = append(r.Offsets, 5+len(r.Index))
		}
	}
	same, given := r.Same(), r.clone()
	for i, s := range same {
		require.Equal(t, r.Offsets[i] < r.Offsets[i+1] && !slices.Contains(runs, i), s, "row %d", i)
	}
	out := r.ByFirst(same, least)
	require.Equal(t, given, r)
	for k, lo := range runs {
		hi := r.Len()
		if k+1 < len(runs) {
			hi = runs[k+1]
		}
		first, _ := r.Row(lo)
		order := make([]int, len(first))
		for e := range order {
			order[e] = e
		}
		if hi-lo >= least {
			slices.SortStableFunc(order, func(a, b int) int { return int(first[a] - first[b]) })
		}
		for i := lo; i < hi; i++ {
			from, to := r.list(i), out.list(i)
			for e, was := range order {
				require.Equal(t, from[was], to[e], "row %d", i)
			}
		}
	}
	require.Same(t, out, out.ByFirst(same, least)) // in order already
}
