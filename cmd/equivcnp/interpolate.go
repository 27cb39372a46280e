package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp/interpolate"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/plot"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/words"
)

// oneTableFlags say how one table is interpolated without a model.
type oneTableFlags struct {
	interpolate.Options
	period []string
	units  string
	names  []string // of the flags that need that there is no model
	// Of cross-validation: the file of its table, and what is left out together.
	validated, left string
	folds           interpolate.Folds
	rolling         interpolate.Rolling // of a backtest, where there are origins
	fl              *pflag.FlagSet
}

// register adds the flags.
func (f *oneTableFlags) register(fl *pflag.FlagSet) {
	f.fl, f.names = fl, append(f.names, "log", "positive", "period", "units", "robust")
	fl.StringSliceVar(&f.Log, "log", nil, "without --model: outputs to interpolate on a logarithmic scale, by name")
	fl.BoolVar(&f.Positive, "positive", false,
		"without --model: values are amounts, never negative; they are interpolated as they are, as square roots or as logarithms")
	fl.StringSliceVar(&f.period, "period", nil,
		"without --model: periods of a series to try beside those that are found, in the input's unit; for dates also 1y, 7d or 12h")
	fl.BoolVar(&f.Robust, "robust", false, "without --model: leave out outliers, which the other values make all but impossible")
	fl.StringVar(&f.units, "units", "same", "without --model: same, or different if each input has a unit of its own")
}

// registerTasks adds the flags of a command that interpolates tables of any number of tasks, or none but that of one place.
func (f *oneTableFlags) registerTasks(fl *pflag.FlagSet) {
	fl.BoolVar(&f.Sphere, "sphere", false, "without --model: inputs are latitude and longitude in degrees")
	f.names = []string{"sphere"}
	f.register(fl)
}

// check refuses these flags beside a model, and values that they cannot have.
func (f *oneTableFlags) check(model string) error {
	for _, name := range f.names {
		if model != "" && f.fl.Changed(name) {
			return cli.Usagef("--%s is for interpolation without a model: leave --model out", name)
		}
	}
	if f.units != "same" && f.units != "different" {
		return cli.Usagef("--units %q: need same or different", f.units)
	}
	f.DifferentUnits = f.units == "different"
	var err error
	if f.Period, err = interpolate.ParsePeriods(f.period); err == nil && f.validated != "" {
		f.folds, err = interpolate.ParseFolds(f.left)
	}
	return flagged(err)
}

// optionalModel makes --model of a command optional.
func optionalModel(cmd *cobra.Command) {
	flag := cmd.Flags().Lookup("model")
	delete(flag.Annotations, cobra.BashCompOneRequiredFlag)
	flag.Usage = strings.Replace(flag.Usage, ", required;", "; without it, the table itself is interpolated;", 1)
}

// interpolateResult is what regress --json prints without a model.
type interpolateResult struct {
	regressResult
	Check map[string]krige.Report `json:"check"` // of each output
	// Samples [samples, targets, outputs] of --samples.
	Samples    [][][]float64           `json:"samples,omitempty"`
	Validation *interpolate.Validation `json:"cross_validation,omitempty"`
}

// interpolate is regress without a model.
func (a *app) interpolate(ctx context.Context, f *regressFlags, sphere bool) error {
	outs, err := a.outputs([]string{f.input.CSV, f.input.Targets}, cli.Out("out", f.out, mapFiles), cli.Out("plot", f.plot, plotFiles),
		cli.Out("cross-validate", f.oneTable.validated, tableFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	opt := f.oneTable.Options
	opt.Sphere, opt.Samples, opt.Function, opt.Seed, opt.Outputs = sphere, f.chain.samples, f.chain.function, f.chain.seed, f.outputs
	in, err := cli.Interruptible(ctx, func() (*interpolate.Interpolation, error) { return interpolate.Read(&f.input, sphere) })
	if err != nil {
		return err
	}
	if _, err := plot.Axes(in); err != nil && f.plot != "" {
		return fmt.Errorf("--plot: %w", err)
	}
	start := time.Now()
	if err = in.Fit(ctx, opt); err == nil {
		err = in.Predict(ctx, opt)
	}
	if err != nil {
		return err
	}
	v, err := a.crossValidate(ctx, f, in, opt, outs)
	if err != nil {
		return err
	}
	seconds, written := time.Since(start).Seconds(), in.Table(&f.input.Columns, f.quantiles)
	write := func(w io.Writer) error { return tables.Write(w, f.out, written, written.First(in.Dx), in.Beside()...) }
	if err := outs.Write("out", write); err != nil {
		return err
	}
	title := fmt.Sprintf("%s, %s", words.Plural(len(in.Y[0]), "context point"), words.Plural(in.Targets.Rows(), "target"))
	r := &result{}
	if err := r.drawn(outs.Draw("plot", func(w io.Writer) error { return plot.Interpolation(ctx, w, f.format, title, in) })); err != nil {
		return err
	}
	if err := outs.CommitUnlessDone(ctx); err != nil {
		return err
	}
	return a.printInterpolation(r, f, in, v, seconds, outs)
}

// crossValidate writes the table of --cross-validate, where it is asked for.
func (a *app) crossValidate(ctx context.Context, f *regressFlags, in *interpolate.Interpolation, opt interpolate.Options,
	outs *cli.Outputs) (*interpolate.Validation, error) {
	path := f.oneTable.validated
	if path == "" {
		return nil, nil
	}
	report, done := a.bar("cross-validating")
	defer done()
	v, err := in.Validate(ctx, opt, f.oneTable.folds, f.quantiles, report)
	if err != nil {
		return nil, err
	}
	t := v.Table(&f.input.Columns)
	return v, outs.Write("cross-validate", func(w io.Writer) error { return tables.Write(w, path, t, t.First(in.Dx)) })
}

// printInterpolation prints the result of regress without a model: the check goes to standard error, too.
func (a *app) printInterpolation(r *result, f *regressFlags, in *interpolate.Interpolation, v *interpolate.Validation, seconds float64,
	outs *cli.Outputs) error {
	out := interpolateResult{regressResult: regressResult{CSV: f.input.CSV, ContextPoints: len(in.Y[0]),
		Targets: in.Targets.Rows(), Seconds: number(seconds), Out: f.out, Plot: f.plot},
		Check: in.Reports(), Samples: in.Drawn(), Validation: v}
	r.Line("model", "none: the table itself is interpolated")
	r.said(in, v, f.oneTable.fl.Changed("units"))
	if f.out != "" {
		r.Line("targets", "%d", in.Targets.Rows())
	}
	if mean, n := in.LogLikelihood(); n > 0 {
		v := number(mean)
		out.LogLikelihood = &v
		r.Line("log-likelihood", "%.4f per target", mean)
	}
	r.Line("time", "%.2f s", seconds)
	r.Written(outs)
	out.Notes = r.AllNotes()
	return a.print(r, out)
}

// said adds what there is to say of an interpolation, whose units somebody chose or not, and of a cross-validation that is not nil.
func (r *result) said(in *interpolate.Interpolation, v *interpolate.Validation, units bool) {
	for _, note := range in.Distances(units) {
		r.Cautions = append(r.Cautions, note.Named(flagOf))
	}
	lines, notes, cautions := in.Said(v)
	r.Lines, r.Notes, r.Cautions = append(r.Lines, lines...), append(r.Notes, notes...), append(r.Cautions, cautions...)
}

// backtest is regress --backtest.
func (a *app) backtest(ctx context.Context, f *regressFlags) error {
	outs, err := a.outputs([]string{f.input.CSV}, cli.Out("out", f.out, tableFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	report, done := a.bar("backtesting")
	b, err := interpolate.RunBacktest(ctx, &f.input, f.oneTable.Options, f.oneTable.rolling, f.quantiles, report)
	if done(); err != nil {
		return err
	}
	t := b.Table(&f.input.Columns)
	if err := outs.Write("out", func(w io.Writer) error { return tables.Write(w, f.out, t, t.First(1)) }); err != nil {
		return err
	}
	if err := outs.CommitUnlessDone(ctx); err != nil {
		return err
	}
	r := &result{}
	r.Lines, r.Notes = b.Said()
	r.Written(outs)
	return a.print(r, struct {
		*interpolate.Backtest
		Notes []string `json:"notes"`
	}{b, r.AllNotes()})
}
