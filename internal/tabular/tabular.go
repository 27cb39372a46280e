// Package tabular reads and writes the small tables of numbers that the command-line program works on: CSV files whose
// columns are coordinates and values, with an optional header.
//
// # Format
//
// Cells are separated by commas and may be quoted (RFC 4180). Blank lines, lines whose first character is #, and a byte
// order mark at the start are skipped; spaces around a cell do not count. The first row is a header when none of its
// cells reads as a number and none is blank. Everything else must be a finite number: a blank cell, letters, NaN and Inf
// are errors that name the file, the line and the column, as is a row with another number of cells than the first.
package tabular

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

// ErrCell is wrapped by every error about the content of a table.
var ErrCell = errors.New("not a table of numbers")

// Table is a table of finite numbers.
type Table struct {
	Header []string  // the columns' names; nil where the file has no header
	Cols   int       // columns; 0 where the file has no rows and no header
	Values []float64 // [rows, Cols]
}

// Rows is the number of rows below the header.
func (t *Table) Rows() int {
	if t.Cols == 0 {
		return 0
	}
	return len(t.Values) / t.Cols
}

// Columns returns columns [lo, hi) of all rows as one array [rows, hi-lo].
func (t *Table) Columns(lo, hi int) []float64 {
	n := t.Rows()
	out := make([]float64, 0, n*(hi-lo))
	for i := range n {
		out = append(out, t.Values[i*t.Cols+lo:i*t.Cols+hi]...)
	}
	return out
}

// ReadFile reads a CSV file.
func ReadFile(path string) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads a CSV text; name stands for it in errors, which read "name:line:column: ...".
func Read(r io.Reader, name string) (*Table, error) {
	br := bufio.NewReader(r)
	if mark, _ := br.Peek(3); string(mark) == "\ufeff" {
		br.Discard(3)
	}
	cr := csv.NewReader(br)
	cr.Comment = '#'
	cr.FieldsPerRecord = -1 // counted here, so that the error can name the place
	cr.TrimLeadingSpace = true
	cr.ReuseRecord = true

	t := &Table{}
	for first := true; ; {
		row, err := cr.Read()
		if err == io.EOF {
			return t, nil
		}
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%s:%d:%d: %w: %w", name, syntax.Line, syntax.Column, ErrCell, syntax.Err)
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(row) == 1 && strings.TrimSpace(row[0]) == "" {
			continue // a line of spaces
		}
		bad := func(cell int, format string, args ...any) error {
			line, column := cr.FieldPos(cell)
			return fmt.Errorf("%s:%d:%d: %w: %s", name, line, column, ErrCell, fmt.Sprintf(format, args...))
		}
		if first {
			first = false
			t.Cols = len(row)
			if isHeader(row) {
				for _, cell := range row {
					t.Header = append(t.Header, strings.TrimSpace(cell))
				}
				continue
			}
		}
		if len(row) != t.Cols {
			return nil, bad(len(row)-1, "this row has %s, the first has %d", plural(len(row), "cell"), t.Cols)
		}
		for i, cell := range row {
			cell = strings.TrimSpace(cell)
			v, err := strconv.ParseFloat(cell, 64)
			switch {
			case cell == "":
				return nil, bad(i, "the cell is blank")
			case errors.Is(err, strconv.ErrRange):
				return nil, bad(i, "%s is beyond the range of numbers", quote(cell))
			case err != nil:
				return nil, bad(i, "%s is not a number", quote(cell))
			case math.IsNaN(v) || math.IsInf(v, 0):
				return nil, bad(i, "%s is not a finite number", quote(cell))
			}
			t.Values = append(t.Values, v)
		}
	}
}

// isHeader reports whether no cell is blank or a number. A row that mixes both is data with a mistake in it.
func isHeader(row []string) bool {
	for _, cell := range row {
		cell = strings.TrimSpace(cell)
		if cell == "" {
			return false
		}
		if _, err := strconv.ParseFloat(cell, 64); err == nil || errors.Is(err, strconv.ErrRange) {
			return false
		}
	}
	return true
}

// quote shows a cell in an error, cut where it is long.
func quote(cell string) string {
	const most = 40
	if r := []rune(cell); len(r) > most {
		return strconv.Quote(string(r[:most])) + "..."
	}
	return strconv.Quote(cell)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Write writes a table with its header, if it has one. Numbers are written in the shortest form that reads back as the
// same float64; a column whose name is in single holds float32 values and is written in their shortest form.
func Write(w io.Writer, t *Table, single ...string) error {
	bits := make([]int, t.Cols)
	for j := range bits {
		bits[j] = 64
		for _, s := range single {
			if j < len(t.Header) && t.Header[j] == s {
				bits[j] = 32
			}
		}
	}
	cw := csv.NewWriter(w)
	if t.Header != nil {
		if err := cw.Write(t.Header); err != nil {
			return err
		}
	}
	row := make([]string, t.Cols)
	for i := range t.Rows() {
		for j := range row {
			row[j] = strconv.FormatFloat(t.Values[i*t.Cols+j], 'g', -1, bits[j])
		}
		if err := cw.Write(row); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}
