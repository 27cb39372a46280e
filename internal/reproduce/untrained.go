package reproduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/parallel"
)

// The ways to predict the tasks of a table without a network: from the context alone, and from a population of
// Gaussian processes or waves.
const (
	interpolated    = "interpolation without training, independent"
	population      = "population of %d tasks, independent"
	populationJoint = "population of %d tasks, joint"
)

// DefaultLearn is the usual number of tasks that a population is estimated from, LeastLearn the least.
const (
	DefaultLearn = 64
	LeastLearn   = 8
)

// tableKind says what tables a column's tasks are, one for each output.
type tableKind struct {
	krige.Options      // of plain values
	outputs       int  // 0: one
	positive      bool // values are positive: populations are of their logarithms, and interpolation finds a scale
}

// of is the number of outputs.
func (k *tableKind) of() int { return max(1, k.outputs) }

// interpolation is the regressor that fits every table of its own.
func (k *tableKind) interpolation() (*krige.Regressor, error) {
	r, err := krige.NewRegressor(k.Options)
	if err != nil || k.outputs == 0 && !k.positive {
		return r, err
	}
	values := krige.Plain
	if k.positive {
		values = krige.Positive
	}
	return r.OutputsOf(slices.Repeat([]krige.Values{values}, k.of())), nil
}

// table64 returns context and targets of output o of task t of a batch without padding: the values that are known.
func (k *tableKind) table64(b *task.Tasks[float32], t, o int) (x, y, targets, values []float64) {
	c, dx, n := b.Curves, k.Dim, k.of()
	for i := t * c.Nc; i < (t+1)*c.Nc; i++ {
		if v := float64(c.YContext[i*n+o]); !math.IsNaN(v) {
			x, y = append(x, c.XContext[i*dx:(i+1)*dx]...), append(y, v)
		}
	}
	for i := t * c.Nt; i < (t+1)*c.Nt; i++ {
		if b.Known == nil || b.Known[i*n+o] {
			targets, values = append(targets, c.XTarget[i*dx:(i+1)*dx]...), append(values, float64(b.Y[i*n+o]))
		}
	}
	return x, y, targets, values
}

// populations are those of the outputs of tables of a kind.
type populations struct {
	kind tableKind
	of   []*krige.Population
}

// learn estimates the populations of a source, from so many tasks that no table measures.
func learn(ctx context.Context, src task.Source[float32], kind tableKind, tasks int, seed uint64) (*populations, error) {
	const batch = 2 // the tasks of a batch share their sizes, and some their process
	out := &populations{kind: kind}
	xs, ys := make([][][]float64, kind.of()), make([][][]float64, kind.of())
	for step := range tasks / batch {
		b, err := src.Batch(batch, seed^0x706f70756c617465, step)
		if err != nil {
			return nil, err
		}
		for t := range batch {
			for o := range xs {
				x, y, targets, values := kind.table64(b, t, o)
				y = append(y, values...)
				xs[o], ys[o] = append(xs[o], append(x, targets...)), append(ys[o], y)
			}
		}
	}
	opt := kind.Options
	if kind.positive {
		opt.Values = krige.Logarithmic
	}
	for o := range xs {
		p, err := krige.FitPopulation(ctx, xs[o], ys[o], opt)
		if err == nil && p == nil {
			err = fmt.Errorf("%s: too few values for a population", src)
		}
		if err != nil {
			return nil, err
		}
		out.of = append(out.of, p)
	}
	return out, nil
}

// density is that of all targets of a task together or of each on its own.
func (p *populations) density(joint bool) eval.Density[float32] {
	return func(ctx context.Context, b *task.Tasks[float32]) ([]float64, error) {
		out, errs := make([]float64, b.Curves.B), make([]error, b.Curves.B)
		parallel.For(len(out), 1, func(lo, hi int) {
			for t := lo; t < hi; t++ {
				for o := range p.of {
					v, err := p.task(ctx, b, t, o, joint)
					out[t], errs[t] = out[t]+v, errors.Join(errs[t], err)
				}
			}
		})
		return out, errors.Join(errs...)
	}
}

// task is the density of output o of task t.
func (p *populations) task(ctx context.Context, b *task.Tasks[float32], t, o int, joint bool) (sum float64, err error) {
	x, y, targets, values := p.kind.table64(b, t, o)
	if len(values) == 0 {
		return 0, nil
	}
	if joint {
		return p.of[o].LogDensity(ctx, x, y, targets, values)
	}
	each, err := p.of[o].LogDensities(ctx, x, y, targets, values)
	for _, v := range each {
		sum += v
	}
	return sum, err
}

// learned are the populations of a source, which all columns share that have it.
func (p *reproduction) learned(src task.Source[float32], kind tableKind) (*populations, error) {
	if p.populations == nil {
		p.populations = map[string]*populations{}
	}
	name := src.String()
	if p.populations[name] == nil {
		found, err := learn(p.ctx, src, kind, p.Learn, p.Seed)
		if err != nil {
			return nil, err
		}
		p.populations[name] = found
	}
	return p.populations[name], nil
}

// isJoint reports whether a method is that of a population's joint density.
func isJoint(method string) bool {
	return strings.HasPrefix(method, "population") && strings.HasSuffix(method, "joint")
}

// untrainedMethods are the ways in which a column is predicted without a network.
func (c *livingColumn) untrainedMethods(learn int) []string {
	if c.training == nil || learn == 0 {
		return nil
	}
	return []string{interpolated, fmt.Sprintf(population, learn), fmt.Sprintf(populationJoint, learn)}
}

// untrainedTasks is how many tasks are behind a number of a column by a method without a network.
func (p *reproduction) untrainedTasks(c *livingColumn, method string) int {
	n := p.tasksBy(method)
	if method == interpolated && c.fits > 0 {
		n = min(n, c.fits)
	}
	return n
}

// untrained measures a column without a network.
func (p *reproduction) untrained(c *livingColumn, known cells, file *os.File, measured func(method string, found *benchmarkCell)) error {
	r, err := c.tables.interpolation()
	if err != nil {
		return err
	}
	for _, method := range c.untrainedMethods(p.Learn) {
		n := p.untrainedTasks(c, method)
		key := benchmarkKey{r.Name(), "", method, c.tasks(), "", c.tables.Dim, p.Tasks, p.Seed}
		found := known.of(key, n)
		if found == nil && p.measures(c.name) {
			density := eval.Independent(eval.Model[float32](r))
			if method != interpolated {
				of, err := p.learned(c.training, c.tables)
				if err != nil {
					return err
				}
				density = of.density(isJoint(method))
			}
			key.Tasks = n
			opt := p.options(n)
			opt.Batch = c.batch
			if found, err = p.measureBy(key, density, c.src, opt, file); err != nil {
				return err
			}
		}
		measured(method, found)
	}
	return nil
}
