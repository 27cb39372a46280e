package layers

import (
	"context"

	"github.com/equivcnp/equivcnp/internal/bands"
	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/simd"
)

// PlannedBlocks is residual blocks of separable convolutions whose features, weights and products are bfloat16, with
// sums in float32: on a pixel grid under translations, where the CPU multiplies tiles. It is immutable and safe for
// concurrent use.
//
// Numbers are rounded at the same places everywhere: weights of both maps, features between layers, and sums of
// depthwise convolutions on their way into the dense map. Biases, the factors of sums, and the last layer's features
// are float32.
type PlannedBlocks struct {
	net *bands.Network
}

// BlocksWorkspace is the scratch memory of PlannedBlocks. It grows as needed and serves one call at a time.
type BlocksWorkspace = bands.Workspace

// PlanBlocks compiles all blocks for an arrangement of their radius. It returns nil where sums in bfloat16 are not to
// be had: without tiles, under other arrangements than a grid's in one lift, in float64, and for numbers of channels
// that no tiles fit.
func PlanBlocks[T Float](blocks []*ResidualBlock[T], a *Arrangement[T]) *PlannedBlocks {
	check.Given("PlanBlocks", "a", a != nil)
	if simd.CurrentLevel() != simd.AMX || buffers.SizeOf[T]() != 4 || !a.Flat() || len(blocks) == 0 {
		return nil
	}
	c := blocks[0].Conv[0].Pointwise.In
	if c%bands.Group != 0 {
		return nil
	}
	g := a.grid()
	if g == nil || g.Lifts != 1 {
		return nil
	}
	scale := make([]float32, a.Rows)
	for i := range scale {
		scale[i] = float32(a.inverse(i))
	}
	var all []bands.Layer
	for _, b := range blocks {
		for _, l := range b.Conv {
			p := l.Pointwise
			if p.In != c || p.Out != c {
				return nil
			}
			weights := newPoseWeights(a, l.Depthwise.WeightNet, c, true, Storage{})
			all = append(all, bands.Layer{Weights: any(weights.table).([]float32), Dense: any(p.Weight).([]float32),
				Bias: any(p.Bias).([]float32)})
		}
	}
	if net := bands.New(g, scale, c, all); net != nil {
		return &PlannedBlocks{net}
	}
	return nil
}

// grid returns the grid whose rows a flat arrangement has, or nil.
func (a *Arrangement[T]) grid() *spectral.Grid {
	if a.transforms != nil {
		return a.transforms.Grid
	}
	return spectral.Find(a.offsets, a.index, a.pose, a.across)
}

// Bytes returns the memory of the weights.
func (p *PlannedBlocks) Bytes() int64 { return p.net.Bytes() }

// CallBytes returns what a call for that many images needs beside their features.
func (p *PlannedBlocks) CallBytes(images int) int64 { return p.net.WorkspaceBytes(images, workers()) }

// Forward computes the blocks for features f [batch, rows, channels], in place. What f holds is not defined once ctx is done.
func (p *PlannedBlocks) Forward(ctx context.Context, f []float32, batch int, ws *BlocksWorkspace) error {
	check.Given("PlannedBlocks", "ws", ws != nil)
	check.Len("PlannedBlocks", "f", len(f), batch, p.net.Numbers())
	return p.net.Forward(ctx, f, batch, ws)
}
