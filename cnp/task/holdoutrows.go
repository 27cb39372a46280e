package task

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// HoldoutRows says which rows of a table are not trained on: those of some stations, of a region, or of a time.
type HoldoutRows struct {
	// Column is one of whose different values, names or numbers, a Share drawn with Seed is held out.
	Column string
	Share  float64
	Seed   uint64
	// Within are the ranges, instead, of columns whose rows are held out: those that lie in all of them.
	Within []ColumnRange
}

// ColumnRange is a range of the numbers or dates of a column, both ends included.
type ColumnRange struct {
	Column string
	Lo, Hi float64
}

// ParseHoldoutRows reads the name of a column, or ranges: lat=45:50,lon=0:10, time=2024-06-01:2024-07-01.
func ParseHoldoutRows(text string, share float64, seed uint64) (HoldoutRows, error) {
	if !strings.Contains(text, "=") {
		if strings.TrimSpace(text) == "" {
			return HoldoutRows{}, fmt.Errorf("task: need the name of a column, or ranges like lat=45:50,lon=0:10")
		}
		return HoldoutRows{Column: text, Share: share, Seed: seed}, nil
	}
	var h HoldoutRows
	for part := range strings.SplitSeq(text, ",") {
		name, span, _ := strings.Cut(part, "=")
		lo, hi, ok := strings.Cut(span, ":")
		r := ColumnRange{Column: strings.TrimSpace(name)}
		for _, end := range []struct {
			text string
			to   *float64
		}{{lo, &r.Lo}, {hi, &r.Hi}} {
			v, err := strconv.ParseFloat(end.text, 64)
			if err != nil {
				var date bool
				v, date = tabular.Days(end.text)
				ok = ok && date
			}
			*end.to = v
		}
		if !ok || !(r.Lo <= r.Hi) || r.Column == "" {
			return HoldoutRows{}, fmt.Errorf(
				"task: %q is no range of a column; need one like lat=45:50 or time=2024-06-01:2024-07-01", clip(part))
		}
		h.Within = append(h.Within, r)
	}
	return h, nil
}

// rows says which rows are held out, and in words which they are.
func (h *HoldoutRows) rows(t *table.Table) (held []bool, what string, err error) {
	held = make([]bool, t.Rows())
	if h.Column != "" {
		column, err := t.Index(h.Column)
		if err != nil {
			return nil, "", err
		}
		group, n, err := t.Groups(column)
		if err != nil {
			return nil, "", err
		}
		_, apart, err := heldOut(n, h.Share, h.Seed)
		if err != nil {
			return nil, "", fmt.Errorf("%s: column %s: %w", t.Name, h.Column, err)
		}
		for row, g := range group {
			_, held[row] = slices.BinarySearch(apart, g)
		}
		return held, fmt.Sprintf("%d of the %d values of %s drawn with seed %d", len(apart), n, h.Column, h.Seed), nil
	}
	for row := range held {
		held[row] = true
	}
	var words []string
	for _, r := range h.Within {
		column, err := t.Index(r.Column)
		if err != nil {
			return nil, "", err
		}
		v, err := t.Coordinates(column)
		if err != nil {
			return nil, "", err
		}
		for row, x := range v {
			held[row] = held[row] && x >= r.Lo && x <= r.Hi
		}
		words = append(words, fmt.Sprintf("%s from %g to %g", r.Column, r.Lo, r.Hi))
	}
	if n := count(held); n == 0 || n == len(held) {
		return nil, "", fmt.Errorf("%s: %w: %d of %d rows have %s: none are left to %s", t.Name, ErrData, n, len(held),
			strings.Join(words, " and "),
			map[bool]string{true: "test on", false: "train on"}[n == 0])
	}
	return held, strings.Join(words, " and "), nil
}

func count(v []bool) (n int) {
	for _, b := range v {
		if b {
			n++
		}
	}
	return n
}

// SplitTable reads tasks from a table and holds rows out. The tasks to train on lack these. Those to test on have them
// as targets, with the other rows of their task as context; where a task has no other rows its context is picked at
// random, as in training.
func SplitTable(t *table.Table, opt CSVOptions, by HoldoutRows) (train, test *CurveSet, err error) {
	rows, err := RowsOf(t, opt, false)
	if err != nil {
		return nil, nil, err
	}
	held, what, err := by.rows(t)
	if err != nil {
		return nil, nil, err
	}
	known := func(row int) bool { return rows.Known(row) > 0 }
	train = &CurveSet{Name: fmt.Sprintf("the rows but %s, of %s", what, t.Name), Dx: len(rows.Columns.X), Dy: len(rows.Columns.Y),
		Curves: rows.curves(func(row int) bool { return !held[row] }), inputs: rows.inputs(t), Auxiliary: rows.auxiliary(t, opt),
		Notes: t.Remarks(rows.Columns)}
	test = &CurveSet{Name: fmt.Sprintf("the rows of %s, of %s", what, t.Name), Dx: train.Dx, Dy: train.Dy, inputs: train.inputs,
		Auxiliary: train.Auxiliary}
	targets, context := make([]Points, rows.Tasks), make([]Points, rows.Tasks)
	for row, k := range rows.Task {
		switch {
		case !known(row):
		case held[row]:
			rows.add(&targets[k], row)
		case rows.Context == nil || rows.Context[row]:
			rows.add(&context[k], row)
		}
	}
	for k := range targets {
		if len(targets[k].X) == 0 {
			continue
		}
		c := Curve{Points: targets[k]}
		if len(context[k].X) > 0 {
			c.Context = &context[k]
		}
		test.Curves = append(test.Curves, c)
	}
	if len(train.Curves) == 0 || len(test.Curves) == 0 {
		return nil, nil, fmt.Errorf("%s: %w: holding out %s leaves %d tasks to train on and %d to test on", t.Name, ErrData, what,
			len(train.Curves), len(test.Curves))
	}
	return train, test, nil
}
