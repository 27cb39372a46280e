package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/plot"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/words"
)

// sampleFlags are the flags of equivcnp sample.
type sampleFlags struct {
	model       modelFlags
	input       tabletask.Options
	in          string
	chain       chainFlags
	out, plot   string
	memory      memoryFlag
	standardise bool
	oneTable    oneTableFlags
}

func (a *app) sampleCommand() *cobra.Command {
	var f sampleFlags
	cmd := &cobra.Command{
		Use: "sample [--model M] (--csv data.csv (--from -4 --to 4 | --targets t.csv) | --in " +
			"tasks.safetensors) --out samples.csv",
		DisableFlagsInUseLine: true,
		Short:                 "Draw whole curves or images jointly",
		Long:                  helpText("sample"),
		Example:               helpExamples("sample"),
		Args:                  noArguments,
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		err := errors.Join(f.chain.check(), f.oneTable.check(f.model.path))
		if f.in == "" {
			err = errors.Join(err, checkTargets(&f.input, cmd.Flags().Changed))
		}
		if f.chain.samples == 0 {
			err = errors.Join(err, cli.Usagef("--samples 0: need 1 to %d", maxSamples))
		}
		if err != nil {
			return err
		}
		return a.sample(cmd.Context(), &f)
	})
	f.model.register(a, cmd)
	optionalModel(cmd)
	f.model.registerLattice(cmd)
	taskOptionsVar(a, cmd, &f.input)
	f.chain.register(cmd, 20, false, true)
	fl := cmd.Flags()
	fl.StringVarP(&f.in, "in", "i", "", "file of tasks, curves or images: .safetensors, .npz or .nc")
	fl.StringVarP(&f.out, "out", "o", "", "samples, required: .csv, .tsv, .parquet, .npz or .nc; of --in .safetensors, .npz or .nc")
	fl.StringVar(&f.plot, "plot", "", "--csv: drawing of prediction and samples, .png or .svg")
	f.memory.register(cmd)
	standardiseFlag(fl, &f.standardise)
	noCheckFlag(fl, &f.oneTable.NoCheck)
	f.oneTable.register(fl)
	a.jsonFlag(cmd)
	must(cmd.MarkFlagRequired("out"))
	must(cmd.MarkFlagFilename("in", "safetensors"))
	must(cmd.MarkFlagFilename("plot", "png", "svg"))
	must(cmd.MarkFlagFilename("out", "csv", "safetensors"))
	cmd.MarkFlagsOneRequired("csv", "in")
	for _, name := range []string{"csv", "targets", "grid", "from", "to", "points", "plot"} {
		cmd.MarkFlagsMutuallyExclusive("in", name)
	}
	return cmd
}

// sampleResult is what sample --json prints.
type sampleResult struct {
	Model         string `json:"model"`
	Architecture  string `json:"architecture"`
	Group         string `json:"group,omitempty"`
	Tasks         int    `json:"tasks"`
	ContextPoints int    `json:"context_points"`
	Targets       int    `json:"targets"`
	Samples       int    `json:"samples"`
	Seed          uint64 `json:"seed"`
	Knots         int    `json:"knots,omitempty"`
	Seconds       number `json:"seconds"`
	Out           string `json:"out"`
	Plot          string `json:"plot,omitempty"`
	// Check says whether the model suits the data.
	Check *predict.Checked `json:"check,omitempty"`
	Notes []string         `json:"notes"`
}

func (a *app) sample(ctx context.Context, f *sampleFlags) error {
	endings := tableFiles
	format, err := plotFormat("plot", f.plot)
	if err != nil {
		return err
	}
	if f.in != "" {
		endings = taskFiles
	}
	outs, err := a.outputs([]string{f.model.path, f.input.CSV, f.input.Targets, f.input.Static, f.in},
		cli.Out("out", f.out, endings),
		cli.Out("plot", f.plot, plotFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	d := drawing{app: a, flags: f, outs: outs, r: &result{}, format: format}
	if err := d.open(ctx); err != nil {
		return err
	}
	switch m := d.model.(type) {
	case cnp.Regressor[float32]:
		if d.file != nil {
			err = d.curvesOf(ctx, m)
		} else {
			err = d.curve(ctx, m)
		}
	case cnp.Completer[float32]:
		if d.file == nil {
			return cli.Usagef("a model of images draws those of --in; \"equivcnp complete --samples\" those of a picture")
		}
		err = d.images(ctx, m)
	}
	if err != nil {
		return err
	}
	if err := outs.CommitUnlessDone(ctx); err != nil {
		return err
	}
	if d.file != nil {
		if extra := d.file.Unused(); len(extra) > 0 {
			d.r.Note("tensors that this model does not read: %q", extra)
		}
	}
	r, res := d.r, d.res
	r.Line("model", "%s", f.model.describe(d.cfg))
	r.Line("tasks", "%d", res.Tasks)
	r.Line("context", "%s", words.Plural(res.ContextPoints, "point"))
	r.Line("targets", "%d", res.Targets)
	r.Line("samples", "%d of each task", f.chain.samples)
	if res.Knots > 0 {
		r.Line("", "functions of up to %s", words.Plural(res.Knots, "knot"))
	}
	r.Line("time", "%.2f s", d.seconds)
	r.Written(outs)
	res.Model, res.Architecture, res.Group = f.model.path, string(d.cfg.Architecture), d.cfg.Group
	res.Samples, res.Seed, res.Seconds, res.Out, res.Plot, res.Notes = f.chain.samples, f.chain.seed, number(d.seconds), f.out,
		f.plot, r.AllNotes()
	return a.print(r, res)
}

// drawing is a run of equivcnp sample.
type drawing struct {
	app     *app
	flags   *sampleFlags
	outs    *cli.Outputs
	r       *result
	file    *taskfile.File // or
	table   *tabletask.Task
	model   cnp.Model[float32]
	cfg     cnp.Config
	format  string
	res     sampleResult
	seconds float64
}

// open reads the tasks and opens the model, or where there is none the interpolation of the tasks.
func (d *drawing) open(ctx context.Context) (err error) {
	f := d.flags
	if f.model.path != "" {
		if d.model, err = f.model.load(ctx); err != nil { // before a table is read that may be large
			return err
		}
	}
	if f.in != "" {
		d.file, err = fromInput(ctx, d.app, f.in, taskfile.Open, taskfile.Decode)
	} else if _, images := d.model.(cnp.Completer[float32]); !images {
		d.table, err = readTask(ctx, &f.input)
	}
	if err == nil && d.model == nil {
		if d.file != nil {
			d.model, err = f.model.universalOfFile(d.file, f.in, f.oneTable.Options)
		} else {
			f.oneTable.Sphere = f.input.Sphere > 0
			d.model, err = f.model.universalOfTable(&f.input.Columns, d.table.Points, f.oneTable.Options)
		}
	}
	if err != nil {
		return err
	}
	d.cfg = d.model.Config()
	return nil
}

// curve draws the task of a CSV file.
func (d *drawing) curve(ctx context.Context, m cnp.Regressor[float32]) error {
	f := d.flags
	if f.plot != "" && d.cfg.DimX != 1 {
		return fmt.Errorf("--plot: the model has %d input coordinates, a curve needs one", d.cfg.DimX)
	}
	t := d.table
	f.input.Model = f.model.path
	if err := t.Fit(&f.input, &d.cfg); err != nil {
		return err
	}
	b := t.Batch
	drawn, err := d.draw(ctx, m, b, f.plot != "", t)
	if err != nil {
		return err
	}
	d.r.Notes = append(d.r.Notes, t.Extra()...)
	if b.Nc == 0 {
		d.r.Note("the context is empty: this is the prior")
	}
	// The samples alone are written, of the values that they have.
	written, err := t.Table(&f.input.Columns, &predict.Result{Prediction: &cnp.Prediction[float32]{}, Samples: drawn.Samples,
		Drawn: f.chain.samples}, []string{"samples"})
	if err != nil {
		return err
	}
	if err := d.outs.Write("out", func(w io.Writer) error {
		return tables.Write(w, f.out, written, written.First(d.cfg.DimX))
	}); err != nil {
		return err
	}
	title := fmt.Sprintf("%s: %s, %s of %s", d.cfg.Architecture, words.Plural(b.Nc, "context point"),
		words.Plural(f.chain.samples, "sample"),
		words.Plural(b.Nt, "target"))
	return d.r.drawn(d.outs.Draw("plot", func(w io.Writer) error {
		return plot.Curves(w, d.format, title, t, drawn.Mean, drawn.Samples)
	}))
}

// draw draws samples of a batch, that of a table unless that is nil, and with mean predicts it.
func (d *drawing) draw(ctx context.Context, m cnp.Regressor[float32], b *cnp.Batch[float32], mean bool, t *tabletask.Task) (*predict.Drawn,
	error) {
	f := d.flags
	work, done := d.app.withProgress(ctx, "sampling")
	defer done()
	opt := predict.DrawOptions{Sample: f.chain.options(&d.cfg, b.B, b.Nc), Standardise: f.standardise,
		NoCheck: f.oneTable.NoCheck, Mean: mean,
		Refuse: func(need cnp.Need, err error) error { return f.memory.check(need, err, "--samples or file") }}
	drawn, err := predict.Draw(work, m, b, opt)
	if err != nil {
		return nil, flagged(err)
	}
	if t != nil {
		drawn.Incomplete(t.Incomplete, t.Points.Name)
	}
	d.r.add(&drawn.Notes)
	d.res.Tasks, d.res.Knots, d.res.ContextPoints, d.res.Targets = b.B, min(opt.Sample.Knots, b.Nt), drawn.Context, drawn.Targets
	d.res.Check, d.seconds = drawn.Check, drawn.Time.Seconds()
	return drawn, nil
}

// curvesOf draws the tasks of a file.
func (d *drawing) curvesOf(ctx context.Context, m cnp.Regressor[float32]) error {
	c, err := d.file.Curves(&d.cfg)
	if err != nil {
		return err
	}
	b := &c.Batch
	drawn, err := d.draw(ctx, m, b, false, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", d.flags.in, err)
	}
	return d.write(drawn.Samples, b.B, b.Nt, d.cfg.DimY)
}

// images draws the images of a file.
func (d *drawing) images(ctx context.Context, m cnp.Completer[float32]) error {
	f := d.flags
	c, err := d.file.Images(d.cfg.DimY)
	if err != nil {
		return err
	}
	im := &c.Batch
	limit, err := f.memory.limit()
	if err != nil {
		return err
	}
	observed := raster.Count(im.Mask)
	draw := f.chain.options(&d.cfg, im.B, observed/max(1, im.B))
	ready, err := predict.PrepareImages(m, im, predict.Options{Sample: &draw, Memory: limit,
		Plan:   cnp.PlanOptions{Memory: implicitWeights, Soft: true},
		Refuse: func(need cnp.Need, err error) error { return f.memory.check(need, err, "--samples or file") }})
	if err != nil {
		return fmt.Errorf("%s: %w", f.in, err)
	}
	d.r.divided(ready.Parts, limit)
	d.r.Cautions = ready.Cautions
	d.res.Tasks, d.res.Knots, d.res.ContextPoints, d.res.Targets = im.B, draw.Knots, observed, len(im.Mask)
	progress, done := d.app.withProgress(ctx, "sampling")
	defer done()
	start := time.Now()
	samples, err := ready.Sample(progress)
	if err != nil {
		return fmt.Errorf("%s: %w", f.in, err)
	}
	d.seconds = time.Since(start).Seconds()
	return d.write(samples, im.B, im.C, im.H, im.W)
}

// write writes samples [S, shape].
func (d *drawing) write(samples []float32, shape ...int) error {
	return d.outs.Write("out", func(w io.Writer) error {
		return taskfile.Write(w, d.flags.out, []safetensors.Tensor{
			safetensors.FromFloat32s("samples", append([]int{d.flags.chain.samples}, shape...), samples)})
	})
}
