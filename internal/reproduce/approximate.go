package reproduce

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/recipe"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/train"
	"github.com/equivcnp/equivcnp/cnp/weights"
)

// brokenAmounts are those by which the translations of the tasks are broken, and trainingSeeds those of trainings on each.
var (
	brokenAmounts = []float64{0, 0.3, 1}
	trainingSeeds = []uint64{1, 2}
)

// symmetryModels are the models that are trained, the approximate one first, which the others are compared with.
var symmetryModels = []struct {
	name, text string
	change     func(c *recipe.Curves)
}{
	{"approximate", "translations, up to learned, bounded inputs of the place, which training drops from a tenth of the tasks",
		func(c *recipe.Curves) { symmetryLevels(c); c.Approximate = new(0.1) }},
	{"exact", "the same network under translations", symmetryLevels},
	{"coordinates", "convolutions on one lattice, whose points know their coordinates; levels have no such input",
		func(c *recipe.Curves) { c.PointsPerUnit, c.CoordinateFeature = new(symmetryLattice), true }},
	{"CNP", "a CNP, which knows no symmetry", func(c *recipe.Curves) { c.Model = "cnp" }},
}

// symmetryLattice is the number of lattice points per unit, a twentieth of the covariance's length apart.
const symmetryLattice = 8.0

// symmetryLevels is the network of the exact and of the approximate model.
func symmetryLevels(c *recipe.Curves) {
	c.Levels, c.PointsPerUnit, c.Channels = new(4), new(symmetryLattice), []int{16}
}

// equivarianceTasks are those that are moved to measure how equivariant a model is, at most.
const equivarianceTasks = 128

// symmetryScore is a trained model's row: the log-likelihood per value of every task, and how far predictions change when tasks move.
type symmetryScore struct {
	ll   []float64
	move eval.Difference
	off  []float64 // of the model inside, whose departure is off; nil: there is none
}

// approximate compares models whose symmetry is approximate, exact, or none, on tasks whose symmetry is broken by known amounts.
func (p *reproduction) approximate() error {
	p.total = len(brokenAmounts) * len(trainingSeeds) * len(symmetryModels) * p.Steps
	p.printf("# Models whose symmetry is approximate\n\n%s. %d steps of 16 tasks for each model, on the expected values of the targets, "+
		"with two seeds; then %d tasks with seed %d. The log-likelihood is per value; more is better, and nothing that predicts values "+
		"independently beats the best prediction, which knows the process, on average. ± is a standard error over tasks, of a "+
		"difference that of the differences of single tasks; trainings with other seeds differ by more.\n\n",
		"Values of a Gaussian process on [-2, 2], plus so many times a curve that is the same in all tasks (`task.LineSource`): with an "+
			"amount of 0 translations are a symmetry, with others they are not", p.Steps, p.Tasks, p.Seed)
	for _, m := range symmetryModels {
		p.printf("- %s: %s\n", m.name, m.text)
	}
	file := [][]string{{"amount", "seed", "model", "log_likelihood", "standard_error", "behind_the_approximate", "standard_error",
		"mean_rms_when_moved", "mean_max_when_moved"}}
	likely := "\n| amount | seed | best prediction | approximate |"
	moved := "\n| amount | seed |"
	for i, m := range symmetryModels {
		if i > 0 {
			likely += " " + m.name + " behind by |"
		}
		moved += " " + m.name + " |"
	}
	likely += "\n|---|---|---|---|" + strings.Repeat("---|", len(symmetryModels)-1) + "\n"
	moved += " approximate, departure off, behind by |\n|---|---|" + strings.Repeat("---|", len(symmetryModels)+1) + "\n"
	for _, amount := range brokenAmounts {
		for _, seed := range trainingSeeds {
			best, scores, err := p.symmetryRow(amount, seed)
			if err != nil {
				return err
			}
			first, at := scores[0], fmt.Sprintf("| %g | %d |", amount, seed)
			likely += fmt.Sprintf("%s %s | %s |", at, level(best), level(first.ll))
			moved += at
			for k, s := range scores {
				mean, behind := eval.PairedOf(s.ll, make([]float64, len(s.ll))), eval.PairedOf(first.ll, s.ll)
				if k > 0 {
					likely += fmt.Sprintf(" %.4f ± %.4f |", behind.Mean, behind.Error)
				}
				moved += fmt.Sprintf(" %.2g |", s.move.MeanRMS)
				file = append(file, []string{cell(amount), strconv.FormatUint(seed, 10), symmetryModels[k].name, cell(mean.Mean),
					cell(mean.Error), cell(behind.Mean), cell(behind.Error), cell(s.move.MeanRMS), cell(s.move.MeanMax)})
			}
			off := eval.PairedOf(first.ll, first.off)
			likely += "\n"
			moved += fmt.Sprintf(" %.4f ± %.4f |\n", off.Mean, off.Error)
		}
	}
	p.printf("%s\nHow equivariant the models are: the root mean square of the change of means when a task moves by up to 4 units. An "+
		"exact model's is rounding; a network without a symmetry has never seen values there. The last column is the "+
		"approximate model with its departure off, which is the equivariant model inside.\n%s", likely, moved)
	return p.table("approximate.csv", file)
}

// level writes a mean over tasks with its standard error.
func level(ll []float64) string {
	v := eval.PairedOf(ll, make([]float64, len(ll)))
	return fmt.Sprintf("%.4f ± %.4f", v.Mean, v.Error)
}

// symmetryRow trains the models on tasks that are broken by an amount, and scores them and the best prediction.
func (p *reproduction) symmetryRow(amount float64, seed uint64) (best []float64, scores []*symmetryScore, err error) {
	src := task.LineSource[float32]{Amount: amount}
	for k := range symmetryModels {
		m, err := p.symmetryModel(k, amount, seed)
		if err != nil {
			return nil, nil, err
		}
		s := new(symmetryScore)
		predictors := []eval.Predictor[float32]{eval.Model(m)}
		if departs, ok := m.(interface {
			Exact() (cnp.TrainableRegressor[float32], error)
		}); ok && m.Config().Departure != nil {
			inside, err := departs.Exact()
			if err != nil {
				return nil, nil, err
			}
			predictors = append(predictors, eval.Model[float32](inside))
		}
		opt := eval.Options{Tasks: p.Tasks, Seed: p.Seed}
		all, err := eval.Scores(p.ctx, predictors, src, opt)
		if err != nil {
			return nil, nil, err
		}
		if s.ll = all[0]; len(all) > 1 {
			s.off = all[1]
		}
		opt.Tasks = min(opt.Tasks, equivarianceTasks)
		moves, err := eval.Equivariance(p.ctx, m, src, opt)
		if err != nil {
			return nil, nil, err
		}
		s.move = moves[0]
		scores = append(scores, s)
	}
	err = eval.Tasks(p.ctx, src, eval.Options{Tasks: p.Tasks, Seed: p.Seed}, func(b *task.Tasks[float32], n int) error {
		_, alone, err := src.Exact(b)
		best = append(best, alone[:min(n, len(alone))]...)
		return err
	})
	return best, scores, err
}

// symmetryModel trains model k of symmetryModels, or reads what an earlier command has trained alike.
func (p *reproduction) symmetryModel(k int, amount float64, seed uint64) (cnp.Model[float32], error) {
	done := p.done
	p.done += p.Steps
	name := filepath.Join(p.Out, fmt.Sprintf("%s-%g-%d.safetensors", strings.ToLower(symmetryModels[k].name), amount, seed))
	c := recipe.DefaultCurves()
	c.Data.Line = task.LineKind + fmt.Sprintf("+%g", amount)
	c.Expected, c.Steps, c.Seed, c.EvalEvery = true, p.Steps, seed, new(0)
	symmetryModels[k].change(&c)
	plan, err := c.Plan(p.ctx)
	if err != nil {
		return nil, err
	}
	state, err := weights.ReadState(name)
	switch {
	case err == nil && state.Metadata["steps"] == strconv.Itoa(p.Steps) && state.Metadata["tasks"] == plan.Source.String():
		return weights.Build[float32](state, weights.Options{})
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	t, err := plan.Train(p.ctx, recipe.Options{Report: func(r train.Record) {
		if p.Progress != nil {
			p.Progress(done+r.Step, p.total)
		}
	}})
	if err != nil {
		return nil, fmt.Errorf("%s with an amount of %g: %w", symmetryModels[k].name, amount, err)
	}
	return t.Model, t.Save(name)
}
