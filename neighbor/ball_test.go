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

// oracle answers by definition.
func oracle(t testing.TB, queries, points *group.Lifted, opt Options) *Neighborhood {
	t.Helper()
	p, err := newProblem("oracle", queries, points, opt)
	require.NoError(t, err)
	return bruteBall(p)
}

func ball(t testing.TB, queries, points *group.Lifted, opt Options) *Neighborhood {
	t.Helper()
	nb, err := Ball(queries, points, opt)
	require.NoError(t, err)
	return nb
}

func TestBallIsExact(t *testing.T) {
	for gi, g := range testGroups(t) {
		for k, c := range clouds {
			for _, n := range []int{0, 1, 2, 9, 24} {
				if testing.Short() && (gi+k+n)%3 != 0 {
					continue
				}
				l := c.lifted(g, n, uint64(n))
				for _, r := range radii(t, l) {
					want := oracle(t, l, l, Options{Radius: r})
					for _, m := range []Method{Auto, Brute, Tree} {
						got := ball(t, l, l, Options{Radius: r, Method: m})
						requireSame(t, want, got, g.Name(), " ", c.name, " n=", n, " r=", r, " ", m)
					}
				}
			}
		}
	}
}

// Deeper trees, compared with a scan.
func TestTreeFindsWhatAScanFinds(t *testing.T) {
	for gi, g := range testGroups(t) {
		for k, c := range clouds {
			if testing.Short() && (gi+k)%3 != 0 {
				continue
			}
			queries, points := c.lifted(g, 25, 1), clouds[(k+k/3)%len(clouds)].lifted(g, 500, 2)
			points.Append(queries)
			for _, r := range radii(t, queries)[2:] {
				opt := Options{Radius: r, MergeTolerance: -1, Method: Brute}
				want := ball(t, queries, points, opt)
				opt.Method = Tree
				requireSame(t, want, ball(t, queries, points, opt), g.Name(), " ", c.name, " r=", r)
			}
		}
	}
}

func TestBallOfOtherPoints(t *testing.T) {
	for gi, g := range testGroups(t) {
		queries, points := clouds[0].lifted(g, 30, 1), clouds[2].lifted(g, 150, 2)
		for k, r := range radii(t, queries) {
			if testing.Short() && (gi+k)%3 != 0 {
				continue
			}
			want := oracle(t, queries, points, Options{Radius: r, MergeTolerance: 1e-3})
			for _, m := range []Method{Brute, Tree} {
				requireSame(t, want, ball(t, queries, points, Options{Radius: r, Method: m, MergeTolerance: 1e-3}), g.Name(), r, m)
			}
		}
	}
}

func TestBallMasksAndBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, g := range testGroups(t) {
		queries, points := clouds[0].lifted(g, 120, 5), clouds[0].lifted(g, 200, 6)
		q, p := queries.Rows(), points.Rows()
		opt := Options{
			Radius: radii(t, points)[3], QueryMask: make([]bool, q), PointMask: make([]bool, p),
			QueryBlocks: []int{0, q / 3, q / 3, q - 1, q}, PointBlocks: []int{0, p / 5, p / 2, p / 2, p},
		}
		// Masked rows may hold anything.
		junk := func(l *group.Lifted, mask []bool) {
			for i := range mask {
				if mask[i] = rng.IntN(4) > 0; !mask[i] {
					a, o := l.Row(i)
					for c := range a {
						a[c] = math.NaN()
					}
					for c := range o {
						o[c] = math.Inf(1)
					}
				}
			}
		}
		junk(queries, opt.QueryMask)
		junk(points, opt.PointMask)
		want := oracle(t, queries, points, opt)
		require.NotZero(t, want.Pairs(), g.Name())
		for _, m := range []Method{Auto, Brute, Tree} {
			opt.Method = m
			got := ball(t, queries, points, opt)
			requireSame(t, want, got, g.Name(), " ", m)
		}
		for i := range q {
			index, _ := want.Row(i)
			if !opt.QueryMask[i] {
				require.Empty(t, index)
			}
			for _, j := range index {
				if !opt.PointMask[j] {
					t.Fatalf("%s: row %d holds point %d, which does not count", g.Name(), i, j)
				}
			}
		}
		all := slices.Repeat([]bool{false}, p)
		got := ball(t, queries, points, Options{Radius: 1, QueryMask: opt.QueryMask, PointMask: all})
		require.Zero(t, got.Pairs())
	}
}

func TestBallRadius(t *testing.T) {
	g := parse(t, "T(1)", 0.5)
	l := group.LiftPoints(g, []float64{0, 1, 2, 3}, 1, 0)
	for _, c := range []struct {
		name   string
		radius float64
		pairs  int
	}{
		{"negative", -1, 0},
		{"minus infinity", math.Inf(-1), 0},
		{"zero", 0, 0},
		{"smallest", math.SmallestNonzeroFloat64, 4},
		{"on a distance is outside", 0.5, 4},
		{"next number is inside", math.Nextafter(0.5, 1), 10},
		{"infinity", math.Inf(1), 16},
	} {
		nb := ball(t, l, l, Options{Radius: c.radius, Method: Tree})
		assert.Equal(t, c.pairs, nb.Pairs(), c.name)
		assert.Len(t, nb.Offsets, 5, c.name)
	}
}

func TestBallSameBitsForAnyGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, name := range []string{"T(2)", "R>0xSO(2)"} {
		l := clouds[5].lifted(parse(t, name, 0), 900, 1)
		r, err := RadiusForFill(l, 0.1, Options{})
		require.NoError(t, err)
		opt := Options{Radius: r, MaxNeighbors: 70, Seed: 9}
		runtime.GOMAXPROCS(1)
		want := ball(t, l, l, opt)
		require.Greater(t, want.Pairs(), 1<<15, "there should be several tables and chunks")
		for _, procs := range []int{2, 4} {
			runtime.GOMAXPROCS(procs)
			requireSame(t, want, ball(t, l, l, opt), name, procs)
		}
	}
}

func TestBallErrors(t *testing.T) {
	g := parse(t, "R>0xSO(2)", 0)
	l := group.LiftPoints(g, []float64{1, 0, 0, 1, 1, 1}, 1, 0)
	bad := group.LiftPoints(g, []float64{1, 0, 0, 1, 1, 1}, 1, 0)
	bad.A[3] = math.NaN()
	so2 := group.LiftPoints(parse(t, "SO(2)", 0), []float64{1, 0, 0, 1, 1, 1}, 1, 0)
	badOrbit := group.LiftPoints(so2.Group, []float64{1, 0, 0, 1, 1, 1}, 1, 0)
	badOrbit.Q[2] = math.Inf(1)
	short := &group.Lifted{Group: g, N: 3, K: 1, A: l.A[:5]}
	for _, c := range []struct {
		name            string
		queries, points *group.Lifted
		opt             Options
		is              error
		says            string
	}{
		{"nil", nil, l, Options{}, ErrShape, "nil"},
		{"no group", &group.Lifted{}, l, Options{}, ErrShape, "nil"},
		{"two groups", so2, l, Options{}, ErrShape, "SO(2)"},
		{"two alphas", group.LiftPoints(parse(t, "R>0xSO(2)", 0.7), []float64{1, 1}, 1, 0), l, Options{}, ErrShape, "0.7"},
		{"length", short, l, Options{}, ErrShape, "len(A) = 5"},
		{"radius", l, l, Options{Radius: math.NaN()}, ErrValue, "Radius"},
		{"tolerance", l, l, Options{MergeTolerance: math.NaN()}, ErrValue, "MergeTolerance"},
		{"cap", l, l, Options{MaxNeighbors: -1}, ErrOption, "MaxNeighbors = -1"},
		{"limit", l, l, Options{MaxPairs: -1}, ErrOption, "MaxPairs = -1"},
		{"method", l, l, Options{Method: 7}, ErrOption, "Method(7)"},
		{"query", bad, l, Options{Radius: 1}, ErrValue, "queries: row 1, algebra coordinate 1 = NaN"},
		{"point", l, bad, Options{Radius: 0}, ErrValue, "points: row 1, algebra coordinate 1 = NaN"},
		{"orbit", so2, badOrbit, Options{}, ErrValue, "points: row 2, orbit coordinate 0 = +Inf"},
		{"query mask", l, l, Options{QueryMask: []bool{true}}, ErrShape, "len(QueryMask) = 1, need 3"},
		{"point mask", l, l, Options{PointMask: []bool{true}}, ErrShape, "len(PointMask) = 1, need 3"},
		{"one kind of blocks", l, l, Options{QueryBlocks: []int{0, 3}}, ErrShape, "PointBlocks 0"},
		{"blocks' end", l, l, Options{QueryBlocks: []int{0, 3}, PointBlocks: []int{0, 2}}, ErrShape, "PointBlocks"},
		{"blocks fall", l, l, Options{QueryBlocks: []int{0, 2, 1, 3}, PointBlocks: []int{0, 1, 2, 3}}, ErrShape, "QueryBlocks[2] = 1"},
		{"pairs", l, l, Options{Radius: 1e300, MaxPairs: 8}, ErrTooManyPairs, "MaxPairs = 8"},
	} {
		_, err := Ball(c.queries, c.points, c.opt)
		if assert.ErrorIs(t, err, c.is, c.name) {
			assert.ErrorContains(t, err, c.says, c.name)
		}
	}
	nb, err := Ball(l, l, Options{Radius: 1e300, MaxPairs: 9})
	require.NoError(t, err)
	require.Equal(t, 9, nb.Pairs())
}

// Bounds that overflow are no error, but no reason to miss a neighbour; bounds that make no sense are the group's fault.
func TestBallOfFailingBounds(t *testing.T) {
	points := group.LiftPoints(wild{}, []float64{0, 0, 0.5, 0, 0.6, 0}, 1, 0) // finite bounds
	queries := group.LiftPoints(wild{}, []float64{0.9, 0, 0.1, 0}, 1, 0)      // the first overflows
	opt := Options{Radius: 0.55, Method: Tree}
	requireSame(t, oracle(t, queries, points, opt), ball(t, queries, points, opt))
	index, _, err := KNearest(queries, points, 1, opt)
	require.NoError(t, err)
	require.Equal(t, []int32{2, 0}, index)

	points.Group, queries.Group = broken{}, broken{}
	_, err = Ball(queries, points, opt)
	require.ErrorContains(t, err, "bounds of group wild")
	_, _, err = KNearest(queries, points, 1, opt)
	require.ErrorContains(t, err, "bounds of group wild")
}

func TestMaxNeighbors(t *testing.T) {
	l := clouds[0].lifted(parse(t, "T(2)", 0), 200, 8)
	full := ball(t, l, l, Options{Radius: 0.1})
	const limit = 7
	opt := Options{Radius: 0.1, MaxNeighbors: limit, Seed: 1}
	capped := ball(t, l, l, opt)
	for i := range l.Rows() {
		all, _ := full.Row(i)
		some, _ := capped.Row(i)
		require.Len(t, some, min(limit, len(all)))
		require.True(t, slices.IsSorted(some))
		for _, j := range some {
			require.Contains(t, all, j)
		}
	}
	require.Zero(t, full.Left)
	require.Equal(t, full.Pairs(), capped.Pairs()+capped.Left)
	halves := []int{0, 90, 200}
	apart := ball(t, l, l, Options{Radius: 0.1, MaxNeighbors: limit, Seed: 1, Apart: true, QueryBlocks: halves, PointBlocks: halves})
	whole := ball(t, l, l, Options{Radius: 0.1, QueryBlocks: halves, PointBlocks: halves})
	require.Equal(t, whole.Pairs(), apart.Pairs()+apart.Left)
	opt.Method = Brute
	requireSame(t, capped, ball(t, l, l, opt), "method")
	requireSame(t, oracle(t, l, l, opt), capped, "oracle")
	opt.Seed = 2
	require.NotEqual(t, capped.Index, ball(t, l, l, opt).Index, "another seed draws others")

	// A query's draw does not depend on which other queries there are.
	one := &group.Lifted{Group: l.Group, N: l.N, K: 1, A: l.A}
	mask := make([]bool, l.N)
	mask[17] = true
	opt.Seed = 1
	opt.QueryMask = mask
	alone := ball(t, one, l, opt)
	want, _ := capped.Row(17)
	got, _ := alone.Row(17)
	require.Equal(t, want, got)
}

// Every neighbour is equally likely to stay, and pairs of them too.
func TestSampleIsUniform(t *testing.T) {
	const n, k, draws = 10, 4, 40000
	var single [n]int
	var double [n][n]int
	var pick picker
	for row := range draws {
		list := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		kept := pick.sample(list, k, 77, row)
		require.Len(t, kept, k)
		for a, i := range kept {
			single[i]++
			for _, j := range kept[a+1:] {
				double[i][j]++
			}
		}
	}
	// Six standard deviations of a binomial count.
	near := func(count int, p float64) bool {
		return math.Abs(float64(count)-draws*p) <= 6*math.Sqrt(draws*p*(1-p))
	}
	for i := range n {
		assert.True(t, near(single[i], float64(k)/n), "%d kept %d times", i, single[i])
		for j := i + 1; j < n; j++ {
			assert.True(t, near(double[i][j], float64(k*(k-1))/(n*(n-1))), "%d and %d kept %d times", i, j, double[i][j])
		}
	}
}

func TestTranspose(t *testing.T) {
	for _, g := range []group.Group{drift{}, parse(t, "T(2)", 0)} {
		queries, points := clouds[0].lifted(g, 40, 1), clouds[0].lifted(g, 70, 2)
		nb := ball(t, queries, points, Options{Radius: 0.8})
		tr := nb.Transpose()
		require.Equal(t, []int{nb.Points, nb.Queries}, []int{tr.Queries, tr.Points})
		var want, got [][3]int32 // query, point and pose
		for i := range nb.Queries {
			index, pose := nb.Row(i)
			for k := range index {
				want = append(want, [3]int32{int32(i), index[k], pose[k]})
			}
		}
		for j := range tr.Queries {
			index, pose := tr.Row(j)
			require.True(t, slices.IsSorted(index))
			for k := range index {
				got = append(got, [3]int32{index[k], int32(j), pose[k]})
			}
		}
		for _, pairs := range [][][3]int32{want, got} {
			slices.SortFunc(pairs, func(a, b [3]int32) int { return slices.Compare(a[:], b[:]) })
		}
		require.Equal(t, want, got)
		requireSame(t, nb, tr.Transpose(), "twice")
	}
}

// Large neighbourhoods are transposed in parts, by rows: some without pairs, one with more than a part's.
func TestTransposeInParts(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const points = 3000
	rng := rand.New(rand.NewPCG(5, 1))
	nb := &Neighborhood{Queries: 400, Points: points, Offsets: make([]int, 401), PoseDim: 1, Poses: []float64{0}, Count: []int32{0}}
	for i := range nb.Queries {
		most := 1800
		if i%7 == 0 {
			most = 0
		} else if i%50 == 1 {
			most = points
		}
		for j := range points {
			if rng.IntN(points) < most {
				nb.Index = append(nb.Index, int32(j))
				nb.Pose = append(nb.Pose, int32(len(nb.Pose)))
			}
		}
		nb.Offsets[i+1] = len(nb.Index)
	}
	require.Greater(t, nb.Pairs(), 5*transposePairs)
	want := nb.Transpose()
	for _, procs := range []int{2, 3, 5, 64} {
		runtime.GOMAXPROCS(procs)
		requireSame(t, want, nb.Transpose(), fmt.Sprint(procs))
	}
	requireSame(t, nb, want.Transpose(), "twice")
}

func TestMethodNames(t *testing.T) {
	require.Equal(t, "auto brute tree Method(9)", fmt.Sprint(Auto, Brute, Tree, Method(9)))
}

// Pairs that are kept until their place is known and pairs that are found again are the same, over several slabs and with
// chunks of queries that have none.
func TestKeptPairs(t *testing.T) {
	l := group.LiftPoints(parse(t, "T(2)", 0), grid(linspace(-9, 9, 30)), 1, 0)
	mask := make([]bool, l.Rows())
	for i := range mask {
		mask[i] = i/100%3 != 1
	}
	p, err := newProblem("test", l, l, Options{Radius: 100, QueryMask: mask})
	require.NoError(t, err)
	var want *Neighborhood
	for _, most := range []int64{keptPairs, 0, 1000, 200_000} {
		nb := &Neighborhood{Queries: l.Rows(), Points: l.Rows(), Offsets: make([]int, l.Rows()+1)}
		require.NoError(t, p.fillFast(nb, p.finders(), make([]group.Workspace, 2), most))
		if want == nil {
			want = nb
			require.Equal(t, 600*900, nb.Pairs())
			require.Greater(t, nb.Pairs(), slabPairs)
		}
		require.True(t, slices.Equal(want.Index, nb.Index) && slices.Equal(want.Pose, nb.Pose), "most = %d", most)
		nb.Index, nb.Pose = want.Index, want.Pose // a million numbers, which Equal would compare by reflection
		require.Equal(t, want, nb, "most = %d", most)
	}
}

// A limit of memory is kept, by search and by pose table; with a bit more than what is needed, nothing changes.
func TestMaxBytes(t *testing.T) {
	for _, name := range []string{"T(2)", "SO(2)", "SE(2)"} {
		for _, method := range []Method{Auto, Tree} {
			l := group.LiftPoints(parse(t, name, 0), grid(linspace(-6, 6, 14)), 1, 0)
			opt := Options{Radius: math.Inf(1), Method: method}
			want := ball(t, l, l, opt)
			pairs := int64(want.Pairs())
			e := int64(want.PoseDim)
			for _, most := range []int64{1, 8*197 + 12*pairs - 1, 8*197 + 8*pairs + (8*e+4)*int64(want.NumPoses()) - 1} {
				opt.MaxBytes = most
				_, err := Ball(l, l, opt)
				require.ErrorIs(t, err, ErrTooManyPairs, "%s: %d", name, most)
				require.ErrorContains(t, err, fmt.Sprint(most))
			}
			opt.MaxBytes = 8*197 + 8*pairs + (8*e+9)*pairs + (8*e+4)*int64(want.NumPoses())
			requireSame(t, want, ball(t, l, l, opt), name)
			opt.MaxPairs = int(pairs) - 1
			_, err := Ball(l, l, opt)
			require.ErrorContains(t, err, "MaxPairs")
			_, err = Ball(l, l, Options{MaxBytes: -1})
			require.ErrorIs(t, err, ErrOption)
		}
	}
}

// TestApart: a block has the pairs, poses and samples that it has alone, whatever the others are; where poses are few,
// those that are equal in two blocks are one.
func TestApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	counts := []int{40, 0, 25, 40}
	var sets [][]float64
	for _, n := range counts {
		x := make([]float64, 2*n)
		for i := range x {
			x[i] = 2 * rng.Float64()
		}
		sets = append(sets, x)
	}
	for _, c := range []struct {
		g       group.Group
		k, most int
		step    float64 // of the coordinates
	}{{group.NewSE2(0.5), 3, 0, 0.1}, {group.NewSE2(0.5), 3, 4, 0.1}, {group.NewT(2, 0), 1, 0, 0.5}} {
		for _, x := range sets {
			for i, v := range x {
				x[i] = math.Round(v/c.step) * c.step
			}
		}
		var whole *group.Lifted
		blocks := []int{0}
		for _, x := range sets {
			if l := group.LiftPoints(c.g, x, c.k, 3); whole == nil {
				whole = l
			} else {
				whole.Append(l)
			}
			blocks = append(blocks, whole.Rows())
		}
		opt := Options{Radius: 0.7, MaxNeighbors: c.most, Seed: 9}
		all := opt
		all.QueryBlocks, all.PointBlocks, all.Apart = blocks, blocks, true
		n, err := Ball(whole, whole, all)
		require.NoError(t, err)
		e, poses, pairs := n.PoseDim, 0, 0
		for b, x := range sets {
			own := group.LiftPoints(c.g, x, c.k, 3)
			alone, err := Ball(own, own, opt)
			require.NoError(t, err)
			poses += alone.NumPoses()
			for i := range alone.Queries {
				index, pose := alone.Row(i)
				among, shared := n.Row(blocks[b] + i)
				require.Len(t, among, len(index))
				for p := range index {
					require.Equal(t, index[p]+int32(blocks[b]), among[p])
					require.Equal(t, alone.Poses[int(pose[p])*e:][:e], n.Poses[int(shared[p])*e:][:e])
				}
			}
		}
		for _, k := range n.Count {
			pairs += int(k)
		}
		require.Equal(t, n.Pairs(), pairs)
		require.Len(t, n.Poses, e*n.NumPoses())
		if c.k == 1 {
			require.Less(t, n.NumPoses(), poses)
		} else {
			require.LessOrEqual(t, n.NumPoses(), poses)
		}
		all.MaxPairs = n.Pairs() - 1
		_, err = Ball(whole, whole, all)
		require.ErrorIs(t, err, ErrTooManyPairs)
	}
}
