package neighbor

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// checkPoses checks what the table promises of any neighbourhood: each pair's own pose is within tol of its entry,
// entries are poses of their first pair, and Count counts.
func checkPoses(t testing.TB, nb *Neighborhood, queries, points *group.Lifted, tol float64) {
	t.Helper()
	e := group.PoseDim(points.Group)
	require.Equal(t, e, nb.PoseDim)
	require.Len(t, nb.Poses, nb.NumPoses()*e)
	count := make([]int32, nb.NumPoses())
	own := make([]float64, e)
	for i := range nb.Queries {
		index, pose := nb.Row(i)
		ai, qi := queries.Row(i)
		for k, j := range index {
			aj, qj := points.Row(int(j))
			points.Group.RelativePose(own, ai, qi, aj, qj)
			entry := nb.Poses[int(pose[k])*e:][:e]
			allowed := tol
			if count[pose[k]] == 0 {
				allowed = 0
			}
			for c := range e {
				if !(math.Abs(own[c]-entry[c]) <= allowed) {
					t.Fatalf("pair %d, %d: pose %v stands for %v", i, j, entry, own)
				}
			}
			count[pose[k]]++
		}
	}
	require.Equal(t, nb.Count, count)
}

// Tolerances from far below to far above the distances between poses, against a search through all entries.
func TestMergeTolerance(t *testing.T) {
	for _, g := range testGroups(t) {
		for _, c := range clouds {
			l := c.lifted(g, 14, 4)
			for _, tol := range []float64{1e-300, 1e-12, 1e-5, 0.01, 0.3, 1e3, 1e308} {
				opt := Options{Radius: math.Inf(1), MergeTolerance: tol}
				nb := ball(t, l, l, opt)
				requireSame(t, oracle(t, l, l, opt), nb, g.Name(), c.name, tol)
				checkPoses(t, nb, l, l, tol)
			}
			never := ball(t, l, l, Options{Radius: math.Inf(1), MergeTolerance: -1})
			require.Equal(t, never.Pairs(), never.NumPoses())
			checkPoses(t, never, l, l, 0)
		}
	}
}

// Poses that sit on the borders of cells, to either side of them and a tolerance away, at every magnitude.
func TestPoseTableBorders(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tol := range []float64{1, 0x1p-44, 3e-9} {
		for e := 1; e <= 10; e++ {
			const n = 1500
			table := newPoseTable(e, e, tol, make([]uint64, n*e))
			table.reset(0)
			slow := &Neighborhood{PoseDim: e}
			pose := make([]float64, e)
			// The same poses as items; each names its pair, and entries are named by the first.
			entered := newPoseTable(e, e+1, tol, make([]uint64, n*(e+1)))
			entered.reset(0)
			var first []int // by entry: its first pose
			want := make([]int32, n)
			for k := range n {
				scale := math.Ldexp(cellWidth*tol, rng.IntN(3)*26) // up to the cells of exactCells and beyond
				for c := range pose {
					pose[c] = 0
					if c < 2 || rng.IntN(8) == 0 {
						near := (float64(rng.IntN(5)-2) + 0.5) * scale
						pose[c] = near + tol*(float64(rng.IntN(9)-4)/4)
						pose[c] = math.Copysign(pose[c], float64(rng.IntN(2))-0.5)
					}
					table.items[k*e+c] = math.Float64bits(pose[c])
					entered.items[k*(e+1)+c] = math.Float64bits(pose[c])
				}
				entered.items[k*(e+1)+e] = uint64(tagOf(table.hash(pose)))<<32 | uint64(k)
				if table.inside(pose) {
					entered.items[k*(e+1)+e] |= insideBit
				}
				id := slow.firstWithin(pose, tol)
				slow.Count[id]++
				if id == len(first) {
					first = append(first, k)
				}
				at, _ := table.enter(pose, table.hash(pose), k)
				require.Equal(t, first[id], at, "tol %g, pose %v", tol, pose)
				if want[k] = ^int32(at); at == k {
					want[k] = 0
				} else {
					want[at]++
				}
			}
			require.Equal(t, len(first), table.n)
			ids := make([]int32, n)
			require.True(t, entered.enterItems(ids, 0, n/3) && entered.enterItems(ids, n/3, n))
			require.Equal(t, want, ids, "tol %g", tol)
			require.Equal(t, len(first), entered.n)
		}
	}
}

func TestPoseTableZeroHasNoSign(t *testing.T) {
	table := newPoseTable(1, 1, 1e-9, nil)
	negative := math.Copysign(0, -1)
	require.Equal(t, table.hash([]float64{0}), table.hash([]float64{negative}))
	require.Equal(t, table.hash([]float64{0}), table.hash([]float64{-1e-12}))
}

// Differences do not add up: of a chain of poses, each within the tolerance of the next, an entry takes its own ones.
func TestMergeDoesNotChain(t *testing.T) {
	x := make([]float64, 50)
	for i := range x {
		x[i] = float64(i) * 0x1p-12
	}
	l := group.LiftPoints(parse(t, "T(1)", 0), x, 1, 0)
	const tol = 0x1p-12
	nb := ball(t, l, l, Options{Radius: 1, MergeTolerance: tol})
	checkPoses(t, nb, l, l, tol)
	require.Greater(t, nb.NumPoses(), 30) // 99 differences, at most three per entry
}

// One far point does not blur the poses of the others.
func TestMergeToleranceOfOutlier(t *testing.T) {
	x := []float64{1e12}
	for i := range 40 {
		x = append(x, 1e-3*float64(i)*float64(i))
	}
	l := group.LiftPoints(parse(t, "T(1)", 0), x, 1, 0)
	nb := ball(t, l, l, Options{Radius: 1})
	checkPoses(t, nb, l, l, 0x1p-43)
	// Masked points do not count at all.
	p, err := newProblem("test", l, l, Options{QueryMask: make([]bool, l.N), PointMask: make([]bool, l.N)})
	require.NoError(t, err)
	require.Equal(t, DefaultMergeUnits, p.mergeTolerance())
}

// Points of one tight cluster have many poses in few cells; the table must not degrade.
func TestPoseTableCrowded(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	x := make([]float64, 2*600)
	for i := range x {
		x[i] = rng.Float64() * 0x1p-38
	}
	l := group.LiftPoints(parse(t, "T(2)", 0), x, 1, 0)
	nb := ball(t, l, l, Options{Radius: 1})
	require.Equal(t, 600*600, nb.Pairs())
	checkPoses(t, nb, l, l, 0x1p-44)
}

// Poses in many tables are numbered as in one.
func TestShardsDoNotShow(t *testing.T) {
	for _, name := range []string{"T(2)", "SE(2)", "SO(2)", "R>0xSO(2)"} {
		l := group.LiftPoints(parse(t, name, 0), grid(linspace(-6, 6, 13)), 1, 0)
		p, err := newProblem("test", l, l, Options{Radius: math.Inf(1)})
		require.NoError(t, err)
		one := ball(t, l, l, Options{Radius: math.Inf(1)})
		require.Greater(t, one.Pairs(), shardPairs)
		for _, shards := range []int{1, minShards, maxShards} {
			many := one.copied()
			b := newPoseBuilder(p, many, p.mergeTolerance(), shards, nil)
			require.True(t, b.enterAll())
			b.number(nil)
			requireSame(t, one, many, name, shards)
		}
		checkPoses(t, one, l, l, p.mergeTolerance())
	}
}

// A pose on the border of two tables' regions makes one table take all, and changes nothing.
func TestPoseOnARegionsBorder(t *testing.T) {
	const n, tol = 150, 0x1p-20
	p0 := newPoseTable(1, 1, tol, nil)
	border := float64(regionCells-regionOrigin) / p0.inv
	x := []float64{0, border, border * (1 + 1e-9)}
	for i := range n {
		x = append(x, 3*border*float64(i))
	}
	l := group.LiftPoints(parse(t, "T(1)", 0), x, 1, 0)
	opt := Options{Radius: math.Inf(1), MergeTolerance: tol}
	nb := ball(t, l, l, opt)
	require.Greater(t, nb.Pairs(), shardPairs)
	p, err := newProblem("test", l, l, opt)
	require.NoError(t, err)
	require.False(t, newPoseBuilder(p, nb.copied(), tol, minShards, nil).enterAll())
	requireSame(t, oracle(t, l, l, opt), nb)
}
