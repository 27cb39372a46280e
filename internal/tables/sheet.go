package tables

import (
	"errors"
	"fmt"
	"iter"

	"github.com/equivcnp/equivcnp/internal/spreadsheet"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// ErrSheet is wrapped where a spreadsheet does not say which sheet is meant, or has no table.
var ErrSheet = errors.New("not a sheet with a table")

// ofSheet makes a table of the rectangle of a sheet in which its cells lie, without rows that are empty.
func ofSheet(b []byte, name, sheet string, opt tabular.Options) (*tabular.Table, error) {
	cells, err := spreadsheet.Read(b, sheet)
	if err == nil && len(cells) == 0 {
		err = fmt.Errorf("%w: no cell holds anything", ErrSheet)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	first, last, rows := cells[0].Column, cells[0].Column, 0
	for i, c := range cells {
		first, last = min(first, c.Column), max(last, c.Column)
		if i == 0 || c.Row != cells[i-1].Row {
			rows++
		}
	}
	if columns := last - first + 1; rows > gridCells(len(b))/columns {
		return nil, fmt.Errorf("%s: %w: %d rows and %d columns are too many for a file of %d bytes", name, ErrSheet, rows, columns, len(b))
	}
	return tabular.ReadRows(rowsOf(cells, first, last), name, opt)
}

// rowsOf are the rows that have cells, from the first column to the last one.
func rowsOf(cells []spreadsheet.Cell, first, last int) iter.Seq[tabular.Row] {
	return func(yield func(tabular.Row) bool) {
		for len(cells) > 0 {
			row := tabular.Row{Line: cells[0].Row, Column: first, Cells: make([]string, last-first+1), Number: make([]bool, last-first+1)}
			for len(cells) > 0 && cells[0].Row == row.Line {
				c := cells[0]
				row.Cells[c.Column-first], row.Number[c.Column-first] = c.Text, c.Number
				cells = cells[1:]
			}
			if !yield(row) {
				return
			}
		}
	}
}
