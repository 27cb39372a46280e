package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/neighbor"
)

// evenPoints are the points of an h x w grid with these steps, from a corner on.
func evenPoints(h, w int, y, x, dy, dx float64) []float64 {
	var out []float64
	for i := range h {
		for j := range w {
			out = append(out, y+float64(i)*dy, x+float64(j)*dx)
		}
	}
	return out
}

// An arrangement that follows from a grid is the one that is made of the pairs that a search finds: rows, poses, their
// numbers, and the grid.
func TestArrangeGrid(t *testing.T) {
	rng, made := rand.New(rand.NewPCG(3, 5)), 0
	for k := range 60 {
		h, w := 2+rng.IntN(24), 2+rng.IntN(24)
		dy, dx := 0.3+rng.Float64(), 0.3+rng.Float64()
		if k%3 == 0 {
			dx = -dx
		}
		g := group.NewT(2, 0.1+0.8*rng.Float64())
		x := evenPoints(h, w, 50*rng.NormFloat64(), 50*rng.NormFloat64(), dy, dx)
		points, radius := group.LiftPoints(g, x, 1, 0), g.Alpha()*rng.Float64()*12
		points.Across = w
		for _, algorithm := range []Algorithm{Auto, Transforms, TransformsOnly} {
			t.Run(fmt.Sprintf("%d/%dx%d/%s", k, h, w, algorithm), func(t *testing.T) {
				n, err := neighbor.Ball(points, points, neighbor.Options{Radius: radius})
				require.NoError(t, err)
				want, got := Arrange[float32](n, nil, true, algorithm, nil, nil), ArrangeGrid[float32](points, radius, algorithm)
				if got == nil {
					return
				}
				made++
				require.True(t, Flat(n))
				require.Equal(t, Transforms, want.Algorithm())
				require.Equal(t, want.transforms, got.transforms)
				require.Equal(t, want.offsets, got.offsets)
				require.True(t, testkit.SameBits(want.table, got.table))
				require.Equal(t, want.scale, got.scale)
				require.Equal(t, []int{want.Rows, want.dim, want.poses}, []int{got.Rows, got.dim, got.poses})
				index, pose := got.pairs()
				require.Equal(t, want.index, index)
				require.Equal(t, want.pose, pose)
			})
		}
	}
	require.Greater(t, made, 30)
}

// What is no grid, or not certain, is left to a search.
func TestArrangeGridElsewhere(t *testing.T) {
	g := group.NewT(2, 0.5)
	across := 16
	grid := func(x []float64) *group.Lifted {
		l := group.LiftPoints(g, x, 1, 0)
		l.Across = across
		return l
	}
	even := evenPoints(12, 16, 0, 0, 1, 1)
	none := func(points *group.Lifted, radius float64, algorithm Algorithm, why string) {
		require.True(t, ArrangeGrid[float32](points, radius, algorithm) == nil, why)
	}
	require.True(t, ArrangeGrid[float32](grid(even), 2.1, Transforms) != nil)
	require.True(t, ArrangeGrid[float64](grid(even), 2.1, Transforms) == nil)
	none(grid(even), 2.5, Transforms, "five steps are a distance of the radius")
	none(grid(even), 2.1, Direct, "direct")
	none(grid(even), 2.1, NoDepthwise, "no depthwise convolution")
	for name, change := range map[string]func(x []float64) []float64{
		"a point is off":   func(x []float64) []float64 { x[77] += 1e-3; return x },
		"a point is near":  func(x []float64) []float64 { x[77] += 1e-12; return x },
		"a column is off":  func(x []float64) []float64 { return withoutColumn(x, 16, 5) },
		"a point is last":  func(x []float64) []float64 { return append(x, 99, 99) },
		"one column":       func([]float64) []float64 { return evenPoints(40, 1, 0, 0, 1, 1) },
		"one row":          func([]float64) []float64 { return evenPoints(1, 40, 0, 0, 1, 1) },
		"steps too small":  func([]float64) []float64 { return evenPoints(12, 16, 1e9, 0, 1e-5, 1e-5) },
		"in one place":     func([]float64) []float64 { return make([]float64, 2*192) },
		"no points at all": func([]float64) []float64 { return nil },
	} {
		none(grid(change(append([]float64(nil), even...))), 2.1, Transforms, name)
	}
	for _, across = range []int{-1, 0, 1, 8, 11, 24, 192, math.MaxInt} {
		none(grid(even), 2.1, Transforms, fmt.Sprintf("rows of %d", across))
	}
	for across, x := range map[int][]float64{15: withoutColumn(even, 16, 5), 40: evenPoints(1, 40, 0, 0, 1, 1)} {
		l := group.LiftPoints(g, x, 1, 0)
		l.Across = across
		none(l, 2.1, Transforms, fmt.Sprintf("rows of %d", across))
	}
	across = 16
	for _, radius := range []float64{-1, 0, 0.3, math.NaN(), math.Inf(1)} {
		none(grid(even), radius, Transforms, fmt.Sprintf("radius %v", radius))
	}
	other := group.LiftPoints(group.NewSE2(0.5), even, 1, 0)
	other.Across = 16
	none(other, 2.1, Transforms, "another group")
}

// withoutColumn returns a grid of rows of w points without a column.
func withoutColumn(x []float64, w, column int) []float64 {
	var out []float64
	for i := range len(x) / 2 {
		if i%w != column {
			out = append(out, x[2*i], x[2*i+1])
		}
	}
	return out
}
