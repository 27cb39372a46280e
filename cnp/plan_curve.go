package cnp

import (
	"context"
	"fmt"
	"math"
)

// CurvePlan is an EquivCNP on the line, under translations and with a lattice, compiled for one interval: the neighbourhoods
// of lattice points among themselves and their convolution weights are made once, for all tasks of all calls. Only pairs with
// a target are new; their poses are all different and their weights are evaluated and used at once.
//
// It is immutable and safe for concurrent use, and keeps the parameters that the model had when it was made. Tasks of one
// call may have any number of points each (masks): what a mask excludes costs nothing. A task's prediction does not depend on the
// others of its batch: under PlacementBatch the lattice is fixed, under PlacementContext it is the task's own, and a plan's
// predictions are those of EquivCNP.Predict, bit for bit.
type CurvePlan[T Float] struct {
	shape   Shape
	lo, hi  float64
	program curveProgram[T]
	outer   Config // the model's
}

// Plan compiles the model for tasks of a shape. Models with levels and those under PlacementContext take any shape of
// curves, and their tasks may lie anywhere. Under PlacementBatch the shape is an interval, which the lattice spans with
// the model's margin. Of models whose neighbourhoods are those of the tasks themselves there is no plan (ErrNoPlan).
func (m *EquivCNP[T]) Plan(ctx context.Context, s Shape, opt PlanOptions) (Plan[T], error) {
	if err := s.checkCurves(&m.cfg); err != nil {
		return nil, err
	}
	if err := opt.onlyFloat32(&m.cfg); err != nil {
		return nil, err
	}
	if err := m.engine.elsewhere(s); err != nil {
		return nil, err
	}
	p, err := m.PlanInterval(ctx, s.lo, s.hi)
	if err != nil {
		return nil, err
	}
	p.shape = s
	return p, nil
}

// Shape returns the shape of the tasks that the plan is for.
func (p *CurvePlan[T]) Shape() Shape { return p.shape }

// Info describes the plan.
func (p *CurvePlan[T]) Info() PlanInfo { return PlanInfo{Precision: Float32} }

// NewPrediction returns a prediction with room for a batch.
func (p *CurvePlan[T]) NewPrediction(tasks Tasks[T]) *Prediction[T] {
	head, cfg := p.program.parts()
	return head.newPrediction(valuesOf[T](tasks, cfg.DimY, 0))
}

// PlanInterval is like Plan for tasks whose points lie in [lo, hi].
func (m *EquivCNP[T]) PlanInterval(ctx context.Context, lo, hi float64) (*CurvePlan[T], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if math.IsNaN(lo-lo) || math.IsNaN(hi-hi) { // of infinities, too
		return nil, fmt.Errorf("%w: the interval from %g to %g", ErrValue, lo, hi)
	}
	if lo > hi {
		return nil, fmt.Errorf("%w: the interval from %g to %g", ErrRange, lo, hi)
	}
	program, err := m.engine.compile(lo, hi)
	if err != nil {
		return nil, err
	}
	return &CurvePlan[T]{shape: Interval(lo, hi), lo: lo, hi: hi, program: program, outer: m.outer}, nil
}

// Predict sets dst to mean and standard deviation [B, Nt, dy] at the targets; masked targets get zeros. dst.Mean and
// dst.Std must have B·Nt·dy elements; dst.Params may be nil where parameters beside them are not wanted. Points outside
// the plan's interval are an OutsideError; what they do not concern is predicted. Once ctx is done Predict returns its
// error, and dst may be written in part.
func (p *CurvePlan[T]) Predict(ctx context.Context, dst *Prediction[T], tasks Tasks[T]) error {
	head, cfg := p.program.parts()
	dy := cfg.DimY
	b, err := batchOf[T](p.shape, tasks)
	if err != nil {
		return err
	}
	b, err = placed(&p.outer, b)
	if err != nil {
		return err
	}
	if err := b.check(cfg.widths()); err != nil {
		return err
	}
	b = b.joined(cfg)
	if err := dst.checkRoom("the batch", head.likelihood, b.B*b.Nt*dy); err != nil {
		return err
	}
	dst.Likelihood = head.likelihood
	if len(dst.Mean) == 0 { // however many tasks there are
		return ctx.Err()
	}
	counts := func(i int) bool { return b.targetOK(i/dy/b.Nt, i/dy%b.Nt) }
	if p.program.anywhere() {
		if err = p.program.predict(ctx, dst, b); err == nil {
			err = dst.finite(counts)
		}
		return err
	}
	inside, out := b.outside(1, fmt.Sprintf("the plan's interval, %g to %g", p.lo, p.hi), func(_ int, x []float64) bool {
		return x[0] >= p.lo && x[0] <= p.hi
	})
	if err = p.program.predict(ctx, dst, inside); err == nil {
		err = dst.finite(counts)
	}
	if err != nil || out == nil {
		return err
	}
	dst.mark(b, inside, dy)
	return out
}
