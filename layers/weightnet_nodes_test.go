package layers

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/layers/internal/nodal"
	"github.com/equivcnp/equivcnp/neighbor"
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
	l := group.LiftPoints(g, grid, 1, 0)
	l.Across = side
	return l
}

// converted returns a layer's parameters in float64.
func converted(net *WeightNet[float32]) *WeightNet[float64] {
	w := &WeightNet[float64]{}
	for i, l := range net.Linear {
		w.Linear[i] = &Linear[float64]{In: l.In, Out: l.Out, Weight: wide(l.Weight), Bias: wide(l.Bias)}
	}
	return w
}

// TestBetweenNodes compares a convolution whose weights are interpolated, and all its gradients, with one in float64
// whose network runs at every pose.
func TestBetweenNodes(t *testing.T) {
	const c = 40
	batch, side := 3, 48
	if testing.Short() { // the float64 side takes long where it is emulated or watched
		batch, side = 1, 48
	}
	for _, window := range []Window{WindowBox, WindowSmooth} {
		if window == WindowBox && testing.Short() {
			continue // a smooth window has weights of its own beside those of the network
		}
		t.Run(string(window), func(t *testing.T) {
			points, rng := pixels(t, "RxSO(2)", side), testkit.Rand(95)
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
	geometry := NewGeometry[float32](pixels(t, "RxSO(2)", 64), nil, nil, 0, 0)
	p, err := geometry.Pairs(0.24)
	require.NoError(t, err)
	net := NewWeightNet[float32](2, 32, 33, false, testkit.Rand(96))
	if simd.CurrentLevel() == simd.Generic {
		require.Nil(t, p.betweenNodes(net), "there is no kernel, so the network is faster")
		return
	}
	seen, last, every := map[int]bool{}, -1, 1
	if testing.Short() {
		every = 16 // tiles, as the network in float32 takes long where it is emulated or watched
	}
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
			last = len(nodal.Cells)
			seen[last] = true
			continue
		}
		require.GreaterOrEqual(t, n.Level, last, "a steeper network has a coarser grid")
		last = n.Level
		seen[last] = true
		for i := 0; i < len(p.tiles(33).query.tiles); i += every {
			tile := &p.tiles(33).query.tiles[i]
			exact := make([]float32, len(tile.poses)*33)
			net.Forward(exact, tile.table, len(tile.poses))
			size := float32(0)
			for _, v := range exact {
				size = max(size, v, -v)
			}
			for k, width := range []int{32, 1} {
				near := make([]float32, len(tile.poses)*width)
				n.Slice(near, placesOf(n.Table, tile), k)
				for i, v := range near {
					if e := math.Abs(float64(v - exact[i/width*33+32*k+i%width])); !(e <= 4*nodal.Tolerance*float64(size)) {
						t.Fatalf("level %d, tile %d, pose %d: %g, want %g", n.Level, i, i/width, v, exact[i/width*33+32*k+i%width])
					}
				}
			}
		}
	}
	require.Len(t, seen, len(nodal.Cells)+1, "every grid, and none")
	net.Linear[2].Bias[0] = float32(math.NaN())
	require.Nil(t, p.betweenNodes(net), "NaN")
}

// TestPlannedBetweenNodes: with interpolated weights, rows are those of float64 with the network at every pose, and an
// image has the same bits whatever is stored, alone and in a batch.
func TestPlannedBetweenNodes(t *testing.T) {
	const c = 48
	batch, side := 3, 48
	if testing.Short() {
		batch, side = 2, 32
	}
	points, x := arrangeGrid(t, "RxSO(2)", side, side)
	n, err := neighbor.Ball(points, points, neighbor.Options{Radius: 0.25})
	require.NoError(t, err)
	rng := testkit.Rand(97)
	config := LieConvConfig{PoseDim: 2, Hidden: 16, Mid: 8, Radius: 0.25}
	conv := NewSeparableLieConv[float32](c, c, config, rng)
	lift, next := NewLieConv[float32](1, c, config, rng), NewLinear[float32](2*c, c, rng)
	exact := NewSeparableLieConv[float64](c, c, config, rng)
	exact.Depthwise.WeightNet = converted(conv.Depthwise.WeightNet)
	exact.Pointwise = &Linear[float64]{In: c, Out: c, Weight: wide(conv.Pointwise.Weight), Bias: wide(conv.Pointwise.Bias)}
	order := Order(n, x, 1, false, nil)
	f, in := testkit.Normal[float32](rng, batch*side*side*c), testkit.Normal[float32](rng, batch*side*side*2)
	want := make([]float64, len(f))
	a64 := Arrange[float64](n, order, false, Auto, nil, nil)
	a64.slice = c // all channels side by side
	plan64 := exact.Plan(a64, Storage{})
	require.Nil(t, plan64.weights.nodes)
	var ws64 Workspace[float64]
	features := make([]float64, len(f))
	width := Arrange[float32](n, order, false, Auto, nil, nil).width(c)
	for i := range features {
		b, lo := i/(side*side*c), i%(side*side*c)
		row, j := lo/c, lo%c
		k := j / width * width
		features[i] = float64(f[b*side*side*c+k*side*side+row*min(width, c-k)+j-k])
	}
	require.NoError(t, plan64.Forward(t.Context(), want, features, batch, false, &ws64))

	before := simd.CurrentLevel()
	defer func() { require.NoError(t, simd.SetLevel(before)) }()
	for _, level := range simd.Levels() {
		require.NoError(t, simd.SetLevel(level))
		a := Arrange[float32](n, order, false, Auto, nil, nil)
		var first, firstIn []float32
		for _, share := range []float64{0, 0.5, 1} {
			plan, embedding := conv.Plan(a, Storage{Share: share}), lift.PlanEmbedding(a, Storage{Share: share}, 2, next)
			kept := plan.Kept()
			require.Equal(t, level != simd.Generic, kept.Interpolated)
			require.Equal(t, share == 1, kept.MulAdds == 0)
			var ws Workspace[float32]
			got, gotIn, one := make([]float32, len(f)), make([]float32, len(f)), make([]float32, len(f)/batch)
			require.NoError(t, plan.Forward(t.Context(), got, f, batch, false, &ws))
			require.NoError(t, embedding.Forward(t.Context(), gotIn, in, batch, &ws))
			for b := range batch {
				require.NoError(t, plan.Forward(t.Context(), one, f[b*len(one):(b+1)*len(one)], 1, false, &ws))
				require.Equal(t, one, got[b*len(one):(b+1)*len(one)], "image %d of a batch", b)
			}
			if first == nil {
				first, firstIn = got, gotIn
				rows := make([]float32, len(got)) // in the order of want
				for i := range rows {
					b, lo := i/(side*side*c), i%(side*side*c)
					row, j := lo/c, lo%c
					k := j / width * width
					rows[i] = got[b*side*side*c+k*side*side+row*min(width, c-k)+j-k]
				}
				requireNear(t, fmt.Sprint(level), rows, want, 2e-6)
			}
			require.Equal(t, first, got, "stored: %g", share)
			require.Equal(t, firstIn, gotIn, "stored: %g", share)
		}
	}
}
