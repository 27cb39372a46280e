package layers

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/testkit"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// TestHostile calls everything exported with what nobody should pass.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "layers", name, f, good...)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	named("NewLinear", NewLinear[float32], 2, 3, rng)
	named("NewBatchNorm", NewBatchNorm[float32], 2)
	named("NewWeightNet", NewWeightNet[float32], 2, 3, 4, true, rng)
	named("NewConv1d", NewConv1d[float32], 2, 3, 3, rng)
	named("NewDepthwiseConv2d", NewDepthwiseConv2d[float32], 2, 3, true, true, rng)
	named("NewRBF", NewRBF[float32], 1.0, 0.5)
	c := LieConvConfig{PoseDim: 2, Hidden: 4, Mid: 3, BatchNorm: true, Radius: 1.5, Fill: 0.5, Rate: 0.1, Window: WindowBox}
	named("NewLieConv", NewLieConv[float32], 2, 3, c, rng)
	named("NewDepthwiseLieConv", NewDepthwiseLieConv[float32], 2, c, rng)
	named("NewSeparableLieConv", NewSeparableLieConv[float32], 2, 3, c, rng)
	named("NewResidualBlock", NewResidualBlock[float32], 2, c, rng)
	named("Window.At", Window.At, WindowSmooth, 0.5)

	x := []float64{0, 0, 1, 0, 0, 1, 1, 1}
	points := group.LiftPoints(group.NewT(2, 0), x, 1, 1)
	mask := []bool{true, true, true, false}
	named("NewGeometry", func(points *group.Lifted, mask []bool, blocks []int, most int, r float64) {
		g := NewGeometry[float32](points, mask, blocks, most, 1)
		g.Rows()
		if _, err := g.Pairs(r); err == nil {
			_, _ = g.Reading(1).Pairs(r)
		}
	}, points, mask, []int{0, 2, 4}, 2, 1.5)
	line := group.LiftPoints(group.NewT(1, 0), []float64{0, 1, 2, 0.5, 0, 1, 2, 1.5}, 1, 1)
	named("NewLineGeometry", func(points *group.Lifted, mask []bool, blocks []int, lattice int, density, r float64) {
		g := NewLineGeometry[float32](points, mask, blocks, lattice, density)
		_, _ = g.Pairs(r)
	}, line, []bool{true, true, true, true, true, true, true, false}, []int{0, 4, 8}, 3, 1.0, 1.5)

	g := NewGeometry[float32](points, nil, nil, 0, 0)
	f, dst := make([]float32, 8), make([]float32, 12)
	conv, block := NewLieConv[float32](2, 3, c, rng), NewResidualBlock[float32](2, c, rng)
	named("LieConv.Forward", conv.Forward, dst, f, g, 1)
	named("LieConv.ForwardTape", conv.ForwardTape, dst, f, g, 1, Train)
	depthwise, separable := NewDepthwiseLieConv[float32](2, c, rng), NewSeparableLieConv[float32](2, 3, c, rng)
	named("DepthwiseLieConv.Forward", depthwise.Forward, make([]float32, 8), f, g, 1)
	named("DepthwiseLieConv.ForwardTape", depthwise.ForwardTape, make([]float32, 8), f, g, 1, Train)
	named("SeparableLieConv.Forward", separable.Forward, dst, f, g, 1, simd.ActReLU)
	named("ResidualBlock.Forward", block.Forward, f, g, 1)
	named("ResidualBlock.ForwardTape", block.ForwardTape, make([]float32, 8), f, g, 1, Train)
	linear := NewLinear[float32](2, 3, rng)
	named("Linear.Forward", linear.Forward, dst, f, 4, simd.ActReLU)
	grads := NewGrads[float32](linear.Params(""))
	named("Linear.Backward", linear.Backward, make([]float32, 8), dst, f, 4, grads)
	conv1 := NewConv1d[float32](2, 3, 3, rng)
	named("Conv1d.Forward", conv1.Forward, dst, f, 1, 4, simd.ActReLU)
	named("Conv1d.Backward", conv1.Backward, make([]float32, 8), dst, f, dst, 1, 4, simd.ActReLU, NewGrads[float32](conv1.Params("")))
	conv2 := NewDepthwiseConv2d[float32](2, 3, true, true, rng)
	named("DepthwiseConv2d.Forward", conv2.Forward, make([]float32, 8), f, 1, 2, 2)
	named("DepthwiseConv2d.Backward", conv2.Backward, make([]float32, 8), f, f, 1, 2, 2, NewGrads[float32](conv2.Params("")))
	rbf := NewRBF[float32](1, 0.5)
	named("RBF.Forward", rbf.Forward, make([]float32, 12), x, x, dst, 2, 3)
	named("RBF.Backward", rbf.Backward, make([]float32, 12), dst, x, x, dst, 2, 3, NewGrads[float32](rbf.Params("")))
	named("RBF.ForwardGroup", rbf.ForwardGroup, make([]float32, 12), points, points, dst, 3)
	named("RBF.BackwardGroup", rbf.BackwardGroup, make([]float32, 12), dst, points, points, dst, 3, NewGrads[float32](rbf.Params("")))
	norm := NewBatchNorm[float32](2)
	named("BatchNorm.ForwardTape", norm.ForwardTape, make([]float32, 8), f, []int32{1, 1, 1, 1}, 1, Train)
	net := NewWeightNet[float32](2, 3, 4, true, rng)
	named("WeightNet.Forward", net.Forward, make([]float32, 16), f, 4)
	named("WeightNet.ForwardTape", net.ForwardTape, f, 4, []int32{1, 1, 1, 1}, 1, Train)

	n, err := neighbor.Ball(points, points, neighbor.Options{Radius: 1.5})
	require.NoError(t, err)
	named("NewPairs", NewPairs[float32], n)
	named("Flat", Flat, n)
	named("Order", Order, n, x, 1, false, func() bool { return false })
	named("Arrange", Arrange[float32], n, []int32{0, 1, 2, 3}, false, Auto, &Windowing{WindowSmooth, points.Group, 1.5},
		func() bool { return false })
	a := Arrange[float32](n, nil, Flat(n), Auto, nil, nil)
	named("StorageBytes", StorageBytes[float32], a, 8, true)
	named("CallBytes", a.CallBytes, 8, 2)
	testkit.HostileIndexed(t, "layers", "Row", a.Row, 1)
	plan := separable.Plan(a, Storage{Share: 1})
	named("PlannedSeparable.Forward", plan.Forward, context.Background(), dst, f, 1, true, &Workspace[float32]{})
	named("PlannedSeparable.ForwardRows", plan.ForwardRows, context.Background(), dst, f, dst, 1, []RowRun{{0, 2}}, &Workspace[float32]{})
	named("Plan", separable.Plan, a, Storage{Share: 1})
	named("PlanEmbedding", conv.PlanEmbedding, a, Storage{Share: 1}, 1, NewLinear[float32](3, 3, rng))
	embedding := conv.PlanEmbedding(a, Storage{Share: 1}, 1, NewLinear[float32](3, 3, rng))
	named("PlannedEmbedding.Forward", embedding.Forward, context.Background(), dst, f, 1, &Workspace[float32]{})
	named("Linear.Plan", func(rows int, dst, x []float32) { linear.Plan().Forward(dst, x, rows) }, 4, dst, f)
}
