package cnp

import (
	"context"
	"fmt"

	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// backward returns the gradient to the input, if it is wanted, given the gradient to the output, which it overwrites, and the
// result of record.
func (m mlp[T]) backward(dy []T, all [][]T, n int, wanted bool, g *layers.Grads[T]) []T {
	for i := len(m) - 1; i >= 0; i-- {
		if i < len(m)-1 {
			simd.ReLUGrad(dy, dy, all[i+1])
		}
		var dx []T
		if i > 0 || wanted {
			dx = make([]T, n*m[i].In)
		}
		m[i].Backward(dx, dy, all[i], n, g)
		dy = dx
	}
	return dy
}

// backward adds the gradients of encoder and decoder, given the gradient to the network's numbers, which it overwrites.
func (m *core[T]) backward(dout []T, tape *coreTape[T], g *layers.Grads[T]) {
	din := m.decoder.backward(dout, tape.decoder, tape.targets, true, g)
	if tape.n == 0 {
		return // r is the constant zero
	}
	width := m.encoder[len(m.encoder)-1].Out
	dr := make([]float64, width)
	for i := range tape.targets {
		for c, v := range din[i*(width+m.dx)+m.dx:][:width] {
			dr[c] += float64(v) / float64(tape.n)
		}
	}
	dpairs := make([]T, tape.n*width)
	for i := range dpairs {
		dpairs[i] = T(dr[i%width])
	}
	m.encoder.backward(dpairs, tape.encoder, tape.n, false, g)
}

// stages lists the results of the layers for all tasks, for Pass.
func stages[T Float](tapes []*coreTape[T], std []T) func(show func(string, []T) bool) {
	return func(show func(string, []T) bool) {
		for _, tape := range tapes {
			for _, part := range []struct {
				name string
				all  [][]T
			}{{"encoder", tape.encoder}, {"decoder", tape.decoder}} {
				for i, v := range part.all[1:] {
					if !show(fmt.Sprintf("%s.%d", part.name, 2*i), v) {
						return
					}
				}
			}
		}
		show("output", std)
	}
}

// Differentiate predicts, and keeps what a backward pass needs. The model is the same in both modes.
func (m *CNP[T]) Differentiate(ctx context.Context, b *Batch[T], _ layers.Mode) (*Pass[T], error) {
	dx, dy := m.cfg.DimX, m.cfg.DimY
	if err := b.checkPass(widths{dx: dx, dy: dy}); err != nil {
		return nil, err
	}
	tapes, n := make([]*coreTape[T], b.B), b.Nt*dy
	pass := newPass(&m.core.family, b.B*n, b.B, b.valueMask(dy))
	out := pass.Prediction
	for t := range b.B {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, y := b.context(t, dx, dy)
		at := t * n
		tapes[t] = m.core.predict(b.targets(t, dx), x, y)
		m.core.link.rows(&m.core.family, out, at, pass.raw, tapes[t].numbers())
		clearMasked(out, b, t, dy)
	}
	pass.stages, pass.back = stages(tapes, out.Std), func(d outGrad[T], g *layers.Grads[T]) {
		for t, tape := range tapes {
			m.core.backward(m.core.link.rowsGrad(&m.core.family, d, t*n, tape.numbers()), tape, g)
		}
	}
	return pass, nil
}

// Differentiate completes images, and keeps what a backward pass needs. The model is the same in both modes.
func (m *ImageCNP[T]) Differentiate(ctx context.Context, im *Images[T], _ layers.Mode) (*Pass[T], error) {
	if err := im.check(m.cfg.DimY); err != nil {
		return nil, err
	}
	n, grid, tapes := im.H*im.W, unitGrid(im.H, im.W), make([]*coreTape[T], im.B)
	pass := newImagePass(&m.core.family, im)
	out := pass.Prediction
	for b := range im.B {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, y := im.observed(b, grid)
		tapes[b] = m.core.predict(grid, x, y)
		m.core.link.pixels(&m.core.family, out, pass.raw, n, b, b+1, tapes[b].numbers())
	}
	pass.stages, pass.back = stages(tapes, out.Std), func(d outGrad[T], g *layers.Grads[T]) {
		for b, tape := range tapes {
			m.core.backward(m.core.link.pixelsGrad(&m.core.family, d, n, b, b+1, tape.numbers()), tape, g)
		}
	}
	return pass, nil
}
