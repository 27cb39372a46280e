package interpolate

import (
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// RegressorOf returns the interpolation of the tasks of a table as a model, which fits each task when it predicts it.
// Samples are not its affair.
func RegressorOf(c *tabletask.Columns, points *table.Table, opt Options) (*krige.Regressor, error) {
	dx, dy, err := Widths(c, points, opt.Sphere)
	if err != nil {
		return nil, err
	}
	in := &Interpolation{Task: &tabletask.Task{Dx: dx, Dy: dy, Points: points}, Sphere: opt.Sphere}
	aux, err := auxiliary(c, points)
	if err != nil {
		return nil, err
	}
	rows := task.CSVOptions{X: c.X, Y: c.Y, Task: c.Task, Dx: dx, Dy: dy, Aux: aux, AuxKnown: true, Degrees: opt.Sphere}
	if in.Observed, err = tabletask.RowsOf(points, rows, false); err != nil {
		return nil, err
	}
	own, values, err := in.options(opt)
	if err != nil {
		return nil, err
	}
	for c, v := range values {
		if err := in.support(c, v); err != nil {
			return nil, err
		}
	}
	r, err := krige.NewRegressor(own)
	if err == nil {
		r, err = r.WithColumns(tabletask.Labels(points, in.Observed.Columns.Aux, "aux", len(aux)))
	}
	if err != nil {
		return nil, err
	}
	return r.OutputsOf(values), nil
}

// RegressorFor returns the interpolation of tasks with so many inputs, auxiliary inputs and outputs, which have no names of their own: Log
// knows the outputs as y, or y1, y2 and so on, and periods have the input's unit.
func RegressorFor(dx, da, dy int, opt Options) (*krige.Regressor, error) {
	in := &Interpolation{Task: &tabletask.Task{Dx: dx, Dy: dy, Points: &table.Table{Name: "the file"}}, Sphere: opt.Sphere}
	in.Observed = &task.Rows{Columns: table.Columns{X: make([]int, dx), Y: make([]int, dy), Aux: make([]int, da)}}
	own, values, err := in.options(opt)
	if err != nil {
		return nil, err
	}
	r, err := krige.NewRegressor(own)
	if err != nil {
		return nil, err
	}
	return r.OutputsOf(values), nil
}

// options returns the options of the fits, and what kind of values each output has.
func (in *Interpolation) options(opt Options) (own krige.Options, values []krige.Values, err error) {
	own = krige.Options{Dim: in.Dx + in.Da(), Drift: in.Da(), Sphere: in.Sphere, DifferentUnits: opt.DifferentUnits, NoCheck: opt.NoCheck,
		Robust: opt.Robust}
	if own.Periods, err = in.periods(opt.Period); err != nil {
		return own, nil, err
	}
	own.Calendar = in.calendar()
	values, err = ValuesOf(in.Names(), opt.Log, opt.Positive)
	return own, values, err
}

// ValuesOf returns what kind of values outputs of these names have, given the names of those that are logarithmic, and whether the others
// are never negative.
func ValuesOf(names, log []string, positive bool) (values []krige.Values, err error) {
	for _, name := range log {
		if !slices.Contains(names, name) {
			return nil, settings.Errorf("{Log} %s: no output of this name: %s", name, strings.Join(names, ", "))
		}
	}
	if positive && len(log) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(log, name) }) {
		return nil, settings.Errorf("{Positive}: {Log} already names every output, and what is interpolated as a logarithm is never " +
			"negative: leave one of them out")
	}
	for _, name := range names {
		switch {
		case slices.Contains(log, name):
			values = append(values, krige.Logarithmic)
		case positive:
			values = append(values, krige.Positive)
		default:
			values = append(values, krige.Plain)
		}
	}
	return values, nil
}
