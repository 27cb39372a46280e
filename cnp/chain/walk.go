package chain

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Distribution is a prediction of values; those of a target stand one after the other.
type Distribution[T Float] interface {
	// Usable returns an error that says where, if value i has no distribution.
	Usable(i int, where func() string) error
	// Draw draws the values of a target, from value i on.
	Draw(to []T, i int, rng *rand.Rand)
	// Means sets to to the means of values, from value i on.
	Means(to []T, i int)
}

// Predictor holds what predicts the targets of a walk.
type Predictor[T Float, D Distribution[T]] interface {
	// Predict predicts the targets of rows, width for each of them in the result: that of target k of row i begins with value
	// (i·width + k)·dy. Where twins is not 0, rows are samples of their tasks, so many of each one after the other.
	Predict(ctx context.Context, rows []Row[T], twins int) (d D, width int, err error)
	// Outside reports whether a target of a task has no prediction, which some Predict has found out.
	Outside(task, target int) bool
	// Forget forgets what is known to be outside, and returns the numbers of the tasks of which that is anything.
	Forget() map[int]bool
}

// Task is a task whose targets are walked through.
type Task[T Float] struct {
	Number  int
	Seed    uint64
	X       []float64 // places of the context [n, Width]
	Y       []T       // and values [n, Dy]
	Context []int     // numbers of the context's points in the task
	Targets []int     // and of the targets
	Place   []float64 // places of the targets [m, Width]
	order   []int32   // numbers of targets among those
	ends    []int     // of the blocks
}

// Row is a task with the context that it has at one step of a walk, and the targets that come next.
type Row[T Float] struct {
	Task    *Task[T]
	X       []float64
	Y       []T
	Targets []int32 // numbers among Task.Targets
}

// describe names a target of the row.
func (r *Row[T]) describe(target int32) string {
	return fmt.Sprintf("target %d of task %d, given %d targets before it", r.Task.Targets[target], r.Task.Number,
		len(r.X)*len(r.Task.Targets)/max(1, len(r.Task.Place))-len(r.Task.Context))
}

// Walk goes through the targets of tasks.
type Walk[T Float, D Distribution[T]] struct {
	Predictor Predictor[T, D]
	Chain     Chain
	Tasks     []*Task[T]
	Width, Dy int  // numbers of a place, values of a target
	Dx        int  // of a place's numbers so many are coordinates, which stand first; 0: all
	Points    int  // at most so many points has a task
	Beside    int  // of which so many are neither context nor target
	Gaps      bool // values of the context may be missing
	Alone     bool // tasks that are predicted together would have an influence on each other
}

// Add adds a task and brings its targets into the order of the chain.
func (w *Walk[T, D]) Add(t *Task[T]) {
	w.arrange(&w.Chain, t, nil)
	w.Tasks = append(w.Tasks, t)
}

// arrange brings a task's targets, or those that are chosen, into the order and the blocks of a chain.
func (w *Walk[T, D]) arrange(c *Chain, t *Task[T], chosen []int32) {
	if chosen == nil {
		chosen = make([]int32, len(t.Targets))
		for i := range chosen {
			chosen[i] = int32(i)
		}
	}
	if c.Order == OrderSpread {
		dx := cmp.Or(w.Dx, w.Width)
		var places []float64
		for _, k := range chosen {
			places = append(places, w.place(t, k)[:dx]...)
		}
		var context []float64
		for at := 0; at < len(t.X); at += w.Width {
			context = append(context, t.X[at:at+dx]...)
		}
		t.order, t.ends = c.Spread(context, places, dx, t.Seed)
	} else {
		before := ComparePlaces(t.Place, w.Width)
		t.order = c.Arrange(len(chosen), t.Seed, func(i, j int32) int { return before(chosen[i], chosen[j]) })
		t.ends = c.Blocks(len(t.Context), len(t.order))
	}
	for i, k := range t.order {
		t.order[i] = chosen[k]
	}
}

// place returns that of a target.
func (w *Walk[T, D]) place(t *Task[T], target int32) []float64 {
	return t.Place[int(target)*w.Width : (int(target)+1)*w.Width]
}

// knots shortens a task's chain to some targets, taken evenly from left to right.
func (w *Walk[T, D]) knots(t *Task[T], opt SampleOptions) {
	n := len(t.Targets)
	if opt.Knots >= n {
		return
	}
	sorted := (&Chain{Order: OrderLeftToRight}).Arrange(n, 0, ComparePlaces(t.Place, len(t.Place)/n))
	var chosen []int32
	for k := range opt.Knots {
		i := n / 2
		if opt.Knots > 1 {
			i = (k*(n-1) + (opt.Knots-1)/2) / (opt.Knots - 1)
		}
		chosen = append(chosen, sorted[i])
	}
	slices.Sort(chosen)
	w.arrange(&opt.Chain, t, chosen)
}

// rowsAtOnce is how many predictions go together at most, and pointsAtOnce how many points of contexts they have.
const (
	rowsAtOnce   = 4096
	pointsAtOnce = 1 << 20
)

// twins is how many rows in a row are samples of one task, if that is the same number for all tasks, else 0.
func twins[T Float](rows []Row[T]) int {
	n := 1
	for n < len(rows) && rows[n].Task == rows[0].Task {
		n++
	}
	for i := range rows {
		if rows[i].Task != rows[i-i%n].Task || len(rows)%n > 0 || i%n == 0 && i > 0 && rows[i].Task == rows[i-1].Task {
			return 0
		}
	}
	return n
}
