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
	require.Equal(t, mergeUnits, p.mergeTolerance())
}

// Points of one tight cluster have many poses in few cells; the table must not degrade.
func TestPoseTableCrowded(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	n := 600
	if testing.Short() {
		n = 250
	}
	x := make([]float64, 2*n)
	for i := range x {
		x[i] = rng.Float64() * 0x1p-38
	}
	l := group.LiftPoints(parse(t, "T(2)", 0), x, 1, 0)
	nb := ball(t, l, l, Options{Radius: 1})
	require.Equal(t, n*n, nb.Pairs())
	checkPoses(t, nb, l, l, 0x1p-44)
}
