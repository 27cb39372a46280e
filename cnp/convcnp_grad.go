package cnp

import (
	"context"
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// Differentiate predicts, and keeps what a backward pass needs. The model is the same in both modes.
func (m *ConvCNP[T]) Differentiate(ctx context.Context, b *Batch[T], _ layers.Mode) (*Pass[T], error) {
	dy := m.cfg.DimY
	if err := b.checkPass(m.cfg.widths()); err != nil {
		return nil, err
	}
	grid, _, err := lattice(b, &m.cfg)
	if err != nil {
		return nil, err
	}
	type tape struct {
		encoding *curve.Encoding[T]
		h        [][]T // the results of the pointwise layer and of the convolutions
		targets  []float64
		head     *headTape[T]
	}
	tapes, n, c := make([]tape, b.B), len(grid), m.head.in()
	pass := newPass(&m.head.family, b.B*b.Nt*dy, b.B, b.valueMask(dy))
	out := pass.Prediction
	for t := range b.B {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, y := b.context(t, 1, dy)
		p := &tapes[t]
		p.encoding = m.encoder.Record(grid, x, y, 0, nil)
		h := make([]T, n*m.pre.Out)
		m.pre.Forward(h, p.encoding.Out, n, simd.ActSigmoid)
		p.h = [][]T{h}
		for _, l := range m.conv {
			next := make([]T, n*l.Out)
			l.Forward(next, h, 1, n, simd.ActReLU)
			p.h, h = append(p.h, next), next
		}
		p.targets = b.targets(t, 1)
		read := make([]T, b.Nt*c)
		m.readout.Forward(read, p.targets, grid, h, 1, c)
		at := t * b.Nt * dy
		p.head = m.head.record(pass, at, read, b.Nt, nil)
		clearMasked(out, b, t, dy)
	}
	pass.stages = func(show func(string, []T) bool) {
		ok := true
		for t := 0; ok && t < len(tapes); t++ {
			p := &tapes[t]
			ok = show("psi", p.encoding.Out) && show("pre_mlp", p.h[0])
			for i := 0; ok && i < len(m.conv); i++ {
				ok = show(fmt.Sprintf("cnn.%d", 2*i), p.h[i+1])
			}
			ok = ok && show("psi_rho", p.head.features)
		}
		_ = ok && show("mean_linear", out.Mean) && show("var_linear", out.Std)
	}
	pass.back = func(d outGrad[T], g *layers.Grads[T]) {
		for t, p := range tapes {
			dread := m.head.backward(d, t*b.Nt*dy, p.head, g)
			dh := make([]T, n*c)
			m.readout.Backward(dh, dread, p.targets, grid, p.h[len(m.conv)], 1, c, g)
			for i := len(m.conv) - 1; i >= 0; i-- {
				dx := make([]T, n*m.conv[i].In)
				m.conv[i].Backward(dx, dh, p.h[i], p.h[i+1], 1, n, simd.ActReLU, g)
				dh = dx
			}
			simd.SigmoidGrad(dh, dh, p.h[0])
			dencoding := make([]T, len(p.encoding.Out))
			m.pre.Backward(dencoding, dh, p.encoding.Out, n, g)
			m.encoder.Backward(dencoding, p.encoding, g)
		}
	}
	return pass, nil
}
