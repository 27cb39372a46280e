package cnp

import (
	"context"
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// Differentiate completes images, and keeps what a backward pass needs. The model is the same in both modes.
func (m *ImageConvCNP[T]) Differentiate(ctx context.Context, im *Images[T], _ layers.Mode) (*Pass[T], error) {
	if err := im.check(m.cfg.DimY); err != nil {
		return nil, err
	}
	h, w := im.H, im.W
	n, in, width := im.B*h*w, m.psi.Channels, m.last.In

	density, signal := embedPixels(im, 0, im.B, m.cfg.Multiplicity)
	hd, hs := make([]T, n*in), make([]T, n*in)
	m.psi.Forward(hd, density, im.B, h, w)
	m.psi.Forward(hs, signal, im.B, h, w)
	features := make([]T, 2*n*in) // per pixel: density, then signal over density
	for p := range n {
		for c := range in {
			features[2*p*in+c] = hd[p*in+c]
			features[(2*p+1)*in+c] = hs[p*in+c] / (hd[p*in+c] + curve.DensityFloor)
		}
	}
	first := make([]T, n*width)
	m.first.Forward(first, features, n, simd.ActNone)
	f := first
	tapes := make([]convBlockTape[T], len(m.blocks))
	for i := range m.blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f = m.blocks[i].record(&tapes[i], f, im.B, h, w)
	}
	y := make([]T, n*m.last.Out)
	m.last.Forward(y, f, n, simd.ActNone)
	pass := newImagePass(&m.family, im)
	out := pass.Prediction
	m.family.link.pixels(&m.family, out, pass.raw, h*w, 0, im.B, y)

	pass.stages = func(show func(string, []T) bool) {
		ok := show("psi", features) && show("first", first)
		for i := 0; ok && i < len(tapes); i++ {
			ok = show(fmt.Sprintf("blocks.%d", i), tapes[i].out)
		}
		_ = ok && show("last", y) && show("output", out.Std)
	}
	pass.back = func(grad outGrad[T], g *layers.Grads[T]) {
		df := make([]T, n*width)
		m.last.Backward(df, m.family.link.pixelsGrad(&m.family, grad, h*w, 0, im.B, y), f, n, g)
		for i := len(tapes) - 1; i >= 0; i-- {
			df = m.blocks[i].backward(df, &tapes[i], im.B, h, w, g)
		}
		dfeatures := make([]T, len(features))
		m.first.Backward(dfeatures, df, features, n, g)
		dd, ds := make([]T, n*in), make([]T, n*in)
		for p := range n {
			for c := range in {
				at := p*in + c
				ds[at] = dfeatures[(2*p+1)*in+c] / (hd[at] + curve.DensityFloor)
				dd[at] = dfeatures[2*p*in+c] - ds[at]*features[(2*p+1)*in+c]
			}
		}
		m.psi.Backward(nil, dd, density, im.B, h, w, g) // the image is data
		m.psi.Backward(nil, ds, signal, im.B, h, w, g)
	}
	return pass, nil
}

// convBlockTape is what a convBlock's backward pass needs: its input, the results of its first three maps, and its output.
type convBlockTape[T Float] struct{ f, d0, y0, d1, out []T }

// record returns the block's output for f [batch, h, w, c].
func (b *convBlock[T]) record(t *convBlockTape[T], f []T, batch, h, w int) []T {
	n := batch * h * w
	*t = convBlockTape[T]{f, make([]T, len(f)), make([]T, len(f)), make([]T, len(f)), make([]T, len(f))}
	b.depthwise[0].Forward(t.d0, f, batch, h, w)
	b.pointwise[0].Forward(t.y0, t.d0, n, simd.ActReLU)
	b.depthwise[1].Forward(t.d1, t.y0, batch, h, w)
	b.pointwise[1].Forward(t.out, t.d1, n, simd.ActNone)
	simd.Add(t.out, t.out, f)
	simd.ReLU(t.out, t.out)
	return t.out
}

// backward returns the gradient to the block's input.
func (b *convBlock[T]) backward(dout []T, t *convBlockTape[T], batch, h, w int, g *layers.Grads[T]) []T {
	n := batch * h * w
	sum, d, dy := make([]T, len(dout)), make([]T, len(dout)), make([]T, len(dout))
	simd.ReLUGrad(sum, dout, t.out)
	b.pointwise[1].Backward(d, sum, t.d1, n, g)
	b.depthwise[1].Backward(dy, d, t.y0, batch, h, w, g)
	simd.ReLUGrad(dy, dy, t.y0)
	b.pointwise[0].Backward(d, dy, t.d0, n, g)
	b.depthwise[0].Backward(dy, d, t.f, batch, h, w, g)
	simd.Add(sum, sum, dy)
	return sum
}
