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

// backward adds the gradients of encoder and decoder, given the gradients to mean and std [m, dy].
func (m *core[T]) backward(dMean, dStd []T, tape *coreTape[T], g *layers.Grads[T]) {
	dy := m.dy
	ds := make([]T, len(dStd))
	for i, s := range tape.spread {
		// toStd clamps at 0, and softplus may round to 0; where the clamp acts and there is no floor, the gradient is 0.
		if v := T(m.floor) + T(1-m.floor)*s; v > 0 {
			ds[i] = T(1-m.floor) * stdGrad(dStd[i], v, m.output)
		}
	}
	simd.SoftplusGrad(ds, ds, tape.spread)
	dout := make([]T, 2*len(dMean))
	for i := range tape.targets {
		copy(dout[2*i*dy:], dMean[i*dy:(i+1)*dy])
		copy(dout[(2*i+1)*dy:], ds[i*dy:(i+1)*dy])
	}
	m.backwardRaw(dout, tape, g)
}

// backwardRaw is backward given the gradient to the network's numbers, which it overwrites.
func (m *core[T]) backwardRaw(dout []T, tape *coreTape[T], g *layers.Grads[T]) {
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

// Differentiate is Predict, ready for a backward pass. The model is the same in both modes.
func (m *CNP[T]) Differentiate(ctx context.Context, b *Batch[T], _ layers.Mode) (*Pass[T], error) {
	dx, dy := m.cfg.DimX, m.cfg.DimY
	if err := b.checkPass(widths{dx: dx, dy: dy}); err != nil {
		return nil, err
	}
	tapes, n, k := make([]*coreTape[T], b.B), b.Nt*dy, m.core.numbers()
	pass := newPass(&m.core.family, b.B*n, b.B, b.valueMask(dy))
	out := pass.Prediction
	for t := range b.B {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, y := b.context(t, dx, dy)
		at := t * n
		tapes[t] = m.core.predict(out.Mean[at:at+n], out.Std[at:at+n], b.targets(t, dx), x, y)
		if m.core.likelihood != nil {
			copy(pass.raw[at*k:(at+n)*k], tapes[t].numbers())
			m.core.setAll(out, at, tapes[t].numbers())
		}
		clearMasked(out, b, t, dy)
	}
	pass.stages, pass.back = stages(tapes, out.Std), func(d outGrad[T], g *layers.Grads[T]) {
		for t, tape := range tapes {
			if lo, hi := t*n, (t+1)*n; m.core.likelihood != nil {
				m.core.backwardRaw(d.raw[lo*k:hi*k], tape, g)
			} else {
				m.core.backward(d.mean[lo:hi], d.std[lo:hi], tape, g)
			}
		}
	}
	return pass, nil
}

// Differentiate is Complete, ready for a backward pass. The model is the same in both modes.
func (m *ImageCNP[T]) Differentiate(ctx context.Context, im *Images[T], _ layers.Mode) (*Pass[T], error) {
	if err := im.check(m.cfg.DimY); err != nil {
		return nil, err
	}
	n, c := im.H*im.W, im.C
	grid, tapes := unitGrid(im.H, im.W), make([]*coreTape[T], im.B)
	pass := newImagePass(&m.core.family, im)
	out := pass.Prediction
	for b := range im.B {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, y := im.observed(b, grid)
		mean, std := make([]T, n*c), make([]T, n*c)
		if tapes[b] = m.core.predict(mean, std, grid, x, y); m.core.likelihood != nil {
			m.core.setImages(out, pass.raw, n, b, b+1, tapes[b].numbers())
			continue
		}
		channelsFirst(out.Mean[b*n*c:(b+1)*n*c], mean, c)
		channelsFirst(out.Std[b*n*c:(b+1)*n*c], std, c)
	}
	pass.stages, pass.back = stages(tapes, out.Std), func(d outGrad[T], g *layers.Grads[T]) {
		for b, tape := range tapes {
			if m.core.likelihood != nil {
				m.core.backwardRaw(m.core.imagesGrad(d.raw, n, b, b+1), tape, g)
				continue
			}
			dm, ds := make([]T, n*c), make([]T, n*c)
			channelsLast(dm, d.mean[b*n*c:(b+1)*n*c], c)
			channelsLast(ds, d.std[b*n*c:(b+1)*n*c], c)
			m.core.backward(dm, ds, tape, g)
		}
	}
	return pass, nil
}

// channelsFirst turns one image [n, c] into [c, n], channelsLast the other way round.
func channelsFirst[T Float](dst, x []T, c int) {
	n := len(x) / c
	for i, v := range x {
		dst[i%c*n+i/c] = v
	}
}

func channelsLast[T Float](dst, x []T, c int) {
	n := len(x) / c
	for i := range x {
		dst[i] = x[i%c*n+i/c]
	}
}
