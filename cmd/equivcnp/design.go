package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp/design"
	"github.com/equivcnp/equivcnp/cnp/design/places"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/plot"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/words"
)

// designFlags are the flags of equivcnp design.
type designFlags struct {
	model      modelFlags
	input      tabletask.Options // of which it has the tables and their columns
	candidates string
	opt        places.Options
	out, plot  string
	oneTable   oneTableFlags
}

func (a *app) designCommand() *cobra.Command {
	var f designFlags
	cmd := &cobra.Command{
		Use:                   "design [--model M] --csv data.csv --candidates C.csv [--targets T.csv] --number N --out chosen.csv",
		DisableFlagsInUseLine: true,
		Short:                 "Choose where to measure next",
		Long:                  helpText("design"),
		Example: `  # Five of the places of a grid, by the interpolation of measurements in the plane.
  equivcnp design --csv zinc.csv --x east,north --y zinc --candidates grid.csv --number 5 --out next.csv --plot next.png

  # Two by a model's samples, so that the targets are known best.
  equivcnp design --model rbf-levels --csv data.csv --candidates targets.csv --goal error --number 2 --out next.csv`,
		Args: noArguments,
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error { return a.design(cmd.Context(), &f) })
	f.model.register(a, cmd)
	optionalModel(cmd)
	f.input.Stdin = a.stdin
	fl := cmd.Flags()
	fl.StringVar(&f.input.CSV, "csv", "", "table of the measurements so far, required")
	columnsVar(cmd, &f.input.Columns)
	fl.StringVar(&f.candidates, "candidates", "", "table of the places where a measurement is possible, required")
	fl.StringVar(&f.input.Targets, "targets", "", "table of the places to learn about (default: the candidates)")
	f.oneTable.registerTasks(fl)
	fl.IntVarP(&f.opt.Number, "number", "k", 1, "number of places to choose")
	fl.StringVar((*string)(&f.opt.Goal), "goal", string(design.Entropy), "what new measurements should reduce: entropy or error")
	fl.IntVar(&f.opt.Samples, "samples", 1000, "number of joint samples by which places are compared")
	fl.Uint64Var(&f.opt.Seed, "seed", 1, "seed of the samples")
	fl.Float64Var(&f.opt.Noise, "noise", 0, "standard deviation of a new measurement (default: estimated from the data)")
	fl.StringVarP(&f.out, "out", "o", "", "table to write, required")
	fl.StringVar(&f.plot, "plot", "", "drawing, for one input or two: .png or .svg")
	a.jsonFlag(cmd)
	for _, name := range []string{"csv", "candidates", "out"} {
		must(cmd.MarkFlagRequired(name))
	}
	for _, name := range []string{"csv", "candidates", "targets"} {
		must(cmd.MarkFlagFilename(name, "csv"))
	}
	must(cmd.MarkFlagFilename("plot", "png", "svg"))
	cli.Completions(cmd, map[string][]string{"goal": {string(design.Entropy), string(design.Error)}})
	return cmd
}

// designResult is what design --json prints.
type designResult struct {
	CSV        string   `json:"csv"`
	Candidates int      `json:"candidates"`
	Targets    int      `json:"targets"`
	Goal       string   `json:"goal"`
	Chosen     []int    `json:"chosen"` // rows of the candidates, from 0
	Gains      []number `json:"gains"`
	Seconds    number   `json:"seconds"`
	Out        string   `json:"out"`
	Plot       string   `json:"plot,omitempty"`
	Notes      []string `json:"notes"`

	Check map[string]krige.Report `json:"check,omitempty"` // of the interpolation
}

func (f *designFlags) check() error {
	switch {
	case !slices.Contains(design.Goals, f.opt.Goal):
		return cli.Usagef("--goal %q: need %s or %s", f.opt.Goal, design.Entropy, design.Error)
	case f.opt.Samples < 2 || f.opt.Samples > 1<<20:
		return cli.Usagef("--samples %d: need 2 to %d", f.opt.Samples, 1<<20)
	case f.opt.Noise < 0 || math.IsNaN(f.opt.Noise-f.opt.Noise):
		return cli.Usagef("--noise %g: need a standard deviation", f.opt.Noise)
	}
	return f.oneTable.check(f.model.path)
}

// design is the command.
func (a *app) design(ctx context.Context, f *designFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	format, err := plotFormat("plot", f.plot)
	if err != nil {
		return err
	}
	outs, err := a.outputs([]string{f.model.path, f.input.CSV, f.candidates, f.input.Targets}, cli.Out("out", f.out, tableFiles),
		cli.Out("plot", f.plot, plotFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	d, err := cli.Interruptible(ctx, func() (*places.Choosing, error) { return places.Read(f.input, f.candidates, f.oneTable.Sphere) })
	if err != nil {
		return err
	}
	if f.plot != "" && (d.Dx > 2 || d.Sphere) {
		return fmt.Errorf("--plot: %s has %s; a curve needs one, a map two of the plane", d.Points.Name, words.Plural(d.Dx, "input"))
	}
	opt := f.opt
	if f.model.path != "" {
		opt.Name = f.model.path
		if opt.Model, err = f.model.regressor(ctx); err != nil {
			return err
		}
	}
	start := time.Now()
	switch needed := opt.Model == nil || f.plot != ""; { // a plot is of the interpolation
	case needed && opt.Model != nil && len(d.Y[0]) == 0:
		return fmt.Errorf("--plot: %s has no values to interpolate, which is what is drawn", d.Points.Name)
	case needed:
		if err := d.Fit(ctx, f.oneTable.Options); err != nil {
			return err
		}
	}
	if err := d.Choose(ctx, opt); err != nil {
		return err
	}
	seconds, written := time.Since(start).Seconds(), d.Table()
	if err := outs.Write("out", func(w io.Writer) error { return tables.Write(w, f.out, written, written.First(d.Dx)) }); err != nil {
		return err
	}
	if err := outs.Write("plot", func(w io.Writer) error { return plot.Places(ctx, w, format, string(opt.Goal), d) }); err != nil {
		return err
	}
	if err := outs.CommitUnlessDone(ctx); err != nil {
		return err
	}
	return a.printDesign(d, f, seconds, outs)
}

// printDesign says what was chosen.
func (a *app) printDesign(d *places.Choosing, f *designFlags, seconds float64, outs *cli.Outputs) error {
	r, out := &result{}, designResult{CSV: f.input.CSV, Candidates: d.Sites.Rows(), Targets: d.Targets.Rows(), Goal: string(f.opt.Goal),
		Seconds: number(seconds), Out: f.out, Plot: f.plot}
	r.Line("candidates", "%d", d.Sites.Rows())
	r.Line("targets", "%d", d.Targets.Rows())
	for i, c := range d.Chosen {
		out.Chosen, out.Gains = append(out.Chosen, c.Candidate), append(out.Gains, number(c.Gain))
		r.Line(fmt.Sprintf("place %d", i+1), "row %d of the candidates: %s falls by %.4g", c.Candidate+1, f.opt.Goal, c.Gain)
	}
	if f.model.path == "" {
		r.said(d.Interpolation, nil, f.oneTable.fl.Changed("units"))
		out.Check = d.Reports()
	}
	r.Line("time", "%.2f s", seconds)
	r.Written(outs)
	out.Notes = r.AllNotes()
	return a.print(r, out)
}
