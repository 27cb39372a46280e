package tables

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/spreadsheet"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// ErrSheet is wrapped where a spreadsheet does not say which sheet is meant, or has no table.
var ErrSheet = errors.New("not a sheet with a table")

// SheetOf splits a path like data.xlsx#name into a file that is there and the name of a sheet, unless there is a file of the whole name.
func SheetOf(path string) (file, sheet string) {
	at := strings.LastIndexByte(path, '#')
	if at < 0 {
		return path, ""
	}
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	if exists(path) || !exists(path[:at]) {
		return path, ""
	}
	return path[:at], path[at+1:]
}

// ofSheet makes a table of the rectangle of a sheet in which its cells lie, without rows that are empty. If columns are wanted by their
// names, it begins with the first row that has all of these: a title may stand above.
func ofSheet(b []byte, name, sheet string, wanted []string, opt tabular.Options) (*tabular.Table, error) {
	cells, err := spreadsheet.Read(b, sheet)
	if err == nil && len(cells) == 0 {
		err = fmt.Errorf("%w: no cell holds anything", ErrSheet)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	cells = belowTitle(cells, slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return tabular.IsJoined(name) }))
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

// belowTitle leaves out the rows above the first one that has all names, which is among the first hundred rows if there is one.
func belowTitle(cells []spreadsheet.Cell, names []string) []spreadsheet.Cell {
	const most = 100
	missing := map[string]bool{}
	from := 0
	for i, c := range cells {
		if i == 0 || c.Row != cells[i-1].Row {
			for _, name := range names {
				missing[name] = true
			}
			from = i
		}
		if !c.Number {
			delete(missing, c.Text)
		}
		if len(missing) == 0 && len(names) > 0 {
			return cells[from:]
		}
		if c.Row >= cells[0].Row+most {
			break
		}
	}
	return cells
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
