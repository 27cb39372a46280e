package posetable

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// Pairs that are compared with seeds get the entries, and the numbers, that a table finds: on lattices, with points
// off them, and where poses are too close to each other for seeds.
func TestSeedsDoNotShow(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	x := pixels(14)
	bent := append([]float64(nil), x...)
	for range 2 {
		bent[rng.IntN(len(bent))] += 0.3 * rng.NormFloat64()
	}
	shaken := func(by float64) []float64 {
		out := append([]float64(nil), x...)
		for i := range out {
			out[i] += by * rng.NormFloat64()
		}
		return out
	}
	random := make([]float64, len(x))
	for i := range random {
		random[i] = 6 * rng.Float64()
	}
	mask := make([]bool, len(x)/2)
	for i := range mask {
		mask[i] = rng.IntN(8) > 0
	}
	const tol = 0x1p-30
	for ci, c := range []struct {
		name            string
		x               []float64
		known, outliers bool
		mask            []bool
		blocks          []int
		drop            int
	}{
		{"lattice", x, true, false, nil, nil, 0},
		{"triangles", testkit.Triangles(7), true, false, nil, nil, 0},
		{"mask", x, true, false, mask, nil, 0},
		{"blocks", append(append([]float64(nil), x...), x...), true, false,
			nil, []int{0, 196, 196, 392}, 0},
		{"sample", x, true, false, nil, nil, 33},
		{"bent", bent, true, true, nil, nil, 0},
		{"shaken by little", shaken(tol / 64), true, false, nil, nil, 0},
		{"shaken by a tolerance", shaken(tol), false, false, nil, nil, 0},
		{"shaken by a quarter", shaken(tol / 8), false, false, nil, nil, 0},
		{"random", random, false, false, nil, nil, 0},
	} {
		for li, lifts := range []int{0, 1, 2, 4} { // under SE(2), or 0 for T(2)
			if testing.Short() && (ci+li)%2 != 0 {
				continue
			}
			for _, radius := range []float64{1, 100} { // of all pairs, some have poses that only the corners show
				name := "SE(2)"
				if lifts == 0 {
					name = "T(2)"
				} else if lifts > 1 && (c.mask != nil || c.blocks != nil || radius > 1) {
					continue
				}
				l := group.LiftPoints(parse(t, name), c.x, max(lifts, 1), 0)
				p := ball(l, l, radius, tol, c.mask, c.blocks, c.drop)
				applied := requireBuilt(t, p, name, c.name)
				require.Equal(t, c.known, slices.Contains(applied, "seeds"), "%s: %s", name, c.name)
				if c.name == "lattice" {
					require.Contains(t, applied, "lattice")
				}
				if c.outliers || c.name == "lattice" {
					again, outliers := p.again(), new(atomic.Int64)
					k := findSeeds(again)
					_, ok := k.build(again, func(w *seedWork, p *Pairs, i int) (int, bool) {
						n, ok := k.assign(w, p, i)
						outliers.Add(int64(n))
						return n, ok
					})
					require.True(t, ok)
					require.Equal(t, c.outliers || radius > 1, outliers.Load() > 0, "%s: %s, radius %g", name, c.name, radius)
				}
			}
		}
	}
}
