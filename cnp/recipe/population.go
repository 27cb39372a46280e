package recipe

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/interpolate"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/cnp/weights"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Population is the recipe of a model that learns from many tables of one source what a new one of it is like, without a network: a
// population of Gaussian processes, and of waves if there are any, for each output (krige.FitPopulation). Start from [DefaultPopulation].
type Population struct {
	// CSV are tables of the same Columns. Each is a task, or as many as its column of tasks says. Set has tasks in memory instead.
	CSV []string
	Columns
	Set *task.CurveSet `json:"-"`
	// Stdin is read for the file name -; nil: a file of that name.
	Stdin io.Reader `json:"-"`
	// Sphere says that the inputs are latitude and longitude in degrees, DifferentUnits that they have units of their own.
	Sphere, DifferentUnits bool
	// Log names outputs, as Y does (else y, or y1, y2, ..), of whose logarithms the population is. Positive says that none of the others is
	// ever negative: theirs is of the values, of square roots or of logarithms, whichever makes them likeliest.
	Log      []string
	Positive bool
	// Holdout is the share of the tasks from which nothing is learned and on which the model is scored; 0: none. Seed draws them.
	Holdout float64
	Seed    uint64
}

// DefaultPopulation holds out a tenth of the tasks.
func DefaultPopulation() Population { return Population{Holdout: defaultHoldout, Seed: 1} }

// Estimated is a model of populations, and what is known of it.
type Estimated struct {
	Model *krige.PopulationRegressor[float32]
	// Tasks is the number of tasks that it was learned from.
	Tasks int
	// Score is nil without held out tasks.
	Score *PopulationScore
	Notes []string
	// About holds what the model's file says of its making.
	About map[string]string
}

// PopulationScore is how likely the values of held out tasks are, each given 3 to 49 others of its task.
type PopulationScore struct {
	Tasks int `json:"tasks"`
	// LogLikelihood is the mean over tasks of the log-likelihood per value, Error its standard error.
	LogLikelihood float64 `json:"log_likelihood"`
	Error         float64 `json:"standard_error"`
	// Gain is what they are likelier by than if each task were interpolated on its own, with its standard error.
	Gain eval.Paired `json:"gain"`
}

// Save writes the model to a .safetensors file.
func (e *Estimated) Save(path string) error {
	return weights.Save(path, cnp.Model[float32](e.Model), e.About)
}

// Estimate reads the tables and estimates the populations.
func (p *Population) Estimate(ctx context.Context) (*Estimated, error) {
	if !(p.Holdout >= 0 && p.Holdout < 1) {
		return nil, Errorf("{Holdout} %g: need 0 to less than 1", p.Holdout)
	}
	set, err := p.read(ctx)
	if err != nil {
		return nil, err
	}
	if p.Sphere && set.Dx != 2 {
		return nil, Errorf("{Sphere}: need two inputs, latitude and longitude; the tables have %d", set.Dx)
	}
	if set.Dx > krige.MaxDim {
		return nil, Errorf("{X}: %d inputs: need at most %d", set.Dx, krige.MaxDim)
	}
	out := &Estimated{Notes: []string{}}
	noteMissing(set, &out.Notes)
	kept, apart := set, (*task.CurveSet)(nil)
	if n := len(set.Curves); p.Holdout > 0 && n > 1 {
		if kept, apart, err = set.Holdout(p.Holdout, p.Seed); err != nil {
			return nil, fmt.Errorf("a share of %g held out: %w", p.Holdout, err)
		}
	}
	values, err := p.values(set.Dy)
	if err != nil {
		return nil, err
	}
	if out.Model, err = p.fit(ctx, kept, values); err != nil {
		return nil, err
	}
	out.Tasks = len(kept.Curves)
	out.About = map[string]string{"tasks": fmt.Sprintf("%s, %s", kept.Name, words.Plural(out.Tasks, "task"))}
	if apart == nil {
		out.Notes = append(out.Notes, "nothing is held out, and so there is no score")
		return out, nil
	}
	out.About["scored_on"] = apart.Name
	out.Score, err = p.score(ctx, out.Model, apart, values)
	return out, err
}

// read reads the tables as one set of tasks.
func (p *Population) read(ctx context.Context) (*task.CurveSet, error) {
	if p.Set != nil {
		if len(p.CSV) > 0 {
			return nil, Errorf("{Set} and {CSV} exclude each other")
		}
		set, err := inMemory(p.Set)
		if err == nil {
			err = checkPlain(set)
		}
		if err != nil {
			return nil, err
		}
		return set, p.onScale(set)
	}
	if len(p.CSV) == 0 {
		return nil, Errorf("say which tables to learn from: {CSV}")
	}
	opt, err := p.RowsOptions(&cnp.Config{})
	if err != nil {
		return nil, err
	}
	opt.Degrees = p.Sphere
	var set *task.CurveSet
	for _, name := range p.CSV {
		t, err := p.ReadTable(name, p.Stdin)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		one, err := task.CurvesOfTable(t, opt)
		if err != nil {
			return nil, err
		}
		switch {
		case set == nil:
			set = one
		case one.Dx != set.Dx || one.Dy != set.Dy || !slices.Equal(one.Inputs(), set.Inputs()):
			return nil, fmt.Errorf("%s: inputs %q and %s, %s has %q and %s: name the columns that all tables have with {X} and {Y}",
				name, one.Inputs(), words.Plural(one.Dy, "output"), p.CSV[0], set.Inputs(), words.Plural(set.Dy, "output"))
		default:
			set.Curves, set.Notes = append(set.Curves, one.Curves...), append(set.Notes, one.Notes...)
		}
		if err := p.onScale(one); err != nil { // while the table's name is known
			return nil, err
		}
	}
	if len(p.CSV) > 1 {
		set.Name = words.Plural(len(p.CSV), "table")
	}
	return set, checkPlain(set)
}

// checkPlain refuses tasks with more than coordinates and values.
func checkPlain(set *task.CurveSet) error {
	if len(set.Auxiliary) > 0 || len(set.Static) > 0 {
		return Errorf("a population has coordinates alone: take auxiliary inputs as further inputs ({X})")
	}
	if err := checkSingle(set); err != nil {
		return err
	}
	return checkValues(set)
}

// values returns what kind of values each output has.
func (p *Population) values(outputs int) ([]krige.Values, error) {
	names := p.Y
	if len(names) != outputs {
		if names = []string{"y"}; outputs > 1 {
			names = nil
			for k := range outputs {
				names = append(names, fmt.Sprintf("y%d", k+1))
			}
		}
	}
	return interpolate.ValuesOf(names, p.Log, p.Positive)
}

// onScale refuses a value that is not of its output's kind, by table, task and row.
func (p *Population) onScale(set *task.CurveSet) error {
	values, err := p.values(set.Dy)
	if err != nil {
		return err
	}
	for i, c := range set.Curves {
		for j, v := range c.Y {
			what := "amounts are never negative"
			switch k := values[j%set.Dy]; {
			case k == krige.Logarithmic && v <= 0:
				what = "it has no logarithm"
			case k != krige.Positive || !(v < 0):
				continue
			}
			return fmt.Errorf("%s: task %d, row %d: output %d of %d is %g: %s", set.Name, i, j/set.Dy, j%set.Dy+1, set.Dy, v, what)
		}
	}
	return nil
}

// options are those of the populations, and of interpolations to compare with.
func (p *Population) options(dim int) krige.Options {
	return krige.Options{Dim: dim, Sphere: p.Sphere, DifferentUnits: p.DifferentUnits}
}

// fit estimates a population for each output, in units in which the values of all tasks have mean 0 and deviation 1, or in their own if
// one of the outputs is on another scale.
func (p *Population) fit(ctx context.Context, set *task.CurveSet, values []krige.Values) (*krige.PopulationRegressor[float32], error) {
	cfg := cnp.Default(krige.PopulationArchitecture, "", set.Dy)
	cfg.DimX = set.Dx
	if slices.ContainsFunc(values, func(v krige.Values) bool { return v != krige.Plain }) {
		cfg.Likelihood = likelihood.BentName // which knows no other units
	}
	if p.Sphere {
		cfg.Placement = cnp.PlacementSphere
	}
	var err error
	if cfg.Trained, err = witnessed(source(set), cfg, p.Seed); err != nil {
		return nil, err
	}
	cfg.Likelihood, cfg.Trained.Context = "", [2]int{}
	cfg.Trained.Marks = marksOf(source(set))
	cfg.Trained.Marks = cfg.Trained.Marks[:min(len(cfg.Trained.Marks), mostMarks)]
	for _, c := range set.Curves {
		cfg.Trained.Context[1] = max(cfg.Trained.Context[1], len(c.X)/set.Dx)
	}
	units := cfg.Trained.Units
	of := make([]*krige.Population, set.Dy)
	for k := range of {
		xs, ys := make([][]float64, len(set.Curves)), make([][]float64, len(set.Curves))
		for i, c := range set.Curves {
			for row := range len(c.X) / set.Dx {
				y := c.Y[row*set.Dy+k]
				if math.IsNaN(y) {
					continue
				}
				for d, u := range units.X {
					xs[i] = append(xs[i], u.Apply(c.X[row*set.Dx+d]))
				}
				ys[i] = append(ys[i], units.Y[k].Apply(y))
			}
		}
		opt := p.options(set.Dx)
		opt.Values = values[k]
		if of[k], err = krige.FitPopulation(ctx, xs, ys, opt); err != nil {
			return nil, fmt.Errorf("%s: output %d of %d: %w", set.Name, k+1, set.Dy, err)
		}
		if of[k] == nil {
			return nil, fmt.Errorf("%s: output %d of %d: a population needs at least eight tasks with eight values each, not all equal",
				set.Name, k+1, set.Dy)
		}
	}
	return krige.NewPopulationModel(cfg, of...)
}

// source returns the tasks of a set in their order, 3 to 49 values of each as its context.
func source(set *task.CurveSet) task.CurveSetSource[float32] {
	return task.CurveSetSource[float32]{Set: set, MinContext: DefaultMinContext, MaxContext: DefaultMaxContext, Gaps: set.Dy > 1,
		InOrder: true, Unobserved: true}
}

// scoredTasks is how many held out tasks a score is of at most.
const scoredTasks = 256

// score compares a model on held out tasks with the interpolation of each on its own.
func (p *Population) score(ctx context.Context, m *krige.PopulationRegressor[float32], set *task.CurveSet,
	values []krige.Values) (*PopulationScore, error) {
	alone, err := krige.NewRegressor(p.options(set.Dx))
	if err != nil {
		return nil, err
	}
	s := &PopulationScore{Tasks: min(len(set.Curves), scoredTasks)}
	scores, err := eval.Scores(ctx, []eval.Predictor[float32]{eval.Model(cnp.Standardised[float32](m)),
		eval.Model[float32](alone.OutputsOf(values))}, source(set), eval.Options{Tasks: s.Tasks, Seed: p.Seed})
	if err != nil {
		return nil, err
	}
	level := eval.PairedOf(scores[0], make([]float64, len(scores[0])))
	s.LogLikelihood, s.Error, s.Gain = level.Mean, level.Error, eval.PairedOf(scores[0], scores[1])
	return s, nil
}
