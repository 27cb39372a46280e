package chain

import (
	"context"
	"math"
	"slices"
)

// Sample draws the samples of all tasks. It sets the slices that at returns: the values [Dy] of a target, number Task.Targets[k]
// of a task, in a sample. step is told before each step how many of how many are done, and ends the walk by an error.
func (w *Walk[T, D]) Sample(ctx context.Context, opt SampleOptions, at func(sample, task, target int) []T,
	step func(done, total int) error) error {
	runs, steps, most := w.runs(opt.Samples), 0, 0
	if opt.Function {
		steps++
	}
	for _, t := range w.Tasks {
		if opt.Knots > 0 {
			w.knots(t, opt)
		}
		most = max(most, len(t.ends))
	}
	steps += most
	for i, run := range runs {
		if err := w.sample(ctx, at, opt, run, func(k int) error { return step(i*steps+k, len(runs)*steps) }); err != nil {
			return err
		}
	}
	_ = step(len(runs)*steps, len(runs)*steps) // nothing is left to end
	return nil
}

// run is some samples of some tasks that go together: rows lo to hi, of which row t·S + s is sample s of task t.
type run struct{ lo, hi int }

// runs takes the rows of all tasks apart.
func (w *Walk[T, D]) runs(samples int) (runs []run) {
	most := max(1, min(rowsAtOnce, pointsAtOnce/max(1, w.Points)))
	for lo := 0; lo < len(w.Tasks)*samples; {
		hi := min(lo+most, len(w.Tasks)*samples)
		if w.Alone {
			hi = min(hi, (lo/samples+1)*samples)
		}
		runs = append(runs, run{lo, hi})
		lo = hi
	}
	return runs
}

// sampling draws a run's samples: row i is sample (lo+i) modulo S of its task.
type sampling[T Float, D Distribution[T]] struct {
	*Walk[T, D]
	opt  SampleOptions
	run  run
	to   func(sample, task, target int) []T
	rows []Row[T]
	fed  map[*Task[T]][]float64 // places that the samples of a task have in common
	ends map[*Task[T]][]int     // of its blocks
	rng  *Noise
}

// sample draws a run's samples.
func (w *Walk[T, D]) sample(ctx context.Context, to func(sample, task, target int) []T, opt SampleOptions, run run,
	step func(int) error) error {
	r := sampling[T, D]{Walk: w, opt: opt, run: run, to: to, rows: make([]Row[T], run.hi-run.lo),
		fed: map[*Task[T]][]float64{}, ends: map[*Task[T]][]int{}, rng: NewNoise()}
	steps := 0
	for i := range r.rows {
		t := w.Tasks[(run.lo+i)/opt.Samples]
		if r.ends[t] == nil {
			r.fed[t], r.ends[t] = t.X, t.ends
		}
		r.rows[i] = Row[T]{Task: t, Y: slices.Clip(t.Y)}
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

// at returns the place of the values of target k of row i.
func (r *sampling[T, D]) at(i, k int) []T {
	t := r.rows[i].Task
	return r.to((r.run.lo+i)%r.opt.Samples, t.Number, t.Targets[k])
}

// block draws the values of block s of every task's targets.
func (r *sampling[T, D]) block(ctx context.Context, s int) error {
	for i := range r.rows {
		row := &r.rows[i]
		row.X, row.Targets = r.fed[row.Task], nil
		if s < len(r.ends[row.Task]) {
			lo, hi := Block(r.ends[row.Task], s)
			row.Targets = row.Task.order[lo:hi]
		}
	}
	p, width, err := r.Predictor.Predict(ctx, r.rows, twins(r.rows))
	if err != nil {
		return err
	}
	for i := range r.rows {
		row := &r.rows[i]
		first := i == 0 || r.rows[i-1].Task != row.Task
		for k, target := range row.Targets {
			from, to := (i*width+k)*r.Dy, r.at(i, int(target))
			if r.Predictor.Outside(row.Task.Number, row.Task.Targets[target]) {
				for d := range to {
					to[d] = T(math.NaN())
				}
				continue
			}
			source := r.rng.At(row.Task.Seed, (r.run.lo+i)%r.opt.Samples, int(target))
			for d := range to {
				if err := p.Usable(from+d, func() string { return row.describe(target) }); err != nil {
					return err
				}
			}
			p.Draw(to, from, source)
			row.Y = append(row.Y, to...)
			if first {
				r.fed[row.Task] = append(slices.Clip(r.fed[row.Task]), r.place(row.Task, target)...)
			}
		}
	}
	return nil
}

// means sets the samples to the mean of all targets, given all that was drawn.
func (r *sampling[T, D]) means(ctx context.Context) error {
	const together = 64
	for lo := 0; lo < len(r.rows); lo += together {
		some := r.rows[lo:min(lo+together, len(r.rows))]
		for i := range some {
			some[i].X = r.fed[some[i].Task]
			some[i].Targets = (&Chain{Order: OrderGiven}).Arrange(len(some[i].Task.Targets), 0, nil)
		}
		p, width, err := r.Predictor.Predict(ctx, some, twins(some))
		if err != nil {
			return err
		}
		for i := range some {
			for k := range some[i].Targets {
				p.Means(r.at(lo+i, k), (i*width+k)*r.Dy)
			}
		}
	}
	return nil
}
