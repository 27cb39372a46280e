package cnp

import (
	"context"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/cnp/internal/perlift"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// forward is Predict layer by layer, for points in any space, some tasks at a time.
func (m *pointsEngine[T]) forward(ctx context.Context, b *Batch[T], in surroundings[T]) (*Prediction[T], error) {
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
		if err := m.forwardTasks(in, out, b, lo, min(lo+taskChunk, b.B), grids, step); err != nil {
			return nil, err
		}
	}
	report(total, total)
	return out, nil
}

// forwardTasks predicts tasks lo to hi.
func (m *pointsEngine[T]) forwardTasks(in surroundings[T], out *Prediction[T], b *Batch[T], lo, hi int, grids *taskLattices,
	step func(int) error) error {
	// Encoder: features on each task's points.
	var features []T
	geo, err := m.layouts(in, b, lo, hi, grids, func(t int, x []float64, origin float64) {
		cx, cy := b.context(t, m.cfg.DimX, m.encoder.Dy)
		at := departureAt(&m.cfg, b, t, layers.Eval, x, []float64{origin})
		features = append(features, m.encoder.Record(x, curve.Counted(cx, origin), cy, origin, at).Out...)
	})
	if err != nil {
		return err
	}
	if err := step(0); err != nil {
		return err
	}

	// Decoder: a pointwise layer, then LieConvs over the lifted points.
	lifts := m.lifting(geo[0].Points, geo[len(m.conv)].Points, lo, hi)
	_, _, h := lifts.enter(features)
	for i, l := range m.conv {
		g := geo[i+1]
		if g.Rows() != geo[i].Rows() {
			h = perlift.Resize(h, hi-lo, g.Rows()*l.In)
		}
		y := make([]T, g.Rows()*l.Out)
		if err := l.Forward(y, h, g, 1); err != nil {
			return err
		}
		simd.ReLU(y, y)
		h = y
		if err := step(i + 1); err != nil {
			return err
		}
	}

	// Read the features at the targets, and give them their auxiliary inputs.
	h = lifts.leave(h)
	aux, run, perTask := m.aux.Plan(), curve.AuxRun[T]{}, len(h)/(hi-lo)
	for t := lo; t < hi; t++ {
		f := m.atTargets(h[(t-lo)*perTask:][:perTask], b, t, grids, lifts.times())
		if aux != nil {
			run.Given = b.auxTargets(run.Given[:0], t, aux.Inputs, lifts.times())
			aux.Add(f, &run)
		}
		lifts.read(out, t*b.Nt*m.cfg.DimY, b, t, f)
		clearMasked(out, b, t, m.cfg.DimY)
	}
	return nil
}

// atTargets returns the features of the targets of task t, so many rows each, given those of all its rows: there they are the
// last, or are read by the second kernel.
func (m *pointsEngine[T]) atTargets(f []T, b *Batch[T], t int, grids *taskLattices, times int) []T {
	c, dx := m.head.in(), m.cfg.DimX
	if m.cfg.Readout != ReadoutRBF {
		return f[len(f)-b.Nt*times*c:]
	}
	at := make([]T, b.Nt*c)
	m.readout.Forward(at, b.targets(t, dx), grids.x[t], f, dx, c)
	return at
}

// atTargetsGrad sets df, which is zero, to the gradient to the features f of all rows of task t, given d, that to those of its targets.
func (m *pointsEngine[T]) atTargetsGrad(df, d, f []T, b *Batch[T], t int, grids *taskLattices, g *layers.Grads[T]) {
	if m.cfg.Readout != ReadoutRBF {
		copy(df[len(df)-len(d):], d)
		return
	}
	m.readout.Backward(df, d, b.targets(t, m.cfg.DimX), grids.x[t], f, m.cfg.DimX, m.head.in(), g)
}
