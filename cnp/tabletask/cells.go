package tabletask

import (
	"math"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// cellSize returns the side of a cell where a grid is that one number, and false where it names inputs.
func cellSize(grid []string) (size float64, alone bool, err error) {
	if len(grid) != 1 || strings.ContainsAny(grid[0], "=:") {
		return 0, false, nil
	}
	size, err = strconv.ParseFloat(strings.TrimSpace(grid[0]), 64)
	if err != nil || !(size > 0) || math.IsInf(size, 0) {
		return 0, true, settings.Errorf("{Grid} %s: need the side of a cell, such as 40, or NAME=FROM:TO:STEP for every input", grid[0])
	}
	return size, true, nil
}

// rounding is the share of a cell by which a coordinate may lie beyond a side of it: 0.3 is three cells of 0.1 from 0.
const rounding = 1e-9

// cells returns the centres of the square cells of that size that hold the places x [n, 2] of a table with these inputs. Their sides are
// multiples of the size, so that the maps of several tables fit together. The second input is the slower axis.
func cells(size float64, x []float64, t *table.Table, inputs []string, columns []int) ([]axis, error) {
	if clock, err := t.Clock(columns[0]); len(inputs) == 1 && clock != nil && err == nil {
		return nil, settings.Errorf("{Grid} %g: say from when to when, as in %s=2006-01-01:2006-12-31:%gd", size, inputs[0], size)
	}
	if len(inputs) != 2 {
		return nil, settings.Errorf("{Grid} %g: cells of the plane need two inputs, and %s has %d: name each, as in %s=0:10:1", size,
			t.Name, len(inputs), inputs[0])
	}
	if len(x) == 0 {
		return nil, settings.Errorf("{Grid} %g: %s has no rows, which would say where: name each input, as in %s=0:10:1", size, t.Name,
			inputs[0])
	}
	axes, total := make([]axis, 2), 1
	for d, name := range inputs {
		if t.IsText(columns[d]) {
			return nil, settings.Errorf("{Grid} %g: %s holds dates, and a cell has one length: name each input, as in "+
				"%s=2006-01-01:2006-12-31:7", size, name, name)
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := d; i < len(x); i += 2 {
			lo, hi = min(lo, x[i]), max(hi, x[i])
		}
		first, end := math.Floor(lo/size+rounding), math.Ceil(hi/size-rounding)
		end = max(end, first+1)
		n := end - first
		if !(n <= MaxPoints && max(math.Abs(first), math.Abs(end)) <= 1<<50) || total > MaxPoints/int(n) {
			return nil, settings.Errorf("{Grid} %g: %s from %g to %g needs %.4g cells of that size, and a grid has at most %d in all: "+
				"need larger ones", size, name, lo, hi, n, MaxPoints)
		}
		total *= int(n)
		a := axis{name: name, values: make([]float64, int(n))}
		for k := range a.values {
			a.values[k] = (first + float64(k) + 0.5) * size
		}
		axes[1-d] = a
	}
	return axes, nil
}

// gridPlaces makes the targets of Options.Grid, for columns that Observed has.
func (t *Task) gridPlaces(o *Options) error {
	columns := t.Observed.Columns.X
	inputs := Labels(t.Points, columns, "x", len(columns))
	size, alone, err := cellSize(o.Grid)
	if err != nil {
		return err
	}
	var axes []axis
	if alone {
		axes, err = cells(size, t.Observed.X, t.Points, inputs, columns)
	} else {
		axes, err = parseGrid(o.Grid, inputs, func(k int) (*tabular.Clock, error) { return t.Points.Clock(columns[k]) })
	}
	if err != nil {
		return err
	}
	t.Targets = gridTable(axes, inputs)
	t.Targets.Header = nil // or columns were looked for by names that the context need not have
	for k, c := range columns {
		t.Targets.InheritDates(k, t.Points, c)
	}
	return nil
}
