package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// regressFlags are the flags of equivcnp regress.
type regressFlags struct {
	model       modelFlags
	input       csvFlags
	chain       chainFlags
	oneTable    oneTableFlags
	out, plot   string
	quantiles   []float64
	outputs     []string
	standardise bool
}

func (a *app) regressCommand() *cobra.Command {
	var f regressFlags
	cmd := &cobra.Command{
		Use:                   "regress [--model M] --csv data.csv (--from -4 --to 4 [--points 400] | --targets T.csv | --sphere) --out P.csv",
		DisableFlagsInUseLine: true,
		Short:                 "Regress a curve from the points of a CSV file",
		Long: `Regress a curve from context points, and write mean and standard deviation at the targets.

Without --model the table itself is interpolated, with nothing trained: by Gaussian processes whose
covariances are estimated from it, for any number of inputs from 1 to 8, any units and any scale.
Seasons of series are found, or named with --period. Each value is predicted from the others, which
corrects the standard deviations and is printed as a check. --log and --positive are for amounts,
--units different for inputs of different kinds, and --sphere for latitude and longitude in degrees,
also beside --targets. --plot then draws curves, a map of the plane, or the globe.

Tables are CSV or TSV files, arrays of one length in an .npz file or one of two dimensions in an .npy
file, or variables of a classic NetCDF file (.nc), whose rows are the places of their grid.

A CSV file has one context point per row; commas, semicolons or tabs separate its cells. A header
says which columns are what: the model's inputs are x, or x1, x2, ..; its outputs y, or y1, y2, ..;
other names are given with --x and --y, and other columns are left out. Without a header the inputs
come first, then the outputs. Blank lines and lines that begin with # are skipped. An output that is
empty, NaN or NA is missing: its row is no part of the context. Inputs may be dates (2006-01-02, with
a time or without), which count as days since 1970. Anything else that is no number is an error that
names file, line and column. A file without points is a valid empty context: the prediction is then
the prior.

Targets are --points evenly spaced ones from --from to --to, or the rows of a CSV file of
coordinates (needed where the model has several). If that file also has the outputs' columns, their
log-likelihood is printed. The columns of the prediction are x, mean and std, or with --x and --y those
names, t2m_mean and t2m_std; --quantiles adds more. --plot draws mean, band of two standard
deviations and context points; of a vector field in the plane arrows, around whose ends lie the
ellipses of one standard deviation.

Models of points on the sphere take latitude and longitude in degrees, from -90 to 90 and any number
(columns of these names, or lat and lon, need no --x), or unit vectors, whichever "equivcnp inspect"
says; a vector's length may differ from 1 by 2 %. Their targets are --targets, or with --sphere a
grid of the whole globe, 5 degrees apart or as many as it says. --plot draws the globe, whatever the
targets are: mean and standard deviation on a map of equal areas, with the context points.

With --samples whole curves are drawn by the chain rule, each as likely as the model thinks it is; they
are columns of the CSV file and thin lines in the drawing. "equivcnp sample" says more of them.

The name - is standard input, and for --out standard output.`,
		Example: `  equivcnp regress --model rbf_equivcnp.pth --csv data.csv --from -4 --to 4 --points 400 --out pred.csv --plot fig.png

  # No model, nothing trained: a table of measurements in the plane, and a map.
  equivcnp regress --csv zinc.csv --x east,north --y zinc --positive --targets grid.csv --out pred.csv --plot map.png

  # Predict at given points, and draw an SVG.
  equivcnp regress --model model.safetensors --csv data.csv --targets targets.csv --out pred.csv --plot fig.svg

  # The same with five curves that the model thinks likely.
  equivcnp regress --model rbf-equivcnp --csv data.csv --from -2 --to 2 --samples 5 --out pred.csv --plot fig.png

  # Weather stations, with columns lat, lon and y: a map of the globe.
  equivcnp regress --model globe --csv stations.csv --sphere --out pred.csv --plot map.png

  # Columns of other names, in any order; read from standard input, written to standard output.
  equivcnp regress --model model.safetensors --csv - --x time --y temperature --from 0 --to 1 --out - <data.csv`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		if err := errors.Join(f.input.check(cmd.Flags().Changed), f.chain.check()); err != nil {
			return err
		}
		if err := f.oneTable.check(f.model.path, cmd.Flags().Changed); err != nil {
			return err
		}
		if f.model.path == "" {
			return a.interpolate(cmd.Context(), &f, cmd.Flags().Changed("sphere"))
		}
		if f.input.targets != "" && f.input.sphere > 0 {
			return usagef("--sphere: with a model it is a grid of targets, beside which there are no --targets")
		}
		return a.regress(cmd.Context(), &f)
	})
	f.model.register(a, cmd)
	optionalModel(cmd)
	f.model.registerLattice(cmd)
	f.input.register(cmd)
	f.chain.register(cmd, 0, true, true)
	fl := cmd.Flags()
	f.oneTable.register(fl)
	fl.StringVarP(&f.out, "out", "o", "", "table of the prediction (.csv, .tsv, .npz, or .nc: a grid, where the targets are one), required")
	fl.StringVar(&f.plot, "plot", "", "drawing of the prediction, .png or .svg")
	quantilesFlag(fl, &f.quantiles)
	outputsFlag(fl, &f.outputs)
	standardiseFlag(fl, &f.standardise)
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
	for _, name := range []string{"csv", "out"} {
		must(cmd.MarkFlagRequired(name))
	}
	must(cmd.MarkFlagFilename("out", "csv"))
	must(cmd.MarkFlagFilename("plot", "png", "svg"))
	return cmd
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
	if err := checkQuantiles(f.quantiles); err != nil {
		return err
	}
	var format string
	if f.plot != "" {
		var err error
		if format, err = plotFormat(f.plot); err != nil {
			return usageError{fmt.Errorf("--plot: %w", err)}
		}
	}
	outs, err := a.outputs([]string{f.model.path, f.input.csv, f.input.targets, f.input.columns.static},
		outFile{"out", f.out, tableFiles}, outFile{"plot", f.plot, plotFiles})
	if err != nil {
		return err
	}
	defer outs.discard()

	t, err := f.input.read(ctx, a)
	if err != nil {
		return err
	}
	model, err := f.model.regressor(ctx)
	if err != nil {
		return err
	}
	cfg := model.Config()
	dx, dy := cfg.DimX, cfg.DimY
	arrows := dx == 2 && cfg.Vectors()
	if f.plot != "" && dx != 1 && !cfg.OnSphere() && !arrows {
		return fmt.Errorf("--plot: the model has %d input coordinates; a curve needs one, arrows two and a vector", dx)
	}
	if err := t.fit(ctx, a, &f.input, f.model.path, &cfg); err != nil {
		return err
	}
	b := t.batch
	r := &result{cautions: cnp.Notes(&cfg, b)}
	if b.Nc == 0 {
		r.cautions = append(r.cautions, "there are no context points: this is what the model expects without any data")
	}
	r.noteIncomplete(t.incomplete, t.points.Name)
	seen, judged := b, model
	if err := unscaled(&cfg, f.standardise); err != nil {
		return err
	}
	if f.standardise {
		if seen, _, err = cnp.Standardise(&cfg, b); err != nil {
			return err
		}
		judged = cnp.Standardised(model)
		r.noteStandardised(cnp.OtherScale(&cfg, b), 1)
	}
	need, err := cnp.EstimateModel(model, seen.Work(dx))
	need.Features += f.chain.samplesNeed(b.B, b.Nc, b.Nt, dy)
	if err == nil {
		err = need.Check(cnp.MemoryLimit())
	}
	if err != nil {
		return err
	}
	r.noteThinned(b.Nc, seen.Nc)
	checked, err := r.check(ctx, f.oneTable.noCheck, judged, b)
	if err != nil {
		return err
	}
	work, done := a.withProgress(ctx, "regressing")
	start := time.Now()
	p, err := judged.Predict(work, b)
	var samples []float32
	if f.chain.samples > 0 && p != nil { // what lies outside is named by the prediction's error
		var failed error
		if samples, failed = cnp.SampleCurves(work, judged, b, f.chain.options(&cfg, b.B, b.Nc)); samples == nil {
			err = failed
		}
	}
	seconds := time.Since(start).Seconds()
	done()
	counts, err := r.answered(p, err, b.Nt, dy)
	if err != nil {
		return err
	}
	if err := p.Check(func(i int) bool { return counts == nil || counts[i] }); err != nil {
		return err
	}

	var globes []*picture.Globe
	if f.plot != "" && cfg.OnSphere() {
		if globes, err = t.globes(ctx, judged, &cfg); err != nil {
			return err
		}
	}
	var likelihood *number
	if y := t.asked.Y; len(y) == b.Nt*dy {
		if sum, n := p.LogDensity(single(y), knownOf(y, counts)); n > 0 {
			v := number(sum / float64(n))
			likelihood = &v
		}
	}
	written, err := t.predicted(&f.input.columns, &predict.Result{Prediction: p, Counts: counts, Samples: samples,
		Drawn: f.chain.samples, Quantiles: f.quantiles}, f.outputs)
	if err != nil {
		return err
	}
	if err := outs.write("out", func(w io.Writer) error { return tables.Write(w, f.out, written, written.First(dx)) }); err != nil {
		return err
	}
	title := fmt.Sprintf("%s: %s, %s", cfg.Architecture, plural(b.Nc, "context point"), plural(b.Nt, "target"))
	if err := r.drawn(outs.draw("plot", func(w io.Writer) error {
		if globes != nil {
			globes[0].Title = title
			return picture.WriteGlobes(w, format, globes...)
		}
		if arrows {
			return picture.WriteArrows(w, format, t.arrows(&cfg, title, p))
		}
		return picture.WriteCurves(w, format, title, t.curves(p, samples, dy))
	})); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := outs.commit(); err != nil {
		return err
	}

	t.noteExtra(r)
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
		Model: f.model.path, Architecture: string(cfg.Architecture), Group: cfg.Group, CSV: f.input.csv, ContextPoints: b.Nc, Targets: b.Nt,
		LogLikelihood: likelihood, Samples: nested(samples, f.chain.samples, b.Nt, dy), Seconds: number(seconds), Out: f.out, Plot: f.plot,
		Check: checked, Notes: r.allNotes(),
	})
}

// quantilesFlag adds the flag for quantiles of the predictions.
func quantilesFlag(fl *pflag.FlagSet, q *[]float64) {
	fl.Float64SliceVar(q, "quantiles", nil, "quantiles to write beside mean and standard deviation, as in 0.05,0.5,0.95")
}

func checkQuantiles(quantiles []float64) error {
	for _, q := range quantiles {
		if !(q > 0 && q < 1) {
			return usagef("--quantiles %g: need numbers between 0 and 1", q)
		}
	}
	return nil
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

// single rounds to float32; NaN stays.
func single(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// knownOf says which of the values y are not missing and count.
func knownOf(y []float64, counts []bool) []bool {
	out := make([]bool, len(y))
	for i, v := range y {
		out[i] = v == v && (counts == nil || counts[i])
	}
	return out
}

// columnFlags say what the columns of a table are.
type columnFlags struct {
	x, y, aux []string
	task      string
	static    string   // a file
	fields    []string // columns of it
	decimal   string   // of numbers in text

	read *task.Field // what is in it
}

// register adds the flags.
func (f *columnFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.x, "x", nil, "tables: the inputs' columns, by name or number (default: x, or x1,x2,..)")
	fl.StringSliceVar(&f.y, "y", nil, "tables: the outputs' columns, by name or number (default: y, or y1,y2,..)")
	fl.StringSliceVar(&f.aux, "aux", nil, "tables: the columns of auxiliary inputs, which are known at the context and at the targets, by name or number, as in elevation,hour\n(default: the model's names)")
	fl.StringVar(&f.static, "static", "", "tables: a table of static fields, which are known at places of their own, as elevation is on a grid: columns of the same inputs,\nand of the fields")
	fl.StringSliceVar(&f.fields, "static-fields", nil,
		"--static: the columns of the fields; for train --in their names (default: the model's names; a new model takes all but the inputs)")
	must(cmd.MarkFlagFilename("static"))
	fl.StringVar(&f.decimal, "decimal", "", "tables of text: what stands before the fraction of a number, \".\" or \",\" (default: a point)")
	fl.StringVar(&f.task, "task", "", "tables: the column, of numbers or text, that says which task a row is of (default: task, if there is one)")
}

// table reads a table that has these columns.
func (f *columnFlags) table(ctx context.Context, a *app, path string) (*tabular.Table, error) {
	var wanted []string
	if f.x != nil && f.y != nil {
		wanted = slices.Concat(f.x, f.y, f.aux)
		if f.task != "" {
			wanted = append(wanted, f.task)
		}
	}
	opt, err := f.text()
	if err != nil {
		return nil, err
	}
	return fromInput(ctx, a, path, func(path string) (*tabular.Table, error) { return tables.ReadFileAs(path, wanted, opt) },
		func(b []byte, name string) (*tabular.Table, error) { return tables.DecodeAs(b, name, wanted, opt) })
}

// text says how the numbers of tables of text are written.
func (f *columnFlags) text() (opt tabular.Options, err error) {
	switch f.decimal {
	case "":
	case ".", ",":
		opt.Decimal = rune(f.decimal[0])
	default:
		err = usagef("--decimal %q: need a point or a comma", f.decimal)
	}
	return opt, err
}

// options are the flags for a model of that configuration.
func (f *columnFlags) options(cfg *cnp.Config) (task.CSVOptions, error) {
	opt := task.CSVOptions{X: f.x, Y: f.y, Task: f.task, Dx: cfg.DimX, Dy: cfg.DimY, Aux: f.aux}
	if f.aux == nil {
		opt.Aux = cfg.Auxiliary
	}
	if cfg.Architecture != "" && len(opt.Aux) != len(cfg.Auxiliary) {
		if len(cfg.Auxiliary) == 0 {
			return opt, usagef("--aux %s: the model has no auxiliary inputs", strings.Join(f.aux, ","))
		}
		return opt, usagef("--aux %s: the model has %s, %s", strings.Join(f.aux, ","),
			plural(len(cfg.Auxiliary), "auxiliary input"), strings.Join(cfg.Auxiliary, ", "))
	}
	return opt, nil
}

// field reads the static fields of a model of that configuration with dx coordinates, nil where it has none. A new
// model has those of the flags.
func (f *columnFlags) field(ctx context.Context, a *app, cfg *cnp.Config, dx int) (*task.Field, error) {
	names := f.fields
	if cfg.Architecture != "" {
		switch n := len(cfg.Static); {
		case n == 0 && f.static != "":
			return nil, usagef("--static %s: the model has no static fields", f.static)
		case n > 0 && f.static == "":
			return nil, usagef("the model has the static fields %s: name a table that has them with --static",
				strings.Join(cfg.Static, ", "))
		case names == nil:
			names = cfg.Static
		case n != len(names):
			return nil, usagef("--static-fields %s: the model has %s, %s", strings.Join(names, ","), plural(n, "static field"),
				strings.Join(cfg.Static, ", "))
		}
	}
	if f.static == "" {
		if f.fields != nil {
			return nil, usagef("--static-fields is for --static")
		}
		return nil, nil
	}
	if f.read != nil {
		return f.read, nil
	}
	columns := columnFlags{x: f.x, y: names, decimal: f.decimal}
	t, err := columns.table(ctx, a, f.static)
	if err != nil {
		return nil, err
	}
	f.read, err = task.FieldOfTable(t, f.x, names, dx)
	if errors.Is(err, tabular.ErrColumns) {
		err = fmt.Errorf("%w (--x says which columns are the inputs, --static-fields which the fields)", err)
	}
	return f.read, err
}

// named returns the names that the flags chose in a table, or nil where it has none or the columns were found by themselves.
func named(t *tabular.Table, flag []string, columns []int) []string {
	if flag == nil || t.Header == nil {
		return nil
	}
	return labels(t, columns, "", 0)
}

// predicted returns the table of the targets' coordinates with columns for a prediction: those of the outputs or,
// without any, what a table has. They bear the names of the outputs that flags name: t2m_mean.
func (t *csvTask) predicted(f *columnFlags, r *predict.Result, outputs []string) (*tabular.Table, error) {
	in := t.observed.Columns
	x := named(t.points, f.x, in.X)
	if x == nil {
		x = names("x", t.dx)
	}
	values := valueNames{names: named(t.points, f.y, in.Y)}
	if t.points.Units != nil {
		for _, c := range in.Y {
			values.units = append(values.units, t.points.Units[c])
		}
	}
	r.Shape = []int{1, t.targets.Rows(), t.dy}
	out, err := predicted(t.targets.Only(t.asked.Columns.X, x), r, outputs, t.dy, values)
	if err == nil && t.points.Units != nil {
		for k, c := range in.X {
			if out.Units[k] == "" {
				out.Units[k] = t.points.Units[c]
			}
		}
	}
	return out, err
}

// hintColumns says which flags help against an error about columns.
func hintColumns(err error) error {
	if errors.Is(err, tabular.ErrColumns) {
		return fmt.Errorf("%w (--x and --y say which columns to take, --aux which auxiliary inputs)", err)
	}
	return err
}

// oneTask refuses a table of several tasks, which eval would take apart: together they are no curve.
func oneTask(t *tabular.Table, rows *task.Rows) error {
	if rows.Tasks < 2 {
		return nil
	}
	row := slices.Index(rows.Task, 1)
	k := rows.TaskColumn
	return t.Errorf(row, k, "the column %s says %s, and %s before: need the points of one task", t.Header[k], t.Cell(row, k), t.Cell(0, k))
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

// curves takes a prediction apart, one curve per output, with samples [S, n, dy].
func (t *csvTask) curves(p *cnp.Prediction[float32], samples []float32, dy int) []picture.Curve {
	xLabel, yLabel := labels(t.points, t.observed.Columns.X, "x", 1), labels(t.points, t.observed.Columns.Y, "y", dy)
	return drawnCurves(xLabel, yLabel, t.batch, p, samples)
}

// globes are maps of what a model on the sphere predicts, one of each output.
func (t *csvTask) globes(ctx context.Context, m cnp.CurvePredictor[float32], cfg *cnp.Config) ([]*picture.Globe, error) {
	if len(cfg.Auxiliary) > 0 {
		return nil, fmt.Errorf("--plot: nobody knows %s at all places of the globe", strings.Join(cfg.Auxiliary, ", "))
	}
	b := *t.batch
	b.XTarget = onSphere(cfg, picture.GlobePlaces())
	b.Nt = len(b.XTarget) / t.dx
	p, err := m.Predict(ctx, &b)
	if err != nil {
		return nil, err
	}
	var out []*picture.Globe
	for c, label := range labels(t.points, t.observed.Columns.Y, "y", t.dy) {
		g := &picture.Globe{Label: label, Places: places(cfg, b.XContext)}
		for i := range b.Nt {
			g.Mean, g.Std = append(g.Mean, float64(p.Mean[i*t.dy+c])), append(g.Std, float64(p.Std[i*t.dy+c]))
		}
		for i := range b.Nc {
			g.Values = append(g.Values, float64(b.YContext[i*t.dy+c]))
		}
		out = append(out, g)
	}
	return out, nil
}

// arrows is the first vector of a prediction in the plane.
func (t *csvTask) arrows(cfg *cnp.Config, title string, p *cnp.Prediction[float32]) *picture.Arrows {
	names := labels(t.points, t.observed.Columns.X, "x", 2)
	a := &picture.Arrows{Title: title, XLabel: names[0], YLabel: names[1], ContextX: t.batch.XContext}
	fields, dy, cov := cfg.Fields(), cfg.DimY, p.TargetCovariances()
	f := fields[slices.IndexFunc(fields, func(f cnp.Field) bool { return f.Type == cnp.Vector })]
	for i := range t.batch.Nt {
		at := i*dy + f.First
		if p.Mean[at] != p.Mean[at] {
			continue // it lies outside, and has no prediction
		}
		a.X = append(a.X, t.batch.XTarget[2*i:2*i+2]...)
		a.V = append(a.V, float64(p.Mean[at]), float64(p.Mean[at+1]))
		for r := range 2 {
			if cov != nil {
				a.Covariance = append(a.Covariance, cov[(at+r)*dy+f.First], cov[(at+r)*dy+f.First+1])
			}
		}
	}
	for i := range t.batch.Nc {
		a.ContextV = append(a.ContextV, float64(t.batch.YContext[i*dy+f.First]), float64(t.batch.YContext[i*dy+f.First+1]))
	}
	return a
}

// drawnCurves is that of a batch of one task, with the names of its coordinates and outputs.
func drawnCurves(xLabel, yLabel []string, b *cnp.Batch[float32], p *cnp.Prediction[float32], samples []float32) []picture.Curve {
	dy := len(yLabel)
	out := make([]picture.Curve, dy)
	for c := range out {
		out[c] = picture.Curve{XLabel: xLabel[0], YLabel: yLabel[c]}
		if len(samples) > 0 {
			out[c].Samples = make([][]float64, len(samples)/(b.Nt*dy))
		}
		for i := range b.Nt {
			if m := p.Mean[i*dy+c]; m != m {
				continue // it lies outside, and has no prediction
			}
			addValue(&out[c], b.XTarget[i], p, i*dy+c)
			for s := range out[c].Samples {
				out[c].Samples[s] = append(out[c].Samples[s], float64(samples[(s*b.Nt+i)*dy+c]))
			}
		}
		for i := range b.Nc {
			if y := float64(b.YContext[i*dy+c]); y == y { // it was observed
				out[c].ContextX, out[c].ContextY = append(out[c].ContextX, b.XContext[i]), append(out[c].ContextY, y)
			}
		}
	}
	return out
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
