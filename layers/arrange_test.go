package layers

import (
	"fmt"
	"math"
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
	return group.LiftPoints(g, x, 1, 0), x
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
				order := RowOrder(n, x)
				sorted := slices.Clone(order)
				slices.Sort(sorted)
				for i, v := range sorted {
					require.Equal(t, int32(i), v, "a permutation")
				}
				a := Arrange[float64](n, order, false, true)
				require.False(t, a.Flat())
				require.Equal(t, n.Pairs(), a.Pairs())
				require.Equal(t, n.NumPoses(), a.Poses())
				require.LessOrEqual(t, a.Evaluations(), 2*a.Poses())
				checkTiles(t, n, order, a)
				if name == "T(2)" && Flat(n) {
					flat := Arrange[float32](n, nil, true, true)
					require.True(t, flat.Flat())
					require.Equal(t, n.Index, flat.index)
				}
			})
		}
	}
}

// checkTiles compares every pair of a tiled arrangement with the neighbourhood that it was made from.
func checkTiles(t *testing.T, n *neighbor.Neighborhood, order []int32, a *Arrangement[float64]) {
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
				want[pair{j, fmt.Sprint(n.Poses[int(pose[k])*e : (int(pose[k])+1)*e])}]++
			}
			last := int32(-1)
			for k := a.offsets[row]; k < a.offsets[row+1]; k++ {
				p := int(a.pose[k])
				require.GreaterOrEqual(t, a.pose[k], last, "ascending")
				last = a.pose[k]
				if fresh := tile.last - tile.first; p < fresh {
					p += tile.first
				} else {
					p = int(tile.older[p-fresh])
				}
				got[pair{order[a.index[k]], fmt.Sprint(a.table[p*e : (p+1)*e])}]++
			}
			require.Equal(t, want, got, "row %d", row)
		}
	}
	require.Equal(t, n.Queries, row)
}

func TestLiftOrder(t *testing.T) {
	require.Equal(t, []int32{0, 3, 6, 1, 4, 7, 2, 5, 8}, LiftOrder(9, 3))
	require.Equal(t, []int32{0, 1}, LiftOrder(2, 1))
	require.Empty(t, LiftOrder(0, 4))
}

// TestZOrder: along the curve, quarters of the square follow each other, and so do theirs.
func TestZOrder(t *testing.T) {
	got := zOrder([]float64{0, 0, 1, 0, 0, 1, 1, 1, 3, 3, 2, 2, 3, 0})
	for i := 1; i < 4; i++ {
		require.Greater(t, got[i], got[i-1], "%d", i)
	}
	require.Greater(t, got[5], got[3])
	require.Greater(t, got[4], got[5])
	require.Greater(t, got[6], got[3])
	require.Less(t, got[6], got[5])
	require.Equal(t, []uint32{0, 0}, zOrder([]float64{5, 5, 5, 5}))
	require.Len(t, zOrder([]float64{-math.MaxFloat64, 1, math.MaxFloat64, 2}), 2)
	require.Empty(t, zOrder(nil))
}
