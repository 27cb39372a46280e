package layers

import (
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/simd"
)

// DepthwiseLieConvTape holds what a DepthwiseLieConv's Backward needs from a forward pass.
type DepthwiseLieConvTape[T Float] struct {
	layer *DepthwiseLieConv[T]
	pairs *Pairs[T]
	batch int
	f     []T // [batch, rows, c]
	net   *WeightNetTape[T]
	win   *windowed[T]

	packed []T // f, in another order; nil where the convolution does not need that
}

// ForwardTape is like Forward in either mode and returns what Backward needs. In Train mode it updates the statistics and the radius.
// f must stay unchanged until Backward.
func (l *DepthwiseLieConv[T]) ForwardTape(dst, f []T, g *Geometry[T], batch int, mode Mode) (*DepthwiseLieConvTape[T], error) {
	rows, c := g.Rows(), l.Channels
	check.Len("DepthwiseLieConv", "f", len(f), batch, rows, c)
	check.Len("DepthwiseLieConv", "dst", len(dst), batch, rows, c)
	p, err := g.Pairs(l.Radius())
	if err != nil {
		return nil, err
	}
	checkPoses("DepthwiseLieConv", p.PoseDim, l.WeightNet.In())
	t := &DepthwiseLieConvTape[T]{layer: l, pairs: p, batch: batch, f: f}
	t.win = p.inTableOrder(p.windowed(&l.radius, g), c)
	table, count := p.poseTable(c)
	width := 0
	if p.tiled() {
		width = p.tileWidth(c)
	}
	t.net = l.WeightNet.forwardTape(table, len(count), count, batch, mode, width)
	t.net.between, t.net.window = p.betweenNodes(l.WeightNet), t.win.poses()
	t.packed = p.convolve(dst, f, t.net, t.win, batch, c)
	t.net.Release()
	if mode == Train {
		l.adapt(g, p)
	}
	return t, nil
}

// Backward adds the parameters' gradients to g, given the gradient dout [batch, rows, c] to the result, and sets df [batch, rows,
// c] to the gradient of the features, unless df is nil.
func (t *DepthwiseLieConvTape[T]) Backward(df, dout []T, g *Grads[T]) {
	c := t.layer.Channels
	check.Len("DepthwiseLieConv.Backward", "dout", len(dout), len(t.f))
	if df != nil {
		check.Len("DepthwiseLieConv.Backward", "df", len(df), len(t.f))
	}
	t.pairs.convolveBack(df, dout, t.f, t.packed, t.net, t.win, t.batch, c, g)
	t.drop() // another Backward would compute it again
}

// backward is Backward from d, the gradient to the sums over neighbours.
func (t *DepthwiseLieConvTape[T]) backward(df, d []T, g *Grads[T]) {
	t.pairs.sumsBack(df, d, t.f, t.packed, t.net, t.win, t.batch, t.layer.Channels, g)
	t.drop() // another Backward would compute it again
}

// drop gives back what can be computed again.
func (t *DepthwiseLieConvTape[T]) drop() {
	t.net.drop()
	buffers.GiveBack(t.packed)
	t.packed = nil
}

// again sets dst to the result of the forward pass, bit for bit.
func (t *DepthwiseLieConvTape[T]) again(dst []T) {
	buffers.GiveBack(t.packed)
	t.packed = t.pairs.convolve(dst, t.f, t.net, t.win, t.batch, t.layer.Channels)
}

// SeparableLieConvTape holds what a SeparableLieConv's Backward needs from a forward pass.
type SeparableLieConvTape[T Float] struct {
	layer     *SeparableLieConv[T]
	depthwise *DepthwiseLieConvTape[T]
	mid, out  []T // the results of the two maps; mid is nil after Backward, which computes it again if called again
	act       simd.Activation
}

// ForwardTape is like Forward, in either mode, and returns what Backward needs. f and dst must stay unchanged until then. act must be
// an activation whose derivative can be computed from its result: none, ReLU, sigmoid or softplus.
func (l *SeparableLieConv[T]) ForwardTape(dst, f []T, g *Geometry[T], batch int, mode Mode,
	act simd.Activation) (*SeparableLieConvTape[T], error) {
	checkDerivative("SeparableLieConv.ForwardTape", act)
	return l.forwardTape(dst, f, g, batch, mode, act, nil)
}

// forwardTape is ForwardTape; then is what Linear's forward calls.
func (l *SeparableLieConv[T]) forwardTape(dst, f []T, g *Geometry[T], batch int, mode Mode, act simd.Activation,
	then func(lo, hi int)) (*SeparableLieConvTape[T], error) {
	t := &SeparableLieConvTape[T]{layer: l, mid: buffers.Rent[T](len(f)), out: dst, act: act}
	var err error
	if t.depthwise, err = l.Depthwise.ForwardTape(t.mid, f, g, batch, mode); err != nil {
		return nil, err
	}
	check.Len("SeparableLieConv", "dst", len(dst), batch, g.Rows(), l.Pointwise.Out)
	l.Pointwise.forward(dst, l.Pointwise.Out, t.mid, batch*g.Rows(), act, then)
	return t, nil
}

// Backward adds the parameters' gradients to g, given the gradient dout [batch, rows, out] to the result, and sets df [batch,
// rows, in] to the gradient of the features, unless df is nil.
func (t *SeparableLieConvTape[T]) Backward(df, dout []T, g *Grads[T]) {
	check.Len("SeparableLieConv.Backward", "dout", len(dout), len(t.out))
	c := t.layer.Pointwise.Out
	dy := buffers.Rent[T](len(dout))
	defer buffers.GiveBack(dy)
	t.backward(df, g, func(lo, hi int) []T {
		lo, hi = lo*c, hi*c
		activationGrad(dy[lo:hi], dout[lo:hi], t.out[lo:hi], t.act)
		return dy[lo:hi]
	})
}

// backward is Backward from dy, the gradient to what the activation was applied to, as Linear's backward takes it.
func (t *SeparableLieConvTape[T]) backward(df []T, g *Grads[T], dy func(lo, hi int) []T) {
	conv, in := t.depthwise, t.layer.Pointwise.In
	if t.mid == nil {
		t.mid = buffers.Rent[T](len(conv.f))
		conv.again(t.mid)
	}
	dmid := buffers.Rent[T](len(t.mid))
	defer buffers.GiveBack(dmid)
	t.layer.Pointwise.backward(dmid, t.mid, len(t.mid)/in, g, dy, func(lo, hi int) {
		conv.pairs.divideRows(dmid, in, dmid, in, lo, hi, in, conv.win)
	})
	buffers.GiveBack(t.mid)
	t.mid = nil
	conv.backward(df, dmid, g)
}

// ResidualBlockTape holds what a ResidualBlock's Backward needs from a forward pass.
type ResidualBlockTape[T Float] struct {
	conv [2]*SeparableLieConvTape[T]
	h    []T // between the convolutions; nil after Backward, which computes it again if called again
	out  []T
}

// ForwardTape sets dst [batch, rows, c] to the block's output for f, in either mode, and returns what Backward needs. f and
// dst must not overlap and must stay unchanged until then.
func (l *ResidualBlock[T]) ForwardTape(dst, f []T, g *Geometry[T], batch int, mode Mode) (*ResidualBlockTape[T], error) {
	h := buffers.Rent[T](len(f))
	t := &ResidualBlockTape[T]{h: h, out: dst}
	var err error
	if t.conv[0], err = l.Conv[0].ForwardTape(h, f, g, batch, mode, simd.ActReLU); err != nil {
		return nil, err
	}
	c := l.Conv[1].Pointwise.Out
	check.Len("ResidualBlock", "dst", len(dst), len(f))
	if t.conv[1], err = l.Conv[1].forwardTape(dst, h, g, batch, mode, simd.ActNone, func(lo, hi int) {
		y := dst[lo*c : hi*c]
		simd.Add(y, y, f[lo*c:hi*c])
		simd.ReLU(y, y)
	}); err != nil {
		return nil, err
	}
	return t, nil
}

// Backward adds the parameters' gradients to g and sets df to the gradient to the features, given dout, all of them
// [batch, rows, c]. df may be dout itself.
func (t *ResidualBlockTape[T]) Backward(df, dout []T, g *Grads[T]) {
	check.Len("ResidualBlock.Backward", "dout", len(dout), len(t.out))
	check.Len("ResidualBlock.Backward", "df", len(df), len(t.out))
	if len(df) > 0 && &df[0] != &dout[0] {
		copy(df, dout)
	}
	BlocksBackward([]*ResidualBlockTape[T]{t}, df, g)
}

// BlocksBackward is like Backward of blocks that follow each other, the last one first. d is the gradient to the result of
// the last, and becomes that to the features of the first.
func BlocksBackward[T Float](blocks []*ResidualBlockTape[T], d []T, g *Grads[T]) {
	// What comes back through a block's convolutions is added to what goes past them where the block before takes both.
	var through []T
	for i := len(blocks) - 1; i >= 0; i-- {
		check.Len("ResidualBlock.Backward", "d", len(d), len(blocks[i].out))
		through = blocks[i].backward(d, through, g)
	}
	if through != nil {
		add(d, d, through)
		buffers.GiveBack(through)
	}
}

// backward takes the gradient past + through to the result, through from rent or nil. It sets past to the gradient that
// goes past both convolutions, and returns the one that comes back through them, from rent.
func (t *ResidualBlockTape[T]) backward(past, through []T, g *Grads[T]) []T {
	if t.h == nil {
		t.between(buffers.Rent[T](len(past)))
		first := t.conv[0]
		first.mid = buffers.Rent[T](len(first.depthwise.f))
		first.depthwise.again(first.mid)
		first.layer.Pointwise.Forward(t.h, first.mid, len(first.mid)/first.layer.Pointwise.In, first.act)
	}
	c, dh := t.conv[1].layer.Pointwise.Out, buffers.Rent[T](len(past))
	t.conv[1].backward(dh, g, func(lo, hi int) []T {
		lo, hi = lo*c, hi*c
		d := past[lo:hi]
		if through != nil {
			simd.Add(d, d, through[lo:hi])
		}
		simd.ReLUGrad(d, d, t.out[lo:hi])
		return d
	})
	buffers.GiveBack(through)
	df := buffers.Rent[T](len(past))
	t.conv[0].backward(df, g, func(lo, hi int) []T {
		d := dh[lo*c : hi*c]
		simd.ReLUGrad(d, d, t.h[lo*c:hi*c])
		return d
	})
	buffers.GiveBack(dh, t.h)
	t.between(nil)
	return df
}

// between sets h to the result of the first convolution, which is the input of the second.
func (t *ResidualBlockTape[T]) between(h []T) {
	t.h, t.conv[0].out, t.conv[1].depthwise.f = h, h, h
}
