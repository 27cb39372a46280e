package tabletask

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/likelihood"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// Options say which table holds the context points of one task, and where to predict.
type Options struct {
	Columns
	// CSV is the file of the context points, Targets that of the targets' coordinates. The name "-" is Stdin.
	CSV, Targets string
	Stdin        io.Reader
	// Without Targets there are so many Points from From to To or, if Sphere is not 0, those of a grid of the globe whose
	// cells are so many degrees long.
	From, To Place
	Points   int
	Sphere   float64
	// Grid, instead of these, is a grid of places: the side of square cells that cover the context's places in the plane, or
	// NAME=FROM:TO:STEP or NAME=VALUE for every input.
	Grid []string
	// Next, instead of these, is a number of steps of the one input behind the last row that has values, at the usual distance of rows.
	Next int
	// NoTargets says that there are none of all these.
	NoTargets bool
	// Model is the name of the model, for errors.
	Model string

	field *task.Field // that was read
}

// Task is one task as its tables have it.
type Task struct {
	Points, Targets *table.Table
	// Observed and Asked are the rows of Points and Targets.
	Observed, Asked *task.Rows
	Static          *task.Field
	Dx, Dy          int
	// Incomplete is the number of rows of Points that lack outputs, and are left out.
	Incomplete int
	Batch      *cnp.Batch[float32]

	said []string // of the targets
}

// Read reads the tables.
func Read(o *Options) (*Task, error) {
	points, err := o.ReadTable(o.CSV, o.Stdin)
	if err != nil {
		return nil, err
	}
	t := &Task{Points: points, Targets: &table.Table{Cols: 1}}
	if o.Targets == "" && (o.Sphere > 0 || o.Grid != nil || o.Next > 0 || o.NoTargets) {
		return t, nil // Fit knows the model's coordinates, and the table's
	}
	if o.Targets == "" {
		t.Targets.Values = Linspace(o.From.Value, o.To.Value, o.Points)
		return t, nil
	}
	if t.Targets, err = o.ReadTable(o.Targets, o.Stdin); err != nil {
		return nil, err
	}
	return t, NotEmpty(t.Targets)
}

// nothing says that a table has no rows.
func nothing(t *table.Table) string { return t.Name + " has no rows: there is nothing to predict" }

// NotEmpty refuses a table without rows and header, of which nothing says what it should hold.
func NotEmpty(t *table.Table) error {
	if t.Cols == 0 {
		return fmt.Errorf("%s: the file is empty: need a table with a header or rows", t.Name)
	}
	return nil
}

// suits refuses options that do not go with a model of that configuration.
func (o *Options) suits(cfg *cnp.Config) error {
	if n := len(cfg.Auxiliary); n > 0 && o.Targets == "" {
		return settings.Hintf("%s: the model has the auxiliary inputs %s, use {Targets} with a table that has them", o.Model,
			strings.Join(cfg.Auxiliary, ", "))
	}
	if o.Sphere > 0 && !cfg.OnSphere() {
		return settings.Hintf("{Sphere}: the points of %s do not lie on the sphere", o.Model)
	}
	if o.Targets == "" && o.Sphere == 0 && o.Grid == nil && cfg.DimX != 1 {
		if o.Next > 0 {
			return checkNext(o.Next, cfg.DimX, o.Model)
		}
		return settings.Hintf("%s: the model has %d input coordinates, use {Grid} or {Targets} instead of {From} and {To}", o.Model,
			cfg.DimX)
	}
	return nil
}

// Fit makes the batch that a model of that configuration takes.
func (t *Task) Fit(o *Options, cfg *cnp.Config) error {
	if err := o.suits(cfg); err != nil {
		return err
	}
	dx, dy := cfg.DimX, cfg.DimY
	t.Dx, t.Dy = dx, dy
	if cfg.Degrees() && o.X == nil {
		o.X = LatLonColumns(t.Points)
	}
	var err error
	if o.field == nil {
		if o.field, err = o.StaticField(cfg, dx); err != nil {
			return err
		}
	}
	t.Static = o.field
	if o.Sphere > 0 && o.Grid == nil && o.Targets == "" {
		t.Targets.Cols, t.Targets.Values = dx, OnSphere(cfg, GlobeGrid(o.Sphere))
	}
	if err := t.rows(o, cfg); err != nil {
		return err
	}
	if err := CheckSupport(cfg, t.Points, t.Observed.Y, t.Observed.Columns.Y); err != nil {
		return err
	}
	if err := CheckSingle(t.Points, t.Observed); err != nil {
		return err
	}
	if err := CheckSupport(cfg, t.Targets, t.Asked.Y, t.Asked.Columns.Y); err != nil {
		return err
	}
	if err := CheckAuxiliary(t.Targets, t.Asked, nil); err != nil {
		return err
	}
	return t.join(cfg)
}

// rows takes both tables apart.
func (t *Task) rows(o *Options, cfg *cnp.Config) error {
	opt, err := o.RowsOptions(cfg)
	if err != nil {
		return err
	}
	if t.Observed, err = RowsOf(t.Points, opt, false); err != nil {
		return err
	}
	if err := OneTask(t.Points, t.Observed); err != nil {
		return err
	}
	if err := t.Clocks(o, opt); err != nil {
		return err
	}
	if o.Targets == "" {
		opt = task.CSVOptions{Dx: t.Dx, Dy: t.Dy, Degrees: opt.Degrees}
	}
	opt.Task = "" // all targets are of that one
	t.Asked, err = RowsOf(t.Targets, opt, true)
	return err
}

// join makes the batch of the rows.
func (t *Task) join(cfg *cnp.Config) error {
	dx, dy, da := t.Dx, t.Dy, len(cfg.Auxiliary)
	b := &cnp.Batch[float32]{B: 1, Nt: t.Targets.Rows(), XTarget: t.Asked.X, AuxTarget: Single(t.Asked.Aux)}
	for row := range t.Points.Rows() {
		if known := t.Observed.Known(row); known == 0 || known < dy && !cfg.ChannelDensity {
			t.Incomplete++
			continue
		}
		b.XContext, b.Nc = append(b.XContext, t.Observed.X[row*dx:(row+1)*dx]...), b.Nc+1
		for _, y := range t.Observed.Y[row*dy : (row+1)*dy] {
			b.YContext = append(b.YContext, float32(y))
		}
		if !cfg.ChannelDensity {
			if err := CheckAuxiliary(t.Points, t.Observed, []int{row}); err != nil {
				return err
			}
		}
		b.AuxContext = append(b.AuxContext, Single(t.Observed.Aux[row*da:(row+1)*da])...)
	}
	t.Static.Join(b)
	t.Batch = b
	return nil
}

// Clocks brings the dates and times of the targets, and those of From and To, to the unit of time that the points have, of which Observed
// has the columns. The places of Grid are made here, as their columns are known by then.
func (t *Task) Clocks(o *Options, opt task.CSVOptions) error {
	like := t.Observed.Columns.X
	if o.Grid != nil {
		return t.gridPlaces(o)
	}
	if o.Next > 0 {
		return t.nextPlaces(o)
	}
	if o.Targets != "" {
		return SameClocks(t.Targets, opt, t.Points, like)
	}
	if o.Sphere > 0 || !o.From.Date {
		return nil
	}
	clock, err := t.Points.Clock(like[0])
	if err == nil && clock == nil {
		err = settings.Hintf("{From}, {To}: %s holds numbers without a unit of time, so dates say nothing there", t.Points.Name)
	}
	if err != nil {
		return err
	}
	from, err := clock.At(o.From.Value)
	if err != nil {
		return settings.Hintf("{From}: %s: %w", t.Points.Name, err)
	}
	to, err := clock.At(o.To.Value)
	if err != nil {
		return settings.Hintf("{To}: %s: %w", t.Points.Name, err)
	}
	for i := range t.Targets.Values { // rounded once, so that whole days stay what they are
		t.Targets.Values[i] = from
		if n := o.Points - 1; i == n && i > 0 {
			t.Targets.Values[i] = to
		} else if i > 0 {
			t.Targets.Values[i] += (to - from) * float64(i) / float64(n)
		}
	}
	t.Targets.InheritDates(0, t.Points, like[0])
	return nil
}

// nextPlaces makes the targets of Options.Next.
func (t *Task) nextPlaces(o *Options) error {
	if err := checkNext(o.Next, t.Dx, t.Points.Name); err != nil {
		return err
	}
	var x []float64
	for row := range t.Points.Rows() {
		if t.Observed.Known(row) > 0 {
			x = append(x, t.Observed.X[row])
		}
	}
	places, said, err := next(o.Next, [][]float64{x}, t.Points, t.Observed.Columns.X[0])
	if err != nil {
		return err
	}
	t.Targets, t.said = places, append(t.said, said)
	t.Targets.Header = nil
	return nil
}

// SameClocks brings the coordinates of places to the clocks of the columns x of another table.
func SameClocks(places *table.Table, opt task.CSVOptions, like *table.Table, x []int) error {
	columns, err := places.Find(tabular.Want{X: opt.X, Y: opt.Y, Dx: opt.Dx, Dy: opt.Dy, OnlyX: true, Aux: opt.Aux})
	if err != nil || len(columns.X) != len(x) {
		return nil // which whoever takes the columns says
	}
	for k, c := range columns.X {
		if err := places.SetClock(c, like, x[k]); err != nil {
			return err
		}
	}
	return nil
}

// CheckAuxiliary refuses a table in which one of the rows lacks an auxiliary input; rows nil stands for all.
func CheckAuxiliary(t *table.Table, r *task.Rows, rows []int) error {
	da := len(r.Columns.Aux)
	check := func(row int) error {
		for k, v := range r.Aux[row*da : (row+1)*da] {
			if v != v {
				return t.Errorf(row, r.Columns.Aux[k], "the cell is missing, and a target needs its auxiliary inputs")
			}
		}
		return nil
	}
	for _, row := range rows {
		if err := check(row); err != nil {
			return err
		}
	}
	for row := 0; rows == nil && da > 0 && row < t.Rows(); row++ {
		if err := check(row); err != nil {
			return err
		}
	}
	return nil
}

// CheckSupport refuses values y [n, dy] of columns that the model's likelihood cannot give, by line and column. NaN is a
// missing value.
func CheckSupport(cfg *cnp.Config, t *table.Table, y []float64, columns []int) error {
	l, err := cnp.ParseLikelihood(cfg)
	if err != nil {
		return err
	}
	lo, hi := l.Support()
	for i, v := range y {
		if v < lo || v > hi {
			n := len(columns)
			return t.Errorf(i/n, columns[i%n], "%w: %g, and likelihood %s is for %s", cnp.ErrRange, v, l.Name(),
				likelihood.Supported(lo, hi))
		}
	}
	return nil
}

// CheckSingle refuses an output whose values differ, in one of the tasks, by hardly more than float32 tells apart: models see and say
// float32. Equal values stay equal.
func CheckSingle(t *table.Table, rows *task.Rows) error {
	n := len(rows.Columns.Y)
	for c, column := range rows.Columns.Y {
		of := make([]tabular.Single, rows.Tasks)
		for row, k := range rows.Task {
			of[k].Add(rows.Y[row*n+c])
		}
		for row, k := range rows.Task {
			if of[k].Loses() {
				mean, std := of[k].Moments()
				return t.Errorf(row, column, "%w: %s has a standard deviation of %.3g around %.9g, which is too little for float32: "+
					"subtract a number from all of its values", cnp.ErrRange, Labels(t, rows.Columns.Y, "y", n)[c], std, mean)
			}
		}
	}
	return nil
}

// OneTask refuses a table of several tasks: together they are no curve.
func OneTask(t *table.Table, rows *task.Rows) error {
	if rows.Tasks < 2 {
		return nil
	}
	row := slices.Index(rows.Task, 1)
	k := rows.TaskColumn
	return t.Errorf(row, k, "the column %s says %s, and %s before: need the points of one task; equivcnp predict takes several",
		t.Header[k], t.Cell(row, k), t.Cell(0, k))
}

// Doubts says which of the columns of the context may not hold what they seem to; Extra says so, too.
func (t *Task) Doubts() []string { return t.Points.Doubts(t.Observed.Columns) }

// Extra says that a table of targets has no rows, and names the columns of both tables that nobody reads, and says what
// was read in another way than it is written.
func (t *Task) Extra() (notes []string) {
	notes = append(notes, t.said...)
	if t.Targets.Name != "" && t.Targets.Rows() == 0 {
		notes = append(notes, nothing(t.Targets))
	}
	for _, t := range []struct {
		table   *table.Table
		columns table.Columns
	}{{t.Points, t.Observed.Columns}, {t.Targets, t.Asked.Columns}} {
		if extra := t.table.Extra(t.columns); len(extra) > 0 {
			note := fmt.Sprintf("columns of %s that are not read: %s", t.table.Name, strings.Join(extra, ", "))
			if !slices.Contains(notes, note) { // one file may be both tables
				notes = append(notes, note)
			}
		}
		for _, note := range t.table.Remarks(t.columns) {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// Single rounds to float32; NaN stays.
func Single(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}
