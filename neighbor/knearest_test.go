package neighbor

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// nearestOracle sorts all points of every query.
func nearestOracle(t testing.TB, queries, points *group.Lifted, k int, opt Options) (index []int32, dist []float64) {
	t.Helper()
	p, err := newProblem("oracle", queries, points, opt)
	require.NoError(t, err)
	type entry struct {
		d float64
		j int32
	}
	pose := make([]float64, group.PoseDim(p.g))
	for b := 1; b < len(p.QueryBlocks); b++ {
		for i := p.QueryBlocks[b-1]; i < p.QueryBlocks[b]; i++ {
			var row []entry
			for j := p.PointBlocks[b-1]; j < p.PointBlocks[b]; j++ {
				if counts(p.QueryMask, i) && counts(p.PointMask, j) {
					p.relativePose(pose, i, j)
					if d := p.g.Distance(pose); !math.IsNaN(d) { // which is nobody's neighbour
						row = append(row, entry{d, int32(j)})
					}
				}
			}
			slices.SortFunc(row, func(a, b entry) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.j, b.j)) })
			for m := range k {
				e := entry{math.Inf(1), -1}
				if m < len(row) {
					e = row[m]
				}
				index, dist = append(index, e.j), append(dist, e.d)
			}
		}
	}
	return index, dist
}

func TestKNearestIsExact(t *testing.T) {
	for gi, g := range testGroups(t) {
		for ci, c := range clouds {
			for _, n := range []int{0, 1, 35} {
				if testing.Short() && (gi+ci+n)%3 != 0 {
					continue
				}
				l := c.lifted(g, n, 3)
				for _, k := range []int{0, 1, 5, 36} {
					wantIndex, wantDist := nearestOracle(t, l, l, k, Options{})
					for _, m := range []Method{Auto, Brute, Tree} {
						index, dist, err := KNearest(l, l, k, Options{Method: m, Radius: math.NaN()})
						require.NoError(t, err)
						same(t, wantIndex, index, "index", []any{g.Name(), " ", c.name, " n=", n, " k=", k, " ", m})
						for i := range dist {
							if !(dist[i] == wantDist[i]) {
								t.Fatalf("%s %s n=%d k=%d %v: dist[%d] = %v, want %v", g.Name(), c.name, n, k, m, i, dist[i], wantDist[i])
							}
						}
					}
				}
			}
		}
	}
}

func TestKNearestMasksAndBlocks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, g := range testGroups(t) {
		queries, points := clouds[0].lifted(g, 150, 1), clouds[2].lifted(g, 200, 2)
		q, p := queries.Rows(), points.Rows()
		opt := Options{
			QueryMask: make([]bool, q), PointMask: make([]bool, p),
			QueryBlocks: []int{0, 1, q / 2, q}, PointBlocks: []int{0, 2, 2, p},
		}
		for i := range opt.QueryMask {
			opt.QueryMask[i] = i%5 != 0
		}
		for j := range opt.PointMask {
			opt.PointMask[j] = j%3 != 0
		}
		wantIndex, wantDist := nearestOracle(t, queries, points, 9, opt)
		for _, procs := range []int{1, 4} {
			runtime.GOMAXPROCS(procs)
			for _, m := range []Method{Brute, Tree} {
				opt.Method = m
				index, dist, err := KNearest(queries, points, 9, opt)
				require.NoError(t, err)
				same(t, wantIndex, index, "index", []any{g.Name(), " ", m})
				require.Equal(t, wantDist, dist)
			}
		}
	}
}

func TestKNearestErrors(t *testing.T) {
	l := clouds[0].lifted(parse(t, "T(2)", 0), 10, 1)
	_, _, err := KNearest(l, l, -1, Options{})
	assert.ErrorIs(t, err, ErrOption)
	_, _, err = KNearest(l, l, math.MaxInt, Options{})
	assert.ErrorIs(t, err, ErrTooManyPairs)
	_, _, err = KNearest(l, l, 5, Options{MaxPairs: 49})
	assert.ErrorIs(t, err, ErrTooManyPairs)
	_, _, err = KNearest(l, nil, 5, Options{})
	assert.ErrorIs(t, err, ErrShape)
	_, _, err = KNearest(l, l, 5, Options{MaxPairs: 50})
	assert.NoError(t, err)
}
