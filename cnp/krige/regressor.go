package krige

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers"
)

// Architecture is that of Regressor's configuration. No model file has it.
const Architecture cnp.Architecture = "krige"

// Regressor is interpolation as a model: it fits every task's context, and each of its outputs, on its own, and needs no
// weights. Of a task without values nothing is known, not even their scale: its prediction is 0 with a deviation of 1.
type Regressor struct {
	opt     Options
	outputs int
	values  []Values  // by output, nil where all are Options.Values
	columns []string  // names of the drift's columns
	shared  []*Shared // by output, what tasks have in common; nil where each is fitted alone
	kept    *keptFits // nil where nothing is kept
	leftOut *leftOut  // nil where nothing is left out
}

// NewRegressor returns the interpolation of tables with these options. The columns of a drift are auxiliary inputs of tasks; WithColumns
// names them.
func NewRegressor(opt Options) (*Regressor, error) {
	if err := opt.check(make([]float64, opt.Dim), []float64{0}); err != nil {
		return nil, err
	}
	r := &Regressor{opt: opt, outputs: 1}
	if opt.Robust {
		r.leftOut = &leftOut{of: map[uint64]int{}}
	}
	for k := range opt.Drift {
		r.columns = append(r.columns, fmt.Sprint("aux", k+1))
	}
	return r, nil
}

// WithColumns returns the regressor whose auxiliary inputs have these names, Options.Drift of them.
func (r *Regressor) WithColumns(names []string) (*Regressor, error) {
	if len(names) != r.opt.Drift {
		return nil, fmt.Errorf("%w: %d names of auxiliary inputs, and the drift has %d", ErrInput, len(names), r.opt.Drift)
	}
	out := *r
	out.columns = slices.Clone(names)
	return &out, nil
}

// Outputs returns the regressor of n outputs, each of which is interpolated on its own. NaN is a value that was not observed.
func (r *Regressor) Outputs(n int) *Regressor {
	return &Regressor{opt: r.opt, outputs: n, columns: r.columns, leftOut: r.leftOut}
}

// OutputsOf returns the regressor of outputs of these kinds of values, each of which is interpolated on its own.
func (r *Regressor) OutputsOf(values []Values) *Regressor {
	return &Regressor{opt: r.opt, outputs: len(values), values: slices.Clone(values), columns: r.columns, leftOut: r.leftOut}
}

// Options returns the options of the fits.
func (r *Regressor) Options() Options { return r.opt }

// optionsOf returns the options of output c.
func (r *Regressor) optionsOf(c int) Options {
	opt := r.opt
	if r.values != nil {
		opt.Values = r.values[c]
	}
	return opt
}

// bent reports whether predictions may not be normal.
func (r *Regressor) bent() bool {
	for c := range r.outputs {
		if r.optionsOf(c).Values != Plain {
			return true
		}
	}
	return false
}

// Names of regressors: universal-1 and so on by the number of inputs, universal-globe of latitude and longitude.
const (
	namePrefix = "universal-"
	globe      = "globe"
)

// Names lists the regressors that Named knows.
func Names() (names []string) {
	for d := range MaxDim {
		names = append(names, fmt.Sprint(namePrefix, d+1))
	}
	return append(names, namePrefix+globe)
}

// Named returns the regressor of a name, nil where it is none.
func Named(name string) *Regressor {
	switch i := slices.Index(Names(), name); {
	case i < 0:
		return nil
	case strings.HasSuffix(name, globe):
		return &Regressor{opt: Options{Dim: 2, Sphere: true}, outputs: 1}
	default:
		return &Regressor{opt: Options{Dim: i + 1}, outputs: 1}
	}
}

// Name returns the name by which Named knows a regressor of these inputs.
func (r *Regressor) Name() string {
	if r.opt.Sphere {
		return namePrefix + globe
	}
	return fmt.Sprint(namePrefix, r.opt.Dim-r.opt.Drift)
}

// Config describes the regressor: inputs and outputs alone.
func (r *Regressor) Config() cnp.Config {
	c := cnp.Config{Architecture: Architecture, DimX: r.opt.Dim - r.opt.Drift, DimY: r.outputs,
		ChannelDensity: r.outputs > 1 || r.opt.Drift > 0,
		Auxiliary:      slices.Clone(r.columns)}
	if r.opt.Sphere {
		c.Placement = cnp.PlacementSphere
	}
	if r.bent() {
		c.Likelihood = likelihood.BentName
	}
	return c
}

// State is empty: there is nothing to train.
func (r *Regressor) State() []layers.Param[float32] { return nil }

// Plan makes a plan for curves, of which nothing is computed in advance.
func (r *Regressor) Plan(ctx context.Context, s cnp.Shape, opt cnp.PlanOptions) (cnp.Plan[float32], error) {
	return cnp.LiveCurves[float32](ctx, r, s, opt)
}

// EstimateNeed estimates the working memory of predictions.
func (r *Regressor) EstimateNeed(w cnp.Work) cnp.Need {
	n, t := float64(w.Context), float64(w.Targets)
	exact := math.Min(n, exactLine)
	// Covariance matrices and their inverses of an exact model's members; coordinates, orders and trees of the points.
	bytes := 30*8*exact*exact + 600*n + 200*t + 1<<24
	// Of each column of a drift two vectors of every member, and copies in float64 of what it is at the points.
	bytes += float64(r.opt.Drift) * (30*16*exact + 160*n + 40*t)
	return cnp.Need{Features: int64(math.Min(bytes*float64(min(max(1, w.Batch*r.outputs), parallel.Workers())), math.MaxInt64/2))}
}

// task is the context of output c and the targets of task t that count, and which targets they are.
func (r *Regressor) task(b *cnp.Batch[float32], t, c int) (x, y, targets []float64, at []int) {
	return tableOf(b, r.opt.Dim-r.opt.Drift, r.opt.Drift, r.outputs, t, c)
}

// tableOf returns the context of output c of so many and the targets of task t that count, and which values of a prediction these are. Rows
// have d coordinates, and behind them so many auxiliary inputs; a row of the context without one of these says nothing.
func tableOf[T cnp.Float](b *cnp.Batch[T], d, beside, outputs, t, c int) (x, y, targets []float64, at []int) {
	add := func(to, x []float64, aux []T, i int) []float64 {
		to = append(to, x[i*d:(i+1)*d]...)
		for k := range beside {
			to = append(to, float64(aux[i*beside+k]))
		}
		return to
	}
	for _, i := range observedRows(b, beside, outputs, t, c) {
		x, y = add(x, b.XContext, b.AuxContext, i), append(y, float64(b.YContext[i*outputs+c]))
	}
	for i := t * b.Nt; i < (t+1)*b.Nt; i++ {
		if b.TargetMask == nil || b.TargetMask[i] {
			targets, at = add(targets, b.XTarget, b.AuxTarget, i), append(at, i*outputs+c)
		}
	}
	return x, y, targets, at
}

// observedRows are the rows of a batch's contexts that tableOf takes.
func observedRows[T cnp.Float](b *cnp.Batch[T], beside, outputs, t, c int) (rows []int) {
	for i := t * b.Nc; i < (t+1)*b.Nc; i++ {
		v := b.YContext[i*outputs+c]
		if b.ContextMask != nil && !b.ContextMask[i] || v != v {
			continue
		}
		if beside > 0 && slices.ContainsFunc(b.AuxContext[i*beside:(i+1)*beside], func(v T) bool { return v != v }) {
			continue
		}
		rows = append(rows, i)
	}
	return rows
}

func (r *Regressor) check(b *cnp.Batch[float32]) error {
	cfg := r.Config()
	return b.Check(&cfg)
}

// each fits the outputs of the tasks of a batch, side by side, and calls f with each: at are the targets' places in a prediction.
func (r *Regressor) each(ctx context.Context, b *cnp.Batch[float32], f func(t, c int, m *Model, targets []float64, at []int) error) error {
	if err := r.check(b); err != nil {
		return err
	}
	if b.Nt == 0 { // however many tasks there are
		return ctx.Err()
	}
	errs := make([]error, b.B*r.outputs)
	parallel.For(len(errs), 1, func(lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			t, c := i/r.outputs, i%r.outputs
			x, y, targets, at := r.task(b, t, c)
			if len(at) == 0 {
				continue
			}
			opt, kept := r.optionsOf(c), r.kept
			if len(y) == 0 { // one value of 0 has this deviation, and no other tasks change it
				kept = nil
				x, y, opt.Values = make([]float64, opt.Dim), []float64{0}, Plain
			}
			var err error
			m := kept.find(i, x, y)
			if m == nil {
				m, err = r.fit(ctx, c, x, y, opt)
			}
			if err == nil {
				kept.keep(i, b.B, x, y, m)
				r.leftOut.add(c, x, y, m)
				err = f(t, c, m, targets, at)
			}
			switch {
			case err == nil:
			case r.outputs > 1:
				errs[i] = wrongTable(fmt.Sprintf("task %d: output %d", t, c), err)
			default:
				errs[i] = wrongTable(fmt.Sprintf("task %d", t), err)
			}
		}
	})
	return errors.Join(ctx.Err(), errors.Join(errs...))
}

// fit fits output c of a table, with what tasks have in common where they share it.
func (r *Regressor) fit(ctx context.Context, c int, x, y []float64, opt Options) (*Model, error) {
	if r.shared != nil && r.shared[c] != nil {
		return r.shared[c].Fit(ctx, x, y)
	}
	return Fit(ctx, x, y, opt)
}

// wrongTable is the error about the values of a task. It wraps cnp.ErrValue, whose own text would be wrong: values may be finite, and
// no amounts.
func wrongTable(where string, err error) error {
	return &tableError{where + ": " + strings.TrimPrefix(err.Error(), ErrInput.Error()+": "), err}
}

type tableError struct {
	text string
	err  error
}

func (e *tableError) Error() string { return e.text }

func (e *tableError) Unwrap() []error { return []error{cnp.ErrValue, e.err} }

// Learn returns the regressor that knows what the tasks of these batches have in common, output by output: the shape of the
// covariance, but neither its level nor its variance (see Shared). Where tasks are less likely for it, or are curves of so
// many values that they may have seasons, or where there are fewer than three, it leaves them alone. shared is how many
// outputs share, and gain what they gain by it: nats a value that is predicted from the others of its task.
func (r *Regressor) Learn(ctx context.Context, batches ...*cnp.Batch[float32]) (learned *Regressor, shared int, gain float64, err error) {
	learned = &Regressor{opt: r.opt, outputs: r.outputs, values: r.values, columns: r.columns, shared: make([]*Shared, r.outputs),
		leftOut: r.leftOut}
	for c := range r.outputs {
		if r.optionsOf(c).Values != Plain {
			continue
		}
		var xs, ys [][]float64
		values := 0
		for _, b := range batches {
			if err := r.check(b); err != nil {
				return nil, 0, 0, err
			}
			for t := range b.B {
				if x, y, _, _ := r.task(b, t, c); len(y) >= sharedValues {
					xs, ys, values = append(xs, x), append(ys, y), values+len(y)
				}
			}
		}
		if len(xs) < 3 || r.opt.Dim-r.opt.Drift == 1 && values >= seasonValues*len(xs) {
			continue
		}
		s, err := FitShared(ctx, xs, ys, r.optionsOf(c))
		if err != nil {
			return nil, 0, 0, wrongTable("tasks together", err)
		}
		if s == nil {
			continue
		}
		g, spread, err := s.Helps(ctx, xs, ys)
		if err != nil {
			return nil, 0, 0, wrongTable("tasks together", err)
		}
		if g+spread > 0 {
			learned.shared[c], gain, shared = s, (gain*float64(shared)+g)/float64(shared+1), shared+1
		}
	}
	return learned, shared, gain, nil
}

// Predict returns mean and standard deviation at the targets of each task, which is predicted as if it were alone, but for
// what was learned from others.
func (r *Regressor) Predict(ctx context.Context, b *cnp.Batch[float32]) (*cnp.Prediction[float32], error) {
	if err := r.check(b); err != nil {
		return nil, err
	}
	cfg := r.Config()
	out, err := cnp.NewPrediction[float32](&cfg, b.B*b.Nt*r.outputs)
	if err != nil {
		return nil, err
	}
	err = r.each(ctx, b, func(_, _ int, m *Model, targets []float64, at []int) error {
		p, err := m.At(ctx, targets)
		if err != nil {
			return err
		}
		for k, i := range at {
			out.Mean[i], out.Std[i] = float32(p.Mean[k]), max(float32(p.Std[k]), math.SmallestNonzeroFloat32)
			if out.Params != nil {
				const each = 5
				params := out.Params[each*i : each*(i+1)]
				params[0], params[1] = float32(p.mean[k]), max(float32(p.std[k]), math.SmallestNonzeroFloat32)
				params[2], params[3], params[4] = float32(p.family()), max(float32(p.zero), math.SmallestNonzeroFloat32), float32(p.largest)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// SampleCurves draws joint samples [samples, B, Nt, outputs] of functions or of new values. Output c has the seed of its task + c.
func (r *Regressor) SampleCurves(ctx context.Context, b *cnp.Batch[float32], opt cnp.SampleOptions) ([]float32, error) {
	if err := r.check(b); err != nil {
		return nil, err
	}
	if err := opt.Check(b.B); err != nil {
		return nil, err
	}
	values := b.B * b.Nt * r.outputs
	if err := checkRoom(opt.Samples, values, 16*float64(values)); err != nil {
		return nil, err
	}
	out := make([]float32, opt.Samples*values)
	err := r.each(ctx, b, func(t, c int, m *Model, targets []float64, at []int) error {
		seed := opt.Seed
		if opt.Seeds != nil {
			seed = opt.Seeds[t]
		}
		draw := m.Samples
		if opt.Function {
			draw = m.Functions
		}
		drawn, err := draw(ctx, targets, opt.Samples, seed+uint64(c))
		if err != nil {
			return err
		}
		for s, row := range drawn {
			for k, i := range at {
				out[s*values+i] = float32(row[k])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
