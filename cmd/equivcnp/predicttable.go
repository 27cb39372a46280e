package main

import (
	"context"
	"fmt"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
	"github.com/equivcnp/equivcnp/internal/words"
)

// tableFlags say how predict reads tasks from a table, and where it predicts them.
type tableFlags struct {
	columns tabletask.Columns
	targets string
	grid    []string
	plot    string
}

func (f *tableFlags) register(cmd *cobra.Command) {
	columnsVar(cmd, &f.columns)
	fl := cmd.Flags()
	fl.StringVar(&f.targets, "targets", "", "tables: table of the places to predict at; if it has the column of the tasks, each row is of its task, else all are of every task\n(default: the rows of --in)")
	fl.StringSliceVar(&f.grid, "grid", nil, "tables: predict on a grid, NAME=FROM:TO:STEP or NAME=VALUE for every input, as in lat=40:60:0.5,lon=-10:10:0.5; dates are 2006-01-02,\nand the step between two of them is in days")
	fl.StringVar(&f.plot, "plot", "", "tables: maps of mean and standard deviation of the first task, where its targets are a grid of two inputs (.png)")
	must(cmd.MarkFlagFilename("targets", "csv", "parquet"))
	must(cmd.MarkFlagFilename("plot", "png"))
	cmd.MarkFlagsMutuallyExclusive("targets", "grid")
}

// asked reports whether a file is one of rows and columns, and not of tensors: by its name, or because flags speak of columns.
func (f *tableFlags) asked(in string) bool {
	return slices.Contains([]string{".csv", ".tsv", ".txt", ".parquet", ".npy"}, strings.ToLower(filepath.Ext(in))) ||
		f.columns.X != nil || f.columns.Y != nil ||
		f.columns.Task != "" || f.columns.Static != "" || f.targets != "" || f.grid != nil || f.plot != ""
}

// axis is the values of one input of a grid.
type axis struct {
	name   string
	values []float64
}

// parseGrid reads --grid for a model of some inputs, that the table calls by these names. Axes stay in their order, of
// which the first is slowest.
func parseGrid(texts, inputs []string, clock func(input int) (*tabular.Clock, error)) (axes []axis, err error) {
	total := 1
	for i, text := range texts {
		name, span, named := strings.Cut(text, "=")
		if !named {
			span = name
			if name = ""; i < len(inputs) {
				name = inputs[i]
			}
		}
		input := slices.Index(inputs, strings.TrimSpace(name))
		if input < 0 {
			return nil, usagef("--grid %s: the inputs are %s", text, strings.Join(inputs, ", "))
		}
		parts := strings.Split(span, ":")
		v, err := gridNumbers(text, parts, func() (*tabular.Clock, error) { return clock(input) })
		if err != nil {
			return nil, err
		}
		a := axis{name: inputs[input], values: v}
		switch {
		case slices.ContainsFunc(axes, func(b axis) bool { return b.name == a.name }):
			return nil, usagef("--grid: %s is there twice", a.name)
		case len(parts) == 3:
			n := math.Floor((v[1]-v[0])/v[2]+1e-9) + 1
			if !(n >= 1 && n <= tabletask.MaxPoints) {
				return nil, usagef("--grid %s: need 1 to %d values from the first to the second", text, tabletask.MaxPoints)
			}
			a.values = make([]float64, int(n))
			for k := range a.values {
				a.values[k] = v[0] + float64(k)*v[2]
			}
		case len(parts) != 1:
			return nil, usagef("--grid %s: need FROM:TO:STEP or one value", text)
		}
		if total > tabletask.MaxPoints/len(a.values) {
			return nil, usagef("--grid: more than %d places", tabletask.MaxPoints)
		}
		total *= len(a.values)
		axes = append(axes, a)
	}
	if len(axes) != len(inputs) {
		return nil, usagef("--grid: need all inputs, %s", strings.Join(inputs, ", "))
	}
	return axes, nil
}

// gridNumbers reads the parts of an axis: numbers, or dates, which become numbers on the clock of the column, as then
// does the step, which is one of days.
func gridNumbers(text string, parts []string, clock func() (*tabular.Clock, error)) (v []float64, err error) {
	dates := 0
	for k, part := range parts {
		x, err := strconv.ParseFloat(part, 64)
		if err != nil {
			days, ok := tabular.Days(part)
			if !ok || k == 2 {
				return nil, usagef("--grid %s: %q is not a number", text, part)
			}
			x, dates = days, dates+1
		}
		if math.IsNaN(x - x) {
			return nil, usagef("--grid %s: %s is not a finite number", text, part)
		}
		v = append(v, x)
	}
	if dates == 0 {
		return v, nil
	}
	if dates < min(2, len(parts)) {
		return nil, usagef("--grid %s: need two dates or two numbers", text)
	}
	c, err := clock()
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, usagef("--grid %s: the column holds numbers without a unit of time, so dates say nothing there", text)
	}
	for k := range v {
		if k < 2 {
			v[k] = c.Of(v[k])
		} else {
			v[k] = c.Span(v[k])
		}
	}
	return v, nil
}

// gridTable is the table of a grid's places, with the inputs as columns in the model's order.
func gridTable(axes []axis, inputs []string) *tabular.Table {
	n := 1
	for _, a := range axes {
		n *= len(a.values)
	}
	columns, step := make([]tabular.Column, len(inputs)), n
	for _, a := range axes {
		step /= len(a.values)
		v := make([]float64, n)
		for i := range v {
			v[i] = a.values[i/step%len(a.values)]
		}
		columns[slices.Index(inputs, a.name)] = tabular.Column{Name: a.name, Values: v}
	}
	return tabular.Of(columns)
}

// tableTasks are the tasks of a table with the places at which they are predicted.
type tableTasks struct {
	in      *tabular.Table
	rows    *task.Rows
	context [][]int // of each task: rows of in
	// places is the table of the places, x their coordinates [places, dx]; y the outputs that are known there, nil without.
	places *tabular.Table
	at     *task.Rows
	// out are the rows of the output: the task of each, and its place.
	out        []tableTarget
	targets    [][]int     // of each task: rows of the output
	field      *task.Field // static
	incomplete int
}

type tableTarget struct{ task, place int }

// tableTasksOf reads the tasks of the table in, and where they are predicted.
func (a *app) tableTasksOf(ctx context.Context, f *tableFlags, cfg *cnp.Config, in *tabular.Table) (*tableTasks, error) {
	t := &tableTasks{in: in}
	var err error
	if t.field, err = f.columns.StaticField(cfg, cfg.DimX); err != nil {
		return nil, flagged(err)
	}
	opt, err := f.columns.RowsOptions(cfg)
	if err != nil {
		return nil, flagged(err)
	}
	if t.rows, err = task.RowsOf(in, opt, false); err != nil {
		return nil, hintColumns(err)
	}
	if err := tabletask.CheckSupport(cfg, in, t.rows.Y, t.rows.Columns.Y); err != nil {
		return nil, err
	}
	t.context, t.targets = make([][]int, t.rows.Tasks), make([][]int, t.rows.Tasks)
	if err := t.observe(cfg); err != nil {
		return nil, err
	}
	if f.grid == nil && f.targets == "" {
		t.places, t.at = in, t.rows
		if err := tabletask.CheckAuxiliary(in, t.rows, nil); err != nil {
			return nil, err
		}
		for row, k := range t.rows.Task {
			t.add(k, row)
		}
		return t, nil
	}
	if opt, err = t.place(ctx, a, f, cfg, opt); err != nil {
		return nil, err
	}
	if t.at, err = task.RowsOf(t.places, opt, true); err != nil {
		return nil, hintColumns(err)
	}
	if err := tabletask.CheckSupport(cfg, t.places, t.at.Y, t.at.Columns.Y); err != nil {
		return nil, err
	}
	if err := tabletask.CheckAuxiliary(t.places, t.at, nil); err != nil {
		return nil, err
	}
	return t, t.assign(opt.Task != "")
}

// observe finds the rows of each task's context.
func (t *tableTasks) observe(cfg *cnp.Config) error {
	dy := cfg.DimY
	for row, k := range t.rows.Task {
		if t.rows.Context != nil && !t.rows.Context[row] {
			continue
		}
		if len(cfg.Auxiliary) > 0 && !cfg.ChannelDensity && t.rows.Known(row) == dy {
			if err := tabletask.CheckAuxiliary(t.in, t.rows, []int{row}); err != nil {
				return err
			}
		}
		switch known := t.rows.Known(row); {
		case known == dy || known > 0 && cfg.ChannelDensity:
			t.context[k] = append(t.context[k], row)
		case known > 0:
			t.incomplete++
		}
	}
	return nil
}

// place reads or makes the table of the places, and returns how its columns are read; Task is that of places of a task of their own.
func (t *tableTasks) place(ctx context.Context, a *app, f *tableFlags, cfg *cnp.Config, opt task.CSVOptions) (task.CSVOptions, error) {
	inputs, columns := t.inputs()
	if f.grid != nil {
		axes, err := parseGrid(f.grid, inputs, func(k int) (*tabular.Clock, error) { return t.in.Clock(columns[k]) })
		if err != nil {
			return opt, err
		}
		t.places = gridTable(axes, inputs)
		for k, c := range columns {
			if t.in.Texts != nil && t.in.Texts[c] != nil {
				t.places.Units[k] = "days since 1970-01-01"
			}
		}
		opt = task.CSVOptions{X: inputs[:cfg.DimX], Aux: inputs[cfg.DimX:], Dx: cfg.DimX, Dy: cfg.DimY}
	} else {
		var err error
		if t.places, err = a.readTable(ctx, &f.columns, f.targets); err != nil {
			return opt, err
		}
	}
	opt.Task = ""
	if k := t.rows.TaskColumn; k >= 0 && t.in.Header != nil && slices.Contains(t.places.Header, t.in.Header[k]) {
		opt.Task = t.in.Header[k]
	}
	return opt, tabletask.SameClocks(t.places, opt, t.in, t.rows.Columns.X)
}

// add adds a place to those where a task is predicted.
func (t *tableTasks) add(task, place int) {
	t.targets[task] = append(t.targets[task], len(t.out))
	t.out = append(t.out, tableTarget{task, place})
}

// assign gives each place its task where the places say theirs, or else every place to every task.
func (t *tableTasks) assign(own bool) error {
	if !own {
		if n := t.places.Rows(); n > 0 && t.rows.Tasks > tabletask.MaxPoints/n {
			return fmt.Errorf("%s: %s at %d places each: more than %d predictions", t.in.Name, words.Plural(t.rows.Tasks, "task"), n, tabletask.MaxPoints)
		}
		for k := range t.rows.Tasks {
			for place := range t.places.Rows() {
				t.add(k, place)
			}
		}
		return nil
	}
	tasks := map[string]int{}
	for row, k := range t.rows.Task {
		tasks[t.in.Cell(row, t.rows.TaskColumn)] = k
	}
	for place := range t.places.Rows() {
		name := t.places.Cell(place, t.at.TaskColumn)
		k, ok := tasks[name]
		if !ok {
			return t.places.Errorf(place, t.at.TaskColumn, "%s has no task %s", t.in.Name, name)
		}
		t.add(k, place)
	}
	return nil
}

// inputs are the names and the columns of the coordinates, and behind them those of the auxiliary inputs.
func (t *tableTasks) inputs() (names []string, columns []int) {
	c := t.rows.Columns
	return append(tabletask.Labels(t.in, c.X, "x", len(c.X)), tabletask.Labels(t.in, c.Aux, "aux", len(c.Aux))...), slices.Concat(c.X, c.Aux)
}

// base is the output's table before it has predictions: the task, if there is a column for it, the coordinates, and the auxiliary inputs.
func (t *tableTasks) base() *tabular.Table {
	names, columns := t.inputs()
	dx := len(names)
	places := t.places.Only(slices.Concat(t.at.Columns.X, t.at.Columns.Aux), slices.Clone(names))
	first := make([]int, t.rows.Tasks) // a row of each task
	for row := len(t.rows.Task) - 1; row >= 0; row-- {
		first[t.rows.Task[row]] = row
	}
	named := t.rows.TaskColumn >= 0
	out := &tabular.Table{Cols: dx, Header: []string{}, Units: []string{}, Texts: [][]string{}}
	if named {
		out.Cols++
		out.Header, out.Units, out.Texts = append(out.Header, tabletask.Labels(t.in, []int{t.rows.TaskColumn}, "task", 1)...),
			append(out.Units, ""), append(out.Texts, make([]string, len(t.out)))
	}
	for k := range dx {
		unit := ""
		if places.Units != nil {
			unit = places.Units[k]
		}
		if t.in.Units != nil && unit == "" {
			unit = t.in.Units[columns[k]]
		}
		name := names[k]
		var texts []string
		if places.Texts != nil && places.Texts[k] != nil {
			texts = make([]string, len(t.out))
		}
		out.Header, out.Units, out.Texts = append(out.Header, name), append(out.Units, unit), append(out.Texts, texts)
	}
	for i, o := range t.out {
		if named {
			row, k := first[o.task], t.rows.TaskColumn
			out.Values = append(out.Values, t.in.Values[row*t.in.Cols+k])
			out.Texts[0][i] = t.in.Key(row, k)
		}
		for k := range dx {
			out.Values = append(out.Values, places.Values[o.place*dx+k])
			if texts := out.Texts[out.Cols-dx+k]; texts != nil {
				texts[i] = places.Text(o.place, k)
			}
		}
	}
	return out
}

// piece is some tasks, and of a single one some targets, that are predicted at a time.
type piece struct{ from, to, first, last int }

// together and targetsTogether are how many tasks are predicted at a time at most, and how many of their targets.
const (
	together        = 64
	targetsTogether = 1 << 16
)

// pieces takes the tasks apart. Models that lay one lattice over a batch get a task at a time; those that compute each target on its own
// get parts of large ones, unless samples tie the targets together.
func (t *tableTasks) pieces(cfg *cnp.Config, samples bool) (out []piece) {
	alone, together := cfg.Placement != cnp.PlacementContext || cfg.PointsPerUnit == 0, t.field.Tasks(together)
	company := !alone || cfg.Architecture == krige.Architecture
	for k := 0; k < len(t.targets); {
		n := len(t.targets[k])
		if n > targetsTogether && !alone && !samples {
			for first := 0; first < n; first += targetsTogether {
				out = append(out, piece{k, k + 1, first, min(first+targetsTogether, n)})
			}
			k++
			continue
		}
		to, most := k+1, n
		for company && to < len(t.targets) && to-k < together {
			if wider := max(most, len(t.targets[to])); wider*(to+1-k) <= targetsTogether {
				most, to = wider, to+1
				continue
			}
			break
		}
		out = append(out, piece{k, to, 0, most})
		k = to
	}
	return out
}

// batch is that of a piece, whose targets are the rows [tasks, targets] of the output; -1 at padding.
func (t *tableTasks) batch(p piece, dx, dy, da int) (b *cnp.Batch[float32], rows []int) {
	b = &cnp.Batch[float32]{B: p.to - p.from, Nt: p.last - p.first}
	for k := p.from; k < p.to; k++ {
		b.Nc = max(b.Nc, len(t.context[k]))
	}
	b.XContext, b.YContext, b.ContextMask = make([]float64, b.B*b.Nc*dx), make([]float32, b.B*b.Nc*dy), make([]bool, b.B*b.Nc)
	b.AuxContext, b.AuxTarget = make([]float32, b.B*b.Nc*da), make([]float32, b.B*b.Nt*da)
	b.XTarget, b.TargetMask, rows = make([]float64, b.B*b.Nt*dx), make([]bool, b.B*b.Nt), slices.Repeat([]int{-1}, b.B*b.Nt)
	for k := p.from; k < p.to; k++ {
		for i, row := range t.context[k] {
			at := (k-p.from)*b.Nc + i
			copy(b.XContext[at*dx:(at+1)*dx], t.rows.X[row*dx:])
			copy(b.YContext[at*dy:(at+1)*dy], tabletask.Single(t.rows.Y[row*dy:(row+1)*dy]))
			copy(b.AuxContext[at*da:(at+1)*da], tabletask.Single(t.rows.Aux[row*da:(row+1)*da]))
			b.ContextMask[at] = true
		}
		for i, row := range t.targets[k][min(p.first, len(t.targets[k])):min(p.last, len(t.targets[k]))] {
			at := (k-p.from)*b.Nt + i
			place := t.out[row].place
			copy(b.XTarget[at*dx:(at+1)*dx], t.at.X[place*dx:])
			copy(b.AuxTarget[at*da:(at+1)*da], tabletask.Single(t.at.Aux[place*da:(place+1)*da]))
			b.TargetMask[at], rows[at] = true, row
		}
	}
	t.field.Join(b)
	return b, rows
}

// mostChecked bounds the tasks whose contexts are gathered for a check.
const mostChecked = 8

// contexts returns the contexts of some tasks, without targets.
func (t *tableTasks) contexts(dx, dy, da int) (all []*cnp.Batch[float32]) {
	for k := 0; k < len(t.context); k += max(1, (len(t.context)+mostChecked-1)/mostChecked) {
		b, _ := t.batch(piece{k, k + 1, 0, 0}, dx, dy, da)
		all = append(all, b)
	}
	return all
}

// predictTable is predict for a table.
func (a *app) predictTable(ctx context.Context, f *predictFlags) error {
	outs, err := a.outputs([]string{f.model.path, f.in, f.table.targets, f.table.columns.Static},
		outFile{"out", f.out, tableFiles}, outFile{"plot", f.table.plot, pictureFiles})
	if err != nil {
		return err
	}
	defer outs.discard()
	var model cnp.Regressor[float32]
	if f.model.path != "" {
		if model, err = f.model.regressor(ctx); err != nil {
			return err
		}
	}
	r := &result{}
	p, err := a.predictedTable(ctx, f, r, model)
	if err != nil {
		return err
	}
	if err := outs.write("out", func(w io.Writer) error { return tables.Write(w, f.out, p.table, p.x) }); err != nil {
		return err
	}
	if err := r.drawn(outs.draw("plot", func(w io.Writer) error {
		return drawMaps(w, p.table, p.x, p.targets, p.first,
			p.dy)
	})); err != nil {
		return err
	}
	return a.wrotePrediction(ctx, outs, r, &p.predictResult, f.out)
}

// tablePrediction is the prediction of one table: what is said of it, and the table with its coordinates x.
type tablePrediction struct {
	predictResult
	table   *tabular.Table
	x       []int
	targets [][]int // of each task: rows of the table
	first   int     // column of the predictions
	dy      int
}

// tableRun is a table on its way to its predictions.
type tableRun struct {
	*tableTasks
	app     *app
	flags   *predictFlags
	r       *result
	model   cnp.Regressor[float32]
	cfg     cnp.Config
	all     *cnp.Prediction[float32] // of all rows of the output
	counts  []bool                   // which of its values have a prediction
	samples []float32
	scaled  int  // tasks that were standardised
	thinned bool // it was said that a context is dense
}

// predictedTable predicts the tasks of the table f.in, and writes to r what is to be said. Without a model they are interpolated.
func (a *app) predictedTable(ctx context.Context, f *predictFlags, r *result, model cnp.Regressor[float32]) (*tablePrediction, error) {
	if f.covariance {
		return nil, usagef("--covariance is for files of tensors")
	}
	in, err := a.readTable(ctx, &f.table.columns, f.in)
	if err != nil {
		return nil, err
	}
	if model == nil {
		if model, err = f.model.universalOfTable(&f.table.columns, in, f.sphere); err != nil {
			return nil, err
		}
	}
	run := &tableRun{app: a, flags: f, r: r, model: model, cfg: model.Config()}
	if run.tableTasks, err = a.tableTasksOf(ctx, &f.table, &run.cfg, in); err != nil {
		return nil, err
	}
	if err := unscaled(&run.cfg, f.standardise); err != nil {
		return nil, err
	}
	if err := run.empty(); err != nil {
		return nil, err
	}
	judged, cfg := model, &run.cfg
	if f.standardise {
		judged = cnp.Standardised(model)
	}
	r.noteIncomplete(run.incomplete, in.Name)
	checked, err := r.check(ctx, f.noCheck, judged, run.contexts(cfg.DimX, cfg.DimY, len(cfg.Auxiliary))...)
	if err != nil {
		return nil, err
	}
	seconds, err := run.predict(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.in, err)
	}
	r.noteStandardised(run.scaled, run.rows.Tasks)
	out, err := run.written()
	if err != nil {
		return nil, err
	}
	run.describe(&out.predictResult)
	out.Seconds, out.Check = number(seconds), checked
	return out, nil
}

// empty refuses tables without columns, and notes those without rows.
func (t *tableRun) empty() error {
	for _, table := range []*tabular.Table{t.in, t.places} {
		if table.Cols == 0 {
			return fmt.Errorf("%s: the file is empty: need a table with a header or rows", table.Name)
		}
		if table.Rows() == 0 {
			t.r.cautions = append(t.r.cautions, table.Name+" has no rows: there is nothing to predict")
			break
		}
	}
	return nil
}

// predict predicts all tasks, and returns how long it took.
func (t *tableRun) predict(ctx context.Context) (seconds float64, err error) {
	n := len(t.out) * t.cfg.DimY
	if t.all, err = cnp.NewPrediction[float32](&t.cfg, n); err != nil {
		return 0, err
	}
	if t.flags.chain.samples > 0 {
		t.samples = make([]float32, t.flags.chain.samples*n)
	}
	t.counts = slices.Repeat([]bool{true}, n)
	work, done := t.app.withProgress(ctx, "predicting")
	defer done()
	start := time.Now()
	for _, p := range t.pieces(&t.cfg, t.flags.chain.samples > 0) {
		if err := t.piece(work, p); err != nil {
			return 0, err
		}
	}
	return time.Since(start).Seconds(), t.all.Check(func(i int) bool { return t.counts[i] })
}

// piece predicts some of the tasks, or some targets of one.
func (t *tableRun) piece(ctx context.Context, p piece) error {
	f, dy := t.flags, t.cfg.DimY
	b, rows := t.batch(p, t.cfg.DimX, dy, len(t.cfg.Auxiliary))
	if len(b.XTarget) == 0 {
		return nil
	}
	opt := predict.Options{Raw: !f.standardise}
	if f.chain.samples > 0 {
		draw := f.chain.options(&t.cfg, b.B, b.Nc)
		opt.Sample = &draw
	}
	prepared, err := predict.PrepareCurves(t.model, b, opt)
	if err != nil {
		return err
	}
	for _, caution := range prepared.Cautions {
		if !slices.Contains(t.r.cautions, caution) && len(t.r.cautions) < mostCautions {
			t.r.cautions = append(t.r.cautions, caution)
		}
	}
	t.scaled += prepared.Scaled
	if !t.thinned {
		t.r.noteThinned(prepared.Given, prepared.Seen)
		t.thinned = prepared.Seen < prepared.Given
	}
	res, err := prepared.Run(ctx)
	if err = t.r.reached(res, err); err != nil {
		return err
	}
	for at, row := range rows {
		if row < 0 {
			continue
		}
		copyValues(t.all, row*dy, res.Prediction, at*dy, dy)
		for d := range dy {
			t.counts[row*dy+d] = res.Counted(at*dy + d)
			for s := range f.chain.samples {
				t.samples[(s*len(t.out)+row)*dy+d] = res.Samples[(s*len(rows)+at)*dy+d]
			}
		}
	}
	return nil
}

// written makes the table of the predictions.
func (t *tableRun) written() (*tablePrediction, error) {
	f, dx, dy := t.flags, t.cfg.DimX, t.cfg.DimY
	base, names := t.base(), tabletask.ValueNames{}
	if t.in.Header != nil {
		names.Names = tabletask.Labels(t.in, t.rows.Columns.Y, "y", dy)
	}
	if t.in.Units != nil {
		for _, c := range t.rows.Columns.Y {
			names.Units = append(names.Units, t.in.Units[c])
		}
	}
	table, err := tabletask.Predicted(base, &predict.Result{Prediction: t.all, Shape: []int{1, len(t.out), dy}, Counts: t.counts,
		Samples: t.samples, Drawn: f.chain.samples, Quantiles: f.quantiles}, f.outputs, dy, names)
	if err != nil {
		return nil, flagged(err)
	}
	out := &tablePrediction{table: table, x: make([]int, dx), targets: t.targets, first: base.Cols, dy: dy}
	for k := range out.x {
		out.x[k] = base.Cols - dx - len(t.cfg.Auxiliary) + k
		out.Inputs = append(out.Inputs, table.Header[out.x[k]])
	}
	out.Columns = table.Header
	return out, nil
}

// describe says what was predicted.
func (t *tableRun) describe(out *predictResult) {
	for _, extra := range []struct {
		table   *tabular.Table
		columns tabular.Columns
	}{{t.in, t.rows.Columns}, {t.places, t.at.Columns}} {
		if extra.table == t.places && t.places == t.in {
			break
		}
		names := slices.DeleteFunc(extra.table.Extra(extra.columns), func(name string) bool {
			return name == "context" || t.rows.TaskColumn >= 0 && t.in.Header != nil && name == t.in.Header[t.rows.TaskColumn]
		})
		if len(names) > 0 {
			t.r.note("columns of %s that are not read: %s", extra.table.Name, strings.Join(names, ", "))
		}
	}
	r, f, dy := t.r, t.flags, t.cfg.DimY
	out.Model, out.Architecture, out.Group, out.In = f.model.path, string(t.cfg.Architecture), t.cfg.Group, f.in
	out.Tasks, out.Targets, out.Shape = t.rows.Tasks, len(t.out), []int{len(t.out), dy}
	for _, rows := range t.context {
		out.ContextPoints += len(rows)
	}
	r.line("model", "%s", f.model.describe(t.cfg))
	r.line("tasks", "%d", out.Tasks)
	r.line("context", "%s", words.Plural(out.ContextPoints, "point"))
	r.line("targets", "%d", out.Targets)
	if out.LogLikelihood, out.LogLikelihoodValues = t.scored(t.all, t.counts, dy); out.LogLikelihood != nil {
		out.LogLikelihoodOf = strings.Join(tabletask.Labels(t.places, t.at.Columns.Y, "y", dy), ", ")
		r.line("log-likelihood", "%.4f mean of the values of %s that are no context", float64(*out.LogLikelihood), out.LogLikelihoodOf)
	}
}

// drawMaps draws the rows of a table that are of the first task, at the places of a grid: for each of dy outputs its
// mean and its standard deviation, which begin with column from; x are those of the coordinates.
func drawMaps(w io.Writer, t *tabular.Table, x []int, targets [][]int, from, dy int) error {
	first := *t
	first.Values, first.Texts = nil, nil
	if len(targets) > 0 {
		for _, row := range targets[0] {
			first.Values = append(first.Values, t.Values[row*t.Cols:(row+1)*t.Cols]...)
		}
	}
	t = &first
	rows := t.Rows()
	axes, lengths := tables.Grid(t, x)
	var wide []int // axes of more than one place
	for i, n := range lengths {
		if n > 1 {
			wide = append(wide, i)
		}
	}
	if len(wide) != 2 {
		return fmt.Errorf("the targets of the first task are no grid of two inputs")
	}
	// The first of x that is an axis goes to the right, the other up.
	right, up := wide[0], wide[1]
	if slices.Index(x, axes[up]) < slices.Index(x, axes[right]) {
		right, up = up, right
	}
	width, height := lengths[right], lengths[up]
	step := func(axis int) int {
		n := 1
		for _, l := range lengths[axis+1:] {
			n *= l
		}
		return n
	}
	sheet := picture.Sheet{Title: fmt.Sprintf("%s to the right, %s up", t.Header[axes[right]], t.Header[axes[up]]),
		Scale: max(1, 320/max(width, height))}
	for d := range dy {
		var panels []picture.Panel
		for kind := range 2 {
			c := from + kind*dy + d
			p := picture.Panel{C: 1, H: height, W: width, Pix: make([]float32, width*height), Mask: make([]bool, width*height),
				Spread: true}
			lo, hi := math.Inf(1), math.Inf(-1)
			for i := range rows {
				v := t.Values[i*t.Cols+c]
				at := (height-1-i/step(up)%height)*width + i/step(right)%width
				p.Pix[at] = float32(v)
				if p.Mask[at] = v == v; v == v {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
			for i := range p.Pix {
				p.Pix[i] -= float32(lo)
			}
			p.MaxSpread = hi - lo
			p.Label = fmt.Sprintf("%s\n%.3g to %.3g", t.Header[c], lo, hi)
			panels = append(panels, p)
		}
		sheet.Rows = append(sheet.Rows, panels)
	}
	return png.Encode(w, sheet.Draw())
}

// mostCautions bounds what is said of a table's tasks.
const mostCautions = 20

// copyValues copies n values of a prediction to another, with their parameters.
func copyValues(to *cnp.Prediction[float32], at int, from *cnp.Prediction[float32], first, n int) {
	copy(to.Mean[at:at+n], from.Mean[first:first+n])
	copy(to.Std[at:at+n], from.Std[first:first+n])
	if from.Params != nil {
		k := from.Likelihood.Outputs()
		copy(to.Params[at*k:(at+n)*k], from.Params[first*k:(first+n)*k])
	}
}

// scored is the mean log-density of the values that are known at the places, and were no part of a context, and their
// number; nil without any.
func (t *tableTasks) scored(p *cnp.Prediction[float32], counts []bool, dy int) (mean *number, n int) {
	if len(t.at.Columns.Y) != dy {
		return nil, 0
	}
	sum := 0.0
	for _, rows := range t.targets {
		if len(rows) == 0 {
			continue
		}
		own := &cnp.Prediction[float32]{Mean: make([]float32, len(rows)*dy), Std: make([]float32, len(rows)*dy), Likelihood: p.Likelihood}
		if p.Params != nil {
			own.Params = make([]float32, len(rows)*dy*p.Likelihood.Outputs())
		}
		y, known := make([]float32, len(rows)*dy), make([]bool, len(rows)*dy)
		for i, row := range rows {
			copyValues(own, i*dy, p, row*dy, dy)
			place := t.out[row].place
			for d := range dy {
				v := t.at.Y[place*dy+d]
				y[i*dy+d] = float32(v)
				observed := t.places == t.in && (t.rows.Context == nil || t.rows.Context[place])
				known[i*dy+d] = v == v && counts[row*dy+d] && !observed
			}
		}
		s, k := own.LogDensity(y, known)
		sum, n = sum+s, n+k
	}
	if n == 0 {
		return nil, 0
	}
	v := number(sum / float64(n))
	return &v, n
}
