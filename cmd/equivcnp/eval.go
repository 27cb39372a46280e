package main

import (
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/picture"
)

// evalFlags are the flags of equivcnp eval.
type evalFlags struct {
	model   modelFlags
	tasks   taskFlags
	n       int
	seed    uint64
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
		Use:                   "eval --model M (--kernel K | --benchmark P | --sphere P | --field F | --plane P | --digits | --images DIR | --mnist FILE | --csv FILE | --in FILE)",
		DisableFlagsInUseLine: true,
		Short:                 "Measure a model on many tasks",
		Long: `Measure a model: the log-likelihood per value, mean and standard deviation over tasks; the squared
error of the predicted means; how much of the truth the predicted intervals hold (calibration); and
how far predictions are from moving with the data (equivariance).

The tasks are the paper's tests unless flags say otherwise: curves at 400 even places on [-4, 4], 3
to 49 of them observed; digits turned by up to 90 degrees and scaled by 0.3 to 0.45, 1 % to 50 % of
the pixels observed. A seed stands for the same tasks on every machine. The tasks of a file are
taken in order, each once unless --tasks says how many.

With --joint, all values of a task are judged together, too, by the chain rule: each is predicted given
the context and the true values before it. Printed per value, with standard errors, beside what
independent predictions give on the same tasks. An image takes up to as many predictions as it has
pixels; --block takes several at a time, --growth more and more.`,
		Example: `  equivcnp eval --model rbf_equivcnp.pth --kernel rbf
  equivcnp eval --model digits-T2-small --digits --tasks 100 --picture digits.png
  equivcnp eval --model rbf-equivcnp --kernel rbf --joint --joint-tasks 100
  equivcnp eval --model photos.safetensors --images photos --json`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error { return a.eval(cmd, &f) })
	f.model.register(a, cmd)
	f.model.registerLattice(cmd)
	f.model.registerPrecision(cmd)
	f.tasks.register(a, cmd)
	fl := cmd.Flags()
	fl.IntVarP(&f.n, "tasks", "n", 0, "number of tasks (default: 1000, or all that a file has)")
	fl.Uint64Var(&f.seed, "seed", 1000, "seed of the tasks")
	fl.IntVar(&f.moved, "equivariance-tasks", 16, "number of tasks on which equivariance is measured; 0: not")
	fl.StringVar(&f.picture, "picture", "", "drawing of the first four tasks: .png, for curves also .svg")
	fl.BoolVar(&f.joint, "joint", false, "measure the values of a task together, too, by the chain rule")
	fl.IntVar(&f.jointly, "joint-tasks", 0, "--joint: number of tasks (default: 100 of curves, 4 of images, or --tasks if that is less)")
	fl.StringSliceVar(&f.compare, "compare", nil, "other models' files, or for curves idw (inverse-distance weighting) and kriging:KERNEL (universal kriging with\na kernel like 4*matern32(2)+noise(0.1)), measured on the same tasks: differences come with paired standard errors")
	f.chain.registerOrder(cmd)
	f.memory.register(cmd)
	standardiseFlag(fl, &f.standardise)
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
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

// limits on what flags may ask for.
const maxTasks = 1 << 24

func (a *app) eval(cmd *cobra.Command, f *evalFlags) error {
	switch {
	case f.n < 0 || f.n > maxTasks:
		return usagef("--tasks %d: need 1 to %d, or 0 for all", f.n, maxTasks)
	case f.moved < 0 || f.moved > maxTasks:
		return usagef("--equivariance-tasks %d: need 0 to %d", f.moved, maxTasks)
	case f.jointly < 0 || f.jointly > maxTasks:
		return usagef("--joint-tasks %d: need 0 to %d", f.jointly, maxTasks)
	}
	if err := errors.Join(f.chain.check(), f.model.exactly(f.joint, "--joint", "the chain rule")); err != nil {
		return err
	}
	ctx, r := cmd.Context(), &result{}
	model, err := f.model.load(ctx)
	if err != nil {
		return err
	}
	cfg := model.Config()
	r.notes = append(r.notes, f.model.precisionNotes(&cfg)...)
	format := ""
	if f.picture != "" {
		if format, err = plotFormat(f.picture); err != nil {
			return usageError{fmt.Errorf("--picture: %w", err)}
		}
		if cfg.Architecture.Image() && format != "png" {
			return usagef("--picture: images are drawn as .png")
		}
		if !cfg.Architecture.Image() && cfg.DimX != 1 {
			return usagef("--picture: curves with %d coordinates cannot be drawn", cfg.DimX)
		}
	}
	outs, err := a.outputs(append(f.tasks.inputs(), f.model.path), outFile{"picture", f.picture, plotFiles})
	if err != nil {
		return err
	}
	defer outs.discard()
	src, size, err := f.tasks.source(ctx, r, cfg, cmd.Flags().Changed)
	if err != nil {
		return err
	}
	n := f.n
	switch {
	case n == 0 && size > 0:
		n = size
	case n == 0:
		n = 1000
	}

	if err := unscaled(&cfg, f.standardise); err != nil {
		return err
	}
	work := workOf(task.Standardised[float32]{Source: src, Config: cfg}, eval.DefaultBatch)
	work.Weights = implicitWeights
	limit, err := f.memory.limit()
	if err != nil {
		return err
	}
	if model, err = within(r, model, work, limit); err != nil {
		return err
	}
	need, err := cnp.EstimateModel(model, work)
	if err := f.memory.check(need, err, "--size, --targets or interval"); err != nil {
		return err
	}
	// Notes about what lies outside the trained range are those of the first tasks; a file often has no more.
	first, err := src.Batch(min(n, eval.DefaultBatch), f.seed, 0)
	if err != nil {
		return err
	}
	judged := model
	switch {
	case first.Images != nil:
		r.cautions = cnp.ImageNotes(&cfg, first.Images)
	case first.Curves != nil && (f.tasks.kernel == "" && f.tasks.benchmark == "" && f.tasks.sphere == "" && f.tasks.field == "" && f.tasks.plane == "" || cfg.HasUnits()):
		r.cautions = cnp.Notes(&cfg, first.Curves)
		if m, ok := model.(cnp.Regressor[float32]); ok && f.standardise {
			judged = cnp.Standardised(m)
			if cnp.OtherScale(&cfg, first.Curves) > 0 {
				r.note("standardised: tasks of another scale are brought into the model's range and back (--standardise=false: as they are)")
			}
		}
	}
	start := time.Now()
	report, done := a.bar("measuring")
	defer done()
	opt := eval.Options{Tasks: n, Seed: f.seed, Progress: report}
	rep, err := eval.Run(ctx, eval.Model(judged), src, opt)
	if err != nil {
		return err
	}
	var process *eval.JointReport
	if s, ok := src.(task.ExactSource[float32]); ok && s.Gaussian() {
		if process, err = eval.Joint(ctx, eval.Independent(eval.Model(judged)), src, opt); err != nil {
			return err
		}
	}
	compared, err := f.compared(ctx, judged, src, opt, r)
	if err != nil {
		return err
	}
	together := opt
	if together.Tasks = f.jointly; f.jointly == 0 {
		together.Tasks = min(n, 100)
		if first.Images != nil {
			together.Tasks = min(n, 4)
		}
	}
	var joint, independent *eval.JointReport
	if f.joint {
		together.Batch = 1 // standard errors are of batches
		if independent, err = eval.Joint(ctx, eval.Independent(eval.Model(judged)), src, together); err != nil {
			return err
		}
		if joint, err = eval.Joint(ctx, eval.Chained(judged, cnp.Chain{Order: cnp.Order(f.chain.order), Block: f.chain.block, Growth: f.chain.growth, Seed: f.seed}), src, together); err != nil {
			return err
		}
	}
	var moved []eval.Difference
	if f.moved > 0 {
		opt.Tasks, opt.Progress = min(f.moved, n), nil
		moved, err = eval.Equivariance(ctx, judged, src, opt)
		if errors.Is(err, cnp.ErrRange) { // moved apart, a batch's tasks may need too large a lattice
			r.note("equivariance is not measured: %v", err)
		} else if err != nil {
			return err
		}
	}
	seconds := time.Since(start).Seconds()
	done()
	if rep.Tasks == 0 {
		return fmt.Errorf("none of %s has a value whose prediction is finite", plural(n, "task"))
	}
	if rep.NotFinite > 0 {
		r.note("%s predicted as no distribution, and left out", plural(rep.NotFinite, "value"))
	}
	if f.picture != "" {
		title := fmt.Sprintf("%s    log-likelihood %.4f over %s", f.model.describe(cfg), rep.LogLikelihood.Mean, plural(rep.Tasks, "task"))
		opt.Tasks, opt.Batch = min(n, drawnTasks), 0
		err := outs.write("picture", func(w io.Writer) error { return drawTasks(ctx, w, format, title, judged, src, opt) })
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := outs.commit(); err != nil {
			return err
		}
	}

	r.line("model", "%s", f.model.describe(cfg))
	r.line("tasks", "%d with seed %d: %v", rep.Tasks, f.seed, src)
	r.line("log-likelihood", "%.4f ± %.4f per value", rep.LogLikelihood.Mean, rep.LogLikelihood.Std)
	r.line("squared error", "%.4f ± %.4f, its root over all values %.4f", rep.SquaredError.Mean, rep.SquaredError.Std, rep.RMSE)
	var held []string
	for _, l := range rep.Levels {
		if l.Nominal == 0.5 || l.Nominal >= 0.9 {
			held = append(held, fmt.Sprintf("%.0f %%: %.1f %%", 100*l.Nominal, 100*l.Observed))
		}
	}
	r.line("intervals hold", "%s; error %.3f", strings.Join(held, ", "), rep.CalibrationError)
	r.line("spread", "%.4f mean, (error/spread)² %.3f", rep.Spread, rep.ZSquare)
	if process != nil {
		r.line("behind the process", "%.4f ± %.4f per value, the best independent prediction %.4f", process.KL.Mean,
			process.KL.Error, process.Diagonal.Mean)
	}
	for _, c := range compared[min(1, len(compared)):] {
		r.line(c.Model, "%.4f per value, RMSE %.4f; that is %+.4f ± %.4f likelier, and %+.4f ± %.4f in squared error", float64(c.Report.LogLikelihood.Mean), float64(c.Report.RMSE),
			c.LogLikelihood.Mean, c.LogLikelihood.Error, c.SquaredError.Mean, c.SquaredError.Error)
	}
	if joint != nil {
		r.line("jointly", "%.4f ± %.4f per value by the chain rule, %.4f ± %.4f independently, standard errors over %s",
			joint.LogLikelihood.Mean, joint.LogLikelihood.Error, independent.LogLikelihood.Mean, independent.LogLikelihood.Error, plural(joint.Tasks, "task"))
	}
	for _, d := range moved {
		r.line("equivariance", "%s: means differ by %.2g (at most %.2g), spreads by %.2g, log-likelihood by %.2g",
			d.Move, d.MeanRMS, d.MeanMax, d.StdRMS, d.LogLikelihood)
	}
	r.line("time", "%.1f s", seconds)
	if f.picture != "" {
		r.line("written", "%s", f.picture)
	}
	return a.print(r, evalResult{Model: f.model.path, Architecture: string(cfg.Architecture), Group: cfg.Group, Source: fmt.Sprint(src), Seed: f.seed,
		Report: rep, Process: process, Compared: compared, Joint: joint, Independent: independent, Equivariance: append([]eval.Difference{}, moved...), Seconds: number(seconds), Picture: f.picture, Notes: r.allNotes()})
}

// drawnTasks is the number of tasks that a picture shows.
const drawnTasks = 4

// drawTasks draws the first tasks of a source with their predictions.
func drawTasks(ctx context.Context, w io.Writer, format, title string, model cnp.Model[float32], src task.Source[float32], opt eval.Options) error {
	var curves []picture.Curve
	sheet := picture.Sheet{Title: title}
	predict := eval.Model(model)
	err := eval.Tasks(ctx, src, opt, func(b *task.Tasks[float32], n int) error {
		p, err := predict(ctx, b)
		if err != nil {
			return err
		}
		for i := range n {
			var m eval.Meter
			if b.Curves != nil {
				curves = append(curves, drawnCurve(b, p, i)...)
				continue
			}
			im := b.Images
			per := im.C * im.H * im.W
			lo, hi := i*per, (i+1)*per
			known := b.Known
			if known != nil {
				known = known[lo:hi]
			}
			eval.AddTask(&m, p.Slice(lo, hi), b.Y[lo:hi], known)
			mask := im.Mask[i*im.H*im.W : (i+1)*im.H*im.W]
			sheet.Scale = max(1, 192/max(im.H, im.W))
			sheet.Rows = append(sheet.Rows, completionRow(im, b.Y[lo:hi], known, mask, p.Mean[lo:hi], p.Std[lo:hi], m.Report().LogLikelihood.Mean))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(sheet.Rows) > 0 {
		return png.Encode(w, sheet.Draw())
	}
	return picture.WriteCurves(w, format, title, curves)
}

// completionRow shows one completed image: context, mean, standard deviation, truth as far as it is known.
func completionRow(im *cnp.Images[float32], truth []float32, known, mask []bool, mean, std []float32, ll float64) []picture.Panel {
	label := fmt.Sprintf("%.1f %% observed", 100*share(mask))
	highest := float64(0)
	for _, s := range std {
		highest = max(highest, float64(s))
	}
	panel := func(label string, pix []float32) picture.Panel {
		return picture.Panel{Label: label, C: im.C, H: im.H, W: im.W, Pix: pix}
	}
	context, spread := panel(label, truth), panel(fmt.Sprintf("std, up to %.3g", highest), std)
	context.Mask, spread.Spread, spread.MaxSpread = mask, true, highest
	whole := panel("truth", truth)
	if n := im.H * im.W; known != nil {
		whole.Mask = slices.Repeat([]bool{true}, n)
		for i, ok := range known {
			whole.Mask[i%n] = whole.Mask[i%n] && ok
		}
	}
	return []picture.Panel{context, panel(fmt.Sprintf("mean, log-likelihood %.3f", ll), mean), spread, whole}
}

// share is that of the pixels which a mask observes.
func share(mask []bool) float64 {
	return float64(counted(mask, len(mask))) / float64(len(mask))
}

// drawnCurve shows task i of a batch with one coordinate, one curve per output.
func drawnCurve(b *task.Tasks[float32], p *cnp.Prediction[float32], i int) []picture.Curve {
	c := b.Curves
	dy, counts := len(b.Y)/(c.B*c.Nt), b.Counts()
	out := make([]picture.Curve, dy)
	for d := range out {
		out[d] = picture.Curve{XLabel: "x", YLabel: names("y", dy)[d]}
		for k := i * c.Nt; k < (i+1)*c.Nt; k++ {
			if counts == nil || counts[k*dy+d] {
				addValue(&out[d], c.XTarget[k], p, k*dy+d)
				out[d].Truth = append(out[d].Truth, float64(b.Y[k*dy+d]))
			}
		}
		for k := i * c.Nc; k < (i+1)*c.Nc; k++ {
			if y := c.YContext[k*dy+d]; (c.ContextMask == nil || c.ContextMask[k]) && y == y {
				out[d].ContextX, out[d].ContextY = append(out[d].ContextX, c.XContext[k]), append(out[d].ContextY, float64(c.YContext[k*dy+d]))
			}
		}
	}
	return out
}
