package layers

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/neighbor"
)

// grid lifts h x w pixels.
func arrangeGrid(t *testing.T, name string, h, w int) (*group.Lifted, []float64) {
	t.Helper()
	g, err := group.Parse(name, 0)
	require.NoError(t, err)
	var x []float64
	for i := range h * w {
		x = append(x, float64(i/w)-float64(h-1)/2, float64(i%w)-float64(w-1)/2)
	}
	l := group.LiftPoints(g, x, 1, 0)
	l.Across = w
	return l, x
}

// TestArrange: in whatever order and tiles, every row keeps its pairs, and each pair names its pose.
func TestArrange(t *testing.T) {
	for _, name := range []string{"T(2)", "SO(2)", "R>0xSO(2)", "SE(2)"} {
		for _, size := range [][2]int{{12, 12}, {9, 7}, {26, 26}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size[0], size[1]), func(t *testing.T) {
				points, x := arrangeGrid(t, name, size[0], size[1])
				r, err := neighbor.RadiusForFill(points, 0.15, neighbor.Options{})
				require.NoError(t, err)
				n, err := neighbor.Ball(points, points, neighbor.Options{Radius: r})
				require.NoError(t, err)
				order := Order(n, x, 1, false, nil)
				sorted := slices.Clone(order)
				slices.Sort(sorted)
				for i, v := range sorted {
					require.Equal(t, int32(i), v, "a permutation")
				}
				a := Arrange[float64](n, order, false, Auto, nil, nil)
				require.False(t, a.Flat())
				require.Equal(t, n.Pairs(), a.Pairs())
				require.Equal(t, n.NumPoses(), a.Poses())
				require.LessOrEqual(t, a.Evaluations(), 2*a.Poses())
				checkTiles(t, n, order, a)
				fours := Arrange[float32](n, order, false, Auto, nil, nil)
				checkTiles(t, n, order, fours)
				if turns := name == "SO(2)" || name == "R>0xSO(2)"; size[0] == size[1] {
					require.Equal(t, turns, fours.tiles[0].orbits != nil)
				}
				if name == "T(2)" && Flat(n) {
					flat := Arrange[float32](n, nil, true, Auto, nil, nil)
					require.True(t, flat.Flat())
					require.Equal(t, n.Index, flat.index)
				}
			})
		}
	}
}

// checkTiles compares every pair of a tiled arrangement with the neighbourhood that it was made from.
func checkTiles[T Float](t *testing.T, n *neighbor.Neighborhood, order []int32, a *Arrangement[T]) {
	t.Helper()
	e, row := n.PoseDim, 0
	for _, tile := range a.tiles {
		require.Equal(t, row, tile.lo)
		for ; row < tile.hi; row++ {
			type pair struct {
				point int32
				pose  string
			}
			got, want := map[pair]int{}, map[pair]int{}
			index, pose := n.Row(int(order[row]))
			for k, j := range index {
				row := make([]T, e)
				for i, v := range n.Poses[int(pose[k])*e : (int(pose[k])+1)*e] {
					row[i] = T(v)
				}
				want[pair{j, fmt.Sprint(row)}]++
			}
			for k := a.offsets[row]; k < a.offsets[row+1]; k++ {
				p := int(a.pose[k])
				got[pair{order[a.index[k]], fmt.Sprint(tile.table[p*e : (p+1)*e])}]++
			}
			require.Equal(t, want, got, "row %d", row)
		}
	}
	require.Equal(t, n.Queries, row)
}
