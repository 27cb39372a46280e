package posetable

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Poses that sit on the borders of cells, to either side of them and a tolerance away, at every magnitude.
func TestCellTableBorders(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tol := range []float64{1, 0x1p-44, 3e-9} {
		for e := 1; e <= 10; e++ {
			const n = 1500
			table := newCellTable(e, e, tol, make([]uint64, n*e))
			table.reset(0)
			var slow []float64 // the entries' poses
			pose := make([]float64, e)
			// The same poses as items; each names its pair, and entries are named by the first.
			entered := newCellTable(e, e+1, tol, make([]uint64, n*(e+1)))
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
				id := 0
				for id < len(first) && !within(slow[id*e:], pose, tol) {
					id++
				}
				if id == len(first) {
					first, slow = append(first, k), append(slow, pose...)
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

func TestCellTableZeroHasNoSign(t *testing.T) {
	table := newCellTable(1, 1, 1e-9, nil)
	negative := math.Copysign(0, -1)
	require.Equal(t, table.hash([]float64{0}), table.hash([]float64{negative}))
	require.Equal(t, table.hash([]float64{0}), table.hash([]float64{-1e-12}))
}
