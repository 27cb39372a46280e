package cnp

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// ImageConvCNP is the on-the-grid ConvCNP of Gordon et al. 2020. A depthwise convolution with positive weights embeds density and
// signal, and the signal is divided by the density; residual blocks of depthwise-separable convolutions decode them.
type ImageConvCNP[T Float] struct {
	cfg    Config
	psi    *layers.DepthwiseConv2d[T]
	first  *layers.Linear[T]
	blocks []convBlock[T]
	last   *layers.Linear[T]
	family family[T]
}

// convBlock is ReLU(f + separable(ReLU(separable(f)))).
type convBlock[T Float] struct {
	depthwise [2]*layers.DepthwiseConv2d[T]
	pointwise [2]*layers.Linear[T]
}

func newImageConvCNP[T Float](c Config, rng *rand.Rand) *ImageConvCNP[T] {
	in, width := c.DimY*c.Multiplicity, c.Channels[0]
	m := &ImageConvCNP[T]{cfg: c,
		psi:   layers.NewDepthwiseConv2d[T](in, c.Kernel, true, false, rng),
		first: layers.NewLinear[T](2*in, width, rng),
	}
	for range c.Blocks {
		var b convBlock[T]
		for i := range b.depthwise {
			b.depthwise[i] = layers.NewDepthwiseConv2d[T](width, c.Kernel, false, true, rng)
			b.pointwise[i] = layers.NewLinear[T](width, width, rng)
		}
		m.blocks = append(m.blocks, b)
	}
	m.family = newFamily[T](c)
	m.last = layers.NewLinear[T](width, m.family.numbers()*c.DimY, rng)
	return m
}

// Config returns the model's configuration.
func (m *ImageConvCNP[T]) Config() Config { return m.cfg }

// State lists the parameters.
func (m *ImageConvCNP[T]) State() []layers.Param[T] {
	ps := append(m.psi.Params("psi."), m.first.Params("first.")...)
	for i, b := range m.blocks {
		for k := range b.depthwise {
			prefix := fmt.Sprintf("blocks.%d.conv.%d.", i, 2*k)
			ps = append(ps, b.depthwise[k].Params(prefix+"depthwise.")...)
			ps = append(ps, b.pointwise[k].Params(prefix+"pointwise.")...)
		}
	}
	return append(append(ps, m.last.Params("last.")...), m.family.params()...)
}

// Plan makes a plan for images of one size, of which nothing is computed in advance.
func (m *ImageConvCNP[T]) Plan(ctx context.Context, s Shape, opt PlanOptions) (Plan[T], error) {
	return liveImages[T](ctx, m, s, opt)
}

// Complete predicts every pixel from the observed ones.
func (m *ImageConvCNP[T]) Complete(ctx context.Context, im *Images[T]) (*Prediction[T], error) {
	if err := im.check(m.cfg.DimY); err != nil {
		return nil, err
	}
	out := m.family.newPrediction(len(im.Pixels))
	report, h, w := progress(ctx), im.H, im.W
	n, in, width := h*w, m.psi.Channels, m.last.In
	for b := range im.B {
		report(b, im.B)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		density, signal := embedPixels(im, b, b+1, m.cfg.Multiplicity)
		hd, hs := make([]T, n*in), make([]T, n*in)
		m.psi.Forward(hd, density, 1, h, w)
		m.psi.Forward(hs, signal, 1, h, w)
		features := make([]T, 2*n*in)
		for p := range n {
			for c := range in {
				features[2*p*in+c] = hd[p*in+c]
				features[(2*p+1)*in+c] = hs[p*in+c] / (hd[p*in+c] + curve.DensityFloor)
			}
		}
		f := make([]T, n*width)
		m.first.Forward(f, features, n, simd.ActNone)
		for _, block := range m.blocks {
			d, y := make([]T, n*width), make([]T, n*width)
			block.depthwise[0].Forward(d, f, 1, h, w)
			block.pointwise[0].Forward(y, d, n, simd.ActReLU)
			block.depthwise[1].Forward(d, y, 1, h, w)
			block.pointwise[1].Forward(y, d, n, simd.ActNone)
			simd.Add(f, f, y)
			simd.ReLU(f, f)
		}
		y := make([]T, n*m.last.Out)
		m.last.Forward(y, f, n, simd.ActNone)
		m.family.link.pixels(&m.family, out, nil, n, b, b+1, y)
		m.family.keepImage(out, im, b)
	}
	report(im.B, im.B)
	if err := out.finite(nil); err != nil {
		return nil, err
	}
	return out, nil
}
