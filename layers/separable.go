package layers

import (
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/simd"
)

// DepthwiseLieConv multiplies the features of each neighbour, channel by channel, with the WeightNet's result for its relative
// pose, and averages over neighbours:
//
//	out_i = 1/n_i Σ_j w(pose_ij) ⊙ f_j
//
// A row without neighbours (padding) gives 0. For a Window see LieConv.
type DepthwiseLieConv[T Float] struct {
	Channels int
	radius[T]
	WeightNet *WeightNet[T] // e → hidden → hidden → channels
}

// NewDepthwiseLieConv returns a convolution of this number of channels.
func NewDepthwiseLieConv[T Float](channels int, c LieConvConfig, rng *rand.Rand) *DepthwiseLieConv[T] {
	c.check("NewDepthwiseLieConv", channels, rng)
	return &DepthwiseLieConv[T]{Channels: channels,
		radius:    ball[T](&c),
		WeightNet: NewWeightNet[T](c.PoseDim, c.Hidden, channels, c.BatchNorm, rng),
	}
}

// Params lists the layer's state.
func (l *DepthwiseLieConv[T]) Params(prefix string) []Param[T] {
	return append([]Param[T]{l.params(prefix)}, l.WeightNet.Params(prefix+"weightnet.")...)
}

// Forward sets dst [batch, rows, c] for features f [batch, rows, c] on the geometry g, in Eval mode. dst and f must not overlap.
func (l *DepthwiseLieConv[T]) Forward(dst, f []T, g *Geometry[T], batch int) error {
	t, err := l.ForwardTape(dst, f, g, batch, Eval)
	if err == nil {
		t.drop()
	}
	return err
}

// SeparableLieConv is a depthwise LieConv followed by a linear map of the channels, the paper's cheap form of LieConv.
type SeparableLieConv[T Float] struct {
	Depthwise *DepthwiseLieConv[T]
	Pointwise *Linear[T]
}

// NewSeparableLieConv returns a convolution from in to out channels.
func NewSeparableLieConv[T Float](in, out int, c LieConvConfig, rng *rand.Rand) *SeparableLieConv[T] {
	return &SeparableLieConv[T]{NewDepthwiseLieConv[T](in, c, rng), NewLinear[T](in, out, rng)}
}

// Params lists the layer's state.
func (l *SeparableLieConv[T]) Params(prefix string) []Param[T] {
	return append(l.Depthwise.Params(prefix+"depthwise."), l.Pointwise.Params(prefix+"pointwise.")...)
}

// Forward sets dst [batch, rows, out] = act(separable convolution of f [batch, rows, in]), in Eval mode. dst and f must not overlap.
func (l *SeparableLieConv[T]) Forward(dst, f []T, g *Geometry[T], batch int, act simd.Activation) error {
	mid := buffers.Rent[T](len(f))
	defer buffers.GiveBack(mid)
	if err := l.Depthwise.Forward(mid, f, g, batch); err != nil {
		return err
	}
	l.Pointwise.Forward(dst, mid, batch*g.Rows(), act)
	return nil
}

// ResidualBlock is ReLU(f + separable(ReLU(separable(f)))).
type ResidualBlock[T Float] struct {
	Conv [2]*SeparableLieConv[T]
}

// NewResidualBlock returns a block of this number of channels.
func NewResidualBlock[T Float](channels int, c LieConvConfig, rng *rand.Rand) *ResidualBlock[T] {
	b := &ResidualBlock[T]{}
	for i := range b.Conv {
		b.Conv[i] = NewSeparableLieConv[T](channels, channels, c, rng)
	}
	return b
}

// Params lists the block's state.
func (l *ResidualBlock[T]) Params(prefix string) []Param[T] {
	return append(l.Conv[0].Params(prefix+"conv.0."), l.Conv[1].Params(prefix+"conv.2.")...)
}

// Forward replaces f [batch, rows, c] by the block's output, in Eval mode.
func (l *ResidualBlock[T]) Forward(f []T, g *Geometry[T], batch int) error {
	h, y := buffers.Rent[T](len(f)), buffers.Rent[T](len(f))
	defer buffers.GiveBack(h, y)
	if err := l.Conv[0].Forward(h, f, g, batch, simd.ActReLU); err != nil {
		return err
	}
	if err := l.Conv[1].Forward(y, h, g, batch, simd.ActNone); err != nil {
		return err
	}
	simd.Add(f, f, y)
	simd.ReLU(f, f)
	return nil
}
