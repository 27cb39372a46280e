package cnp

import (
	"context"
	"fmt"
	"slices"

	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// Differentiate is Predict, ready for a backward pass: all tasks share one geometry, so that batch normalisation sees every
// pair of the batch.
func (m *EquivCNP[T]) Differentiate(ctx context.Context, b *Batch[T], mode layers.Mode) (*Pass[T], error) {
	dy := m.cfg.DimY
	b, err := placed(&m.outer, b)
	if err != nil {
		return nil, err
	}
	if err := b.checkPass(m.cfg.widths()); err != nil {
		return nil, err
	}
	b = b.joined(&m.cfg).whole(&m.cfg)
	if m.pyramid != nil {
		return m.differentiateLevels(ctx, b, mode)
	}
	if m.onLine() && b.B*b.Nt > 0 {
		if sorted, order := b.byTarget(); !slices.Equal(sorted.XTarget, b.XTarget) {
			p, err := m.differentiate(ctx, sorted, mode)
			if err != nil {
				return nil, err
			}
			return p.reordered(order, b.valueMask(dy), dy), nil
		}
	}
	return m.differentiate(ctx, b, mode)
}

// differentiate is Differentiate for a batch that has been checked and whose targets are in the order that suits the geometry.
func (m *EquivCNP[T]) differentiate(ctx context.Context, b *Batch[T], mode layers.Mode) (*Pass[T], error) {
	dx, dy, lifts := m.cfg.DimX, m.cfg.DimY, m.cfg.Lifts
	pass := newPass(&m.head.family, b.B*b.Nt*dy, b.B, b.valueMask(dy))
	out := pass.Prediction
	if b.B == 0 {
		return pass, nil
	}
	grids, err := m.lattices(b, mode)
	if err != nil {
		return nil, err
	}

	// Encoder.
	encodings, features := make([]*setConvTape[T], b.B), []T(nil)
	geo, last := m.layouts(b, 0, b.B, grids, func(t int, x []float64, origin float64) {
		cx, cy := b.context(t, dx, m.encoder.dy)
		encodings[t] = m.encoder.record(x, counted(cx, origin), cy, origin)
		features = append(features, encodings[t].out...)
	})

	// Decoder. h holds the results of the pointwise layer and of every LieConv with its ReLU.
	n, turns, lifted := geo.Points.N, m.turns(geo.Points), features
	if turns != nil { // every lift sees the values in its own way
		n, lifted = geo.Points.Rows(), m.liftFeatures(features, turns)
	}
	pre := make([]T, n*m.pre.Out)
	m.pre.Forward(pre, lifted, n, simd.ActSigmoid)
	h := [][]T{pre}
	if turns == nil {
		h[0] = repeatRows(pre, m.pre.Out, lifts)
	}
	tapes := make([]*layers.LieConvTape[T], len(m.conv))
	for i, l := range m.conv {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at, f := geo, h[i]
		if i == len(m.conv)-1 && last != geo {
			at, f = last, resizeBlocks(f, b.B, last.Rows()*l.In)
		}
		y := make([]T, at.Rows()*l.Out)
		var err error
		if tapes[i], err = l.ForwardTape(y, f, at, 1, mode); err != nil {
			return nil, err
		}
		simd.ReLU(y, y)
		h = append(h, y)
	}
	c := m.head.in()
	read, each, targetTurns := h[len(m.conv)], lifts, m.turns(last.Points)
	if turns == nil {
		read, each = meanRows(read, c, lifts), 1
	}

	// Readout, of each task the last rows.
	perTask := len(read) / c / b.B
	heads, views, asides := make([]*headTape[T], b.B), make([]view, b.B), make([]*auxTape[T], b.B)
	with := func(f []T, t, times int) []T {
		if m.aux != nil {
			f, asides[t] = m.aux.record(f, b.auxTargets(nil, t, m.aux.inputs(), times))
		}
		return f
	}
	for t := range b.B {
		f := read[t*perTask*c:][:perTask*c]
		if turns != nil {
			from := (t+1)*perTask - b.Nt*each
			views[t] = func(row int) (int, []float64) { return row / each, targetTurns[from+row] }
			heads[t] = m.head.recordTurned(pass, t*b.Nt*dy, with(f[(perTask-b.Nt*each)*c:], t, each), b.Nt*each, each,
				m.cfg.Fields(), views[t])
			clearMasked(out, b, t, dy)
			continue
		}
		if m.cfg.Readout == ReadoutRBF {
			at := make([]T, b.Nt*c)
			m.readout.Forward(at, b.targets(t, dx), grids.x[t], f, dx, c)
			f = at
		} else {
			f = f[(perTask-b.Nt)*c:]
		}
		at := t * b.Nt * dy
		heads[t] = m.head.record(pass, at, with(f, t, 1), b.Nt, places(m.head.waves, b, t, nil, nil))
		clearMasked(out, b, t, dy)
	}

	pass.stages = func(show func(string, []T) bool) {
		ok := show("psi", features) && show("prelinear", pre)
		for i := 0; ok && i < len(m.conv); i++ {
			ok = show(fmt.Sprintf("conv.%d", 2*i), h[i+1])
		}
		_ = ok && show("psi_rho", heads[0].features) && show("mean_linear", out.Mean) && show("var_linear", out.Std)
	}
	pass.back = func(d outGrad[T], g *layers.Grads[T]) {
		dread := make([]T, len(read))
		for t := range b.B {
			at := t * b.Nt * dy
			to := dread[t*perTask*c:][:perTask*c]
			if turns != nil {
				df := m.head.backwardTurned(d, at, heads[t], each, m.cfg.Fields(), views[t], g)
				copy(to[(perTask-b.Nt*each)*c:], m.aux.backward(df, asides[t], g))
				continue
			}
			df := m.aux.backward(m.head.backward(d, at, heads[t], g), asides[t], g)
			if m.cfg.Readout == ReadoutRBF {
				m.readout.Backward(to, df, b.targets(t, dx), grids.x[t], read[t*perTask*c:][:perTask*c], dx, c, g)
			} else {
				copy(to[(perTask-b.Nt)*c:], df)
			}
		}
		dh := dread
		if turns == nil {
			dh = spreadLifts(dread, c, lifts)
		}
		for i := len(m.conv) - 1; i >= 0; i-- {
			simd.ReLUGrad(dh, dh, h[i+1])
			in, rows := m.conv[i].In, geo.Rows()
			if i == len(m.conv)-1 {
				rows = last.Rows()
			}
			df := make([]T, rows*in)
			tapes[i].Backward(df, dh, g)
			if rows != geo.Rows() {
				df = resizeBlocks(df, b.B, geo.Rows()*in)
			}
			dh = df
		}
		dpre := dh
		if turns == nil {
			dpre = sumLifts(dh, m.pre.Out, lifts)
		}
		simd.SigmoidGrad(dpre, dpre, pre)
		dfeatures := make([]T, len(lifted))
		m.pre.Backward(dfeatures, dpre, lifted, n, g)
		if turns != nil {
			dfeatures = m.liftFeaturesGrad(dfeatures, turns)
		}
		for t, e := range encodings {
			per := len(dfeatures) / b.B
			m.encoder.backward(dfeatures[t*per:][:per], e, g)
		}
	}
	return pass, nil
}
