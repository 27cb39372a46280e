package layers

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/neighbor"
)

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
