package neighbor

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// Pairs that are compared with known poses get the entries, and the numbers, that a table finds: on lattices, with points
// off them, and where poses are too close to each other for anything to be known.
func TestKnownPosesDoNotShow(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	x := grid(linspace(-6, 6, 14))
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
	for _, c := range []struct {
		name             string
		x                []float64
		known, outsiders bool
		opt              Options
	}{
		{"lattice", x, true, false, Options{}},
		{"triangles", lattice(7), true, false, Options{}},
		{"mask", x, true, false, Options{PointMask: mask, QueryMask: mask}},
		{"blocks", append(append([]float64(nil), x...), x...), true, false,
			Options{PointBlocks: []int{0, 196, 196, 392}, QueryBlocks: []int{0, 196, 196, 392}}},
		{"sample", x, true, false, Options{MaxNeighbors: 190, Seed: 3}},
		{"bent", bent, true, true, Options{}},
		{"shaken by little", shaken(tol / 64), true, false, Options{}},
		{"shaken by a tolerance", shaken(tol), false, false, Options{}},
		{"shaken by a quarter", shaken(tol / 8), false, false, Options{}},
		{"random", random, false, false, Options{}},
	} {
		for _, lifts := range []int{0, 1, 2, 4} { // under SE(2), or 0 for T(2)
			for _, radius := range []float64{1, 100} { // of all pairs, some have poses that only the corners show
				name := "SE(2)"
				if lifts == 0 {
					name = "T(2)"
				} else if lifts > 1 && (c.opt.PointMask != nil || c.opt.PointBlocks != nil || radius > 1) {
					continue
				}
				l := group.LiftPoints(parse(t, name, 0), c.x, max(lifts, 1), 0)
				opt := c.opt
				opt.Radius, opt.MergeTolerance = radius, tol
				nb := ball(t, l, l, opt)
				p, err := newProblem("test", l, l, opt)
				require.NoError(t, err)
				plain := nb.copied()
				require.True(t, p.buildTables(plain, tol, 1, nil, nil))
				requireSame(t, plain, nb, name, c.name)
				checkPoses(t, nb, l, l, tol)

				again := nb.copied()
				known, _ := p.findRepeats(again, tol)
				pairs, done := p.knownPairs(known, again, tol)
				require.Equal(t, c.known, done || pairs != nil, "%s: %s", name, c.name)
				if !c.known {
					require.Equal(t, make([]int32, nb.Pairs()), again.Pose, "given up, and not left as it was")
					continue
				}
				if c.outsiders || c.name == "lattice" {
					require.Equal(t, c.outsiders || radius > 1, !done, "%s: %s, radius %g", name, c.name, radius)
				}
				if !done {
					require.True(t, p.buildTables(again, tol, 1, pairs, nil))
				}
				requireSame(t, plain, again, name, c.name)
			}
		}
	}
}
