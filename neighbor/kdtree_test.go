package neighbor

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// flat is the tree's meaning: every point looked at.
type flat struct {
	x       []float64
	dim     int
	periods []float64
}

// diff is the distance along one axis, the centre wrapped as the tree wraps it.
func (f flat) diff(i, axis int, c []float64) float64 {
	x, y, p := f.x[i*f.dim+axis], c[axis], f.periods[axis]
	if p > 0 {
		if math.Abs(x) > p/2 {
			x = math.Remainder(x, p)
		}
		if math.Abs(y) > p/2 {
			y = math.Remainder(y, p)
		}
	}
	d := math.Abs(x - y)
	if p > 0 && math.Abs(p-d) < d {
		d = math.Abs(p - d)
	}
	return d
}

func (f flat) dist2(i int, c []float64) (sum float64) {
	for axis := range f.dim {
		d := f.diff(i, axis, c)
		sum += float64(d * d)
	}
	return sum
}

func (f flat) box(c, half []float64) (out []int32) {
	for i := range len(f.x) / f.dim {
		in := true
		for axis := range f.dim {
			in = in && f.diff(i, axis, c) <= half[axis]
		}
		if in {
			out = append(out, int32(i))
		}
	}
	return out
}

func (f flat) ball(c []float64, r2 float64) (out []int32) {
	for i := range len(f.x) / f.dim {
		if f.dist2(i, c) < r2 {
			out = append(out, int32(i))
		}
	}
	return out
}

func (f flat) nearest(c []float64, k int) []int32 {
	all := make([]int32, len(f.x)/f.dim)
	for i := range all {
		all[i] = int32(i)
	}
	slices.SortFunc(all, func(i, j int32) int {
		return cmp.Or(cmp.Compare(f.dist2(int(i), c), f.dist2(int(j), c)), cmp.Compare(i, j))
	})
	return all[:min(k, len(all))]
}

func TestTreeAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 0))
	for dim := 1; dim <= maxTreeDim; dim++ {
		for k, c := range clouds {
			for _, n := range []int{0, 1, leafSize, leafSize + 1, 250} {
				if testing.Short() && (dim+k+n)%3 != 0 {
					continue
				}
				for _, periodic := range []bool{false, true} {
					f := flat{make([]float64, n*dim), dim, make([]float64, dim)}
					c.place(rng, f.x, dim)
					if periodic {
						for axis := 0; axis < dim; axis += 2 {
							f.periods[axis] = []float64{2 * math.Pi, 3, 2.5}[axis/2%3]
						}
					}
					name := fmt.Sprintf("dim=%d %s n=%d periodic=%v", dim, c.name, n, periodic)
					tree, err := NewTree(f.x, dim, f.periods)
					require.NoError(t, err, name)
					require.Equal(t, []int{n, dim}, []int{tree.Len(), tree.Dim()})
					checkTree(t, rng, name, tree, f)
				}
			}
		}
	}
}

// checkTree compares all three queries around points, between them and far from them.
func checkTree(t *testing.T, rng *rand.Rand, name string, tree *KDTree[float64], f flat) {
	t.Helper()
	n := len(f.x) / f.dim
	for trial := range 6 {
		center, half := make([]float64, f.dim), make([]float64, f.dim)
		for axis := range center {
			center[axis] = rng.NormFloat64() * []float64{1, 1e-6, 4}[trial%3]
			if n > 0 && trial%2 == 0 {
				center[axis] = f.x[rng.IntN(n)*f.dim+axis]
			}
			half[axis] = []float64{0.3, 2, 0, math.Inf(1), 1e-7, 1.5}[rng.IntN(6)]
			if n > 0 && rng.IntN(3) == 0 { // exactly on a point
				half[axis] = f.diff(rng.IntN(n), axis, center)
			}
		}
		same(t, f.box(center, half), tree.Box(nil, center, half), "Box", []any{name})

		r2 := rng.ExpFloat64()
		if n > 0 && trial > 2 {
			r2 = f.dist2(rng.IntN(n), center)
		}
		same(t, f.ball(center, r2), tree.Ball(nil, center, r2), "Ball", []any{name})

		for _, k := range []int{0, 1, 7, n, n + 3} {
			index, dist2 := tree.KNearest(center, k)
			same(t, f.nearest(center, k), index, "KNearest", []any{name, " k=", k})
			for m, i := range index {
				if want := f.dist2(int(i), center); !(dist2[m] == want) {
					t.Fatalf("%s k=%d: dist2[%d] = %v, want %v", name, k, m, dist2[m], want)
				}
			}
		}
	}
}

// A sorted, a reversed and a sawtooth axis defeat careless pivots; the tree must come out the same whatever the order.
func TestTreeOrders(t *testing.T) {
	const n = 20000
	for _, c := range []struct {
		name string
		at   func(i int) float64
	}{
		{"ascending", func(i int) float64 { return float64(i) }},
		{"descending", func(i int) float64 { return float64(-i) }},
		{"sawtooth", func(i int) float64 { return float64(i % 7) }},
		{"organ pipe", func(i int) float64 { return float64(min(i, n-i)) }},
		{"constant", func(int) float64 { return 1 }},
	} {
		x := make([]float64, n)
		for i := range x {
			x[i] = c.at(i)
		}
		tree, err := NewTree(x, 1, nil)
		require.NoError(t, err)
		seen := make([]bool, n)
		for pos, i := range tree.index {
			require.False(t, seen[i], c.name)
			seen[i] = true
			require.Equal(t, x[i], tree.coord[pos], c.name)
		}
		same(t, flat{x, 1, []float64{0}}.ball([]float64{3}, 20), tree.Ball(nil, []float64{3}, 20), "Ball", []any{c.name})
	}
}

// Around the seam of a periodic axis no point is missed and none found twice.
func TestTreeSeam(t *testing.T) {
	x := []float64{-math.Pi, math.Pi, 3, -3, 0, math.Nextafter(math.Pi, 0), 3 * math.Pi}
	tree, err := NewTree(x, 1, []float64{2 * math.Pi})
	require.NoError(t, err)
	for _, c := range []float64{math.Pi, -math.Pi, 7 * math.Pi} {
		assert.Equal(t, []int32{0, 1, 5, 6}, tree.Ball(nil, []float64{c}, 1e-12), c)
		assert.Equal(t, []int32{0, 1, 2, 3, 5, 6}, tree.Box(nil, []float64{c}, []float64{0.2}), c)
		assert.Len(t, tree.Box(nil, []float64{c}, []float64{math.Pi}), 7, c)
		assert.Len(t, tree.Box(nil, []float64{c}, []float64{100}), 7, c)
	}
}

// Among equal points the lowest numbers are nearest, and a search looks at no leaf without them: the coordinates in other leaves, set to
// those of the center behind the tree's back, do not matter.
func TestTreeEqualPoints(t *testing.T) {
	const n, dim = 1000, 3
	x := make([]float64, n*dim)
	for i := range x {
		x[i] = 1
	}
	tree, err := NewTree(x, dim, nil)
	require.NoError(t, err)
	for k := range 1 << tree.levels {
		if lo, hi := tree.span(tree.levels, k); !slices.Contains(tree.index[lo:hi], 0) {
			for axis := range dim {
				clear(tree.coord[axis*n+lo : axis*n+hi])
			}
		}
	}
	index, dist2 := tree.KNearest(make([]float64, dim), 1)
	assert.Equal(t, []int32{0}, index)
	assert.Equal(t, []float64{dim}, dist2)
}

func TestTreeRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		x       []float64
		dim     int
		periods []float64
		is      error
	}{
		{"dim 0", nil, 0, nil, ErrShape},
		{"dim 9", make([]float64, 9), 9, nil, ErrShape},
		{"ragged", make([]float64, 3), 2, nil, ErrShape},
		{"periods", make([]float64, 4), 2, []float64{1}, ErrShape},
		{"negative period", make([]float64, 4), 2, []float64{0, -1}, ErrOption},
		{"NaN period", make([]float64, 4), 2, []float64{0, math.NaN()}, ErrOption},
		{"NaN", []float64{0, 1, math.NaN()}, 1, nil, ErrValue},
		{"Inf", []float64{0, 1, math.Inf(1)}, 1, nil, ErrValue},
	} {
		_, err := NewTree(c.x, c.dim, c.periods)
		assert.ErrorIs(t, err, c.is, c.name)
	}
	tree, err := NewTree([]float64{1, 2, 3, 4}, 2, nil)
	require.NoError(t, err)
	nan := []float64{math.NaN(), 0}
	assert.Empty(t, tree.Box(nil, nan, []float64{9, 9}))
	assert.Empty(t, tree.Box(nil, []float64{1, 2}, nan))
	assert.Empty(t, tree.Ball(nil, nan, 9))
	index, _ := tree.KNearest(nan, 1)
	assert.Empty(t, index)
	for name, f := range map[string]func(){
		"neighbor: KDTree.Box: len(center) = 1, need 2":      func() { tree.Box(nil, nan[:1], nan) },
		"neighbor: KDTree.Box: len(half) = 1, need 2":        func() { tree.Box(nil, nan, nan[:1]) },
		"neighbor: KDTree.Ball: len(center) = 0, need 2":     func() { tree.Ball(nil, nil, 1) },
		"neighbor: KDTree.KNearest: len(center) = 1, need 2": func() { tree.KNearest(nan[:1], 1) },
		"neighbor: KDTree.KNearest: k = -1 is negative":      func() { tree.KNearest(nan, -1) },
	} {
		assert.PanicsWithValue(t, name, f)
	}
}

// TestBuildThreads: goroutines that go through the points of a node together build the tree of one, to the last bit: random points, many
// equal ones, a period, both types; and they refuse the same point.
func TestBuildThreads(t *testing.T) {
	n := 2*sharedNode + 12345
	t.Run("float32", func(t *testing.T) { testBuildThreads[float32](t, n, 3, nil) })
	t.Run("float64", func(t *testing.T) { testBuildThreads[float64](t, n, 2, []float64{0, 1.5}) })
}

func testBuildThreads[T Float](t *testing.T, n, dim int, periods []T) {
	rng := rand.New(rand.NewPCG(90, 1))
	x := make([]T, n*dim)
	for i := range x {
		if x[i] = T(rng.NormFloat64()); i/dim%3 == 0 {
			x[i] = T(i / dim % 5) // in equal groups
		}
	}
	build := func(procs int) (*KDTree[T], error) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		return NewTree(x, dim, periods)
	}
	want, err := build(1)
	require.NoError(t, err)
	threads := []int{4, 9}
	if testing.Short() {
		threads = threads[:1]
	}
	for _, procs := range threads {
		got, err := build(procs)
		require.NoError(t, err)
		require.True(t, slices.Equal(want.index, got.index), "%d goroutines", procs)
		require.True(t, slices.Equal(want.coord, got.coord), "%d goroutines", procs)
		require.True(t, slices.Equal(want.box, got.box), "%d goroutines", procs)
	}
	x[(n-1)*dim+1], x[7*dim+1] = T(math.NaN()), T(math.Inf(1))
	_, one := build(1)
	_, many := build(4)
	require.ErrorContains(t, one, "point 7, coordinate 1")
	require.Equal(t, one, many)
}
