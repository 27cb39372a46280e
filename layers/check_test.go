package layers

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
)

// TestPoseDim: a layer refuses a geometry whose poses are not of the length that its WeightNet takes, whichever is longer.
func TestPoseDim(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	points := group.LiftPoints(group.NewT(2, 0), []float64{0, 0, 1, 0, 0, 1}, 1, 0)
	g := NewGeometry[float32](points, nil, nil, 0, 0)
	for _, dim := range []int{1, 3} {
		c := LieConvConfig{PoseDim: dim, Hidden: 4, Mid: 3, Radius: 2}
		f, out := make([]float32, 6), make([]float32, 6)
		conv, depthwise := NewLieConv[float32](2, 2, c, rng), NewDepthwiseLieConv[float32](2, c, rng)
		for name, run := range map[string]func() error{
			"layers: LieConv: ":          func() error { return conv.Forward(out, f, g, 1) },
			"layers: DepthwiseLieConv: ": func() error { return depthwise.Forward(out, f, g, 1) },
		} {
			want := name + map[int]string{1: "the geometry's poses have 2 coordinates, the layer's PoseDim is 1",
				3: "the geometry's poses have 2 coordinates, the layer's PoseDim is 3"}[dim]
			require.PanicsWithValue(t, want, func() { _ = run() })
		}
		require.Panics(t, func() { _, _ = conv.ForwardTape(out, f, g, 1, Train) })
	}
}

// TestBadSizes: constructors name what makes no layer.
func TestBadSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	good := LieConvConfig{PoseDim: 2, Hidden: 4, Mid: 3}
	with := func(change func(c *LieConvConfig)) LieConvConfig {
		c := good
		change(&c)
		return c
	}
	for want, make := range map[string]func(){
		"layers: NewLieConv: Hidden = -1, need at least 1": func() {
			NewLieConv[float32](1, 1,
				with(func(c *LieConvConfig) { c.Hidden = -1 }), rng)
		},
		"layers: NewLieConv: Mid = 0, need at least 1": func() {
			NewLieConv[float32](1, 1,
				with(func(c *LieConvConfig) { c.Mid = 0 }), rng)
		},
		"layers: NewLieConv: PoseDim = 0, need at least 1": func() {
			NewLieConv[float32](1, 1,
				with(func(c *LieConvConfig) { c.PoseDim = 0 }), rng)
		},
		"layers: NewLieConv: channels = -2, need at least 1":         func() { NewLieConv[float32](1, -2, good, rng) },
		"layers: NewLieConv: rng = nil":                              func() { NewLieConv[float32](1, 1, good, nil) },
		"layers: NewDepthwiseLieConv: channels = 0, need at least 1": func() { NewResidualBlock[float64](0, good, rng) },
		"layers: NewDepthwiseLieConv: rng = nil":                     func() { NewDepthwiseLieConv[float64](1, good, nil) },
		"layers: NewWeightNet: hidden = -1, need at least 1":         func() { NewWeightNet[float32](1, -1, 1, true, rng) },
		"layers: NewLinear: in = -1, need at least 1":                func() { NewLinear[float32](-1, 1, rng) },
		"layers: NewLinear: rng = nil":                               func() { NewLinear[float32](1, 1, nil) },
		"layers: NewConv1d: width = 0, need at least 1":              func() { NewConv1d[float32](1, 1, 0, rng) },
		"layers: NewConv1d: width = 2, need an odd number":           func() { NewConv1d[float32](1, 1, 2, rng) },
		"layers: NewDepthwiseConv2d: rng = nil":                      func() { NewDepthwiseConv2d[float32](1, 1, true, true, nil) },
	} {
		require.PanicsWithValue(t, want, make)
	}
}

// TestBadCalls: what computes names the argument that is wrong, and a size near the largest int beside one of 0 is a call without work.
func TestBadCalls(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, at := make([]float32, 64), make([]float64, 8)
	axes := Lattice{{0, 1}, {0, 1, 2}}
	var lattice LatticeConv[float32]
	const huge = math.MaxInt / 8
	for want, call := range map[string]func(){
		"layers: GatherSlabs: len(f) = 24, need 16":      func() { GatherSlabs(x[:24], x[:24], 24, 0, 1) },
		"layers: GatherSlabs: len(dst) = 15, need 16":    func() { GatherSlabs(x[:15], x[:64], 16, 0, 1) },
		"layers: GatherSlabs: rows 3 to 5, have 0 to 4":  func() { GatherSlabs(x[:32], x[:64], 16, 3, 5) },
		"layers: GatherSlabs: rows -1 to 0, have 0 to 4": func() { GatherSlabs(x[:16], x[:64], 16, -1, 0) },
		"layers: LatticeConv: axes = nil":                func() { lattice.Forward(nil, nil, nil, nil, 1, 1, 1) },
		"layers: LatticeConv: len(x) = 3, need 2":        func() { lattice.Forward(x[:6], axes, at[:3], x[:1], 1, 1, 1) },
		"layers: LatticeConv: len(phi) = 1, need 2":      func() { lattice.Forward(x[:6], axes, at[:4], x[:1], 1, 1, 1) },
		"layers: LatticeConv: len(phi) = 3, need 2":      func() { lattice.Grad(x[:6], axes, at[:4], x[:3], 1, 1, 1) },
		"layers: Conv1d: len(dst) = 1, need 0":           func() { NewConv1d[float32](1, 1, 3, rng).Forward(x[:1], nil, huge, 0, 0) },
	} {
		require.PanicsWithValue(t, want, call)
	}
	NewConv1d[float32](1, 1, 3, rng).Forward(nil, nil, huge, 0, 0)
	NewDepthwiseConv2d[float32](1, 3, true, true, rng).Forward(nil, nil, huge, 1, 0)
}
