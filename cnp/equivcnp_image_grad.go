package cnp

import (
	"context"
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/internal/perlift"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// Differentiate completes images, and keeps what a backward pass needs. All images are processed together.
func (m *ImageEquivCNP[T]) Differentiate(ctx context.Context, im *Images[T], mode layers.Mode) (*Pass[T], error) {
	if err := im.check(m.cfg.DimY); err != nil {
		return nil, err
	}
	return m.differentiate(ctx, im, m.grid(im.H, im.W), mode)
}

// differentiate is Differentiate with the pixels at the points of any geometry.
func (m *ImageEquivCNP[T]) differentiate(ctx context.Context, im *Images[T], geo imageGeometry[T], mode layers.Mode) (*Pass[T], error) {
	n, k, width := im.H*im.W, m.cfg.Lifts, m.cfg.Channels[0]
	rows, c := im.B*n*k, m.psi.In

	// Encoder: psi embeds density, then signal, and in Train mode moves its statistics and its radius in between.
	var psi [2]*layers.LieConvTape[T]
	both := make([]T, 2*rows*width)                                    // [rows, density and signal]
	half := func(x []T, i int) []T { return x[min(i*width, len(x)):] } // where there are no rows, too
	density, signal := embedPixels(im, 0, im.B, m.cfg.Multiplicity)
	for i, f := range [][]T{density, signal} {
		var err error
		if psi[i], err = m.psi.ForwardTapeInto(half(both, i), 2*width, perlift.Repeat(f, c, k), geo.psi, im.B, mode); err != nil {
			return nil, err
		}
	}

	// Decoder.
	first := make([]T, rows*width)
	m.first.Forward(first, both, rows, simd.ActNone)
	results := make([][]T, len(m.blocks))
	h := first
	tapes := make([]*layers.ResidualBlockTape[T], len(m.blocks))
	for i, block := range m.blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next := make([]T, rows*width)
		var err error
		if tapes[i], err = block.ForwardTape(next, h, geo.blocks, im.B, mode); err != nil {
			return nil, err
		}
		h, results[i] = next, next
	}
	h = perlift.Mean(h, width, k)
	y := make([]T, im.B*n*m.last.Out)
	m.last.Forward(y, h, im.B*n, simd.ActNone)
	pass := newImagePass(&m.family, im)
	out := pass.Prediction
	m.family.link.pixels(&m.family, out, pass.raw, n, 0, im.B, y)

	pass.stages = func(show func(string, []T) bool) {
		ok := show("conv_theta", both) && show("cnn.0", first)
		for i := 0; ok && i < len(results); i++ {
			ok = show(fmt.Sprintf("cnn.%d", i+1), results[i])
		}
		_ = ok && show(fmt.Sprintf("cnn.%d", len(results)+1), y) && show("output", out.Std)
	}
	pass.back = func(grad outGrad[T], g *layers.Grads[T]) {
		dh := make([]T, len(h))
		m.last.Backward(dh, m.family.link.pixelsGrad(&m.family, grad, n, 0, im.B, y), h, im.B*n, g)
		dh = perlift.Spread(dh, width, k)
		layers.BlocksBackward(tapes, dh, g)
		dboth := make([]T, len(both))
		m.first.Backward(dboth, dh, both, rows, g)
		for i := 1; i >= 0; i-- {
			psi[i].BackwardFrom(nil, half(dboth, i), 2*width, g) // the image is data
		}
	}
	return pass, nil
}
