// Package tabular reads and writes the small tables of numbers that the command-line program works on: CSV files whose
// columns are coordinates and values, with an optional header.
//
// # Format
//
// Cells are separated by commas, semicolons or tabs, whichever the first row has, and may be quoted (RFC 4180). Blank lines,
// lines whose first character is #, and a byte order mark at the start are skipped; spaces around a cell do not count. The
// first row is a header when none of its cells reads as a number and none is blank. Everything else must be a finite number
// with a decimal point: a blank cell, letters, NaN and Inf are errors that name the file, the line and the column, as is a
// row with another number of cells than the first.
package tabular

import (
	"bufio"
	"bytes"
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
	Name   string    // of the file, for errors
	Header []string  // the columns' names; nil where the file has no header
	Cols   int       // columns; 0 where the file has no rows and no header
	Values []float64 // [rows, Cols]

	places []place // of the header's cells, if there is one, then of the values
}

// place is where a cell stands in its file, both counted from 1.
type place struct{ line, column int32 }

// Rows is the number of rows below the header.
func (t *Table) Rows() int {
	if t.Cols == 0 {
		return 0
	}
	return len(t.Values) / t.Cols
}

// Take returns those columns of all rows as one array [rows, len(columns)].
func (t *Table) Take(columns ...int) []float64 {
	out := make([]float64, 0, t.Rows()*len(columns))
	for i := range t.Rows() {
		for _, c := range columns {
			out = append(out, t.Values[i*t.Cols+c])
		}
	}
	return out
}

// Errorf is an error about a cell, "data.csv:3:5: ..."; row -1 is the header. The format may wrap an error.
func (t *Table) Errorf(row, column int, format string, args ...any) error {
	at := row*t.Cols + column
	if t.Header != nil {
		at += t.Cols
	}
	err := fmt.Errorf(format, args...)
	if at < 0 || at >= len(t.places) {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	return fmt.Errorf("%s:%d:%d: %w", t.Name, t.places[at].line, t.places[at].column, err)
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

// Decode reads the bytes of a CSV file, which errors call by that name.
func Decode(b []byte, name string) (*Table, error) { return Read(bytes.NewReader(b), name) }

// Read reads a CSV text; name stands for it in errors, which read "name:line:column: ...".
func Read(r io.Reader, name string) (*Table, error) {
	br := bufio.NewReaderSize(r, peeked)
	if mark, _ := br.Peek(3); string(mark) == "\ufeff" {
		br.Discard(3)
	}
	cr := csv.NewReader(br)
	start, _ := br.Peek(peeked) // less where the file is shorter; Read meets any error again
	cr.Comma = separator(string(start))
	cr.Comment = '#'
	cr.FieldsPerRecord = -1                // counted here, so that the error can name the place
	cr.TrimLeadingSpace = cr.Comma != '\t' // it would take tabs, too
	cr.ReuseRecord = true

	t := &Table{Name: name}
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
		keep := func(cell int) {
			line, column := cr.FieldPos(cell)
			t.places = append(t.places, place{int32(line), int32(column)})
		}
		if first {
			first = false
			t.Cols = len(row)
			if isHeader(row) {
				for i, cell := range row {
					t.Header = append(t.Header, strings.TrimSpace(cell))
					keep(i)
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
			case err != nil && decimalComma(cell):
				return nil, bad(i, "%s is not a number: decimals need a point", quote(cell))
			case err != nil:
				return nil, bad(i, "%s is not a number", quote(cell))
			case math.IsNaN(v) || math.IsInf(v, 0):
				return nil, bad(i, "%s is not a finite number", quote(cell))
			}
			t.Values = append(t.Values, v)
			keep(i)
		}
	}
}

// peeked is the number of bytes in which the first row is looked for, to see what separates its cells.
const peeked = 1 << 16

// separator is what separates the cells of a text that begins so: of semicolon, comma and tab the first that its first row has
// outside quotes. A comma may be the decimal sign where semicolons separate, and tabs may be spaces where commas do.
func separator(start string) rune {
	for line := range strings.Lines(start) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		var has [128]bool
		quoted := false
		for _, r := range strings.TrimRight(line, "\r\n") {
			if r == '"' {
				quoted = !quoted
			} else if !quoted && r < 128 {
				has[r] = true
			}
		}
		for _, r := range ";,\t" {
			if has[r] {
				return r
			}
		}
		break
	}
	return ','
}

// decimalComma reports whether a cell is a number but for its comma.
func decimalComma(cell string) bool {
	_, err := strconv.ParseFloat(strings.Replace(cell, ",", ".", 1), 64)
	return err == nil
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

// Write writes a table with its header, if it has one, and cells separated by that rune. Numbers are written in the shortest form that reads back as the
// same float64; a column whose name is in single holds float32 values and is written in their shortest form.
func Write(w io.Writer, t *Table, separator rune, single ...string) error {
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
	cw.Comma = separator
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
