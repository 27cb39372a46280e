package neighbor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Points that are farther apart than their type can say still find themselves.
func TestGridWiderThanRange(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testGridWiderThanRange[float32](t, math.MaxFloat32) })
	t.Run("float64", func(t *testing.T) { testGridWiderThanRange[float64](t, math.MaxFloat64) })
}

func testGridWiderThanRange[T Float](t *testing.T, most T) {
	rng := rand.New(rand.NewPCG(3, 8))
	for dim := 1; dim <= maxGridDim; dim++ {
		x := make([]T, 100*dim)
		for i := range x {
			x[i] = T(1.9*rng.Float64()-0.95) * most
		}
		grid, err := NewGrid(x, dim, most/100)
		require.NoError(t, err)
		for i := range 100 {
			c := x[i*dim : (i+1)*dim]
			require.Equal(t, []int32{int32(i)}, grid.Ball(nil, c, 1), "%v", c)
			index, _ := grid.KNearest(c, 1)
			require.Equal(t, []int32{int32(i)}, index, "%v", c)
		}
		rows, err := Balls(Cloud[T](grid), Cloud[T](grid), 1, BulkOptions{})
		require.NoError(t, err)
		require.Len(t, rows.Index, 100)
	}
}

// A grid answers a single query as a tree does, bit for bit: spread and crowded points, queries inside, on points, far outside and not
// finite, radii and k of every size.
func TestGridSingleQueries(t *testing.T) {
	t.Run("float32", testGridSingleQueries[float32])
	t.Run("float64", testGridSingleQueries[float64])
}

func testGridSingleQueries[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 16))
	inf := T(math.Inf(1))
	for dim := 1; dim <= maxGridDim; dim++ {
		for _, n := range []int{0, 1, 2, 50, 3000} {
			for ki, kind := range []string{"spread", "crowded", "lattice", "huge"} {
				if testing.Short() && (dim+n+ki)%3 != 0 {
					continue
				}
				x := make([]T, n*dim)
				for i := range x {
					switch x[i] = T(rng.Float64()); kind {
					case "crowded":
						x[i] *= x[i] * x[i] * x[i] * x[i]
					case "lattice":
						x[i] = T(int(8 * x[i]))
					case "huge":
						x[i] = (x[i] - 0.5) * T(math.Sqrt(math.MaxFloat32)) * 1e3
					}
				}
				radius := T(0.1)
				grid, err := NewGrid(x, dim, radius)
				require.NoError(t, err)
				tree, err := NewTree(x, dim, nil)
				require.NoError(t, err)
				var a, b Cloud[T] = tree, grid
				var w NearestWorkspace
				for q := range 40 {
					c := make([]T, dim)
					for axis := range c {
						c[axis] = T(rng.Float64())
						if n > 0 && q%2 == 0 {
							c[axis] = x[rng.IntN(n)*dim+axis]
						}
						switch q {
						case 1:
							c[axis] = 1e6
						case 3:
							c[axis] = T(math.NaN())
						case 5:
							c[axis] = -inf
						case 7:
							c[axis] = -1e-30
						}
					}
					for _, r2 := range []T{0, -1, radius * radius, 1e-12, 2, inf, T(math.NaN())} {
						name := fmt.Sprint(kind, dim, n, c, r2)
						require.Equal(t, a.Ball([]int32{7}, c, r2), b.Ball([]int32{7}, c, r2), name)
						require.Equal(t, a.Count(c, r2), b.Count(c, r2), name)
						for _, k := range []int{0, 1, 5, 100, 5000} {
							want, wantDist := a.KNearestWithin(nil, nil, c, k, r2, &w)
							got, dist := b.KNearestWithin(nil, nil, c, k, r2, &w)
							require.Equal(t, want, got, "%s: %d", name, k)
							require.Equal(t, wantDist, dist, "%s: %d", name, k)
						}
					}
					want, _ := a.KNearest(c, 3)
					got, _ := b.KNearest(c, 3)
					require.Equal(t, want, got)
				}
				if n > 0 {
					c := x[:dim]
					require.Zero(t, testing.AllocsPerRun(10, func() { grid.Count(c, radius) }))
				}
				require.Panics(t, func() { grid.Ball(nil, make([]T, dim+1), 1) })
				require.Panics(t, func() { grid.KNearest(make([]T, dim), -1) })
			}
		}
	}
}
