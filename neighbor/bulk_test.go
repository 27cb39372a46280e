package neighbor

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/simd"
)

// flatCloud is the meaning of the searches: every pair looked at, in T.
type flatCloud[T Float] struct {
	x       []T // [n, dim]
	dim     int
	periods []T
}

func (f flatCloud[T]) at(i, axis int) T {
	v := f.x[i*f.dim+axis]
	if p := f.periods[axis]; p > 0 && math.Abs(float64(v)) > float64(p)/2 {
		v = T(math.Remainder(float64(v), float64(p)))
	}
	return v
}

// dist2 is the squared distance of point i of f and point j of g.
func (f flatCloud[T]) dist2(i int, g flatCloud[T], j int) (sum T) {
	for axis := range f.dim {
		d := f.at(i, axis) - g.at(j, axis)
		if d < 0 {
			d = -d
		}
		if p := f.periods[axis]; p > 0 {
			other := p - d
			if other < 0 {
				other = -other
			}
			d = min(d, other)
		}
		sum += T(d * d)
	}
	return sum
}

// sorted returns all points of g by distance from point i of f, then index.
func (f flatCloud[T]) sorted(i int, g flatCloud[T]) (index []int32, dist2 []T) {
	n := len(g.x) / g.dim
	d := make([]T, n)
	for j := range n {
		index = append(index, int32(j))
		d[j] = f.dist2(i, g, j)
	}
	slices.SortFunc(index, func(a, b int32) int { return cmp.Or(cmp.Compare(d[a], d[b]), cmp.Compare(a, b)) })
	for _, j := range index {
		dist2 = append(dist2, d[j])
	}
	return index, dist2
}

func (c cloud) flat32(rng *rand.Rand, n, dim int, periods []float32) flatCloud[float32] {
	x := make([]float64, n*dim)
	c.place(rng, x, dim)
	f := flatCloud[float32]{make([]float32, n*dim), dim, periods}
	for i, v := range x {
		f.x[i] = float32(v)
	}
	return f
}

func (c cloud) flat64(rng *rand.Rand, n, dim int, periods []float64) flatCloud[float64] {
	f := flatCloud[float64]{make([]float64, n*dim), dim, periods}
	c.place(rng, f.x, dim)
	return f
}

// eachSIMDLevel runs a test at every level of package simd.
func eachSIMDLevel(t *testing.T, f func(t *testing.T)) {
	before := simd.CurrentLevel()
	defer func() { require.NoError(t, simd.SetLevel(before)) }()
	for _, l := range simd.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			require.NoError(t, simd.SetLevel(l))
			f(t)
		})
	}
}

func TestBulkAgainstBruteForce(t *testing.T) {
	every := 1 // one case of so many
	if testing.Short() {
		every = 13
	}
	eachSIMDLevel(t, func(t *testing.T) {
		for dim := 1; dim <= maxTreeDim; dim++ {
			for ci, c := range clouds {
				for _, n := range []int{0, 1, 17, 90} {
					for _, periodic := range []bool{false, true} {
						if (dim+ci+n)%every != 0 {
							continue
						}
						rng := rand.New(rand.NewPCG(uint64(dim), uint64(n)))
						name := fmt.Sprintf("dim=%d %s n=%d periodic=%v", dim, c.name, n, periodic)
						p32, p64 := make([]float32, dim), make([]float64, dim)
						for axis := 0; axis < dim && periodic; axis += 2 {
							p64[axis] = []float64{2 * math.Pi, 3, 2.5}[axis/2%3]
							p32[axis] = float32(p64[axis])
						}
						checkBulk(t, name+" float32", c.flat32(rng, n, dim, p32), c.flat32(rng, 40, dim, p32), rng)
						checkBulk(t, name+" float64", c.flat64(rng, n, dim, p64), c.flat64(rng, 40, dim, p64), rng)
					}
				}
			}
		}
	})
}

// checkBulk compares all searches for many queries with brute force: a cloud among itself, and another cloud's points.
func checkBulk[T Float](t *testing.T, name string, points, others flatCloud[T], rng *rand.Rand) {
	t.Helper()
	tree, err := NewTree(points.x, points.dim, points.periods)
	require.NoError(t, err, name)
	otherTree, err := NewTree(others.x, points.dim, points.periods)
	require.NoError(t, err, name)
	n := tree.Len()
	radii := []T{0, T(rng.ExpFloat64()), T(math.Inf(1))}
	if n > 0 { // exactly the distance of a pair
		radii = append(radii, points.dist2(rng.IntN(n), points, rng.IntN(n)))
	}
	for qi, q := range []flatCloud[T]{points, others} {
		clouds := []struct{ p, q Cloud[T] }{{tree, []Cloud[T]{tree, otherTree}[qi]}}
		if points.dim <= maxGridDim && !slices.ContainsFunc(points.periods, func(p T) bool { return p > 0 }) {
			grid, err := NewGrid(points.x, points.dim, 0.3)
			require.NoError(t, err, name)
			otherGrid, err := NewGrid(others.x, points.dim, 2)
			require.NoError(t, err, name)
			clouds = append(clouds, struct{ p, q Cloud[T] }{grid, []Cloud[T]{grid, otherGrid}[qi]},
				struct{ p, q Cloud[T] }{grid, clouds[0].q}, struct{ p, q Cloud[T] }{tree, []Cloud[T]{grid, otherGrid}[qi]})
		}
		queries := len(q.x) / q.dim
		wantIndex, wantDist := make([][]int32, queries), make([][]T, queries)
		for i := range queries {
			wantIndex[i], wantDist[i] = q.sorted(i, points)
		}
		for ci, c := range clouds {
			opt := BulkOptions{Workers: 1 + ci%2}
			for _, r2 := range radii {
				checkBalls(t, fmt.Sprintf("%s clouds=%d queries=%d r2=%g", name, ci, qi, r2), c.p, c.q, r2, opt, wantIndex, wantDist)
			}
			if p, ok := c.p.(*KDTree[T]); ok {
				for _, k := range []int{0, 1, 5, n + 2} {
					for _, r2 := range radii {
						checkNearestRows(t, fmt.Sprintf("%s clouds=%d queries=%d k=%d r2=%g", name, ci, qi, k, r2), p, c.q, k, r2,
							opt, wantIndex, wantDist)
					}
				}
			}
		}
	}
}

// TestFlatAgainstGroups holds the scan of all points to find what looking around finds, in the same order, for the
// sizes around which one takes the other's place, any axes and periods; scratch memory goes from one to the next.
func TestFlatAgainstGroups(t *testing.T) {
	eachSIMDLevel(t, func(t *testing.T) {
		for _, dim := range []int{1, 2, 3, 8} {
			for k, n := range []int{1, 31, 64, 65, 127, 256, 257} {
				if testing.Short() && (dim+k)%3 != 0 {
					continue
				}
				checkFlat[float32](t, dim, n)
				checkFlat[float64](t, dim, n)
			}
		}
	})
}

func checkFlat[T Float](t *testing.T, dim, n int) {
	t.Helper()
	x := uniform[T](n, dim)
	tree, err := NewTree(x, dim, nil)
	require.NoError(t, err)
	clouds := []Cloud[T]{tree}
	if dim <= maxGridDim {
		grid, err := NewGrid(x, dim, 0.2)
		require.NoError(t, err)
		clouds = append(clouds, grid)
	}
	periods := make([]T, dim)
	periods[dim-1] = 0.75
	periodic, err := NewTree(x, dim, periods)
	require.NoError(t, err)
	clouds = append(clouds, periodic)
	for ci, c := range clouds {
		for _, r2 := range []T{0, 0.02, T(math.Inf(1))} {
			for _, opt := range []BulkOptions{{Workers: 1}, {Workers: 1, Ascending: true}} {
				name := fmt.Sprintf("%T dim=%d n=%d cloud=%d r2=%g ascending=%v", r2, dim, n, ci, r2, opt.Ascending)
				around, all := allRows(t, c, r2, opt, false), allRows(t, c, r2, opt, true)
				require.Equal(t, around.Offsets, all.Offsets, name)
				require.True(t, slices.Equal(around.Index, all.Index), name)
				require.True(t, slices.Equal(around.Dist2, all.Dist2), name)
			}
		}
	}
}

// allRows finds the balls around a cloud's own points in one of two ways, in the order found: each query and where
// its answer ends. It holds the counts to them.
func allRows[T Float](t *testing.T, c Cloud[T], r2 T, opt BulkOptions, all bool) (r Rows[T]) {
	t.Helper()
	count := make([]int32, c.Len())
	countBalls(c, c, r2, opt, all, count)
	scanBalls(c, c, r2, opt, all, func(_ int, b *Batch[T]) {
		for i, q := range b.Query {
			index, dist2 := b.Row(i)
			r.Index, r.Dist2 = append(r.Index, index...), append(r.Dist2, dist2...)
			r.Offsets = append(r.Offsets, int(q), len(r.Index))
			require.Len(t, index, int(count[q]), "query %d", q)
		}
	})
	return r
}

func checkBalls[T Float](t *testing.T, name string, p, q Cloud[T], r2 T, opt BulkOptions, wantIndex [][]int32, wantDist [][]T) {
	t.Helper()
	rows, err := Balls(p, q, r2, opt)
	require.NoError(t, err, name)
	count, err := BallCounts(p, q, r2, opt)
	require.NoError(t, err, name)
	type pair struct {
		j int32
		d T
	}
	var mu sync.Mutex
	each := make([][]pair, len(wantIndex))
	require.NoError(t, EachBall(p, q, r2, opt, func(_ int, b *Batch[T]) {
		mu.Lock()
		defer mu.Unlock()
		for i, q := range b.Query {
			index, dist2 := b.Row(i)
			require.Nil(t, each[q], name)
			each[q] = make([]pair, 0, len(index))
			for k, j := range index {
				each[q] = append(each[q], pair{j, dist2[k]})
			}
		}
	}))
	byIndex := func(a, b pair) int { return cmp.Compare(a.j, b.j) }
	for i := range wantIndex {
		want := []pair{}
		for k, j := range wantIndex[i] {
			if wantDist[i][k] < r2 {
				want = append(want, pair{j, wantDist[i][k]})
			}
		}
		slices.SortFunc(want, byIndex)
		slices.SortFunc(each[i], byIndex)
		index, dist2 := rows.Row(i)
		got := []pair{}
		for k, j := range index {
			got = append(got, pair{j, dist2[k]})
		}
		if !slices.Equal(want, each[i]) || !slices.Equal(want, got) || len(want) != int(count[i]) {
			t.Fatalf("%s query=%d: want %v, EachBall %v, Balls %v, count %d", name, i, want, each[i], got, count[i])
		}
	}
}

func checkNearestRows[T Float](t *testing.T, name string, p *KDTree[T], q Cloud[T], k int, r2 T, opt BulkOptions,
	wantIndex [][]int32, wantDist [][]T) {
	t.Helper()
	index, dist2, err := Nearest(p, q, k, r2, opt)
	require.NoError(t, err, name)
	for i := range wantIndex {
		for m := range k {
			j, d := int32(-1), T(math.Inf(1))
			if m < len(wantIndex[i]) && (wantDist[i][m] < r2 || math.IsInf(float64(r2), 1)) {
				j, d = wantIndex[i][m], wantDist[i][m]
			}
			if j != index[i*k+m] || d != dist2[i*k+m] {
				t.Fatalf("%s query=%d m=%d: want %d at %g, got %d at %g", name, i, m, j, d, index[i*k+m], dist2[i*k+m])
			}
		}
	}
}
