package layers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
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

// TestDerivativeKnown: a forward pass for training refuses an activation that no backward pass could follow, before it changes a statistic.
func TestDerivativeKnown(t *testing.T) {
	c := LieConvConfig{PoseDim: 2, Hidden: 4, Radius: 2, BatchNorm: true}
	conv := NewSeparableLieConv[float64](1, 1, c, rand.New(rand.NewPCG(1, 1)))
	g := NewGeometry[float64](group.LiftPoints(group.NewT(2, 0), []float64{0, 0, 1, 0}, 1, 0), nil, nil, 0, 0)
	mean := slices.Clone(conv.Depthwise.WeightNet.Norm[0].RunningMean)
	require.PanicsWithValue(t, "layers: SeparableLieConv.ForwardTape: the derivative of swish cannot be told from its result", func() {
		_, _ = conv.ForwardTape(make([]float64, 2), make([]float64, 2), g, 1, Train, simd.ActSwish)
	})
	require.Equal(t, mean, conv.Depthwise.WeightNet.Norm[0].RunningMean)
	require.PanicsWithValue(t, "layers: Conv1d.Backward: the derivative of swish cannot be told from its result", func() {
		conv := NewConv1d[float64](1, 1, 3, rand.New(rand.NewPCG(1, 1)))
		x := make([]float64, 4)
		conv.Backward(nil, x, x, x, 1, 4, simd.ActSwish, NewGrads(conv.Params("")))
	})
}

// TestBadLengths: slices that do not fit each other, or the layer, are refused by name instead of giving wrong numbers.
func TestBadLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, at := make([]float32, 64), make([]float64, 4)
	norm, net := NewBatchNorm[float32](3), NewWeightNet[float32](2, 3, 4, true, rng)
	points := group.LiftPoints(group.NewT(2, 0), at, 1, 0)
	two, err := neighbor.Ball(points, points, neighbor.Options{Radius: 1})
	require.NoError(t, err)
	arrange := func(order []int32, a Algorithm) *Arrangement[float32] {
		return Arrange[float32](two, order, true, a, nil, nil)
	}
	line := NewLieConv[float32](2, 3, LieConvConfig{PoseDim: 1, Hidden: 3, Mid: 2, Radius: 1}, rng).Compile(0.2)
	pairs := &LinePairs[float32]{Offsets: []int{0, 1}, Index: []int32{0}, Pose: []int32{0}, Shared: 1}
	forward := func(dst, shared, hi int, s *LineScratch[float32]) {
		line.Forward(x[:dst], x[:2], pairs, LineChunk{Hi: hi}, line.Weights(x[:shared]), s)
	}
	for _, c := range []struct {
		want string
		call func()
	}{
		{"BatchNorm: len(x) = 7, need 6", func() { norm.ForwardTape(x[:7], x[:7], nil, 1, Train) }},
		{"BatchNorm.Backward: len(x) = 7, need 6", func() { norm.Backward(x[:7], x[:7], x[:7], &BatchNormTape[float32]{}, nil) }},
		{"WeightNet.Backward: len(dpose) = 3, need 4", func() {
			net.ForwardTape(x[:4], 2, nil, 1, Train).Backward(x[:3], x[:8], NewGrads(net.Params("")))
		}},
		{"Arrange: order[1] = 0 of 2 rows, need each of them once", func() { arrange([]int32{0, 0}, Direct) }},
		{`Arrange: unknown algorithm "fast"`, func() { arrange(nil, "fast") }},
		{"NewRBF: scale = 0, length = 1, need positive numbers", func() { NewRBF[float32](0, 1) }},
		{"NewRBF: scale = 1, length = NaN, need positive numbers", func() { NewRBF[float32](1, math.NaN()) }},
		{"Arrangement.Gather: row 5 of 2", func() { arrange(nil, Direct).Gather(x[:2], x[:4], 5) }},
		{"Arrangement.Gather: len(f) = 3, need 2 rows of 2 numbers, 2 apart", func() { arrange(nil, Direct).Gather(x[:2], x[:3], 0) }},
		{"PlannedLieConv.Forward: len(shared weights) = 0, need 2", func() { forward(3, 0, 1, new(LineScratch[float32])) }},
		{"PlannedLieConv.Forward: len(dst) = 2, need 1 rows of 3 numbers, 3 apart", func() { forward(2, 1, 1, new(LineScratch[float32])) }},
		{"PlannedLieConv.Forward: chunk {Lo:0 Hi:2 First:0 Last:0} of 1 rows and 0 own poses", func() {
			forward(6, 1, 2, new(LineScratch[float32]))
		}},
		{"PlannedLieConv.Forward: s = nil", func() { forward(3, 1, 1, nil) }},
	} {
		require.PanicsWithValue(t, "layers: "+c.want, c.call)
	}
}
