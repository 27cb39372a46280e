package cnp

import (
	"context"
	"math"
	"slices"
)

// joint predicts all targets of all tasks, each given those before it. All of these predictions are known in advance, and go together
// as far as memory and the model's lattice allow. Only a task with targets out of reach goes step by step: those after such a target must
// not see it.
func (c *curveChain[T]) joint(ctx context.Context, j *Joint[T], y []T) error {
	total := 0
	for _, t := range c.tasks {
		total += len(t.order)
	}
	f := chainFlow[T]{curveChain: c, j: j, y: y, report: progress(ctx), total: total}
	if err := f.run(ctx, c.tasks, c.alone); err != nil {
		return err
	}
	if !c.alone && len(c.outside.points) > 0 {
		var again []*chainTask[T]
		for _, t := range c.tasks {
			if c.outside.forget(t.number) {
				again = append(again, t)
				f.total += len(t.order)
			}
		}
		c.outside.points = nil
		if err := f.run(ctx, again, true); err != nil {
			return err
		}
	}
	f.report(f.total, f.total)
	return nil
}

// chainFlow is a stream of predictions of given values.
type chainFlow[T Float] struct {
	*curveChain[T]
	j           *Joint[T]
	y           []T
	report      func(done, total int)
	done, total int
	rows        []chainRow[T]
	points      int // of the rows' contexts, and their targets
}

// run predicts the targets of some tasks, one row of them at a time where they are alone.
func (f *chainFlow[T]) run(ctx context.Context, tasks []*chainTask[T], alone bool) error {
	wide, dy := f.width(), f.dy
	for _, t := range tasks {
		r := chainRow[T]{task: t, x: slices.Clip(t.x), y: slices.Clip(t.y)}
		ends := f.blocks(t)
		for k := range ends {
			lo, hi := block(ends, k)
			r.targets = t.order[lo:hi]
			f.rows = append(f.rows, r)
			if f.points += len(r.x)/wide + len(r.targets) + f.b.Ns; alone || len(f.rows) == rowsAtOnce/8 || f.points >= pointsAtOnce {
				if err := f.flush(ctx); err != nil {
					return err
				}
			}
			for _, target := range r.targets {
				at := t.number*f.b.Nt + t.targets[target]
				values := f.y[at*dy : (at+1)*dy]
				if missing := missingOf(values); !f.outside.has(t.number, t.targets[target]) && (missing == 0 || f.gaps && missing < dy) {
					r.x, r.y = append(r.x, t.place[int(target)*wide:(int(target)+1)*wide]...), append(r.y, values...)
				}
			}
		}
	}
	if len(f.rows) > 0 {
		return f.flush(ctx)
	}
	return nil
}

// missingOf is the number of values that are NaN.
func missingOf[T Float](y []T) (n int) {
	for _, v := range y {
		if v != v {
			n++
		}
	}
	return n
}

// flush predicts what has gathered.
func (f *chainFlow[T]) flush(ctx context.Context) error {
	f.report(f.done, f.total)
	if err := ctx.Err(); err != nil {
		return err
	}
	p, width, err := f.predict(quiet(ctx), f.rows, 0)
	if err != nil {
		return err
	}
	j, dy := f.j, f.dy
	for i := range f.rows {
		t := f.rows[i].task
		for k, target := range f.rows[i].targets {
			at, from := t.number*f.b.Nt+t.targets[target], (i*width+k)*dy
			out := f.outside.has(t.number, t.targets[target])
			j.values[at], j.LogDensity[at] = 0, 0
			for d := range dy {
				v := at*dy + d
				j.take(v, p, from+d)
				if out || math.IsNaN(float64(f.y[v])) {
					continue
				}
				if err := p.usable(from+d, func() string { return f.rows[i].describe(target) }); err != nil {
					return err
				}
			}
			if !out {
				j.LogDensity[at], j.values[at] = p.logDensityOfTarget(from, f.y[at*dy:(at+1)*dy])
			}
			f.done++
		}
	}
	f.rows, f.points = f.rows[:0], 0
	return nil
}
