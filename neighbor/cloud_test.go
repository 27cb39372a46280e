package neighbor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// TestCloudLayouts builds from rows, from rows among other data, and from an array per axis.
func TestCloudLayouts(t *testing.T) {
	const n, dim = 300, 3
	x := uniform[float32](n, dim)
	rowsOfFive, axes := make([]float32, n*5), make([]float32, n*dim)
	for i := range n {
		for axis := range dim {
			rowsOfFive[i*5+1+axis] = x[i*dim+axis]
			axes[axis*n+i] = x[i*dim+axis]
		}
	}
	want, err := NewTree(x, dim, nil)
	require.NoError(t, err)
	wantGrid, err := NewGrid(x, dim, 0.1)
	require.NoError(t, err)
	for _, c := range []struct {
		x []float32
		l Layout
	}{
		{x, Layout{n, dim, dim, 1}},
		{rowsOfFive[1 : len(rowsOfFive)-1], Layout{n, dim, 5, 1}},
		{axes, Layout{n, dim, 1, n}},
	} {
		tree, err := NewTreeAt(c.x, c.l, nil)
		require.NoError(t, err)
		require.Equal(t, want, tree)
		grid, err := NewGridAt(c.x, c.l, 0.1)
		require.NoError(t, err)
		require.Equal(t, wantGrid.coord, grid.coord)
		require.Equal(t, wantGrid.index, grid.index)
		_, err = NewTreeAt(c.x[:len(c.x)-1], c.l, nil)
		require.ErrorIs(t, err, ErrShape)
	}
}

// TestCloudsAreTheSame for any number of goroutines, and a batch comes in the same order.
func TestCloudsAreTheSame(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	x := uniform[float32](3*parallelNode, 2)
	var want *KDTree[float32]
	var rows *Rows[float32]
	var index []int32
	for _, procs := range []int{1, 4} {
		runtime.GOMAXPROCS(procs)
		tree, err := NewTree(x, 2, nil)
		require.NoError(t, err)
		r, err := Balls[float32](tree, tree, 1e-4, BulkOptions{})
		require.NoError(t, err)
		near, _, err := Nearest(tree, tree, 5, float32(math.Inf(1)), BulkOptions{})
		require.NoError(t, err)
		if want == nil {
			want, rows, index = tree, r, near
		}
		require.Equal(t, want, tree)
		require.Equal(t, rows, r)
		require.Equal(t, index, near)
	}
}

// Points that move to their cells with their coordinates, as they do where cells are full, stand as those do of which the
// numbers move first, as of points with gaps between them.
func TestGridFullCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 15))
	for dim := 1; dim <= 3; dim++ {
		for _, n := range []int{1, 40, 1000, 5000} {
			for _, radius := range []float64{0.02, 0.1, 0.3, 5} {
				x, gaps := make([]float64, n*dim), make([]float64, n*(dim+1))
				for i := range n {
					for axis := range dim {
						v := rng.Float64()
						x[i*dim+axis], gaps[i*(dim+1)+axis] = v, v
					}
				}
				direct, err := NewGrid(x, dim, radius)
				require.NoError(t, err)
				numbers, err := NewGridAt(gaps, Layout{N: n, Dim: dim, Stride: dim + 1, AxisStride: 1}, radius)
				require.NoError(t, err)
				require.Equal(t, numbers.start, direct.start)
				require.Equal(t, numbers.index, direct.index)
				require.Equal(t, numbers.coord, direct.coord)
			}
		}
	}
}

func TestCloudsRefuse(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name   string
		x      []float32
		dim    int
		radius float32
		is     error
	}{
		{"dim 0", nil, 0, 1, ErrShape},
		{"dim 4", make([]float32, 4), 4, 1, ErrShape},
		{"ragged", make([]float32, 3), 2, 1, ErrShape},
		{"radius 0", make([]float32, 4), 2, 0, ErrOption},
		{"radius NaN", make([]float32, 4), 2, nan, ErrOption},
		{"radius Inf", make([]float32, 4), 2, inf, ErrOption},
		{"NaN", []float32{0, 1, nan, 2}, 2, 1, ErrValue},
		{"NaN first", []float32{nan, 1, 0, 2}, 2, 1, ErrValue},
		{"-Inf", []float32{0, 1, 2, -inf, 3, 3}, 3, 1, ErrValue},
		{"NaN in one axis", []float32{0, 1, nan}, 1, 1, ErrValue},
	} {
		_, err := NewGrid(c.x, c.dim, c.radius)
		assert.ErrorIs(t, err, c.is, c.name)
		if c.is == ErrValue {
			_, err = NewTree(c.x, c.dim, nil)
			assert.ErrorIs(t, err, c.is, c.name)
		}
	}
	two, err := NewTree([]float32{1, 2, 3, 4}, 2, nil)
	require.NoError(t, err)
	periodic, err := NewTree([]float32{1, 2, 3, 4}, 2, []float32{0, 5})
	require.NoError(t, err)
	other, err := NewTree([]float32{1, 2, 3, 4}, 2, []float32{0, 6})
	require.NoError(t, err)
	three, err := NewTree([]float32{1, 2, 3}, 3, nil)
	require.NoError(t, err)
	nothing := func(int, *Batch[float32]) { t.Error("an answer in spite of an error") }
	assert.ErrorIs(t, EachBall[float32](two, three, 1, BulkOptions{}, nothing), ErrShape)
	assert.ErrorIs(t, EachBall[float32](two, periodic, 1, BulkOptions{}, nothing), ErrShape)
	assert.ErrorIs(t, EachBall[float32](other, periodic, 1, BulkOptions{}, nothing), ErrShape)
	assert.ErrorIs(t, EachBall[float32](two, two, nan, BulkOptions{}, nothing), ErrValue)
	assert.ErrorIs(t, EachNearest(two, two, -1, inf, BulkOptions{}, nothing), ErrOption)
	_, err = Balls[float32](two, two, 100, BulkOptions{MaxPairs: 3})
	assert.ErrorIs(t, err, ErrTooManyPairs)
	_, _, err = Nearest(two, two, math.MaxInt, inf, BulkOptions{})
	assert.ErrorIs(t, err, ErrTooManyPairs)
	grid, err := NewGrid([]float32{1, 2, 3, 4}, 2, 1)
	require.NoError(t, err)
	assert.ErrorIs(t, grid.Rebuild([]float32{1, nan}, 1), ErrValue)
	assert.Zero(t, grid.Len())
	require.NoError(t, grid.Rebuild([]float32{1, 2, 3, 4, 5, 6}, 3))
	assert.Equal(t, 3, grid.Len())
}

// TestCloudsFarApart: differences that overflow, and coordinates that are almost nothing.
func TestCloudsFarApart(t *testing.T) {
	huge := float32(math.MaxFloat32)
	for _, x := range [][]float32{
		{huge, -huge, -huge, huge, 0, 0, 1, 1},
		{1e-44, 0, 3e-45, 1e-45, 0, 0, 1e-38, 1e-38},
		{0, 0, 1e-30, 1e30, -1e30, 1e-30, 5, 5},
	} {
		f := flatCloud[float32]{x, 2, []float32{0, 0}}
		checkBulk(t, "far apart", f, f, rand.New(rand.NewPCG(3, 3)))
	}
}

func TestTreeSingleQueriesAllocateNothing(t *testing.T) {
	x := uniform[float32](5000, 3)
	tree, err := NewTree(x, 3, nil)
	require.NoError(t, err)
	dst, dist2 := make([]int32, 0, 5000), make([]float32, 0, 5000)
	var w NearestWorkspace
	center, half := x[30:33], []float32{0.1, 0.1, 0.1}
	for name, query := range map[string]func(){
		"Ball":           func() { tree.Ball(dst[:0], center, 0.01) },
		"Count":          func() { tree.Count(center, 0.01) },
		"Box":            func() { tree.Box(dst[:0], center, half) },
		"KNearestWithin": func() { tree.KNearestWithin(dst[:0], dist2[:0], center, 20, 0.1, &w) },
	} {
		assert.Zero(t, testing.AllocsPerRun(10, query), name)
	}
	assert.Equal(t, len(tree.Ball(nil, center, 0.01)), tree.Count(center, 0.01))
	index, _ := tree.KNearestWithin(nil, nil, center, 5000, 0.01, &w)
	slices.Sort(index)
	assert.Equal(t, tree.Ball(nil, center, 0.01), index)
}

func TestRadiusForMean(t *testing.T) {
	for _, dim := range []int{1, 2, 3} {
		if testing.Short() && dim != 2 {
			continue
		}
		tree, err := NewTree(uniform[float32](20000, dim), dim, nil)
		require.NoError(t, err)
		for _, mean := range []float64{1.5, 30, 2000, 20000} {
			r2, err := tree.RadiusForMean(mean, 0.001)
			require.NoError(t, err)
			count, err := BallCounts[float32](tree, tree, r2, BulkOptions{})
			require.NoError(t, err)
			sum := 0.0
			for _, c := range count {
				sum += float64(c)
			}
			// The sample's own error: under 2 per cent of the spread of the counts, itself at most the mean.
			if got := sum / 20000; !(math.Abs(got-mean) <= 0.03*mean+0.05) {
				t.Errorf("dim=%d: %g on average, want %g", dim, got, mean)
			}
		}
	}
	equal, err := NewTree(make([]float64, 100), 1, nil)
	require.NoError(t, err)
	for mean, want := range map[float64]int{100: 100, 99: 100, 1: 0} { // all tie
		r2, err := equal.RadiusForMean(mean, 0)
		require.NoError(t, err)
		require.Equal(t, want, equal.Count([]float64{0}, r2), "mean=%g", mean)
	}
	for _, c := range [][2]float64{{0, 0}, {101, 0}, {math.NaN(), 0}, {5, -1}, {5, math.NaN()}} {
		_, err := equal.RadiusForMean(c[0], c[1])
		assert.ErrorIs(t, err, ErrOption, "%v", c)
	}
}

func TestSubsample(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, g := range testGroups(t) {
		l := clouds[0].lifted(g, 120, 5)
		mask := make([]bool, l.Rows())
		var rows []int32
		for i := range mask {
			if mask[i] = i%4 != 1; mask[i] {
				rows = append(rows, int32(i))
			}
		}
		for _, s := range []Sampling{Uniform, Random, Farthest} {
			for _, n := range []int{0, 1, 7, len(rows), len(rows) + 5} {
				runtime.GOMAXPROCS(1)
				got, err := Subsample(l, mask, n, s, 9)
				require.NoError(t, err)
				runtime.GOMAXPROCS(3)
				again, err := Subsample(l, mask, n, s, 9)
				require.NoError(t, err)
				require.Equal(t, got, again)
				require.Len(t, got, min(n, len(rows)))
				if s == Farthest && n > 0 {
					checkFarthest(t, l, rows, got)
				}
				slices.Sort(got)
				require.Len(t, slices.Compact(slices.Clone(got)), len(got), "no row twice")
				for _, i := range got {
					require.True(t, mask[i])
				}
			}
		}
	}
	l := clouds[0].lifted(parse(t, "T(2)", 0), 10, 1)
	uniform, err := Subsample(l, nil, 5, Uniform, 0)
	require.NoError(t, err)
	require.Equal(t, []int32{0, 2, 4, 6, 8}, uniform)
	_, err = Subsample(l, nil, -1, Uniform, 0)
	assert.ErrorIs(t, err, ErrOption)
	_, err = Subsample(l, nil, 1, Sampling(7), 0)
	assert.ErrorIs(t, err, ErrOption)
	_, err = Subsample(l, make([]bool, 3), 1, Uniform, 0)
	assert.ErrorIs(t, err, ErrShape)
}

// checkFarthest holds every row taken to be the farthest from those before it, and the first of these.
func checkFarthest(t *testing.T, l *group.Lifted, rows, taken []int32) {
	t.Helper()
	pose := make([]float64, group.PoseDim(l.Group))
	nearest := make(map[int32]float64)
	for _, j := range rows {
		nearest[j] = math.Inf(1)
	}
	for k, i := range taken {
		if k > 0 {
			best := int32(-1)
			for _, j := range rows {
				if d, left := nearest[j]; left && (best < 0 || d > nearest[best]) {
					best = j
				}
			}
			require.Equal(t, best, i, "%s, number %d", l.Group.Name(), k)
		}
		delete(nearest, i)
		ai, qi := l.Row(int(i))
		for j, d := range nearest {
			aj, qj := l.Row(int(j))
			l.Group.RelativePose(pose, ai, qi, aj, qj)
			if e := l.Group.Distance(pose); e < d {
				nearest[j] = e
			}
		}
	}
}

func TestArrange(t *testing.T) {
	even := uniform[float32](3000, 2)
	clustered := make([]float32, 6000)
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range clustered {
		clustered[i] = float32(rng.NormFloat64()) * 1e-4
	}
	clustered[0] = 1e4 // one point far away: all others in one cell
	for _, c := range []struct {
		name    string
		x       []float32
		dim     int
		periods []float32
		tree    bool
	}{
		{"even", even, 2, nil, false},
		{"no period", even, 2, []float32{0, 0}, false},
		{"a period", even, 2, []float32{1, 0}, true},
		{"five axes", even, 5, nil, true},
		{"clustered", clustered, 2, nil, true},
		{"nothing", nil, 2, nil, false},
	} {
		cloud, err := Arrange(c.x, c.dim, 0.01, c.periods)
		require.NoError(t, err, c.name)
		_, tree := cloud.(*KDTree[float32])
		require.Equal(t, c.tree, tree, c.name)
		require.Equal(t, len(c.x)/c.dim, cloud.Len())
	}
	_, err := Arrange(even, 7, 0.01, nil)
	assert.ErrorIs(t, err, ErrShape)
	assert.ErrorContains(t, err, "neighbor: Arrange: wrong shape: ")
	_, err = Arrange(even, 2, -1, nil)
	assert.ErrorIs(t, err, ErrOption)
	_, err = Arrange(even, 2, 1, []float32{1})
	assert.ErrorIs(t, err, ErrShape)
	_, err = Arrange([]float32{float32(math.Inf(1)), 0}, 2, 1, nil)
	assert.ErrorIs(t, err, ErrValue)
}

// TestCloudsRefuseOnEveryAxis: one number that is not finite, wherever it stands, is an error that names its place.
func TestCloudsRefuseOnEveryAxis(t *testing.T) {
	const n = 70 // vectors, and a rest
	for dim := 1; dim <= maxTreeDim; dim++ {
		x := uniform[float32](n, dim)
		for _, bad := range []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())} {
			for at := 0; at < len(x); at += 13 {
				was := x[at]
				x[at] = bad
				want := fmt.Sprintf("point %d, coordinate %d = %g", at/dim, at%dim, bad)
				_, err := NewTree(x, dim, nil)
				require.ErrorIs(t, err, ErrValue)
				require.ErrorContains(t, err, want)
				_, err = Arrange(x, dim, 0.3, nil)
				require.ErrorIs(t, err, ErrValue)
				require.ErrorContains(t, err, want)
				x[at] = was
			}
		}
	}
}

// TestGridWithoutPoints: a grid may become empty, and fill again; strides between no points do not matter.
func TestGridWithoutPoints(t *testing.T) {
	points := []float64{5, 7, 6, 9, 1e6, -3}
	grid, err := NewGrid(points, 2, 0.5)
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, grid.Rebuild(nil, 0.25))
		require.Zero(t, grid.Len())
		require.Empty(t, grid.Ball(nil, []float64{5, 7}, 1e9))
		index, _ := grid.KNearest([]float64{5, 7}, 2)
		require.Empty(t, index)
		require.NoError(t, grid.Rebuild(points, 0.5))
		require.Equal(t, []int32{0, 1}, grid.Ball(nil, []float64{5, 7}, 6))
	}
	for _, l := range []Layout{{Dim: 2, Stride: math.MaxInt / 8, AxisStride: 2}, {Dim: 3, Stride: -2, AxisStride: math.MaxInt}} {
		grid, err := NewGridAt(points[:1], l, 1)
		require.NoError(t, err)
		require.Zero(t, grid.Len())
		tree, err := NewTreeAt(points[:1], l, nil)
		require.NoError(t, err)
		require.Zero(t, tree.Len())
	}
}
