package cnp

import (
	"context"
	"errors"

	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// Predict returns mean and standard deviation at the targets. Of an OutsideError it returns both, the error and the prediction of all
// else.
func (m *EquivCNP[T]) Predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	b, err := placed(&m.outer, b)
	if err != nil {
		return nil, err
	}
	return predictNear(b, &m.cfg, func(b *Batch[T]) (*Prediction[T], error) { return m.predict(ctx, b) })
}

// predict is Predict where the points lie near each other, or have lattices of their own.
func (m *EquivCNP[T]) predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	if err := b.check(m.cfg.widths()); err != nil {
		return nil, err
	}
	b = b.joined(&m.cfg)
	if b.B*b.Nt == 0 { // however many tasks there are
		return m.head.newPrediction(0), ctx.Err()
	}
	if m.pyramid != nil {
		out := m.head.newPrediction(b.B * b.Nt * m.cfg.DimY)
		if err := m.levels.get(m).predict(ctx, out, b); err != nil {
			return nil, err
		}
		return out, nil
	}
	if !m.onLine() {
		return m.forward(ctx, b)
	}
	var grid []float64
	if !m.cfg.numbered() { // under it, lattices are the tasks' own
		var err error
		if grid, _, err = lattice(b, &m.cfg); err != nil {
			return nil, err
		}
	}
	net, l, err := m.cache.get(m, grid)
	if err != nil {
		return nil, err
	}
	out := m.head.newPrediction(b.B * b.Nt * m.cfg.DimY)
	if err := net.predict(ctx, out, b, l); err != nil && !errors.As(err, new(*OutsideError)) {
		return nil, err
	} else {
		return out, err
	}
}

// forward is Predict layer by layer, for points in any space.
func (m *EquivCNP[T]) forward(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	b = b.whole(&m.cfg)
	out := m.head.newPrediction(b.B * b.Nt * m.cfg.DimY)
	grids, err := m.lattices(b, layers.Eval)
	if err != nil {
		return nil, err
	}
	report, steps := progress(ctx), len(m.conv)+1
	total := (b.B + taskChunk - 1) / taskChunk * steps
	for lo := 0; lo < b.B; lo += taskChunk {
		done := lo / taskChunk * steps
		step := func(i int) error {
			report(done+i, total)
			return ctx.Err()
		}
		if err := m.forwardTasks(out, b, lo, min(lo+taskChunk, b.B), grids, step); err != nil {
			return nil, err
		}
	}
	report(total, total)
	return out, nil
}

// forwardTasks predicts tasks lo to hi.
func (m *EquivCNP[T]) forwardTasks(out *Prediction[T], b *Batch[T], lo, hi int, grids *taskLattices, step func(int) error) error {
	dx, dy, lifts := m.cfg.DimX, m.cfg.DimY, m.cfg.Lifts

	// Encoder: features on each task's points.
	var features []T
	g, last := m.layouts(b, lo, hi, grids, func(t int, x []float64, origin float64) {
		cx, cy := b.context(t, dx, m.encoder.dy)
		features = append(features, m.encoder.encode(x, counted(cx, origin), cy, origin)...)
	})
	points := g.Points
	if err := step(0); err != nil {
		return err
	}

	// Decoder: a pointwise layer, then LieConvs over the lifted points.
	var h []T
	if turns := m.turns(points); turns != nil {
		h = make([]T, points.Rows()*m.pre.Out)
		m.pre.Forward(h, m.liftFeatures(features, turns), points.Rows(), simd.ActSigmoid)
	} else {
		h = make([]T, points.N*m.pre.Out)
		m.pre.Forward(h, features, points.N, simd.ActSigmoid)
		h = repeatRows(h, m.pre.Out, lifts)
	}
	for i, l := range m.conv {
		if i == len(m.conv)-1 && last != g {
			h = resizeBlocks(h, hi-lo, last.Rows()*l.In)
			g, points = last, last.Points
		}
		y := make([]T, points.Rows()*l.Out)
		if err := l.Forward(y, h, g, 1); err != nil {
			return err
		}
		simd.ReLU(y, y)
		h = y
		if err := step(i + 1); err != nil {
			return err
		}
	}
	c, aux, run := m.head.in(), m.aux.plan(), auxRun[T]{}
	with := func(f []T, t, times int) []T { // the targets' auxiliary inputs
		if aux != nil {
			run.given = b.auxTargets(run.given[:0], t, aux.inputs, times)
			aux.add(f, &run)
		}
		return f
	}
	if turns := m.turns(points); turns != nil {
		per, read := points.Rows()/(hi-lo), b.Nt*lifts
		for t := lo; t < hi; t++ {
			from, to := (t-lo+1)*per-read, (t-lo+1)*per
			m.head.forwardLifts(out, t*b.Nt*dy, with(h[from*c:to*c], t, lifts), b.Nt, lifts, m.cfg.Fields(), turns[from:to])
			clearMasked(out, b, t, dy)
		}
		return nil
	}
	h = meanRows(h, c, lifts)

	// Read the features at the targets: there they are, or by the second kernel.
	perTask := len(h) / c / (hi - lo)
	for t := lo; t < hi; t++ {
		f := h[(t-lo)*perTask*c:][:perTask*c]
		if m.cfg.Readout == ReadoutRBF {
			read := make([]T, b.Nt*c)
			m.readout.Forward(read, b.targets(t, dx), grids.x[t], f, dx, c)
			f = read
		} else {
			f = f[(perTask-b.Nt)*c:]
		}
		at := t * b.Nt * dy
		m.head.forward(out, at, with(f, t, 1), b.Nt, places(m.head.waves, b, t, nil, nil))
		clearMasked(out, b, t, dy)
	}
	return nil
}
