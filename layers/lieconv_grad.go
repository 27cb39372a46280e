package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/layers/internal/gridsums"
	"github.com/equivcnp/equivcnp/simd"
)

// LieConvTape holds what a LieConv's Backward needs from a forward pass.
type LieConvTape[T Float] struct {
	layer *LieConv[T]
	pairs *Pairs[T]
	batch int
	f     []T // [batch, rows, in]
	outer []T // [batch, rows, in·mid]: the sums of outer products, from rent; nil after Backward
	net   *WeightNetTape[T]
	win   *windowed[T]
}

// ForwardTape is like Forward, in either mode, and returns what Backward needs. f must stay unchanged until then.
func (l *LieConv[T]) ForwardTape(dst, f []T, g *Geometry[T], batch int, mode Mode) (*LieConvTape[T], error) {
	check.Len("LieConv", "dst", len(dst), batch, g.Rows(), l.Out)
	return l.ForwardTapeInto(dst, l.Out, f, g, batch, mode)
}

// ForwardTapeInto is like ForwardTape into rows that begin stride numbers apart, the first where dst does.
func (l *LieConv[T]) ForwardTapeInto(dst []T, stride int, f []T, g *Geometry[T], batch int, mode Mode) (*LieConvTape[T], error) {
	rows := g.Rows()
	check.Len("LieConv", "f", len(f), batch, rows, l.In)
	check.Strided("LieConv", "dst", len(dst), batch*rows, stride, l.Out)
	p, err := g.Pairs(l.Radius())
	if err != nil {
		return nil, err
	}
	checkPoses("LieConv", p.PoseDim, l.WeightNet.In())
	t := &LieConvTape[T]{layer: l, pairs: p, batch: batch, f: f, win: p.windowed(&l.radius, g)}
	t.net = l.WeightNet.ForwardTape(p.Table, p.NumPoses(), p.Count, batch, mode)
	t.net.window = t.win.poses()
	t.multiply()
	t.net.Release()
	l.Linear.forward(dst, stride, t.outer, batch*rows, simd.ActNone, func(lo, hi int) {
		p.divideRows(dst, stride, dst, stride, lo, hi, l.Out, t.win)
	})
	if mode == Train {
		l.adapt(g, p)
	}
	return t, nil
}

// multiply computes the sums of outer products.
func (t *LieConvTape[T]) multiply() {
	in, mid, rows := t.layer.In, t.layer.WeightNet.Out(), t.pairs.Queries
	c := in * mid
	t.outer = buffers.Rent[T](t.batch * rows * c)
	if grid := t.byTransforms(); grid != nil {
		wide, w := t.wide(), buffers.Rent[T](t.pairs.NumPoses()*c)
		for q := range t.pairs.NumPoses() {
			for a := range in {
				copy(w[q*c+a*mid:q*c+(a+1)*mid], t.net.Weights()[q*mid:])
			}
		}
		ok := gridsums.Sums(grid.There, buffers.F32(t.outer), buffers.F32(wide), buffers.F32(w), grid.Ones, t.batch, c)
		buffers.GiveBack(wide, w)
		if ok {
			return
		}
	}
	withTable(t.pairs, t.net.Weights(), func(_ int, ti *weightedRows[T]) {
		for b := range t.batch {
			simd.PointConv(t.outer[(b*rows+ti.lo)*c:][:ti.n*c], t.f[b*rows*in:(b+1)*rows*in], ti.weights,
				ti.offsets, ti.index, ti.pose, in, mid)
		}
	})
}

// byTransforms returns how sums of outer products go by transforms along a grid, as a depthwise convolution of all
// in·mid products, or nil if they should not: there have to be enough for a slab.
func (t *LieConvTape[T]) byTransforms() *gridsums.Pairs {
	if t.layer.In*t.layer.WeightNet.Out() < slabWidth {
		return nil
	}
	return t.pairs.transforms()
}

// wide returns the features [batch, rows, in·mid], from rent, that a depthwise convolution makes outer products of:
// every feature mid times.
func (t *LieConvTape[T]) wide() []T {
	mid := t.layer.WeightNet.Out()
	wide := buffers.Rent[T](len(t.f) * mid)
	parallel.For(len(t.f), elementGrain/mid+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := wide[i*mid : (i+1)*mid]
			for k := range row {
				row[k] = t.f[i]
			}
		}
	})
	return wide
}

// transformedGradient returns the gradient [poses, mid] to the weights by transforms, from rent, given that to the sums
// of outer products, or nil if these do not go by transforms, or a number is not finite.
func (t *LieConvTape[T]) transformedGradient(douter []T) []T {
	grid := t.byTransforms()
	if grid == nil {
		return nil
	}
	in, mid, poses := t.layer.In, t.layer.WeightNet.Out(), t.pairs.NumPoses()
	wide := t.wide()
	sums := gridsums.Weights(grid.There, buffers.F32(douter), buffers.F32(wide), poses, t.batch, in*mid)
	buffers.GiveBack(wide)
	if sums == nil {
		return nil
	}
	dw := buffers.Rent[float32](poses * mid)
	for q := range poses {
		to, from := dw[q*mid:(q+1)*mid], sums[q*in*mid:]
		copy(to, from)
		for a := 1; a < in; a++ {
			simd.AddF32(to, to, from[a*mid:(a+1)*mid])
		}
	}
	buffers.GiveBack(sums)
	return any(dw).([]T)
}

// Backward adds the parameters' gradients to g, given the gradient dout [batch, rows, out] to the result, and sets df [batch,
// rows, in] to the gradient of the features, unless df is nil.
func (t *LieConvTape[T]) Backward(df, dout []T, g *Grads[T]) {
	check.Len("LieConv.Backward", "dout", len(dout), t.batch, t.pairs.Queries, t.layer.Out)
	t.BackwardFrom(df, dout, t.layer.Out, g)
}

// BackwardFrom is like Backward from rows that begin stride numbers apart, the first where dout does.
func (t *LieConvTape[T]) BackwardFrom(df, dout []T, stride int, g *Grads[T]) {
	l, p, rows := t.layer, t.pairs, t.pairs.Queries
	in, mid := l.In, l.WeightNet.Out()
	c := in * mid
	check.Strided("LieConv.Backward", "dout", len(dout), t.batch*rows, stride, l.Out)
	if df != nil {
		check.Len("LieConv.Backward", "df", len(df), len(t.f))
	}
	if t.batch == 0 {
		return // sums over no image would be left as they are rented
	}
	if t.outer == nil {
		t.multiply()
	}
	d := buffers.Rent[T](t.batch * rows * l.Out)
	defer buffers.GiveBack(d)
	divided := func(lo, hi int) []T {
		p.divideRows(d, l.Out, dout, stride, lo, hi, l.Out, t.win)
		return d[lo*l.Out : hi*l.Out]
	}
	var dw []T
	if p.line != nil && t.batch == 1 {
		l.Linear.backward(nil, t.outer, rows, g, divided, nil)
		dw = t.lineBackward(df, d)
	} else {
		douter := buffers.Rent[T](len(t.outer))
		defer buffers.GiveBack(douter)
		l.Linear.backward(douter, t.outer, t.batch*rows, g, divided, nil)
		if df != nil {
			w := t.net.Weights()
			p.gatherPoints(func(lo, hi int, offsets []int, query, pose []int32) {
				for b := range t.batch {
					simd.PointConvGradF(df[(b*rows+lo)*in:(b*rows+hi)*in], douter[b*rows*c:(b+1)*rows*c], w,
						offsets, query, pose, in, mid)
				}
			})
		}
		if dw = t.transformedGradient(douter); dw == nil && len(douter) > 0 && p.dense() {
			dw = p.productGradient(douter, t.f, t.batch, in, mid)
		}
		if dw == nil {
			dw = p.poseGradient(t.batch, mid, func(dw []T, b int, offsets []int, query, point []int32) {
				simd.PointConvGradW(dw, douter[b*rows*c:(b+1)*rows*c], t.f[b*rows*in:(b+1)*rows*in], offsets, query, point, in, mid)
			})
		}
	}
	t.net.Backward(nil, dw, g)
	buffers.GiveBack(dw)
	// If Backward is called again, it computes these again.
	t.net.drop()
	buffers.GiveBack(t.outer)
	t.outer = nil
}
