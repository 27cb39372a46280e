package cnp

import (
	"context"
	"math"
	"slices"
)

// curveSampling draws a run's samples: row i is sample (lo+i) modulo S of its task.
type curveSampling[T Float] struct {
	*curveChain[T]
	opt  SampleOptions
	run  chainRun
	out  []T // [S, B, Nt, dy]
	rows []chainRow[T]
	fed  map[*chainTask[T]][]float64 // positions that the samples of a task have in common
	ends map[*chainTask[T]][]int     // of its blocks
	rng  *noise
}

// sample draws a run's samples.
func (c *curveChain[T]) sample(ctx context.Context, out []T, opt SampleOptions, run chainRun, step func(int) error) error {
	r := curveSampling[T]{curveChain: c, opt: opt, run: run, out: out, rows: make([]chainRow[T], run.hi-run.lo),
		fed: map[*chainTask[T]][]float64{}, ends: map[*chainTask[T]][]int{}, rng: newNoise()}
	steps := 0
	for i := range r.rows {
		t := c.tasks[(run.lo+i)/opt.Samples]
		if r.ends[t] == nil {
			r.fed[t], r.ends[t] = t.x, c.blocks(t)
		}
		r.rows[i] = chainRow[T]{task: t, y: slices.Clip(t.y)}
		steps = max(steps, len(r.ends[t]))
	}
	for s := range steps {
		if err := step(s); err != nil {
			return err
		}
		if err := r.block(ctx, s); err != nil {
			return err
		}
	}
	if !opt.Function {
		return nil
	}
	if err := step(steps); err != nil {
		return err
	}
	return r.means(ctx)
}

// at is the place of the values of target k of row i.
func (r *curveSampling[T]) at(i, k int) []T {
	row, t := r.run.lo+i, r.rows[i].task
	return r.out[(((row%r.opt.Samples)*r.b.B+t.number)*r.b.Nt+t.targets[k])*r.dy:][:r.dy]
}

// block draws the values of block s of every task's targets.
func (r *curveSampling[T]) block(ctx context.Context, s int) error {
	for i := range r.rows {
		row := &r.rows[i]
		row.x, row.targets = r.fed[row.task], nil
		if s < len(r.ends[row.task]) {
			lo, hi := block(r.ends[row.task], s)
			row.targets = row.task.order[lo:hi]
		}
	}
	p, width, err := r.predict(ctx, r.rows, twins(r.rows))
	if err != nil {
		return err
	}
	for i := range r.rows {
		row := &r.rows[i]
		first := i == 0 || r.rows[i-1].task != row.task
		for k, target := range row.targets {
			from, to := (i*width+k)*r.dy, r.at(i, int(target))
			if r.outside.has(row.task.number, row.task.targets[target]) {
				for d := range to {
					to[d] = T(math.NaN())
				}
				continue
			}
			source := r.rng.at(row.task.seed, (r.run.lo+i)%r.opt.Samples, int(target))
			for d := range to {
				if err := p.usable(from+d, func() string { return row.describe(target) }); err != nil {
					return err
				}
			}
			p.drawTarget(to, from, source)
			row.y = append(row.y, to...)
			if first {
				place := row.task.place[int(target)*r.width() : (int(target)+1)*r.width()]
				r.fed[row.task] = append(slices.Clip(r.fed[row.task]), place...)
			}
		}
	}
	return nil
}

// means sets the samples to the mean of all targets, given all that was drawn.
func (r *curveSampling[T]) means(ctx context.Context) error {
	const together = 64
	for lo := 0; lo < len(r.rows); lo += together {
		some := r.rows[lo:min(lo+together, len(r.rows))]
		for i := range some {
			some[i].x = r.fed[some[i].task]
			some[i].targets = (&Chain{Order: OrderGiven}).arrange(len(some[i].task.targets), 0, nil)
		}
		p, width, err := r.predict(ctx, some, twins(some))
		if err != nil {
			return err
		}
		for i := range some {
			for k := range some[i].targets {
				copy(r.at(lo+i, k), p.Mean[(i*width+k)*r.dy:])
			}
		}
	}
	return nil
}
