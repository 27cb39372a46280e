package neighbor

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// lattice is the triangular lattice around the origin, with the points nearer than r.
func lattice(r float64) []float64 {
	var x []float64
	n := int(2 * r)
	for i := -n; i <= n; i++ {
		for j := -n; j <= n; j++ {
			a, b := float64(i)+0.5*float64(j), math.Sqrt(3)/2*float64(j)
			if math.Hypot(a, b) < r {
				x = append(x, a, b)
			}
		}
	}
	return x
}

// Pairs that follow others get the entries, and the numbers, that a search for their own poses finds: on sets that turn, turn
// in part, or only seem to, and with tolerances up to those that merge poses of different pairs.
func TestTurnsDoNotShow(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	even, odd := grid(linspace(-6, 6, 14)), grid(linspace(-6, 6, 13))
	bent := append([]float64(nil), even...)
	for range 20 {
		bent[rng.IntN(len(bent))] += rng.NormFloat64()
	}
	shaken := append([]float64(nil), even...)
	for i := range shaken {
		shaken[i] *= 1 + 0x1p-48*rng.NormFloat64()
	}
	mask := make([]bool, 196)
	for i := range mask {
		mask[i] = rng.IntN(8) > 0
	}
	sets := []struct {
		name  string
		x     []float64
		order int // of the turn to be found
		opt   Options
	}{
		{"even", even, 4, Options{}},
		{"odd", odd, 4, Options{}},
		{"lattice", lattice(7), 6, Options{}},
		{"rectangle", even[:2*98], 0, Options{}},
		{"half turns", even[2*42 : 2*154], 2, Options{}},
		{"twice", append(append([]float64(nil), even...), even...), 4, Options{}},
		{"bent", bent, 4, Options{}},
		{"shaken", shaken, 4, Options{}},
		{"mask", even, 4, Options{PointMask: mask, QueryMask: mask}},
		{"blocks", append(append([]float64(nil), odd...), odd...), 4,
			Options{PointBlocks: []int{0, 169, 169, 338}, QueryBlocks: []int{0, 169, 169, 338}}},
	}
	for _, name := range []string{"SO(2)", "R>0xSO(2)"} {
		unclear := 0
		for _, c := range sets {
			l := group.LiftPoints(parse(t, name, 0), c.x, 1, 0)
			few := *l // other queries than points
			few.N = l.N / 2
			few.A, few.Q = l.A[:few.N*len(l.A)/l.N], l.Q[:few.N*len(l.Q)/l.N]
			for _, queries := range []*group.Lifted{l, &few} {
				if queries != l && c.opt.PointMask != nil || queries != l && c.opt.PointBlocks != nil {
					continue
				}
				for _, tol := range []float64{0, 1e-4, 0.03} {
					opt := c.opt
					opt.Radius, opt.MergeTolerance = 0.6, tol
					p, err := newProblem("test", queries, l, opt)
					require.NoError(t, err)
					turned := ball(t, queries, l, opt)
					plain := turned.copied()
					tol := p.mergeTolerance()
					require.True(t, p.buildTables(plain, tol, 1, nil, nil))
					requireSame(t, plain, turned, name, c.name, tol)

					// The same with turns for certain, however few pairs there are.
					turns := p.findTurns(tol)
					if opt.MergeTolerance == 0 && queries == l {
						if c.order == 0 {
							require.Nil(t, turns, c.name)
						} else {
							require.NotNil(t, turns, c.name)
							require.Len(t, turns.point, c.order-1, c.name)
						}
					}
					if turns == nil {
						continue
					}
					clear(turned.Pose)
					each, following := turns.follow(p, turned, tol), 0
					for _, n := range each {
						following += int(n)
					}
					if opt.MergeTolerance == 0 && c.name == "even" && queries == l {
						require.Greater(t, following, turned.Pairs()*7/10)
					}
					if !p.buildTables(turned, tol, 1, leadersOnly(turned, each, following), turns) {
						unclear++
						continue
					}
					requireSame(t, plain, turned, name, c.name, tol)
				}
			}
		}
		require.Greater(t, unclear, 0, "no case was given up")
	}
}

// A group whose turns change poses has none.
func TestNoTurns(t *testing.T) {
	for _, name := range []string{"T(2)", "SE(2)"} {
		l := group.LiftPoints(parse(t, name, 0), grid(linspace(-6, 6, 13)), 1, 0)
		p, err := newProblem("test", l, l, Options{Radius: 1})
		require.NoError(t, err)
		require.Nil(t, p.findTurns(p.mergeTolerance()), name)
	}
}
