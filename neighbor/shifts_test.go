package neighbor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// Lattices are found where points stand on them to within rounding, whatever else a search asks for, and no others; two pairs
// of one difference of cells have poses within slack of each other.
func TestShifts(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 13))
	x := grid(linspace(-6, 6, 14))
	y := grid(linspace(-6, 6, 27)) // between the points of x, too
	wide := []float64{}            // as many steps as an image has, of sizes that differ by much
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
	for _, c := range []struct {
		name            string
		queries, points []float64
		opt             Options
		found           bool
	}{
		{"pixels", x, nil, Options{}, true},
		{"queries between", y, x, Options{}, true},
		{"wide", wide, nil, Options{}, true},
		{"triangles", lattice(7), nil, Options{}, true},
		{"a point", point, nil, Options{}, true},
		{"the same point", same, nil, Options{}, true},
		{"one off", off, nil, Options{}, false},
		{"one off and masked", off, nil, Options{PointMask: mask, QueryMask: mask}, true},
		{"one off as a query", off, nil, Options{PointMask: mask}, false},
		{"random", random, nil, Options{}, false},
		{"random queries", random, x, Options{}, false},
	} {
		for _, k := range []int{0, 1, 2, 3, 4, 7} { // lifts under SE(2), or 0 for T(2)
			name, lifts, opt := "SE(2)", k, c.opt
			if k == 0 {
				name, lifts = "T(2)", 1
			}
			g := parse(t, name, 0)
			q := group.LiftPoints(g, c.queries, lifts, 0)
			l := q
			if c.points != nil {
				l = group.LiftPoints(g, c.points, lifts, 0)
			}
			opt.PointMask, opt.QueryMask = repeat(opt.PointMask, lifts), repeat(opt.QueryMask, lifts)
			p, err := newProblem("test", q, l, opt)
			require.NoError(t, err)
			tol := p.mergeTolerance()
			s := p.findShifts(0.75 * memberReach * tol)
			require.Equal(t, c.found, s != nil, "%s, %d lifts: %s", name, lifts, c.name)
			if s == nil {
				continue
			}
			e := group.PoseDim(g)
			first := map[int32][]float64{}
			for i := range q.Rows() {
				for j := range l.Rows() {
					if !counts(opt.QueryMask, i) || !counts(opt.PointMask, j) || rng.IntN(1+q.Rows()*l.Rows()/20000) > 0 {
						continue
					}
					d := s.query[i] - s.point[j]
					require.True(t, d >= 0 && int(d) < s.differences, "%d of %d", d, s.differences)
					pose := make([]float64, e)
					p.relativePose(pose, i, j)
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
		group.LiftPoints(parse(t, "SE(2)", 0), x, mostKinds+1, 0), group.LiftPoints(parse(t, "SO(2)", 0), x, 1, 0),
		group.LiftPoints(parse(t, "T(2)", 0), nil, 1, 0),
	} {
		p, err := newProblem("test", l, l, Options{})
		require.NoError(t, err)
		require.Nil(t, p.findShifts(math.Inf(1)))
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
