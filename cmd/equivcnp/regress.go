package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp/plot"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/words"
)

// regressFlags are the flags of equivcnp regress.
type regressFlags struct {
	model       modelFlags
	input       tabletask.Options
	chain       chainFlags
	oneTable    oneTableFlags
	out, plot   string
	format      string // of the plot
	quantiles   []float64
	outputs     []string
	standardise bool
}

func (a *app) regressCommand() *cobra.Command {
	var f regressFlags
	cmd := &cobra.Command{
		Use: "regress [--model M] --csv D.csv (--next 9 | --from 0 --to 4 | --grid 5 | --targets T.csv | --sphere) --out P",

		DisableFlagsInUseLine: true,
		Short:                 "Predict a curve, a map or the globe from the rows of a table",
		Long:                  helpText("regress"),
		Example:               helpExamples("regress"),
		Args:                  noArguments,
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		if err := f.check(cmd.Flags().Changed); err != nil {
			return err
		}
		if f.oneTable.rolling.Origins != 0 {
			return a.backtest(cmd.Context(), &f)
		}
		if f.model.path == "" {
			return a.interpolate(cmd.Context(), &f, cmd.Flags().Changed("sphere"))
		}
		return a.regress(cmd.Context(), &f)
	})
	f.register(a, cmd)
	return cmd
}

// register adds the flags.
func (f *regressFlags) register(a *app, cmd *cobra.Command) {
	f.model.register(a, cmd)
	optionalModel(cmd)
	f.model.registerLattice(cmd)
	taskOptionsVar(a, cmd, &f.input)
	f.chain.register(cmd, 0, true, true)
	fl := cmd.Flags()
	f.oneTable.register(fl)
	f.oneTable.names = append(f.oneTable.names, "cross-validate", "folds", "backtest", "stride")
	fl.IntVar(&f.oneTable.rolling.Origins, "backtest", 0, "without --model: forecast --next steps from so many earlier origins, each by a "+
		"model of what came before, and print how good that was; --out, which may be left out, has these forecasts")
	fl.IntVar(&f.oneTable.rolling.Stride, "stride", 0, "of --backtest: steps from one origin to the next; 0: as many as of --next")
	fl.StringVar(&f.oneTable.validated, "cross-validate", "", "without --model: `table` to write of all rows, each predicted from those "+
		"of other folds; beside it targets and --out may be left out")
	fl.StringVar(&f.oneTable.left, "folds", "10", "of --cross-validate: a number of compact blocks of neighbouring rows, not of random "+
		"ones, or a `column` of groups, such as sites, that are left out whole")
	noCheckFlag(fl, &f.oneTable.NoCheck)
	fl.StringVarP(&f.out, "out", "o", "", "predictions: .csv, .tsv, .parquet, .npz, or of a grid .nc or .tif, required")
	fl.StringVar(&f.plot, "plot", "", "drawing of the prediction, .png or .svg")
	quantilesFlag(fl, &f.quantiles)
	outputsFlag(fl, &f.outputs)
	standardiseFlag(fl, &f.standardise)
	a.jsonFlag(cmd)
	must(cmd.MarkFlagRequired("csv"))
	must(cmd.MarkFlagFilename("out", "csv"))
	must(cmd.MarkFlagFilename("plot", "png", "svg"))
	for _, name := range []string{"cross-validate", "targets", "grid", "from", "sphere", "samples", "plot", "outputs"} {
		cmd.MarkFlagsMutuallyExclusive("backtest", name)
	}
}

// check refuses flags that do not go together, and finds out the format of the plot.
func (f *regressFlags) check(changed func(string) bool) error {
	if err := errors.Join(f.oneTable.check(f.model.path), f.chain.check()); err != nil {
		return err
	}
	if changed("folds") && f.oneTable.validated == "" {
		return cli.Usagef("--folds is for --cross-validate")
	}
	if changed("stride") && !changed("backtest") {
		return cli.Usagef("--stride is for --backtest")
	}
	if changed("backtest") {
		f.oneTable.rolling.Steps = f.input.Next
		return errors.Join(cli.CheckQuantiles(f.quantiles), flagged(f.oneTable.rolling.Check()))
	}
	f.input.Group, f.input.NoTargets = f.oneTable.folds.Column, f.oneTable.validated != "" && f.out == "" && f.plot == "" &&
		f.input.Targets == "" && f.input.Grid == nil && f.input.Next == 0 && !changed("from") && f.chain.samples == 0
	if !f.input.NoTargets {
		if err := errors.Join(cli.Required(f.oneTable.fl, "out"), checkTargets(&f.input, changed)); err != nil {
			return err
		}
	}
	err := cli.CheckQuantiles(f.quantiles)
	if err == nil {
		f.format, err = plotFormat("plot", f.plot)
	}
	return err
}

// regressResult is what regress --json prints.
type regressResult struct {
	Model         string  `json:"model"`
	Architecture  string  `json:"architecture"`
	Group         string  `json:"group,omitempty"`
	CSV           string  `json:"csv"`
	ContextPoints int     `json:"context_points"`
	Targets       int     `json:"targets"`
	LogLikelihood *number `json:"log_likelihood_per_target,omitempty"`
	// Samples [samples, targets, outputs] of --samples; what has no prediction is null.
	Samples [][][]number `json:"samples,omitempty"`
	Seconds number       `json:"seconds"`
	Out     string       `json:"out"`
	Plot    string       `json:"plot,omitempty"`
	// Check says whether the model suits the data.
	Check *predict.Checked `json:"check,omitempty"`
	Notes []string         `json:"notes"`
}

func (a *app) regress(ctx context.Context, f *regressFlags) error {
	outs, err := a.outputs([]string{f.model.path, f.input.CSV, f.input.Targets, f.input.Static},
		cli.Out("out", f.out, mapFiles), cli.Out("plot", f.plot, plotFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	t, p, err := a.predictTask(ctx, f)
	if err != nil {
		return err
	}
	cfg, b, r := p.Model.Config(), t.Batch, &result{}
	r.add(&p.Notes)
	written, err := t.Table(&f.input.Columns, &p.Result, f.outputs)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return tables.Write(w, f.out, written, written.First(t.Dx), t.Beside()...) }
	if err := outs.Write("out", write); err != nil {
		return err
	}
	if f.plot != "" {
		draw, err := plot.Prediction(ctx, t, p)
		if err != nil {
			return err
		}
		title := fmt.Sprintf("%s: %s, %s", cfg.Architecture, words.Plural(b.Nc, "context point"), words.Plural(b.Nt, "target"))
		if err := r.drawn(outs.Draw("plot", func(w io.Writer) error { return draw(w, f.format, title) })); err != nil {
			return err
		}
	}
	if err := outs.CommitUnlessDone(ctx); err != nil {
		return err
	}
	r.Notes = append(r.Notes, t.Extra()...)
	r.Line("model", "%s", f.model.describe(cfg))
	r.Line("context", "%s", words.Plural(b.Nc, "point"))
	r.Line("targets", "%d", b.Nt)
	if p.LogLikelihood != nil {
		r.Line("log-likelihood", "%.4f per target", *p.LogLikelihood)
	}
	if b.Nc == 0 {
		r.Note("the context is empty: this is the prior")
	}
	seconds := p.Time.Seconds()
	r.Line("time", "%.2f s", seconds)
	r.Written(outs)
	return a.print(r, regressResult{
		Model: f.model.path, Architecture: string(cfg.Architecture), Group: cfg.Group, CSV: f.input.CSV, ContextPoints: b.Nc, Targets: b.Nt,
		LogLikelihood: (*number)(p.LogLikelihood), Samples: nested(p.Samples, p.Drawn, b.Nt, t.Dy), Seconds: number(seconds),
		Out: f.out, Plot: f.plot, Check: p.Check, Notes: r.AllNotes(),
	})
}

// predictTask reads the tables and the model, and predicts.
func (a *app) predictTask(ctx context.Context, f *regressFlags) (*tabletask.Task, *tabletask.Prediction, error) {
	t, err := readTask(ctx, &f.input)
	if err != nil {
		return nil, nil, err
	}
	model, err := f.model.regressor(ctx)
	if err != nil {
		return nil, nil, err
	}
	cfg := model.Config()
	if f.plot != "" {
		if err := plot.Suits(&cfg); err != nil {
			return nil, nil, fmt.Errorf("--plot: %w", err)
		}
	}
	f.input.Model = f.model.path
	if err := t.Fit(&f.input, &cfg); err != nil {
		return nil, nil, err
	}
	opt := tabletask.PredictOptions{Standardise: f.standardise, NoCheck: f.oneTable.NoCheck, Quantiles: f.quantiles}
	if f.chain.samples > 0 {
		sample := f.chain.options(&cfg, t.Batch.B, t.Batch.Nc)
		opt.Sample = &sample
	}
	work, done := a.withProgress(ctx, "regressing")
	defer done()
	p, err := t.Predict(work, model, opt)
	return t, p, err
}

// quantilesFlag adds the flag for quantiles of the predictions.
func quantilesFlag(fl *pflag.FlagSet, q *[]float64) {
	fl.Float64SliceVar(q, "quantiles", nil, "`quantiles` to write as well, for example 0.05,0.5,0.95")
	fl.Lookup("quantiles").DefValue = "" // or --help would print an empty list
}

// nested brings samples [S, n, dy] into the form of JSON.
func nested(samples []float32, count, n, dy int) (out [][][]number) {
	for s := range count {
		one := make([][]number, n)
		for i := range one {
			for _, v := range samples[(s*n+i)*dy : (s*n+i+1)*dy] {
				one[i] = append(one[i], number(v))
			}
		}
		out = append(out, one)
	}
	return out
}
