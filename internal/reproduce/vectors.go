package reproduce

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// publishedVectors is the table of E. Mathieu et al., Geometric Neural Diffusion Processes (2023), as their notebook
// results.ipynb has it: log-likelihood per target of each of task.VectorKernels. The diffusion model predicts all
// targets jointly, SteerCNP and ConvCNP each on its own.
var publishedVectors = []struct {
	name  string
	joint bool
	cells [3]float64
}{
	{"the process, joint", true, [3]float64{.56, .66, .66}},
	{"E(2)-GeomNDP, a diffusion model", true, [3]float64{.56, .65, .66}},
	{"the process, independent", false, [3]float64{-1.56, -1.47, -1.47}},
	{"SteerCNP (C4)", false, [3]float64{-1.61, -1.57, -1.57}},
	{"ConvCNP", false, [3]float64{-1.71, -1.77, -1.76}},
}

// vectorRow is a line of the table: one kind of model, a model for each kernel.
type vectorRow struct {
	of     string // the kind
	name   string
	models [3]*Model
	// Of each kernel: by itself, how far that is behind the best, by the chain rule, in growing blocks, and the seconds
	// of a task by the chain rule and of a sample.
	independent, chained, grown [3]*eval.JointReport
	behind                      [3]eval.Estimate
	seconds, sample             [3]float64
}

// The chain rule in growing blocks: the share of the known points that a block has as targets, and how many tasks for
// each task of the chain rule target by target, which takes as much longer.
const vectorGrowth, vectorGrown = 0.15, 16

// vectorKernel is the number of the kernel of vector fields that the model was trained on; -1: none.
func (m *Model) vectorKernel() int {
	return slices.IndexFunc(task.VectorKernels,
		func(name string) bool { return strings.HasPrefix(m.Tasks, name+" vector fields on the disc") })
}

// vectorRows sorts the models by what they were trained on, which their files say; of several models of a kind and
// kernel the row of the kind has the one with the most steps, and the others have rows of their own.
func (p *reproduction) vectorRows() (rows []*vectorRow) {
	models := make([]*Model, len(p.models))
	steps := func(m *Model) int {
		n, _ := strconv.Atoi(m.Steps)
		return n
	}
	for i := range p.models {
		models[i] = &p.models[i]
	}
	slices.SortStableFunc(models, func(a, b *Model) int { return steps(b) - steps(a) })
	for _, m := range models {
		k := m.vectorKernel()
		if k < 0 || m.Config.DimX != 2 || m.Config.DimY != 2 {
			continue
		}
		name, at := m.Title(), -1
		for i, r := range rows {
			if r.of == m.Title() {
				if at = i; r.models[k] == nil {
					break
				}
				name, at = fmt.Sprintf("%s, %d steps", m.Title(), steps(m)), -1
			}
		}
		if at < 0 {
			at = len(rows)
			rows = append(rows, &vectorRow{of: m.Title(), name: name})
		}
		rows[at].models[k] = m
	}
	slices.SortStableFunc(rows, func(a, b *vectorRow) int { return strings.Compare(a.of, b.of) })
	return rows
}

// vectors makes the table of vector fields.
func (p *reproduction) vectors() error {
	rows := p.vectorRows()
	p.total = 2 * len(task.VectorKernels) * p.Tasks
	for _, r := range rows {
		for _, m := range r.models {
			if m != nil {
				p.total += p.Tasks + p.Chain + p.grown()
			}
		}
	}
	p.vectorHead()
	file := [][]string{{"kernel", "who", "method", "tasks", "log_likelihood_per_target", "standard_error", "seconds_per_task"}}
	line := func(name, method string, of func(k int) (*eval.JointReport, float64), absent string) {
		p.printf("| here: %s, %s |", name, method)
		for k, kernel := range task.VectorKernels {
			r, seconds := of(k)
			if r == nil {
				p.printf(" %s |", absent)
				continue
			}
			e := eval.Estimate{Mean: 2 * r.LogLikelihood.Mean, Error: 2 * r.LogLikelihood.Error} // two values a target
			p.printf(" %s |", withError(e))
			took := ""
			if seconds > 0 {
				took = cell(seconds)
			}
			file = append(file, []string{kernel, name, method, fmt.Sprint(r.Tasks), cell(e.Mean), cell(e.Error), took})
		}
		p.printf("\n")
	}
	joint, alone, best, err := p.processDensities()
	if err != nil {
		return err
	}
	line("the process", "joint", func(k int) (*eval.JointReport, float64) { return joint[k], 0 }, "")
	line("the process", "independent", func(k int) (*eval.JointReport, float64) { return alone[k], 0 }, "")
	for _, r := range rows {
		for k, listed := range r.models {
			if listed == nil {
				continue
			}
			m, err := listed.Load()
			if err != nil {
				return err
			}
			kernel := task.VectorKernels[k]
			if r.independent[k], r.behind[k], err = p.vectorAlone(m, kernel, best[k]); err != nil {
				return fmt.Errorf("%s: %w", listed.Name, err)
			}
			if model, ok := m.(cnp.Regressor[float32]); ok && p.Chain > 0 {
				if err := p.vectorChains(r, k, model); err != nil {
					return fmt.Errorf("%s: %w", listed.Name, err)
				}
			}
		}
		line(r.name, "independent", func(k int) (*eval.JointReport, float64) { return r.independent[k], 0 }, "not trained yet")
		p.printf("| here: %s, independent, less the process |", r.name)
		for k := range task.VectorKernels {
			if r.independent[k] == nil {
				p.printf(" not trained yet |")
				continue
			}
			p.printf(" %s |", withError(r.behind[k]))
		}
		p.printf("\n")
		line(r.name, "autoregressive in growing blocks", func(k int) (*eval.JointReport, float64) {
			return r.grown[k],
				r.sample[k]
		}, "not measured")
		line(r.name, "autoregressive", func(k int) (*eval.JointReport, float64) { return r.chained[k], r.seconds[k] }, "not measured")
	}
	if p.Chain > 0 && len(rows) > 0 {
		p.samplingCost(rows)
	}
	if len(rows) == 0 {
		p.printf("| here: no model | not trained yet | not trained yet | not trained yet |\n")
		p.note("no model was trained on vector fields: equivcnp train regression --field divergence-free ...")
	}
	return p.table("vectors.csv", file)
}

// vectorHead says what is measured, and writes the head of the table with the published numbers.
func (p *reproduction) vectorHead() {
	p.printf("# Vector fields\n\nGaussian processes of vectors in the plane, at the points of a 30 x 30 grid on the "+
		"disc of radius 10, each seen with noise of variance 0.02; 25 of "+
		"them are the context, all others the targets. The log-likelihood per target, both components together: jointly, "+
		"of all targets of a task, and "+
		"independently, of each alone; more is better. %d tasks with seed %d, by the chain rule the first %d of them, "+
		"and in growing blocks the first %d; ± is a standard error, of a "+
		"difference that of the differences of single tasks. Published numbers are those "+
		"of the notebook to Geometric Neural Diffusion Processes (E. Mathieu et al., 2023).\n\n| |", p.Tasks, p.Seed, p.Chain, p.grown())
	for _, k := range task.VectorKernels {
		p.printf(" %s |", k)
	}
	p.printf("\n|---|---|---|---|\n")
	for _, r := range publishedVectors {
		p.printf("| published: %s |", r.name)
		for _, v := range r.cells {
			p.printf(" %.2f |", v)
		}
		p.printf("\n")
	}
}

// processDensities returns the densities of the processes themselves, jointly and of each target alone. best are the latter of
// every task.
func (p *reproduction) processDensities() (joint, alone [3]*eval.JointReport, best [3][]float64, err error) {
	for k, kernel := range task.VectorKernels {
		src := task.VectorSource[float32]{Kernel: kernel}
		if joint[k], err = p.vectorJoint(func(_ context.Context, b *task.Tasks[float32]) ([]float64, error) {
			joint, alone, err := src.Exact(b)
			for i := range joint {
				joint[i] *= float64(len(b.Y))
				best[k] = append(best[k], alone[i]*float64(len(b.Y)))
			}
			return joint, err
		}, kernel, p.Tasks); err != nil {
			return joint, alone, best, err
		}
		known := best[k]
		if alone[k], err = p.vectorJoint(func(context.Context, *task.Tasks[float32]) ([]float64, error) {
			first := known[:1]
			known = known[1:]
			return first, nil
		}, kernel, p.Tasks); err != nil {
			return joint, alone, best, err
		}
	}
	return joint, alone, best, nil
}

// vectorChains measures a model by the chain rule, target by target and in growing blocks.
func (p *reproduction) vectorChains(r *vectorRow, k int, model cnp.Regressor[float32]) (err error) {
	kernel, start := task.VectorKernels[k], time.Now()
	if r.chained[k], err = p.vectorJoint(eval.Autoregressive(model, cnp.Chain{Seed: p.Seed}), kernel, p.Chain); err != nil {
		return err
	}
	r.seconds[k] = time.Since(start).Seconds() / float64(p.Chain)
	chain := cnp.Chain{Seed: p.Seed, Growth: vectorGrowth}
	if r.grown[k], err = p.vectorJoint(eval.Autoregressive(model, chain), kernel, p.grown()); err != nil {
		return err
	}
	r.sample[k], err = vectorSample(p.ctx, model, task.VectorSource[float32]{Kernel: kernel}, chain)
	return err
}

// diffusionEvaluations is how often the diffusion model's network is evaluated for a sample given a context: 50 steps, each with 50 of
// Langevin's besides (experiments/steerable_gp/config/main.yaml of the published code, cond.n_steps and cond.n_inner_steps).
const diffusionEvaluations = 50 * (1 + 50)

// samplingCost says what a sample of all targets costs.
func (p *reproduction) samplingCost(rows []*vectorRow) {
	blocks := cnp.Chain{Growth: vectorGrowth}
	p.printf("\nA sample of all %d targets takes as many predictions by the chain rule, and %d in growing blocks (%g "+
		"times as many targets at a time as points are known), each of one "+
		"lattice for every lift; the diffusion model's takes %d evaluations of its network. On this machine, with %d "+
		"threads:\n\n| | a task by the chain rule | a sample in growing blocks |\n|---|---:|---:|\n",
		vectorTargets, len(blocks.Blocks(vectorContext, vectorTargets)), vectorGrowth, diffusionEvaluations, runtime.GOMAXPROCS(0))
	for _, r := range rows {
		for k, seconds := range r.seconds {
			if seconds > 0 {
				p.printf("| %s, %s | %.3g s | %.3g s |\n", r.name, task.VectorKernels[k], seconds, r.sample[k])
			}
		}
	}
}

// grown is the number of tasks by the chain rule in growing blocks.
func (p *reproduction) grown() int { return min(p.Tasks, vectorGrown*p.Chain) }

// vectorJoint measures a density on n tasks, one by one: standard errors are of batches.
func (p *reproduction) vectorJoint(density eval.Density[float32], kernel string, n int) (*eval.JointReport, error) {
	opt := p.options(n)
	opt.Batch = 1
	return eval.Joint(p.ctx, density, unknown{task.VectorSource[float32]{Kernel: kernel}}, opt)
}

// unknown hides that a source knows its process, which takes longer to ask than most models.
type unknown struct{ task.Source[float32] }

// vectorAlone measures a model's independent predictions, and how much more likely every task is under them than under
// the best ones (less, that is).
func (p *reproduction) vectorAlone(m cnp.Model[float32], kernel string, best []float64) (*eval.JointReport, eval.Estimate, error) {
	predicted, sum, squares := eval.Independent(eval.Model(m)), 0.0, 0.0
	r, err := p.vectorJoint(func(ctx context.Context, b *task.Tasks[float32]) ([]float64, error) {
		found, err := predicted(ctx, b)
		for _, f := range found {
			d := (f - best[0]) / float64(b.Curves.Nt)
			sum, squares, best = sum+d, squares+d*d, best[1:]
		}
		return found, err
	}, kernel, p.Tasks)
	n := float64(p.Tasks)
	return r, eval.Estimate{Mean: sum / n, Error: math.Sqrt(max(0, squares/n-sum/n*sum/n) / max(1, n-1))}, err
}

// vectorSample returns how long a sample of the targets of a task takes, the second one: what a model prepares is kept.
func vectorSample(ctx context.Context, m cnp.Regressor[float32], src task.VectorSource[float32], chain cnp.Chain) (float64, error) {
	b, err := src.Batch(1, chain.Seed, 0)
	var start time.Time
	for range 2 {
		if start = time.Now(); err == nil {
			_, err = cnp.SampleCurves(ctx, m, b.Curves, cnp.SampleOptions{Chain: chain, Samples: 1})
		}
	}
	return time.Since(start).Seconds(), err
}

// vectorContext and vectorTargets are the numbers of context points and of targets of a task of the table.
const vectorContext, vectorTargets = 25, 623
