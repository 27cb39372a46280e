package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// oneTableFlags say how one table is interpolated without a model.
type oneTableFlags struct {
	log      []string
	positive bool
	period   []string
	units    string
	noCheck  bool
}

// names of these flags, which need that there is no model.
var oneTableNames = []string{"log", "positive", "period", "units"}

// register adds the flags.
func (f *oneTableFlags) register(fl *pflag.FlagSet) {
	fl.StringSliceVar(&f.log, "log", nil, "without --model: outputs whose logarithms are interpolated, by name")
	fl.BoolVar(&f.positive, "positive", false,
		"without --model: values are amounts, which are never negative; they are taken as they are, or their square roots or logarithms")
	fl.StringSliceVar(&f.period, "period", nil,
		"without --model: periods of seasons of a series, in the input's unit, to be tried beside those that are found; for dates "+
			"also as in 1y, 7d, 12h")
	fl.StringVar(&f.units, "units", "same", "without --model: same, or different where the inputs have units of their own")
	noCheckFlag(fl, &f.noCheck)
	fl.Lookup("no-check").Usage += "; without --model the check also corrects standard deviations, which then stay as they are"
}

// check refuses these flags beside a model, and values that they cannot have.
func (f *oneTableFlags) check(model string, changed func(string) bool) error {
	for _, name := range oneTableNames {
		if model != "" && changed(name) {
			return usagef("--%s is for interpolation without a model: leave --model out", name)
		}
	}
	if f.units != "same" && f.units != "different" {
		return usagef("--units %q: need same or different", f.units)
	}
	_, err := f.periods()
	return err
}

// periods are the periods in the input's unit: years, weeks, days, hours, minutes and seconds become days.
func (f *oneTableFlags) periods() (out []float64, err error) {
	days := map[string]float64{"y": 365.2425, "w": 7, "d": 1, "h": 1. / 24, "m": 1. / 1440, "s": 1. / 86400, "": 1}
	for _, text := range f.period {
		number := strings.TrimRight(text, "ywdhms")
		v, err := strconv.ParseFloat(number, 64)
		unit, ok := days[text[len(number):]]
		if err != nil || !ok || !(v > 0) || math.IsInf(v, 0) {
			return nil, usagef("--period %q: need a positive number, or a time such as 1y, 7d or 12h", text)
		}
		out = append(out, v*unit)
	}
	return out, nil
}

// optionalModel makes --model of a command optional.
func optionalModel(cmd *cobra.Command) {
	flag := cmd.Flags().Lookup("model")
	delete(flag.Annotations, cobra.BashCompOneRequiredFlag)
	flag.Usage = strings.Replace(flag.Usage, ", required;", "; without it, the table itself is interpolated;", 1)
}

// interpolation is one table, with a fit of each of its outputs.
type interpolation struct {
	*csvTask
	sphere    bool
	models    []*krige.Model
	missing   []int // values of each output
	xs        [][]float64
	ys        [][]float64 // the context of each output
	predicted []*krige.Prediction
	samples   [][][]float64 // of each output [samples][targets]
}

// inputs returns the number of coordinates of a table, and whether they are latitude and longitude.
func (f *csvFlags) inputs(t *tabular.Table, sphere bool) (dx, dy int, err error) {
	dx, dy = len(f.columns.x), max(1, len(f.columns.y))
	if sphere && f.columns.x == nil {
		f.columns.x = latLonColumns(t)
		dx = len(f.columns.x)
	}
	if f.columns.y == nil && t.Header != nil {
		for dy = 1; slices.Contains(t.Header, fmt.Sprintf("y%d", dy+1)); dy++ {
		}
	}
	switch {
	case dx > 0:
	case t.Header == nil:
		dx = t.Cols - dy
	case slices.Contains(t.Header, "x1"):
		for dx = 1; slices.Contains(t.Header, fmt.Sprintf("x%d", dx+1)); dx++ {
		}
	default:
		dx = 1
	}
	if sphere && dx != 2 {
		return 0, 0, usagef("--sphere: the inputs are latitude and longitude in degrees: name them with --x, or call the columns lat and lon")
	}
	if dx < 1 || dx > krige.MaxDim {
		return 0, 0, fmt.Errorf("%s: %s, need 1 to %d", t.Name, plural(dx, "input"), krige.MaxDim)
	}
	return dx, dy, nil
}

// readInterpolation reads the tables of regress.
func (a *app) readInterpolation(ctx context.Context, f *csvFlags, sphere bool) (*interpolation, error) {
	t, err := f.read(ctx, a)
	if err != nil {
		return nil, err
	}
	in := &interpolation{csvTask: t, sphere: sphere}
	if t.dx, t.dy, err = f.inputs(t.points, sphere); err != nil {
		return nil, err
	}
	opt := task.CSVOptions{X: f.columns.x, Y: f.columns.y, Task: f.columns.task, Dx: t.dx, Dy: t.dy}
	if t.observed, err = task.RowsOf(t.points, opt, false); err != nil {
		return nil, hintColumns(err)
	}
	if err := oneTask(t.points, t.observed); err != nil {
		return nil, err
	}
	switch {
	case f.sphere > 0 && f.targets == "":
		t.targets.Cols = 2
		for _, p := range globeGrid(f.sphere) {
			t.targets.Values = append(t.targets.Values, p[:]...)
		}
		opt = task.CSVOptions{Dx: t.dx, Dy: t.dy}
	case f.targets == "":
		if t.dx != 1 {
			return nil, usagef("%s has %d inputs: use --targets instead of --from and --to", t.points.Name, t.dx)
		}
		opt = task.CSVOptions{Dx: t.dx, Dy: t.dy}
	}
	opt.Task = ""
	if t.asked, err = task.RowsOf(t.targets, opt, true); err != nil {
		return nil, hintColumns(err)
	}
	in.missing, in.xs, in.ys = make([]int, t.dy), make([][]float64, t.dy), make([][]float64, t.dy)
	for row := range t.points.Rows() {
		for c := range t.dy {
			v := t.observed.Y[row*t.dy+c]
			if v != v {
				in.missing[c]++
				continue
			}
			in.xs[c], in.ys[c] = append(in.xs[c], t.observed.X[row*t.dx:(row+1)*t.dx]...), append(in.ys[c], v)
		}
	}
	return in, nil
}

// fit fits each output.
func (in *interpolation) fit(ctx context.Context, f *oneTableFlags) error {
	opt := krige.Options{Dim: in.dx, Sphere: in.sphere, DifferentUnits: f.units == "different", NoCheck: f.noCheck}
	var err error
	if opt.Periods, err = f.periods(); err != nil {
		return err
	}
	if len(opt.Periods) > 0 && in.dx != 1 {
		return usagef("--period: seasons are of tables with one input, and %s has %d", in.points.Name, in.dx)
	}
	names := labels(in.points, in.observed.Columns.Y, "y", in.dy)
	for _, name := range f.log {
		if !slices.Contains(names, name) {
			return usagef("--log %s: no output of this name: %s", name, strings.Join(names, ", "))
		}
	}
	for c, name := range names {
		own := opt
		if f.positive {
			own.Values = krige.Positive
		}
		if slices.Contains(f.log, name) {
			own.Values = krige.Logarithmic
		}
		if len(in.ys[c]) == 0 {
			return fmt.Errorf("%s: %s has no values, and without a model nothing is known: --model names one that expects something without any data", in.points.Name, name)
		}
		m, err := krige.Fit(ctx, in.xs[c], in.ys[c], own)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", in.points.Name, name, err)
		}
		in.models = append(in.models, m)
	}
	return nil
}

// predict predicts and samples each output at the targets.
func (in *interpolation) predict(ctx context.Context, chain *chainFlags) error {
	for c, m := range in.models {
		p, err := m.At(ctx, in.asked.X)
		if err != nil {
			return err
		}
		in.predicted = append(in.predicted, p)
		if chain.samples > 0 {
			draw := m.Samples
			if chain.function {
				draw = m.Functions
			}
			drawn, err := draw(ctx, in.asked.X, chain.samples, chain.seed+uint64(c))
			if err != nil {
				return err
			}
			in.samples = append(in.samples, drawn)
		}
	}
	return nil
}

// table is the targets' coordinates with the predictions.
func (in *interpolation) table(f *columnFlags, quantiles []float64, samples int) *tabular.Table {
	x := named(in.points, f.x, in.observed.Columns.X)
	if x == nil {
		x = names("x", in.dx)
	}
	values := named(in.points, f.y, in.observed.Columns.Y)
	var columns []tabular.Column
	add := func(kind string, of func(c int) []float64) {
		for c, name := range names(kind, in.dy) {
			if values != nil {
				name = values[c] + "_" + kind
			}
			column := tabular.Column{Name: name, Values: of(c)}
			if in.points.Units != nil {
				column.Unit = in.points.Units[in.observed.Columns.Y[c]]
			}
			columns = append(columns, column)
		}
	}
	add("mean", func(c int) []float64 { return in.predicted[c].Mean })
	add("std", func(c int) []float64 { return in.predicted[c].Std })
	for _, q := range quantiles {
		add("q"+strconv.FormatFloat(q, 'g', -1, 64), func(c int) []float64 { return in.predicted[c].Quantile(q) })
	}
	for s, kind := range numbered("sample", samples) {
		add(kind, func(c int) []float64 { return in.samples[c][s] })
	}
	return in.targets.Only(in.asked.Columns.X, x).With(columns...)
}

// The cells of the longer side of a map.
const mapCells = 140

// draw writes the plot: curves, a map of the plane or globes.
func (in *interpolation) draw(ctx context.Context, w io.Writer, format, title string) error {
	xs, ys := labels(in.points, in.observed.Columns.X, "x", in.dx), labels(in.points, in.observed.Columns.Y, "y", in.dy)
	switch {
	case in.sphere:
		return in.drawGlobes(ctx, w, format, title, ys)
	case in.dx == 1:
		var curves []picture.Curve
		for c, p := range in.predicted {
			curve := picture.Curve{XLabel: xs[0], YLabel: ys[c], X: in.asked.X, Mean: p.Mean, Std: p.Std, ContextX: in.xs[c],
				ContextY: in.ys[c],
				Lower:    p.Quantile(0.025), Upper: p.Quantile(0.975)}
			if in.samples != nil {
				curve.Samples = in.samples[c]
			}
			curves = append(curves, curve)
		}
		return picture.WriteCurves(w, format, title, curves)
	}
	m := &picture.Map{Title: ys[0] + ": " + title, XLabel: xs[0], YLabel: xs[1], Label: ys[0], ContextX: in.xs[0], Values: in.ys[0]}
	first := true
	for _, x := range [][]float64{in.asked.X, in.xs[0]} {
		for i, v := range x {
			if k := i % 2; first && i < 2 {
				m.Lo[k], m.Hi[k] = v, v
			} else {
				m.Lo[k], m.Hi[k] = min(m.Lo[k], v), max(m.Hi[k], v)
			}
		}
		first = first && len(x) == 0
	}
	sides := [2]float64{m.Hi[0] - m.Lo[0], m.Hi[1] - m.Lo[1]}
	longest := max(sides[0], sides[1])
	for k := range sides {
		pad := 0.02 * sides[k]
		if sides[k] == 0 {
			pad = max(longest, 1) / 2
		}
		m.Lo[k], m.Hi[k] = m.Lo[k]-pad, m.Hi[k]+pad
	}
	m.Columns, m.Rows = mapCells, mapCells
	p, err := in.models[0].At(ctx, picture.MapPlaces(m.Lo, m.Hi, m.Columns, m.Rows))
	if err != nil {
		return err
	}
	m.Mean, m.Std = p.Mean, p.Std
	return picture.WriteMap(w, format, m)
}

func (in *interpolation) drawGlobes(ctx context.Context, w io.Writer, format, title string, names []string) error {
	var at []float64
	for _, p := range picture.GlobePlaces() {
		at = append(at, p[:]...)
	}
	var globes []*picture.Globe
	for c, m := range in.models {
		p, err := m.At(ctx, at)
		if err != nil {
			return err
		}
		g := &picture.Globe{Label: names[c], Mean: p.Mean, Std: p.Std, Values: in.ys[c]}
		for i := 0; i < len(in.xs[c]); i += 2 {
			g.Places = append(g.Places, [2]float64{in.xs[c][i], in.xs[c][i+1]})
		}
		globes = append(globes, g)
	}
	globes[0].Title = title
	return picture.WriteGlobes(w, format, globes...)
}

// interpolateResult is what regress --json prints without a model.
type interpolateResult struct {
	regressResult
	Check map[string]krige.Report `json:"check"` // of each output
}

// interpolate is regress without a model.
func (a *app) interpolate(ctx context.Context, f *regressFlags, sphere bool) error {
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
	outs, err := a.outputs([]string{f.input.csv, f.input.targets}, outFile{"out", f.out, tableFiles}, outFile{"plot", f.plot, plotFiles})
	if err != nil {
		return err
	}
	defer outs.discard()
	in, err := a.readInterpolation(ctx, &f.input, sphere)
	if err != nil {
		return err
	}
	if f.plot != "" && in.dx > 2 {
		return fmt.Errorf("--plot: %s has %d inputs; a curve needs one, a map two", in.points.Name, in.dx)
	}
	start := time.Now()
	if err := in.fit(ctx, &f.oneTable); err != nil {
		return err
	}
	if err := in.predict(ctx, &f.chain); err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	written := in.table(&f.input.columns, f.quantiles, f.chain.samples)
	if err := outs.write("out", func(w io.Writer) error { return tables.Write(w, f.out, written, written.First(in.dx)) }); err != nil {
		return err
	}
	title := fmt.Sprintf("%s, %s", plural(len(in.ys[0]), "context point"), plural(in.targets.Rows(), "target"))
	if err := outs.write("plot", func(w io.Writer) error { return in.draw(ctx, w, format, title) }); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := outs.commit(); err != nil {
		return err
	}
	return a.printInterpolation(f, in, seconds)
}

// printInterpolation prints what regress without a model has to say: the check goes to standard error, too.
func (a *app) printInterpolation(f *regressFlags, in *interpolation, seconds float64) error {
	r := &result{}
	names := labels(in.points, in.observed.Columns.Y, "y", in.dy)
	checks := map[string]krige.Report{}
	r.line("model", "none: the table itself is interpolated")
	for c, name := range names {
		report := in.models[c].Report()
		checks[name] = report
		if in.missing[c] > 0 {
			r.note("%s of %s without %s: no part of its context", plural(in.missing[c], "row"), in.points.Name, name)
		}
		r.line("context", "%s: %s", name, plural(len(in.ys[c]), "value"))
		if report.Values == 0 {
			r.note("%s: one value, or equal ones: their spread is not known", name)
			continue
		}
		r.cautions = append(r.cautions, fmt.Sprintf("check of %s: %v", name, report))
	}
	r.line("targets", "%d", in.targets.Rows())
	out := interpolateResult{regressResult: regressResult{CSV: f.input.csv, ContextPoints: len(in.ys[0]),
		Targets: in.targets.Rows(), Seconds: number(seconds), Out: f.out, Plot: f.plot},
		Check: checks}
	if y := in.asked.Y; len(y) == in.targets.Rows()*in.dy && in.targets.Rows() > 0 {
		var sum float64
		total := 0
		for c, p := range in.predicted {
			mean, n := p.LogDensity(everyOf(y, in.dy, c))
			sum, total = sum+mean*float64(n), total+n
		}
		if total > 0 {
			v := number(sum / float64(total))
			out.LogLikelihood = &v
			r.line("log-likelihood", "%.4f per target", float64(v))
		}
	}
	if in.samples != nil {
		out.Samples = make([][][]number, f.chain.samples)
		for s := range out.Samples {
			for i := range in.targets.Rows() {
				row := make([]number, in.dy)
				for c := range row {
					row[c] = number(in.samples[c][s][i])
				}
				out.Samples[s] = append(out.Samples[s], row)
			}
		}
	}
	in.noteExtra(r)
	r.line("time", "%.2f s", seconds)
	r.line("written", "%s", f.out)
	if f.plot != "" {
		r.line("", "%s", f.plot)
	}
	out.Notes = r.allNotes()
	return a.print(r, out)
}

// everyOf takes column c of rows of n.
func everyOf(v []float64, n, c int) []float64 {
	out := make([]float64, 0, len(v)/n)
	for i := c; i < len(v); i += n {
		out = append(out, v[i])
	}
	return out
}
