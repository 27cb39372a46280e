package chain

import (
	"context"
	"slices"
)

// Given is the values of targets, and what takes their predictions.
type Given[T Float, D Distribution[T]] interface {
	// Values returns the values [Dy] of a target of a task; NaN is missing.
	Values(task, target int) []T
	// Take takes the prediction of a target, from value i of d on, given the targets before it. where names the target.
	Take(task, target int, d D, i int, where func() string) error
}

// Joint predicts all targets of all tasks, each given those before it. All of these predictions are known in advance, and go
// together as far as memory and the model's lattice allow. Only a task with targets out of reach goes step by step: those after
// such a target must not see it.
func (w *Walk[T, D]) Joint(ctx context.Context, given Given[T, D], report func(done, total int)) error {
	f := flow[T, D]{Walk: w, given: given, report: report}
	for _, t := range w.Tasks {
		f.total += len(t.order)
	}
	if err := f.run(ctx, w.Tasks, w.Alone); err != nil {
		return err
	}
	if !w.Alone {
		forgotten := w.Predictor.Forget()
		var again []*Task[T]
		for _, t := range w.Tasks {
			if forgotten[t.Number] {
				again = append(again, t)
				f.total += len(t.order)
			}
		}
		if err := f.run(ctx, again, true); err != nil {
			return err
		}
	}
	report(f.total, f.total)
	return nil
}

// flow is a stream of predictions of given values.
type flow[T Float, D Distribution[T]] struct {
	*Walk[T, D]
	given       Given[T, D]
	report      func(done, total int)
	done, total int
	rows        []Row[T]
	points      int // of the rows' contexts, and their targets
}

// run predicts the targets of some tasks, one row of them at a time where they are alone.
func (f *flow[T, D]) run(ctx context.Context, tasks []*Task[T], alone bool) error {
	dy := f.Dy
	for _, t := range tasks {
		r := Row[T]{Task: t, X: slices.Clip(t.X), Y: slices.Clip(t.Y)}
		ends := t.ends
		for k := range ends {
			lo, hi := Block(ends, k)
			r.Targets = t.order[lo:hi]
			f.rows = append(f.rows, r)
			if f.points += len(r.X)/f.Width + len(r.Targets) + f.Beside; alone || len(f.rows) == rowsAtOnce/8 || f.points >= pointsAtOnce {
				if err := f.flush(ctx); err != nil {
					return err
				}
			}
			for _, target := range r.Targets {
				values := f.given.Values(t.Number, t.Targets[target])
				missing := missingOf(values)
				if !f.Predictor.Outside(t.Number, t.Targets[target]) && (missing == 0 || f.Gaps && missing < dy) {
					r.X, r.Y = append(r.X, f.place(t, target)...), append(r.Y, values...)
				}
			}
		}
	}
	if len(f.rows) > 0 {
		return f.flush(ctx)
	}
	return nil
}

// missingOf returns the number of values that are NaN.
func missingOf[T Float](y []T) (n int) {
	for _, v := range y {
		if v != v {
			n++
		}
	}
	return n
}

// flush predicts what has gathered.
func (f *flow[T, D]) flush(ctx context.Context) error {
	f.report(f.done, f.total)
	if err := ctx.Err(); err != nil {
		return err
	}
	p, width, err := f.Predictor.Predict(ctx, f.rows, 0)
	if err != nil {
		return err
	}
	for i := range f.rows {
		t := f.rows[i].Task
		for k, target := range f.rows[i].Targets {
			where := func() string { return f.rows[i].describe(target) }
			if err := f.given.Take(t.Number, t.Targets[target], p, (i*width+k)*f.Dy, where); err != nil {
				return err
			}
			f.done++
		}
	}
	f.rows, f.points = f.rows[:0], 0
	return nil
}
