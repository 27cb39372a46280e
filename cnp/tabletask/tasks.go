package tabletask

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/tabular"
	"github.com/equivcnp/equivcnp/internal/words"
)

// TasksOptions say which tasks a table holds, and where they are predicted.
type TasksOptions struct {
	Columns
	// Targets is the file of the table of the places. If it has the column of the tasks, each row is of its task, else all
	// are of every task. Without it and Grid the places are the table's own rows.
	Targets string
	// Grid is a grid of places: NAME=FROM:TO:STEP or NAME=VALUE for every input, or the side of square cells in the plane that cover
	// the places of all tasks.
	Grid []string
	// Next, instead of these, is a number of steps of the one input behind the last row of each task that has values, at the usual
	// distance of rows.
	Next int
	// Stdin is read where Targets is "-".
	Stdin io.Reader
}

// Tasks are the tasks of a table with the places at which they are predicted.
type Tasks struct {
	in      *table.Table
	rows    *task.Rows
	context [][]int // of each task: rows of in
	// places is the table of the places, x their coordinates [places, dx]; y the outputs that are known there, nil without.
	places *table.Table
	at     *task.Rows
	// out are the rows of the output: the task of each, and its place.
	out        []rowOf
	targets    [][]int     // of each task: rows of the output
	field      *task.Field // static
	incomplete int
	said       []string // of the places
}

type rowOf struct{ task, place int }

// TasksOf reads the tasks of the table in for a model of that configuration, and where they are predicted.
func TasksOf(o *TasksOptions, cfg *cnp.Config, in *table.Table) (*Tasks, error) {
	t := &Tasks{in: in}
	var err error
	if t.field, err = o.StaticField(cfg, cfg.DimX); err != nil {
		return nil, err
	}
	opt, err := o.RowsOptions(cfg)
	if err != nil {
		return nil, err
	}
	if t.rows, err = RowsOf(in, opt, false); err != nil {
		return nil, err
	}
	if err := CheckSupport(cfg, in, t.rows.Y, t.rows.Columns.Y); err != nil {
		return nil, err
	}
	if err := CheckSingle(in, t.rows); err != nil {
		return nil, err
	}
	t.context, t.targets = make([][]int, t.rows.Tasks), make([][]int, t.rows.Tasks)
	if err := t.observe(cfg); err != nil {
		return nil, err
	}
	if o.Grid == nil && o.Targets == "" && o.Next == 0 {
		t.places, t.at = in, t.rows
		if err := CheckAuxiliary(in, t.rows, nil); err != nil {
			return nil, err
		}
		for row, k := range t.rows.Task {
			t.add(k, row)
		}
		return t, nil
	}
	if opt, err = t.place(o, cfg, opt); err != nil {
		return nil, err
	}
	if t.at, err = RowsOf(t.places, opt, true); err != nil {
		return nil, err
	}
	if err := CheckSupport(cfg, t.places, t.at.Y, t.at.Columns.Y); err != nil {
		return nil, err
	}
	if err := CheckAuxiliary(t.places, t.at, nil); err != nil {
		return nil, err
	}
	if o.Next > 0 {
		for place := range t.places.Rows() {
			t.add(place/o.Next, place)
		}
		return t, nil
	}
	return t, t.assign(opt.Task != "")
}

// observe finds the rows of each task's context.
func (t *Tasks) observe(cfg *cnp.Config) error {
	dy := cfg.DimY
	for row, k := range t.rows.Task {
		if t.rows.Context != nil && !t.rows.Context[row] {
			continue
		}
		if len(cfg.Auxiliary) > 0 && !cfg.ChannelDensity && t.rows.Known(row) == dy {
			if err := CheckAuxiliary(t.in, t.rows, []int{row}); err != nil {
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

// place reads or makes the table of the places, and returns how its columns are read; Task is that of places of a task of
// their own.
func (t *Tasks) place(o *TasksOptions, cfg *cnp.Config, opt task.CSVOptions) (task.CSVOptions, error) {
	inputs, columns := t.inputs()
	if o.Next != 0 {
		opt = task.CSVOptions{X: inputs[:cfg.DimX], Aux: inputs[cfg.DimX:], Dx: cfg.DimX, Dy: cfg.DimY, Degrees: opt.Degrees}
		return opt, t.next(o.Next, cfg)
	}
	if o.Grid != nil {
		axes, err := t.axes(o.Grid, inputs, columns)
		if err != nil {
			return opt, err
		}
		t.places = gridTable(axes, inputs)
		for k, c := range columns {
			t.places.InheritDates(k, t.in, c)
		}
		opt = task.CSVOptions{X: inputs[:cfg.DimX], Aux: inputs[cfg.DimX:], Dx: cfg.DimX, Dy: cfg.DimY, Degrees: opt.Degrees}
	} else {
		var err error
		if t.places, err = o.ReadTable(o.Targets, o.Stdin); err != nil {
			return opt, err
		}
	}
	opt.Task = ""
	if k := t.rows.TaskColumn; k >= 0 && t.in.Header != nil && slices.Contains(t.places.Header, t.in.Header[k]) {
		opt.Task = t.in.Header[k]
	}
	return opt, SameClocks(t.places, opt, t.in, t.rows.Columns.X)
}

// next makes the places of TasksOptions.Next.
func (t *Tasks) next(n int, cfg *cnp.Config) error {
	if err := checkNext(n, cfg.DimX, t.in.Name); err != nil {
		return err
	}
	if len(cfg.Auxiliary) > 0 {
		return settings.Errorf("{Next}: need {Targets} with a table that has the auxiliary inputs %s", strings.Join(cfg.Auxiliary, ", "))
	}
	if t.rows.Tasks > MaxPoints/n {
		return settings.Errorf("{Next} %d of %s: more than %d predictions", n, words.Plural(t.rows.Tasks, "task"), MaxPoints)
	}
	series := make([][]float64, t.rows.Tasks)
	for k, rows := range t.context {
		for _, row := range rows {
			series[k] = append(series[k], t.rows.X[row])
		}
	}
	places, said, err := next(n, series, t.in, t.rows.Columns.X[0])
	t.places, t.said = places, append(t.said, said)
	return err
}

// axes reads a grid of the inputs of these columns.
func (t *Tasks) axes(grid, inputs []string, columns []int) ([]axis, error) {
	if len(inputs) == 2 && len(t.rows.Columns.X) == 2 { // one input's number is a place
		if size, alone, err := cellSize(grid); alone || err != nil {
			if err != nil {
				return nil, err
			}
			return cells(size, t.rows.X, t.in, inputs, columns)
		}
	}
	return parseGrid(grid, inputs, func(k int) (*tabular.Clock, error) { return t.in.Clock(columns[k]) })
}

// add adds a place to those where a task is predicted.
func (t *Tasks) add(task, place int) {
	t.targets[task] = append(t.targets[task], len(t.out))
	t.out = append(t.out, rowOf{task, place})
}

// assign gives each place its task where the places say theirs, or else every place to every task.
func (t *Tasks) assign(own bool) error {
	if !own {
		if n := t.places.Rows(); n > 0 && t.rows.Tasks > MaxPoints/n {
			return fmt.Errorf("%s: %s at %d places each: more than %d predictions", t.in.Name, words.Plural(t.rows.Tasks, "task"), n,
				MaxPoints)
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
func (t *Tasks) inputs() (names []string, columns []int) {
	c := t.rows.Columns
	names = append(Labels(t.in, c.X, "x", len(c.X)), Labels(t.in, c.Aux, "aux", len(c.Aux))...)
	return names, slices.Concat(c.X, c.Aux)
}

// base is the output's table before it has predictions: the task, if there is a column for it, the coordinates, and the
// auxiliary inputs.
func (t *Tasks) base() *table.Table {
	names, columns := t.inputs()
	dx := len(names)
	places := t.places.Only(slices.Concat(t.at.Columns.X, t.at.Columns.Aux), slices.Clone(names))
	first := make([]int, t.rows.Tasks) // a row of each task
	for row := len(t.rows.Task) - 1; row >= 0; row-- {
		first[t.rows.Task[row]] = row
	}
	named := t.rows.TaskColumn >= 0
	out := &table.Table{Cols: dx, Header: []string{}, Units: []string{}, Texts: [][]string{}}
	if named {
		out.Cols++
		out.Header, out.Units, out.Texts = append(out.Header, Labels(t.in, []int{t.rows.TaskColumn}, "task", 1)...),
			append(out.Units, ""), append(out.Texts, make([]string, len(t.out)))
	}
	for k, c := range columns {
		places.InheritUnit(k, t.in, c)
	}
	for k := range dx {
		var texts []string
		if places.Texts != nil && places.Texts[k] != nil {
			texts = make([]string, len(t.out))
		}
		out.Header, out.Units, out.Texts = append(out.Header, names[k]), append(out.Units, places.Units[k]), append(out.Texts, texts)
	}
	if places.Calendars != nil {
		out.Calendars = append(make([]string, out.Cols-dx), places.Calendars...)
	}
	if out.Mapping = places.Mapping; places.About != nil {
		out.About = append(make([]map[string]string, out.Cols-dx), places.About...)
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
	for k := range dx {
		out.InheritDates(out.Cols-dx+k, places, k)
	}
	if named && !slices.ContainsFunc(out.Texts[0], func(s string) bool { return s != "" }) { // a number, as a time is
		out.Texts[0] = nil
		out.InheritUnit(0, t.in, t.rows.TaskColumn)
	}
	return out
}
