package layers

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/neighbor"
)

// TestOrbits: rows in groups of fours have the sums that they have one by one, a last slice of fewer channels too, and
// an image has the same bits in a batch, whose stored tiles go slice by slice, as alone. With and without a window.
func TestOrbits(t *testing.T) {
	const size, c, batch = 11, 40, 3 // a pixel in the middle, which is in no four
	points, x := arrangeGrid(t, "SO(2)", size, size)
	r, err := neighbor.RadiusForFill(points, 0.2, neighbor.Options{})
	require.NoError(t, err)
	n, err := neighbor.Ball(points, points, neighbor.Options{Radius: r})
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 3))
	layer := NewSeparableLieConv[float32](c, c, LieConvConfig{PoseDim: n.PoseDim, Hidden: 8, Mid: 4, Radius: r}, rng)
	order := Order(n, x, 1, false, nil)
	f := normals[float32](rng, batch*size*size*c)
	for i := range 6 {
		share, window := []float64{0, 0.5, 1}[i/2], []*Windowing{nil, {WindowSmooth, points.Group, r}}[i%2]
		a := Arrange[float32](n, order, false, Auto, window, nil)
		require.NotNil(t, a.tiles[0].orbits)
		plan := layer.Plan(a, Storage{Share: share})
		var ws Workspace[float32]
		got, want, one := make([]float32, len(f)), make([]float32, len(f)), make([]float32, len(f)/batch)
		require.NoError(t, plan.Forward(t.Context(), got, f, batch, false, &ws))
		for b := range batch {
			require.NoError(t, plan.Forward(t.Context(), one, f[b*len(one):(b+1)*len(one)], 1, false, &ws))
			require.Equal(t, one, got[b*len(one):(b+1)*len(one)])
		}
		for i := range a.tiles {
			a.tiles[i].orbits = nil
		}
		require.NoError(t, plan.Forward(t.Context(), want, f, batch, false, &ws))
		for i := range want {
			require.InDelta(t, want[i], got[i], 1e-5)
		}
	}
	all := []*Arrangement[float32]{Arrange[float32](n, order, false, Auto, nil, nil),
		Arrange[float32](n, order, false, NoDepthwise, nil, nil)}
	require.True(t, Agree(all))
	all[1].slice = buffers.SliceWidth
	require.False(t, Agree(all))
	require.True(t, Agree(all))
}

// TestForwardRows: rows by themselves have the bits that they have among all, and the others stay as they are.
func TestForwardRows(t *testing.T) {
	for _, algorithm := range Algorithms {
		t.Run(string(algorithm), func(t *testing.T) { testForwardRows(t, algorithm) })
	}
}

func testForwardRows(t *testing.T, algorithm Algorithm) {
	const h, w, c, batch = 9, 11, 20, 2
	points, _ := arrangeGrid(t, "T(2)", h, w)
	r, err := neighbor.RadiusForFill(points, 0.2, neighbor.Options{})
	require.NoError(t, err)
	n, err := neighbor.Ball(points, points, neighbor.Options{Radius: r})
	require.NoError(t, err)
	a := Arrange[float32](n, nil, true, algorithm, nil, nil)
	rng := rand.New(rand.NewPCG(1, 2))
	cfg := LieConvConfig{PoseDim: 2, Hidden: 8, Mid: 4, Radius: r}
	conv := NewSeparableLieConv[float32](c, c, cfg, rng).Plan(a, Storage{Share: 1})
	embedding := NewLieConv[float32](1, c, cfg, rng).PlanEmbedding(a, Storage{Share: 1}, 2, NewLinear[float32](2*c, c, rng))
	values := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		return x
	}
	in, f, base := values(batch*h*w*2), values(batch*h*w*c), values(batch*h*w*c)
	runs := []RowRun{{0, 3}, {8, 16}, {17, 18}, {40, 97}}
	inRuns := map[int]bool{}
	for _, r := range runs {
		for i := r.Lo; i < r.Hi; i++ {
			inRuns[i] = true
		}
	}
	var ws Workspace[float32]
	check := func(want []float32, some func(dst []float32) error) {
		got := values(len(want))
		before := append([]float32(nil), got...)
		require.NoError(t, some(got))
		for i := range want {
			if !inRuns[i/c%(h*w)] {
				want[i] = before[i]
			}
		}
		require.Equal(t, want, got)
	}
	all := make([]float32, len(f))
	require.NoError(t, embedding.Forward(t.Context(), all, in, batch, &ws))
	check(all, func(dst []float32) error { return embedding.ForwardRows(t.Context(), dst, in, batch, runs, &ws) })
	all = make([]float32, len(f))
	require.NoError(t, conv.Forward(t.Context(), all, f, batch, false, &ws))
	check(all, func(dst []float32) error { return conv.ForwardRows(t.Context(), dst, f, nil, batch, runs, &ws) })
	all = append([]float32(nil), base...)
	require.NoError(t, conv.Forward(t.Context(), all, f, batch, true, &ws))
	check(all, func(dst []float32) error { return conv.ForwardRows(t.Context(), dst, f, base, batch, runs, &ws) })

	require.Panics(t, func() { _ = conv.ForwardRows(t.Context(), all, f, nil, batch, []RowRun{{90, 100}}, &ws) })
	tiled := NewSeparableLieConv[float32](c, c, cfg, rng).Plan(Arrange[float32](n, nil, false, Auto, nil, nil), Storage{Share: 1})
	require.Panics(t, func() { _ = tiled.ForwardRows(t.Context(), all, f, nil, batch, runs, &ws) })
}
