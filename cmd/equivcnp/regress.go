package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// regressFlags are the flags of equivcnp regress.
type regressFlags struct {
	model        modelFlags
	csv, targets string
	columns      columnFlags
	from, to     float64
	points       int
	out, plot    string
	standardise  bool
}

func (a *app) regressCommand() *cobra.Command {
	var f regressFlags
	cmd := &cobra.Command{
		Use:                   "regress --model M --csv data.csv (--from -4 --to 4 [--points 400] | --targets targets.csv) --out pred.csv",
		DisableFlagsInUseLine: true,
		Short:                 "Regress a curve from the points of a CSV file",
		Long: `Regress a curve from context points, and write mean and standard deviation at the targets.

The CSV file has one context point per row; commas, semicolons or tabs separate its cells. A header
says which columns are what: the model's inputs are x, or x1, x2, ..; its outputs y, or y1, y2, ..;
other names are given with --x and --y, and other columns are left out. Without a header the inputs
come first, then the outputs. Blank lines and lines that begin with # are skipped; a blank or
non-numeric cell is an error that names file, line and column. A file without points is a valid
empty context: the prediction is then the prior.

Targets are --points evenly spaced ones from --from to --to, or the rows of a CSV file of
coordinates (needed where the model has several). If that file also has the outputs' columns, their
log-likelihood is printed. --plot draws mean, band of two standard deviations and context points.

The name - is standard input, and for --out standard output.`,
		Example: `  equivcnp regress --model rbf_equivcnp.pth --csv data.csv --from -4 --to 4 --points 400 --out pred.csv --plot fig.png

  # Predict at given points, and draw an SVG.
  equivcnp regress --model model.safetensors --csv data.csv --targets targets.csv --out pred.csv --plot fig.svg

  # Columns of other names, in any order; read from standard input, written to standard output.
  equivcnp regress --model model.safetensors --csv - --x time --y temperature --from 0 --to 1 --out - <data.csv`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		if f.targets == "" && !(cmd.Flags().Changed("from") && cmd.Flags().Changed("to")) {
			return usagef("say where to predict: --from and --to, or --targets")
		}
		return a.regress(cmd.Context(), &f)
	})
	f.model.register(a, cmd)
	f.model.registerLattice(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.csv, "csv", "", "CSV file of the context points, required")
	f.columns.register(cmd)
	fl.StringVar(&f.targets, "targets", "", "CSV file of the targets' coordinates")
	fl.Float64Var(&f.from, "from", 0, "first target")
	fl.Float64Var(&f.to, "to", 0, "last target")
	fl.IntVar(&f.points, "points", 400, "number of targets from --from to --to")
	fl.StringVarP(&f.out, "out", "o", "", "CSV file of the prediction (.csv, or .tsv with tabs), required")
	fl.StringVar(&f.plot, "plot", "", "drawing of the prediction, .png or .svg")
	standardiseFlag(fl, &f.standardise)
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
	for _, name := range []string{"csv", "out"} {
		must(cmd.MarkFlagRequired(name))
	}
	for _, name := range []string{"csv", "targets", "out"} {
		must(cmd.MarkFlagFilename(name, "csv"))
	}
	must(cmd.MarkFlagFilename("plot", "png", "svg"))
	for _, name := range []string{"from", "to", "points"} {
		cmd.MarkFlagsMutuallyExclusive("targets", name)
	}
	return cmd
}

// regressResult is what regress --json prints.
type regressResult struct {
	Model         string   `json:"model"`
	Architecture  string   `json:"architecture"`
	Group         string   `json:"group,omitempty"`
	CSV           string   `json:"csv"`
	ContextPoints int      `json:"context_points"`
	Targets       int      `json:"targets"`
	LogLikelihood *number  `json:"log_likelihood_per_target,omitempty"`
	Seconds       number   `json:"seconds"`
	Out           string   `json:"out"`
	Plot          string   `json:"plot,omitempty"`
	Notes         []string `json:"notes"`
}

// maxPoints bounds the targets of --points.
const maxPoints = 1 << 24

func (a *app) regress(ctx context.Context, f *regressFlags) error {
	if f.targets == "" {
		switch {
		case f.points < 0 || f.points > maxPoints:
			return usagef("--points %d: need 0 to %d", f.points, maxPoints)
		case math.IsNaN(f.to-f.from) || math.IsInf(f.to-f.from, 0):
			return usagef("--from %g --to %g: need finite numbers", f.from, f.to)
		case f.from > f.to:
			return usagef("--from %g lies beyond --to %g", f.from, f.to)
		}
	}
	var format string
	if f.plot != "" {
		var err error
		if format, err = plotFormat(f.plot); err != nil {
			return usageError{fmt.Errorf("--plot: %w", err)}
		}
	}
	outs, err := a.outputs([]string{f.model.path, f.csv, f.targets}, outFile{"out", f.out, tableFiles}, outFile{"plot", f.plot, plotFiles})
	if err != nil {
		return err
	}
	defer outs.discard()

	points, err := fromInput(ctx, a, f.csv, tabular.ReadFile, tabular.Decode)
	if err != nil {
		return err
	}
	var targets *tabular.Table
	if f.targets == "" {
		targets = &tabular.Table{Cols: 1, Values: linspace(f.from, f.to, f.points)}
	} else if targets, err = fromInput(ctx, a, f.targets, tabular.ReadFile, tabular.Decode); err != nil {
		return err
	}
	model, err := f.model.regressor(ctx)
	if err != nil {
		return err
	}
	cfg := model.Config()
	dx, dy := cfg.DimX, cfg.DimY
	switch {
	case f.targets == "" && dx != 1:
		return fmt.Errorf("%s: the model has %d input coordinates, use --targets instead of --from and --to", f.model.path, dx)
	case f.plot != "" && dx != 1:
		return fmt.Errorf("--plot: the model has %d input coordinates, a curve needs one", dx)
	}
	want := tabular.Want{X: f.columns.x, Y: f.columns.y, Dx: dx, Dy: dy}
	observed, err := points.Find(want)
	if err != nil {
		return hintColumns(err)
	}
	want.OnlyX = true
	if f.targets == "" {
		want.X, want.Y = nil, nil
	}
	asked, err := targets.Find(want)
	if err != nil {
		return hintColumns(err)
	}
	if err := oneTask(points, observed); err != nil {
		return err
	}

	b := &cnp.Batch[float32]{B: 1, Nc: points.Rows(), Nt: targets.Rows(), XContext: points.Take(observed.X...), XTarget: targets.Take(asked.X...)}
	if b.YContext, err = narrow(points, observed.Y); err != nil {
		return err
	}
	r := &result{cautions: cnp.Notes(&cfg, b)}
	seen, judged := b, model
	if f.standardise {
		if seen, _, err = cnp.Standardise(&cfg, b); err != nil {
			return err
		}
		judged = cnp.Standardised(model)
		if seen != b {
			r.noteStandardised(1, 1)
		}
	}
	need, err := cnp.EstimateModel(model, seen.Work(dx))
	if err == nil {
		err = need.Check(cnp.MemoryLimit())
	}
	if err != nil {
		return err
	}
	work, done := a.withProgress(ctx, "regressing")
	start := time.Now()
	p, err := judged.Predict(work, b)
	seconds := time.Since(start).Seconds()
	done()
	counts, err := r.answered(p, err, b.Nt, dy)
	if err != nil {
		return err
	}
	if err := p.Check(func(i int) bool { return counts == nil || counts[i] }); err != nil {
		return err
	}

	var likelihood *number
	if len(asked.Y) == dy && b.Nt > 0 {
		truth, err := narrow(targets, asked.Y)
		if err != nil {
			return err
		}
		sum, n := cnp.LogLikelihood(p.Mean, p.Std, truth, counts)
		v := number(sum / float64(n))
		likelihood = &v
	}
	if err := outs.write("out", func(w io.Writer) error { return writePrediction(w, f.out, b.XTarget, p, dx, dy) }); err != nil {
		return err
	}
	title := fmt.Sprintf("%s: %s, %s", cfg.Architecture, plural(b.Nc, "context point"), plural(b.Nt, "target"))
	if err := outs.write("plot", func(w io.Writer) error {
		return picture.WriteCurves(w, format, title, curves(points, observed, b, p, dy))
	}); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := outs.commit(); err != nil {
		return err
	}

	for _, t := range []struct {
		table   *tabular.Table
		columns tabular.Columns
	}{{points, observed}, {targets, asked}} {
		if extra := t.table.Extra(t.columns); len(extra) > 0 {
			r.note("columns of %s that are not read: %s", t.table.Name, strings.Join(extra, ", "))
		}
	}
	r.line("model", "%s", f.model.describe(cfg))
	r.line("context", "%s", plural(b.Nc, "point"))
	r.line("targets", "%d", b.Nt)
	if likelihood != nil {
		r.line("log-likelihood", "%.4f per target", float64(*likelihood))
	}
	if b.Nc == 0 {
		r.note("the context is empty: this is the prior")
	}
	r.line("time", "%.2f s", seconds)
	r.line("written", "%s", f.out)
	if f.plot != "" {
		r.line("", "%s", f.plot)
	}
	return a.print(r, regressResult{
		Model: f.model.path, Architecture: string(cfg.Architecture), Group: cfg.Group, CSV: f.csv, ContextPoints: b.Nc, Targets: b.Nt,
		LogLikelihood: likelihood, Seconds: number(seconds), Out: f.out, Plot: f.plot, Notes: r.allNotes(),
	})
}

// linspace returns n evenly spaced numbers from lo to hi; one is lo.
func linspace(lo, hi float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = lo
		if i > 0 { // weighted ends, so that the last is hi exactly
			t := float64(i) / float64(n-1)
			x[i] = (1-t)*lo + t*hi
		}
	}
	return x
}

// narrow returns columns of a table rounded to float32, and refuses values beyond its range.
func narrow(t *tabular.Table, columns []int) ([]float32, error) {
	v := t.Take(columns...)
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
		if math.IsInf(float64(out[i]), 0) {
			n := len(columns)
			return nil, t.Errorf(i/n, columns[i%n], "%w: %g is beyond float32", cnp.ErrRange, x)
		}
	}
	return out, nil
}

// columnFlags say which columns of a CSV file are what.
type columnFlags struct{ x, y []string }

// register adds the flags.
func (f *columnFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.x, "x", nil, "--csv: the inputs' columns, by name or number (default: x, or x1,x2,..)")
	cmd.Flags().StringSliceVar(&f.y, "y", nil, "--csv: the outputs' columns, by name or number (default: y, or y1,y2,..)")
}

// hintColumns says which flags help against an error about columns.
func hintColumns(err error) error {
	if errors.Is(err, tabular.ErrColumns) {
		return fmt.Errorf("%w (--x and --y say which columns to take)", err)
	}
	return err
}

// oneTask refuses a table of several tasks, which eval would take apart: together they are no curve.
func oneTask(t *tabular.Table, c tabular.Columns) error {
	k := slices.Index(t.Header, "task")
	if !slices.Contains(c.Rest, k) {
		return nil
	}
	for row, v := range t.Take(k) {
		if first := t.Values[k]; v != first {
			return t.Errorf(row, k, "the column task says %g, and %g before: need the points of one task", v, first)
		}
	}
	return nil
}

// names numbers the columns of one kind where there are several: "mean", or "mean1", "mean2".
func names(kind string, n int) []string {
	if n == 1 {
		return []string{kind}
	}
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s%d", kind, i+1))
	}
	return out
}

// labels returns the names of columns, those of the header if there is one.
func labels(t *tabular.Table, columns []int, kind string, n int) []string {
	if t.Header == nil {
		return names(kind, n)
	}
	var out []string
	for _, c := range columns {
		out = append(out, t.Header[c])
	}
	return out
}

// writePrediction writes the columns x, mean and std, separated as the file's name says; the first line names them.
func writePrediction(w io.Writer, path string, x []float64, p *cnp.Prediction[float32], dx, dy int) error {
	mean, std := names("mean", dy), names("std", dy)
	t := &tabular.Table{Cols: dx + 2*dy, Header: append(append(names("x", dx), mean...), std...)}
	for i := range len(x) / dx {
		t.Values = append(t.Values, x[i*dx:(i+1)*dx]...)
		for _, v := range [][]float32{p.Mean, p.Std} {
			for _, c := range v[i*dy : (i+1)*dy] {
				t.Values = append(t.Values, float64(c))
			}
		}
	}
	separator := ','
	if strings.EqualFold(filepath.Ext(path), ".tsv") {
		separator = '\t'
	}
	return tabular.Write(w, t, separator, append(mean, std...)...)
}

// curves takes the prediction apart, one curve per output.
func curves(points *tabular.Table, c tabular.Columns, b *cnp.Batch[float32], p *cnp.Prediction[float32], dy int) []picture.Curve {
	xLabel, yLabel := labels(points, c.X, "x", 1), labels(points, c.Y, "y", dy)
	out := make([]picture.Curve, dy)
	for c := range out {
		out[c] = picture.Curve{XLabel: xLabel[0], YLabel: yLabel[c], ContextX: b.XContext}
		for i := range b.Nt {
			if m := p.Mean[i*dy+c]; m != m {
				continue // it lies outside, and has no prediction
			}
			out[c].X = append(out[c].X, b.XTarget[i])
			out[c].Mean = append(out[c].Mean, float64(p.Mean[i*dy+c]))
			out[c].Std = append(out[c].Std, float64(p.Std[i*dy+c]))
		}
		for i := range b.Nc {
			out[c].ContextY = append(out[c].ContextY, float64(b.YContext[i*dy+c]))
		}
	}
	return out
}
