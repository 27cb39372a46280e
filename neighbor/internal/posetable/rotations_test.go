package posetable

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// Pairs that follow others get the entries, and the numbers, that a search for their own poses finds: on sets that turn, turn
// in part, or only seem to, and with tolerances up to those that merge poses of different pairs.
func TestRotationsDoNotShow(t *testing.T) {
	const exact = 0x1p-42
	rng := rand.New(rand.NewPCG(7, 7))
	even, odd := pixels(14), pixels(13)
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
		name   string
		x      []float64
		order  int // of the rotation to be found
		mask   []bool
		blocks []int
	}{
		{"even", even, 4, nil, nil},
		{"odd", odd, 4, nil, nil},
		{"lattice", testkit.Triangles(7), 6, nil, nil},
		{"rectangle", even[:2*98], 0, nil, nil},
		{"half turns", even[2*42 : 2*154], 2, nil, nil},
		{"twice", append(append([]float64(nil), even...), even...), 4, nil, nil},
		{"bent", bent, 4, nil, nil},
		{"shaken", shaken, 4, nil, nil},
		{"mask", even, 4, mask, nil},
		{"blocks", append(append([]float64(nil), odd...), odd...), 4,
			nil, []int{0, 169, 169, 338}},
	}
	for gi, name := range []string{"SO(2)", "R>0xSO(2)"} {
		unclear := 0
		for ci, c := range sets {
			if testing.Short() && (gi+ci)%2 != 0 {
				continue
			}
			l := group.LiftPoints(parse(t, name), c.x, 1, 0)
			few := *l // other queries than points
			few.N = l.N / 2
			few.A, few.Q = l.A[:few.N*len(l.A)/l.N], l.Q[:few.N*len(l.Q)/l.N]
			for _, queries := range []*group.Lifted{l, &few} {
				if queries != l && (c.mask != nil || c.blocks != nil) {
					continue
				}
				for _, tol := range []float64{exact, 1e-4, 0.03} {
					p := ball(queries, l, 0.6, tol, c.mask, c.blocks, 0)
					requireBuilt(t, p, name, c.name, tol)

					// The same with rotations for certain, however few pairs there are.
					probe := probeRotations(p)
					if tol == exact && queries == l {
						require.Equal(t, c.order != 0, probe != nil, c.name)
					}
					if probe == nil {
						continue
					}
					if tol == exact && queries == l {
						require.Equal(t, c.order, probe.order, c.name)
					}
					rotated := p.again()
					r := probe.rotations(rotated)
					each, following := r.follow(rotated), 0
					for _, n := range each {
						following += int(n)
					}
					if tol == exact && c.name == "even" && queries == l {
						require.Greater(t, following, len(p.Index)*7/10)
					}
					table, ok := hash(rotated, leadersOnly(rotated, each, following), 1, r.take)
					if !ok {
						unclear++
						require.Equal(t, make([]int32, len(p.Index)), rotated.Pose)
						continue
					}
					plain := p.again()
					want, _ := hash(plain, nil, 1, nil)
					requireTable(t, plain, want, rotated, table, name, c.name, tol)
				}
			}
		}
		require.Greater(t, unclear, 0, "no case was given up")
	}
}

// A group whose rotations change poses has none.
func TestNoRotations(t *testing.T) {
	for _, name := range []string{"T(2)", "SE(2)"} {
		l := group.LiftPoints(parse(t, name), pixels(13), 1, 0)
		require.Nil(t, probeRotations(ball(l, l, 1, 0x1p-42, nil, nil, 0)), name)
	}
}
