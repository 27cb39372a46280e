package layers

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/simd"
)

// pixels returns the points of a square grid around the origin under a group.
func pixels(t *testing.T, name string, side int) *group.Lifted {
	g, err := group.Parse(name, 0)
	require.NoError(t, err)
	var grid []float64
	for i := range side * side {
		grid = append(grid, float64(i/side)-float64(side-1)/2, float64(i%side)-float64(side-1)/2)
	}
	return group.LiftPoints(g, grid, 1, 0)
}

// converted returns a layer's parameters in float64.
func converted(net *WeightNet[float32]) *WeightNet[float64] {
	w := &WeightNet[float64]{}
	for i, l := range net.Linear {
		w.Linear[i] = &Linear[float64]{In: l.In, Out: l.Out, Weight: wide(l.Weight), Bias: wide(l.Bias)}
	}
	return w
}

// TestBetweenNodes compares a convolution whose weights are interpolated, and all its gradients, with one in float64 whose network runs at every pose.
func TestBetweenNodes(t *testing.T) {
	const batch, c = 3, 40
	for _, window := range []Window{WindowBox, WindowSmooth} {
		t.Run(string(window), func(t *testing.T) {
			points, rng := pixels(t, "RxSO(2)", 48), testkit.Rand(95)
			config := LieConvConfig{PoseDim: 2, Hidden: 16, Radius: 0.25, Window: window}
			layer := NewDepthwiseLieConv[float32](c, config, rng)
			exact := NewDepthwiseLieConv[float64](c, config, rng)
			exact.WeightNet = converted(layer.WeightNet)
			geometry, geometry64 := NewGeometry[float32](points, nil, nil, 0, 0), NewGeometry[float64](points, nil, nil, 0, 0)
			n := batch * geometry.Rows() * c
			f, d := testkit.Normal[float32](rng, n), testkit.Normal[float32](rng, n)
			f64, d64 := wide(f), wide(d)
			want, wantf := make([]float64, n), make([]float64, n)
			tape64, err := exact.ForwardTape(want, f64, geometry64, batch, Train)
			require.NoError(t, err)
			g64 := NewGrads(exact.Params(""))
			tape64.Backward(wantf, d64, g64)

			before := simd.CurrentLevel()
			defer func() { require.NoError(t, simd.SetLevel(before)) }()
			for _, level := range simd.Levels() {
				require.NoError(t, simd.SetLevel(level))
				got, gotf := make([]float32, n), make([]float32, n)
				tape, err := layer.ForwardTape(got, f, geometry, batch, Train)
				require.NoError(t, err)
				require.Equal(t, level != simd.Generic, tape.net.between != nil, "interpolated at level %v", level)
				requireNear(t, fmt.Sprintf("%v: forward", level), got, want, 2e-6)
				g := NewGrads(layer.Params(""))
				for range 2 { // the second time from what the tape computes again
					g.Zero()
					tape.Backward(gotf, d, g)
					requireNear(t, fmt.Sprintf("%v: features", level), gotf, wantf, 2e-6)
					for i, p := range g.Params {
						if p.Buffer {
							continue
						}
						requireNear(t, fmt.Sprintf("%v: %s", level, p.Name), g.Data[i], g64.Data[i], 5e-6)
					}
				}
			}
		})
	}
}

// requireNear wants no difference above tol times the greatest value.
func requireNear(t *testing.T, what string, got []float32, want []float64, tol float64) {
	t.Helper()
	require.Len(t, got, len(want))
	worst, size := 0.0, 0.0
	for i, v := range want {
		worst, size = max(worst, math.Abs(float64(got[i])-v)), max(size, math.Abs(v))
	}
	t.Logf("%s: %.2g", what, worst/size)
	require.True(t, worst <= tol*size, "%s: off by %g of the greatest value, %g allowed", what, worst/size, tol)
}

// TestNodesFineEnough wants finer grids for steeper networks, the network itself where none suffices, and no error above the bound.
func TestNodesFineEnough(t *testing.T) {
	if simd.CurrentLevel() == simd.Generic {
		t.Skip("weights are not interpolated at this level")
	}
	geometry := NewGeometry[float32](pixels(t, "RxSO(2)", 64), nil, nil, 0, 0)
	p, err := geometry.Pairs(0.24)
	require.NoError(t, err)
	net := NewWeightNet[float32](2, 32, 33, false, testkit.Rand(96))
	seen, last := map[int]bool{}, -1
	for k := range 24 {
		steep := float32(1.3)
		if k == 0 {
			steep = 1
		}
		for i := range net.Linear[0].Weight {
			net.Linear[0].Weight[i] *= steep
		}
		n := p.betweenNodes(net)
		if n == nil {
			last = len(nodeCells)
			seen[last] = true
			continue
		}
		require.GreaterOrEqual(t, n.level, last, "a steeper network has a coarser grid")
		last = n.level
		seen[last] = true
		for i := range p.tiles().query.tiles {
			tile := &p.tiles().query.tiles[i]
			exact := make([]float32, len(tile.poses)*33)
			net.Forward(exact, tile.table, len(tile.poses))
			size := float32(0)
			for _, v := range exact {
				size = max(size, v, -v)
			}
			for k, width := range []int{32, 1} {
				near := make([]float32, len(tile.poses)*width)
				n.slice(near, tile, k)
				for i, v := range near {
					if e := math.Abs(float64(v - exact[i/width*33+32*k+i%width])); !(e <= 4*nodeTolerance*float64(size)) {
						t.Fatalf("level %d, tile %d, pose %d: %g, want %g", n.level, i, i/width, v, exact[i/width*33+32*k+i%width])
					}
				}
			}
		}
	}
	require.Len(t, seen, len(nodeCells)+1, "every grid, and none")
	net.Linear[2].Bias[0] = float32(math.NaN())
	require.Nil(t, p.betweenNodes(net), "NaN")
}
