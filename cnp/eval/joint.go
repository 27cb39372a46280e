package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// Density returns the logarithm of a predictive density at the true values of every task of a batch, all values of a task together.
type Density[T cnp.Float] func(ctx context.Context, b *task.Tasks[T]) ([]float64, error)

// Independent is the density of predictions that take values to be independent of each other.
func Independent[T cnp.Float](predict Predictor[T]) Density[T] {
	return func(ctx context.Context, b *task.Tasks[T]) ([]float64, error) {
		p, err := predict.checked(ctx, b)
		if err != nil {
			return nil, err
		}
		return densities(b, p.Marginals()), nil
	}
}

// Predicted is the density of predictions as they are: under a likelihood that takes the values of a task together, theirs together.
func Predicted[T cnp.Float](predict Predictor[T]) Density[T] {
	return func(ctx context.Context, b *task.Tasks[T]) ([]float64, error) {
		p, err := predict.checked(ctx, b)
		if err != nil {
			return nil, err
		}
		return densities(b, p), nil
	}
}

// densities is the log-density of every task of a batch.
func densities[T cnp.Float](b *task.Tasks[T], p *cnp.Prediction[T]) []float64 {
	out := make([]float64, Count(b))
	per, counts := len(b.Y)/max(1, len(out)), b.Counts()
	for t := range out {
		out[t], _ = p.Task(t, len(out)).LogDensity(b.Y[t*per:(t+1)*per], ofTask(counts, t, per))
	}
	return out
}

// counted returns the true values of a batch, NaN for those that do not count. The chain rule passes over these: neither are they
// scored, nor is what comes later told of them.
func counted[T cnp.Float](b *task.Tasks[T]) []T {
	counts := b.Counts()
	if counts == nil {
		return b.Y
	}
	y := slices.Clone(b.Y)
	for i, ok := range counts {
		if !ok {
			y[i] = T(math.NaN())
		}
	}
	return y
}

// Autoregressive is the density of a model of curves by the chain rule: every value that counts is predicted given the context and the
// values before it.
func Autoregressive[T cnp.Float](m cnp.CurvePredictor[T], chain cnp.Chain) Density[T] {
	return func(ctx context.Context, b *task.Tasks[T]) ([]float64, error) {
		if b.Curves == nil {
			return nil, fmt.Errorf("eval: the chain rule for curves, on tasks that are images")
		}
		j, err := cnp.JointCurves(ctx, m, b.Curves, counted(b), chain)
		if err != nil {
			return nil, err
		}
		out := make([]float64, b.Curves.B)
		for t := range out {
			out[t], _ = j.Task(t, len(out))
		}
		return out, nil
	}
}

// Chained is the density of a model, of curves or of images, by the chain rule.
func Chained[T cnp.Float](m cnp.Model[T], chain cnp.Chain) Density[T] {
	if r, ok := m.(cnp.Regressor[T]); ok {
		return Autoregressive(r, chain)
	}
	return func(ctx context.Context, b *task.Tasks[T]) ([]float64, error) {
		if m == nil {
			return nil, errNoModel
		}
		c, ok := m.(cnp.Completer[T])
		if !ok || b.Images == nil {
			return nil, fmt.Errorf("eval: the chain rule for images, of a model of architecture %s", m.Config().Architecture)
		}
		j, err := cnp.JointImages(ctx, c, b.Images, counted(b), chain)
		if err != nil {
			return nil, err
		}
		out := make([]float64, b.Images.B)
		for t := range out {
			out[t], _ = j.Task(t, len(out))
		}
		return out, nil
	}
}

// Process is the density of the process that drew the tasks, which nothing beats.
func Process[T cnp.Float](g task.GP) Density[T] {
	return func(ctx context.Context, tasks *task.Tasks[T]) ([]float64, error) {
		b := tasks.Curves
		if b == nil || len(b.XTarget) != b.B*b.Nt || len(tasks.Y) != b.B*b.Nt {
			return nil, fmt.Errorf("eval: a Gaussian process on the line has no density of these tasks")
		}
		out := make([]float64, b.B)
		for t := range out {
			var x, y []float64
			add := func(ox []float64, oy []T, n int, mask []bool) {
				for i := t * n; i < (t+1)*n; i++ {
					if mask == nil || mask[i] {
						x, y = append(x, ox[i]), append(y, float64(oy[i]))
					}
				}
			}
			add(b.XContext, b.YContext, b.Nc, b.ContextMask)
			given := len(x)
			add(b.XTarget, tasks.Y, b.Nt, b.TargetMask)
			var err error
			if out[t], err = g.LogDensity(x, y, given); err != nil {
				return nil, err
			}
		}
		return out, ctx.Err()
	}
}

// ofTask is the part of task t of counts, per values of each; nil stays nil.
func ofTask(counts []bool, t, per int) []bool {
	if counts == nil {
		return nil
	}
	return counts[t*per : (t+1)*per]
}

// Estimate is a mean over tasks with its standard error. The tasks of a batch may share their sizes, so that it is batches which are
// independent of each other: the error is that of a mean over as many, and 0 where there are too few to know it. In JSON a number that is
// not finite, as of no tasks, is null.
type Estimate struct {
	Mean  float64 `json:"mean"`
	Error float64 `json:"standard_error"`
}

// MarshalJSON writes a number that is not finite as null, which JSON has instead.
func (e Estimate) MarshalJSON() ([]byte, error) {
	var out estimateJSON
	if e.Mean-e.Mean == 0 {
		out.Mean = &e.Mean
	}
	if e.Error-e.Error == 0 {
		out.Error = &e.Error
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads null as NaN.
func (e *Estimate) UnmarshalJSON(b []byte) error {
	var in estimateJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*e = Estimate{math.NaN(), math.NaN()}
	if in.Mean != nil {
		e.Mean = *in.Mean
	}
	if in.Error != nil {
		e.Error = *in.Error
	}
	return nil
}

// estimateJSON is an Estimate in a file.
type estimateJSON struct {
	Mean  *float64 `json:"mean"`
	Error *float64 `json:"standard_error"`
}

// JointReport says how well a density predicts whole tasks.
type JointReport struct {
	Tasks int `json:"tasks"`
	// LogLikelihood is that of a task's values together, divided by their number.
	LogLikelihood Estimate `json:"log_likelihood"`
	// KL says how far LogLikelihood stays behind that of the process which drew the tasks, and Diagonal what the best
	// prediction that takes values to be independent stays behind; nil where nobody knows that.
	KL       *Estimate `json:"kl,omitempty"`
	Diagonal *Estimate `json:"diagonal,omitempty"`
	// NotFinite counts the tasks whose density is not a finite number; the other figures leave them out.
	NotFinite int `json:"not_finite"`
}

// mixed is a source whose batches are of several kinds, at random.
type mixed interface {
	Kind(seed uint64, step int) (kind, kinds int)
}

// Joint measures a density on the first tasks of a source. Where these are of several kinds, all kinds count alike, as they do among
// infinitely many tasks: how many of them are of which is chance, and would decide the mean where kinds are far apart.
func Joint[T cnp.Float](ctx context.Context, density Density[T], src task.Source[T], opt Options) (*JointReport, error) {
	var ll, kl, diagonal tally
	process, _ := src.(task.ExactSource[T])
	known, bad := process != nil && process.Gaussian(), 0
	step := opt.First
	if density == nil {
		return nil, errors.New("eval: the density is nil")
	}
	err := Tasks(ctx, src, opt, func(b *task.Tasks[T], n int) error {
		found, err := density(ctx, b)
		if err != nil {
			return err
		}
		kind, kinds := 0, 1
		if m, ok := src.(mixed); ok {
			kind, kinds = m.Kind(opt.Seed, step)
		}
		step++
		for _, t := range []*tally{&ll, &kl, &diagonal} {
			t.batch(kind, kinds)
		}
		if len(found) != Count(b) {
			return fmt.Errorf("eval: %d densities of %d tasks", len(found), Count(b))
		}
		var best, alone []float64
		if known {
			if best, alone, err = process.Exact(b); err != nil {
				return err
			}
		}
		per, counts := len(b.Y)/max(1, Count(b)), b.Counts()
		for t := range n {
			values := per
			if mask := ofTask(counts, t, per); mask != nil {
				values = 0
				for _, ok := range mask {
					if ok {
						values++
					}
				}
			}
			if values == 0 {
				continue
			}
			v := found[t] / float64(values)
			if math.IsNaN(v - v) {
				bad++
				continue
			}
			ll.add(v)
			if known {
				kl.add(best[t] - v)
				diagonal.add(best[t] - alone[t])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r := &JointReport{Tasks: ll.n, LogLikelihood: ll.estimate(), NotFinite: bad}
	if known {
		k, d := kl.estimate(), diagonal.estimate()
		r.KL, r.Diagonal = &k, &d
	}
	return r, nil
}

// tally adds up one figure of many tasks, batch by batch.
type tally struct {
	n   int
	sum float64
	// Of every batch: the tasks, the sum over them, and the kind, one of so many.
	tasks, sums []float64
	kind        []int
	kinds       int
}

// batch begins another batch, of one of so many kinds.
func (t *tally) batch(kind, kinds int) {
	t.tasks, t.sums, t.kind, t.kinds = append(t.tasks, 0), append(t.sums, 0), append(t.kind, kind), kinds
}

func (t *tally) add(v float64) {
	last := len(t.sums) - 1
	t.n, t.sum = t.n+1, t.sum+v
	t.tasks[last], t.sums[last] = t.tasks[last]+1, t.sums[last]+v
}

// batches is the number of batches of which a task counts.
func (t *tally) batches() (n int) {
	for _, tasks := range t.tasks {
		if tasks > 0 {
			n++
		}
	}
	return n
}

// estimate takes the error from how far batches lie from the mean; that of a single batch, or of a kind with a single one, is not
// known, and 0.
func (t *tally) estimate() Estimate {
	if t.n == 0 {
		return Estimate{math.NaN(), math.NaN()}
	}
	if t.kinds > 1 {
		mean, squares, known := 0.0, 0.0, 1.0
		for k := range t.kinds {
			own := tally{}
			for i, kind := range t.kind {
				if kind == k {
					own.n, own.sum = own.n+int(t.tasks[i]), own.sum+t.sums[i]
					own.tasks, own.sums = append(own.tasks, t.tasks[i]), append(own.sums, t.sums[i])
				}
			}
			e := own.estimate()
			mean, squares = mean+e.Mean/float64(t.kinds), squares+e.Error*e.Error
			if own.batches() < 2 {
				known = 0
			}
		}
		if !math.IsNaN(mean) { // there are tasks of every kind
			return Estimate{mean, known * math.Sqrt(squares) / float64(t.kinds)}
		}
	}
	mean, squares, batches := t.sum/float64(t.n), 0.0, float64(t.batches())
	if batches < 2 { // what is left of the sum below is rounding
		return Estimate{mean, 0}
	}
	for i, s := range t.sums {
		d := s - mean*t.tasks[i]
		squares += d * d
	}
	return Estimate{mean, math.Sqrt(squares*batches/(batches-1)) / float64(t.n)}
}
