package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/reproduce"
	"github.com/equivcnp/equivcnp/internal/words"
)

// evalFlags are the flags of equivcnp eval.
type evalFlags struct {
	model   modelFlags
	tasks   taskFlags
	moved   int
	picture string
	memory  memoryFlag
	compare []string
	joint   bool
	jointly int // tasks of --joint
	chain   chainFlags

	standardise bool // of files
}

func (a *app) evalCommand() *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:                   "eval --model M " + taskKinds.Usage(),
		DisableFlagsInUseLine: true,
		Short:                 "Measure a model on many tasks",
		Long:                  helpText("eval"),
		Example: `  equivcnp eval --model rbf_equivcnp.pth --kernel rbf
  equivcnp eval --model digits-T2-small --digits --tasks 100 --picture digits.png
  equivcnp eval --model rbf-levels --kernel rbf --joint --joint-tasks 100
  equivcnp eval --model photos.safetensors --images photos --json`,
		Args: noArguments,
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error { return a.eval(cmd, &f) })
	f.model.register(a, cmd)
	f.model.registerLattice(cmd)
	f.model.registerPrecision(cmd)
	f.tasks.register(a, cmd, 1000, 1000)
	fl := cmd.Flags()
	fl.IntVar(&f.moved, "equivariance-tasks", 16, "number of tasks on which to measure equivariance; 0: none")
	fl.StringVar(&f.picture, "picture", "", "drawing of the first four tasks: .png, for curves also .svg")
	fl.BoolVar(&f.joint, "joint", false, "also measure the joint log-likelihood of each task, by the chain rule")
	fl.IntVar(&f.jointly, "joint-tasks", 0, "--joint: number of tasks (default: 100 curves or 4 images, or --tasks if that is less)")
	fl.StringSliceVar(&f.compare, "compare", nil,
		"also measure other models on the same tasks, with paired standard errors of the differences: files, or for "+
			"curves idw (inverse-distance weighting) "+
			"and kriging:KERNEL (universal kriging, for example kriging:4*matern32(2)+noise(0.1))")
	f.chain.registerOrder(cmd)
	f.memory.register(cmd)
	standardiseFlag(fl, &f.standardise)
	a.jsonFlag(cmd)
	must(cmd.MarkFlagFilename("picture", "png", "svg"))
	return cmd
}

// evalResult is what eval --json prints.
type evalResult struct {
	Model        string            `json:"model"`
	Architecture string            `json:"architecture"`
	Group        string            `json:"group,omitempty"`
	Source       string            `json:"source"`
	Seed         uint64            `json:"seed"`
	Report       *eval.Report      `json:"report"`
	Process      *eval.JointReport `json:"process,omitempty"` // of --benchmark and --field
	// Compared are --model and those of --compare, on the same tasks.
	Compared []comparedResult `json:"compared,omitempty"`
	// Joint and Independent are of --joint, on the same tasks.
	Joint        *eval.JointReport `json:"joint,omitempty"`
	Independent  *eval.JointReport `json:"independent,omitempty"`
	Equivariance []eval.Difference `json:"equivariance"`
	Seconds      number            `json:"seconds"`
	Picture      string            `json:"picture,omitempty"`
	Notes        []string          `json:"notes"`
}

// check refuses flags that ask for nothing, or for too much.
func (f *evalFlags) check() error {
	switch {
	case f.moved < 0 || f.moved > maxTasks:
		return cli.Usagef("--equivariance-tasks %d: need 0 to %d", f.moved, maxTasks)
	case f.jointly < 0 || f.jointly > maxTasks:
		return cli.Usagef("--joint-tasks %d: need 0 to %d", f.jointly, maxTasks)
	}
	return errors.Join(f.tasks.check(), f.chain.check(), f.model.exactly(f.joint, "--joint", "the chain rule"))
}

// pictureFormat is the format of --picture for a model, "" without.
func (f *evalFlags) pictureFormat(cfg *cnp.Config) (format string, err error) {
	if f.picture == "" {
		return "", nil
	}
	if format, err = plotFormat("picture", f.picture); err != nil {
		return "", err
	}
	switch image := cfg.Architecture.Image(); {
	case image && format != "png":
		return "", cli.Usagef("--picture: images are drawn as .png")
	case !image && cfg.DimX != 1:
		return "", cli.Usagef("--picture: curves with %d coordinates cannot be drawn", cfg.DimX)
	}
	return format, nil
}

// evaluation is a model that is measured on tasks.
type evaluation struct {
	*evalFlags
	cfg    cnp.Config
	model  cnp.Model[float32] // as it is judged
	src    task.Source[float32]
	opt    eval.Options
	images bool
	r      *result
}

func (a *app) eval(cmd *cobra.Command, f *evalFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx := cmd.Context()
	e := &evaluation{evalFlags: f, r: &result{}}
	var err error
	if e.model, err = f.model.load(ctx); err != nil {
		return err
	}
	e.cfg = e.model.Config()
	e.r.Notes = append(e.r.Notes, f.model.precisionNotes(&e.cfg)...)
	format, err := f.pictureFormat(&e.cfg)
	if err != nil {
		return err
	}
	outs, err := a.outputs(append(f.tasks.inputs(), f.model.path), cli.Out("picture", f.picture, plotFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	if err := e.prepare(ctx); err != nil {
		return err
	}
	start := time.Now()
	report, done := cli.Tasks(a.stderr, "measuring", a.quiet, !a.json)
	defer done()
	e.opt.Progress = report
	res, err := e.measure(ctx)
	if err != nil {
		return err
	}
	res.Seconds = number(time.Since(start).Seconds())
	done()
	if f.picture != "" {
		title := fmt.Sprintf("%s    log-likelihood %.4f over %s", f.model.describe(e.cfg), res.Report.LogLikelihood.Mean,
			words.Plural(res.Report.Tasks, "task"))
		drawn := eval.Options{Tasks: min(e.opt.Tasks, reproduce.DrawnTasks), Seed: f.tasks.seed}
		if err := e.r.drawn(outs.Draw("picture", func(w io.Writer) error {
			return reproduce.DrawTasks(ctx, w, format, title, e.model,
				e.src, drawn)
		})); err != nil {
			return err
		}
		if err := outs.CommitUnlessDone(ctx); err != nil {
			return err
		}
	}
	res.Notes = e.r.AllNotes()
	e.lines(res)
	return a.print(e.r, res)
}

// prepare reads the tasks, keeps the model within its memory, and finds out in which units it is judged.
func (e *evaluation) prepare(ctx context.Context) error {
	src, size, err := e.tasks.source(ctx, e.r, &e.cfg)
	if err != nil {
		return err
	}
	e.src, e.opt = src, eval.Options{Tasks: e.tasks.count(size), Seed: e.tasks.seed}
	if err := unscaled(&e.cfg, e.standardise); err != nil {
		return err
	}
	work := workOf(task.Standardised[float32]{Source: src, Config: e.cfg}, eval.DefaultBatch)
	work.Weights = implicitWeights
	limit, err := e.memory.limit()
	if err != nil {
		return err
	}
	if e.model, err = within(e.r, e.model, work, limit); err != nil {
		return err
	}
	need, err := cnp.EstimateModel(e.model, work)
	if err := e.memory.check(need, err, "--size, --targets or interval"); err != nil {
		return err
	}
	// Notes about what lies outside the trained range are those of the first tasks; a file often has no more.
	first, err := src.Batch(min(e.opt.Tasks, eval.DefaultBatch), e.tasks.seed, 0)
	if err != nil {
		return err
	}
	if e.images = first.Images != nil; e.images {
		e.r.Cautions = cnp.ImageNotes(&e.cfg, first.Images)
		return nil
	}
	if e.tasks.drawn() && !e.cfg.HasUnits() {
		return nil
	}
	e.r.Cautions = cnp.Notes(&e.cfg, first.Curves)
	if m, ok := e.model.(cnp.Regressor[float32]); ok && e.standardise {
		e.model = cnp.Standardised(m)
		if cnp.OtherScale(&e.cfg, first.Curves) > 0 {
			e.r.Note("standardised: tasks of another scale are brought into the model's range and back (--standardise=false: as they are)")
		}
	}
	return nil
}

// measure measures all that the flags ask for.
func (e *evaluation) measure(ctx context.Context) (*evalResult, error) {
	res := &evalResult{Model: e.evalFlags.model.path, Architecture: string(e.cfg.Architecture), Group: e.cfg.Group,
		Source: e.src.String(), Seed: e.tasks.seed,
		Picture: e.picture, Equivariance: []eval.Difference{}}
	var err error
	if res.Report, err = eval.Run(ctx, eval.Model(e.model), e.src, e.opt); err != nil {
		return nil, err
	}
	if s, ok := e.src.(task.ExactSource[float32]); ok && s.Gaussian() {
		if res.Process, err = eval.Joint(ctx, eval.Independent(eval.Model(e.model)), e.src, e.opt); err != nil {
			return nil, err
		}
	}
	if res.Compared, err = e.compared(ctx, e.model, e.src, e.opt, e.r); err != nil {
		return nil, err
	}
	if e.joint {
		if res.Joint, res.Independent, err = e.together(ctx); err != nil {
			return nil, err
		}
	}
	if e.moved > 0 {
		found, err := eval.Equivariance(ctx, e.model, e.src, eval.Options{Tasks: min(e.moved, e.opt.Tasks), Seed: e.tasks.seed})
		if errors.Is(err, cnp.ErrRange) { // moved apart, a batch's tasks may need too large a lattice
			e.r.Note("equivariance is not measured: %v", err)
		} else if err != nil {
			return nil, err
		}
		res.Equivariance = append(res.Equivariance, found...)
	}
	if res.Report.Tasks == 0 {
		return nil, fmt.Errorf("none of %s has a value to score whose prediction is finite", words.Plural(e.opt.Tasks, "task"))
	}
	if n := res.Report.NotFinite; n > 0 {
		e.r.Note("%s predicted as no distribution, and left out", words.Plural(n, "value"))
	}
	return res, nil
}

// together measures the values of a task together, by the chain rule, and independently on the same tasks.
func (e *evaluation) together(ctx context.Context) (joint, independent *eval.JointReport, err error) {
	opt := e.opt
	opt.Batch = 1 // standard errors are of batches
	if opt.Tasks = e.jointly; e.jointly == 0 {
		opt.Tasks = min(e.opt.Tasks, 100)
		if e.images {
			opt.Tasks = min(e.opt.Tasks, 4)
		}
	}
	if independent, err = eval.Joint(ctx, eval.Independent(eval.Model(e.model)), e.src, opt); err != nil {
		return nil, nil, err
	}
	chain := cnp.Chain{Order: cnp.Order(e.chain.order), Block: e.chain.block, Growth: e.chain.growth, Seed: e.tasks.seed}
	joint, err = eval.Joint(ctx, eval.Chained(e.model, chain), e.src, opt)
	return joint, independent, err
}

// lines print the result.
func (e *evaluation) lines(res *evalResult) {
	r, rep := e.r, res.Report
	r.Line("model", "%s", e.evalFlags.model.describe(e.cfg))
	r.Line("tasks", "%d with seed %d: %v", rep.Tasks, res.Seed, res.Source)
	r.Line("log-likelihood", "%.4f ± %.4f per value", rep.LogLikelihood.Mean, rep.LogLikelihood.Std)
	r.Line("squared error", "%.4g ± %.4g, its root over all values %.4g", rep.SquaredError.Mean, rep.SquaredError.Std, rep.RMSE)
	var held []string
	for _, l := range rep.Levels {
		if l.Nominal == 0.5 || l.Nominal >= 0.9 {
			held = append(held, fmt.Sprintf("%.0f %%: %.1f %%", 100*l.Nominal, 100*l.Observed))
		}
	}
	r.Line("intervals hold", "%s; error %.3f", strings.Join(held, ", "), rep.CalibrationError)
	r.Line("spread", "%.4g mean, (error/spread)² %.3f", rep.Spread, rep.ZSquare)
	if p := res.Process; p != nil {
		r.Line("behind the process", "%.4f ± %.4f per value, the best independent prediction %.4f", p.KL.Mean, p.KL.Error, p.Diagonal.Mean)
	}
	for _, c := range res.Compared[min(1, len(res.Compared)):] {
		r.Line(c.Model, "%.4f per value, RMSE %.4g; that is %+.4f ± %.4f likelier, and %+.4g ± %.4g in squared error",
			float64(c.Report.LogLikelihood.Mean), float64(c.Report.RMSE),
			c.LogLikelihood.Mean, c.LogLikelihood.Error, c.SquaredError.Mean, c.SquaredError.Error)
	}
	if j := res.Joint; j != nil {
		r.Line("jointly", "%.4f ± %.4f per value by the chain rule, %.4f ± %.4f independently, standard errors over %s",
			j.LogLikelihood.Mean, j.LogLikelihood.Error, res.Independent.LogLikelihood.Mean, res.Independent.LogLikelihood.Error,
			words.Plural(j.Tasks, "task"))
	}
	for _, d := range res.Equivariance {
		r.Line("equivariance", "%s: means differ by %.2g (at most %.2g), spreads by %.2g, log-likelihood by %.2g",
			d.Move, d.MeanRMS, d.MeanMax, d.StdRMS, d.LogLikelihood)
	}
	r.Line("time", "%.1f s", float64(res.Seconds))
	if res.Picture != "" {
		r.Line("written", "%s", res.Picture)
	}
}
