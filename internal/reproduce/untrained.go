package reproduce

import (
	"context"
	"fmt"
	"os"
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

// learn estimates the population of a source, from so many tasks that no table measures.
func learn(ctx context.Context, src task.Source[float32], opt krige.Options, tasks int, seed uint64) (*krige.Population, error) {
	const batch = 2 // the tasks of a batch share their sizes, and some their process
	var xs, ys [][]float64
	for step := range tasks / batch {
		b, err := src.Batch(batch, seed^0x706f70756c617465, step)
		if err != nil {
			return nil, err
		}
		for t := range batch {
			x, y, targets, values := tables64(b, t, opt.Dim)
			xs, ys = append(xs, append(x, targets...)), append(ys, append(y, values...))
		}
	}
	p, err := krige.FitPopulation(ctx, xs, ys, opt)
	if err == nil && p == nil {
		err = fmt.Errorf("%s: too few values for a population", src)
	}
	return p, err
}

// tables64 returns context and targets of task t of a batch of one output without padding.
func tables64(b *task.Tasks[float32], t, dx int) (x, y, targets, values []float64) {
	c := b.Curves
	x = append(x, c.XContext[t*c.Nc*dx:(t+1)*c.Nc*dx]...)
	targets = append(targets, c.XTarget[t*c.Nt*dx:(t+1)*c.Nt*dx]...)
	for _, v := range c.YContext[t*c.Nc : (t+1)*c.Nc] {
		y = append(y, float64(v))
	}
	for _, v := range b.Y[t*c.Nt : (t+1)*c.Nt] {
		values = append(values, float64(v))
	}
	return x, y, targets, values
}

// ofPopulation is the density of a population, of all targets of a task together or of each on its own.
func ofPopulation(p *krige.Population, dx int, joint bool) eval.Density[float32] {
	return func(ctx context.Context, b *task.Tasks[float32]) ([]float64, error) {
		out, errs := make([]float64, b.Curves.B), make([]error, b.Curves.B)
		parallel.For(len(out), 1, func(lo, hi int) {
			for t := lo; t < hi; t++ {
				x, y, targets, values := tables64(b, t, dx)
				if joint {
					out[t], errs[t] = p.LogDensity(ctx, x, y, targets, values)
					continue
				}
				each, err := p.LogDensities(ctx, x, y, targets, values)
				errs[t] = err
				for _, v := range each {
					out[t] += v
				}
			}
		})
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	}
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

// untrained measures a column without a network.
func (p *reproduction) untrained(c *livingColumn, known cells, file *os.File, measured func(method string, found *benchmarkCell)) error {
	var learned *krige.Population
	name := fmt.Sprint("universal-", c.dx)
	for _, method := range c.untrainedMethods(p.Learn) {
		n := p.tasksBy(method)
		key := benchmarkKey{name, "", method, c.src.String(), "", c.dx, p.Tasks, p.Seed}
		found := known.of(key, n)
		if found == nil && p.measures(c) {
			density := eval.Independent(eval.Model[float32](krige.Named(name)))
			if method != interpolated {
				if learned == nil {
					var err error
					if learned, err = learn(p.ctx, c.training, krige.Options{Dim: c.dx}, p.Learn, p.Seed); err != nil {
						return err
					}
				}
				density = ofPopulation(learned, c.dx, isJoint(method))
			}
			key.Tasks = n
			opt := p.options(n)
			opt.Batch = c.batch
			var err error
			if found, err = p.measureBy(key, density, c.src, opt, file); err != nil {
				return err
			}
		}
		measured(method, found)
	}
	return nil
}
