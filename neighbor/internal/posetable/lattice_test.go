package posetable

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// Lattices are found where points stand on them to within rounding, whatever else a search asks for, and no others; two pairs
// of one translation have poses within slack of each other.
func TestLattice(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 13))
	x := pixels(14)
	y := pixels(27)     // between the points of x, too
	wide := []float64{} // as many steps as an image has, of sizes that differ by much
	for i := range 40 {
		for j := range 50 {
			wide = append(wide, 1e-3*float64(i), 700+13*float64(j))
		}
	}
	off := append([]float64(nil), x...)
	off[77] += 0x1p-20
	random := make([]float64, 400)
	for i := range random {
		random[i] = rng.NormFloat64()
	}
	mask := make([]bool, len(off)/2)
	for i := range mask {
		mask[i] = i != 77/2
	}
	point := []float64{3, 4}
	same := []float64{3, 4, 3, 4, 3, 4}
	for ci, c := range []struct {
		name            string
		queries, points []float64
		pointMask       []bool
		queryMask       []bool
		found           bool
	}{
		{"pixels", x, nil, nil, nil, true},
		{"queries between", y, x, nil, nil, true},
		{"wide", wide, nil, nil, nil, true},
		{"triangles", testkit.Triangles(7), nil, nil, nil, true},
		{"a point", point, nil, nil, nil, true},
		{"the same point", same, nil, nil, nil, true},
		{"one off", off, nil, nil, nil, false},
		{"one off and masked", off, nil, mask, mask, true},
		{"one off as a query", off, nil, mask, nil, false},
		{"random", random, nil, nil, nil, false},
		{"random queries", random, x, nil, nil, false},
	} {
		for _, k := range []int{0, 1, 2, 3, 4, 7} { // lifts under SE(2), or 0 for T(2)
			if testing.Short() && (ci+k)%2 != 0 {
				continue
			}
			name, lifts := "SE(2)", k
			if k == 0 {
				name, lifts = "T(2)", 1
			}
			g := parse(t, name)
			q := group.LiftPoints(g, c.queries, lifts, 0)
			l := q
			if c.points != nil {
				l = group.LiftPoints(g, c.points, lifts, 0)
			}
			p := &Pairs{Group: g, Queries: q, Points: l, PointMask: repeat(c.pointMask, lifts),
				QueryMask: repeat(c.queryMask, lifts), e: group.PoseDim(g)}
			const tol = 0x1p-34
			s := findLattice(p, 0.75*memberReach*tol)
			require.Equal(t, c.found, s != nil, "%s, %d lifts: %s", name, lifts, c.name)
			if s == nil {
				continue
			}
			e := group.PoseDim(g)
			first := map[int32][]float64{}
			for i := range q.Rows() {
				for j := range l.Rows() {
					if !counts(p.QueryMask, i) || !counts(p.PointMask, j) || rng.IntN(1+q.Rows()*l.Rows()/20000) > 0 {
						continue
					}
					d := s.query[i] - s.point[j]
					require.True(t, d >= 0 && int(d) < s.translations, "%d of %d", d, s.translations)
					pose := make([]float64, e)
					p.pose(pose, i, j)
					if first[d] == nil {
						first[d] = pose
					}
					require.True(t, within(pose, first[d], s.slack), "%s: %s: %v and %v, slack %g", name, c.name, pose, first[d], s.slack)
				}
			}
		}
	}
	// Of too many angles nothing is shifted, nor of other groups, and nothing is found without rows.
	for _, l := range []*group.Lifted{
		group.LiftPoints(parse(t, "SE(2)"), x, mostKinds+1, 0), group.LiftPoints(parse(t, "SO(2)"), x, 1, 0),
		group.LiftPoints(parse(t, "T(2)"), nil, 1, 0),
	} {
		require.Nil(t, findLattice(&Pairs{Group: l.Group, Queries: l, Points: l}, math.Inf(1)))
	}
}

// repeat repeats every element of a mask so often.
func repeat(mask []bool, times int) []bool {
	var out []bool
	for _, m := range mask {
		out = append(out, slices.Repeat([]bool{m}, times)...)
	}
	return out
}
