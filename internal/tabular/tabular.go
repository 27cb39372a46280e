// Package tabular reads and writes the small tables of numbers that the command-line program works on: CSV files whose
// columns are coordinates and values, with an optional header.
//
// # Format
//
// Cells are separated by commas, semicolons, tabs or bars, whichever the first row has, or else by spaces, and may be quoted
// (RFC 4180). Blank lines, lines whose first character is #, and a byte order mark at the start are skipped; spaces around a cell do not
// count. A first line "sep=;" says what separates them. Lines end in LF, CR LF or CR, and the text is UTF-8 or UTF-16.
// The first row is a header when none of its cells reads as a number and not all are missing, when it has the names of the
// columns that are asked for, or when the numbers among its cells are years and a word stands above numbers or dates.
// Without such a row, the last comment above the first row is one where it has as many names. A cell that is empty, NaN,
// NA, N/A or null is missing, and every other that is no finite number with a decimal point is text: names of stations,
// dates. Only whoever takes a column says whether it may hold text or lack values; what it may not is an error that names
// the file, the line and the column, as is a row with another number of cells than the first. Texts such as ?, -, None
// and \N are missing values of columns that are taken as numbers and have no other texts.
//
// What only all rows tell is found at the end, and said by [Table.Remarks]: names of rows, units below the header, numbers such as 5%,
// $1,234.5 and 1,5, and dates such as 8/17/2016, which become texts like 2016-08-17. What may be read in two ways stays text.
package tabular

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/equivcnp/equivcnp/internal/words"
)

// ErrCell is wrapped by every error about the content of a table.
var ErrCell = errors.New("not a table of numbers")

// Table is a table of numbers, some of which may be missing, and of text. All formats fill it.
type Table struct {
	Name   string     // of the file, for errors
	Header []string   // the columns' names; nil where the file has no header
	Units  []string   // the columns' units, "" where there is none; nil where the format has no place for them
	Single []bool     // columns whose values are float32; nil: none
	Cols   int        // columns; 0 where the file has no rows and no header
	Values []float64  // [rows, Cols]; NaN where a cell is missing or text
	Texts  [][]string // [Cols][rows] the cells that are text, "" elsewhere; nil at a column without any, or as a whole
	// Exact are the digits of cells whose numbers float64 does not tell from others, as those of long identifiers:
	// [Cols][rows], "" elsewhere. A column may have fewer than the table has rows; nil: none.
	Exact [][]string
	// Calendars are those of the columns' units, "" where there is none; nil: none.
	Calendars []string
	// About are what a file says of its columns beside units, by names of NetCDF's attributes such as standard_name and axis,
	// nil at a column of which it says nothing; nil: none.
	About []map[string]string
	// Mapping is the coordinate system of the columns that are coordinates; nil: none is known.
	Mapping *Mapping
	// LeftOut are columns of the file that hold neither numbers nor text, as lists do. Only errors speak of them.
	LeftOut []string
	// Unasked are the columns of the file that were not read, as others were asked for. Only errors speak of them.
	Unasked []string

	remarks []remark
	markers []marker
	asked   Options    // that it was read with
	forms   []dateForm // how dates that are numbers are written, of each column; nil: in the usual form
	// written are the texts of columns of dates as the file has them, where Texts are not: [Cols][rows]; nil: none.
	written [][]string

	// made are the names of columns that stand for the texts of others, and source those others.
	made   []string
	source []int

	aliases map[string]int // names of columns of a table without a header

	places []place // of the header's cells, if there is one, then of the values
}

// Mapping is a coordinate system as the conventions CF have it: a variable without values, whose attributes say all. What
// they mean, nobody here knows.
type Mapping struct {
	Name  string
	Attrs []Attribute
}

// Attribute is a text, or numbers.
type Attribute struct {
	Name, Text string
	Numbers    []float64
}

// place is where a cell stands in its file, both counted from 1.
type place struct{ line, column int32 }

// Check is an error where t is nil, or its fields do not fit each other.
func (t *Table) Check() error {
	if t == nil {
		return fmt.Errorf("%w: it is nil", ErrCell)
	}
	if t.Cols < 0 || t.Cols == 0 && len(t.Values) > 0 || t.Cols > 0 && len(t.Values)%t.Cols != 0 {
		return fmt.Errorf("%w: %s: %d values in %d columns", ErrCell, t.Name, len(t.Values), t.Cols)
	}
	for _, per := range []struct {
		what string
		n    int
		none bool
	}{{"names", len(t.Header), t.Header == nil}, {"units", len(t.Units), t.Units == nil},
		{"types", len(t.Single), t.Single == nil}, {"lists of texts", len(t.Texts), t.Texts == nil},
		{"lists of digits", len(t.Exact), t.Exact == nil}, {"calendars", len(t.Calendars), t.Calendars == nil},
		{"descriptions", len(t.About), t.About == nil}} {
		if !per.none && per.n != t.Cols {
			return fmt.Errorf("%w: %s: %d %s of %d columns", ErrCell, t.Name, per.n, per.what, t.Cols)
		}
	}
	for c, texts := range t.Exact {
		if len(texts) > t.Rows() {
			return fmt.Errorf("%w: %s: digits of %d rows of column %d, which has %d", ErrCell, t.Name, len(texts), c+1, t.Rows())
		}
	}
	for c, texts := range t.Texts {
		if texts != nil && len(texts) != t.Rows() {
			return fmt.Errorf("%w: %s: %d texts of column %d, which has %d rows", ErrCell, t.Name, len(texts), c+1, t.Rows())
		}
	}
	return nil
}

// Rows is the number of rows below the header.
func (t *Table) Rows() int {
	if t.Cols == 0 {
		return 0
	}
	return len(t.Values) / t.Cols
}

// Take returns those columns of all rows as one array [rows, len(columns)]. See Numbers for columns that are to hold nothing but numbers.
func (t *Table) Take(columns ...int) []float64 {
	out := make([]float64, 0, t.Rows()*len(columns))
	for i := range t.Rows() {
		for _, c := range columns {
			out = append(out, t.Values[i*t.Cols+c])
		}
	}
	return out
}

// Text is the text of a cell, "" where it is a number or missing.
func (t *Table) Text(row, column int) string {
	if t.Texts == nil || t.Texts[column] == nil {
		return ""
	}
	return t.Texts[column][row]
}

// Cell is a cell as it is written, "" where it is missing, and NaN in a column of float32.
func (t *Table) Cell(row, column int) string {
	if text := t.Key(row, column); text != "" {
		return text
	}
	v, bits := t.Values[row*t.Cols+column], 64
	if t.Single != nil && t.Single[column] {
		bits = 32 // NaN is a prediction that there is none
	} else if math.IsNaN(v) {
		return ""
	} else if v == math.Trunc(v) && math.Abs(v) <= 1<<53 { // identifiers have no exponent
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}

// Column is a column of numbers.
type Column struct {
	Name, Unit string
	Values     []float64
	Single     bool // they are float32
}

// Of is a table of columns of equal lengths; it panics where they are not.
func Of(columns []Column) *Table {
	if len(columns) == 0 {
		return &Table{}
	}
	rows := &Table{Cols: 0, Header: []string{}}
	return rows.with(len(columns[0].Values), columns)
}

// Only is a table of some of the columns, which keep their names; those of a table without a header get these. A table
// without any column becomes one of these names.
func (t *Table) Only(columns []int, names []string) *Table {
	n := len(names)
	if len(columns) != n && len(columns) > 0 {
		panic(fmt.Sprintf("tabular: Only: %d columns, %d names", len(columns), n))
	}
	out := &Table{Name: t.Name, Header: slices.Clone(names), Cols: n, Values: t.Take(columns...), Single: make([]bool, n),
		Texts: make([][]string, n), Units: make([]string, n), Mapping: t.Mapping}
	for i, c := range columns {
		if t.Header != nil {
			out.Header[i] = t.Header[c]
		}
		if t.Units != nil {
			out.Units[i] = t.Units[c]
		}
		if t.Calendars != nil {
			if out.Calendars == nil {
				out.Calendars = make([]string, n)
			}
			out.Calendars[i] = t.Calendars[c]
		}
		if t.About != nil {
			if out.About == nil {
				out.About = make([]map[string]string, n)
			}
			out.About[i] = t.About[c]
		}
		if t.Texts != nil {
			out.Texts[i] = t.Texts[c]
		}
		if t.Exact != nil && t.Exact[c] != nil {
			if out.Exact == nil {
				out.Exact = make([][]string, n)
			}
			out.Exact[i] = t.Exact[c]
		}
		if t.Single != nil {
			out.Single[i] = t.Single[c]
		}
		if t.forms != nil {
			if out.forms == nil {
				out.forms = make([]dateForm, n)
			}
			out.forms[i] = t.forms[c]
		}
	}
	return out
}

// First are the first n columns.
func (t *Table) First(n int) []int {
	out := make([]int, max(0, min(n, t.Cols)))
	for i := range out {
		out[i] = i
	}
	return out
}

// With is a table with more columns, of as many rows; it panics where they have others. What they hold in a unit of time is written as
// numbers: a standard deviation has that unit, too.
func (t *Table) With(columns ...Column) *Table {
	out := t.with(t.Rows(), columns)
	for i, c := range columns {
		if c.Unit != "" {
			out.setForm(t.Cols+i, dateForm{number: true})
		}
	}
	return out
}

func (t *Table) with(rows int, columns []Column) *Table {
	for _, c := range columns {
		if len(c.Values) != rows {
			panic(fmt.Sprintf("tabular: column %q has %d values, need %d", c.Name, len(c.Values), rows))
		}
	}
	if err := t.Check(); err != nil {
		panic("tabular: " + err.Error())
	}
	old := t.Cols
	out := &Table{Name: t.Name, Cols: old + len(columns), Header: slices.Clone(t.Header), Texts: make([][]string, old+len(columns)),
		Units: make([]string, old+len(columns)), Single: make([]bool, old+len(columns)),
		Values: make([]float64, 0, rows*(old+len(columns))), Mapping: t.Mapping}
	copy(out.Texts, t.Texts)
	if t.Exact != nil {
		out.Exact = append(slices.Clone(t.Exact), make([][]string, len(columns))...)
	}
	if t.Calendars != nil {
		out.Calendars = append(slices.Clone(t.Calendars), make([]string, len(columns))...)
	}
	if t.About != nil {
		out.About = append(slices.Clone(t.About), make([]map[string]string, len(columns))...)
	}
	if t.forms != nil {
		out.forms = append(slices.Clone(t.forms), make([]dateForm, len(columns))...)
	}
	if t.written != nil {
		out.written = append(slices.Clone(t.written), make([][]string, len(columns))...)
	}
	copy(out.Units, t.Units)
	copy(out.Single, t.Single)
	for i, c := range columns {
		out.Header = append(out.Header, c.Name)
		out.Units[old+i], out.Single[old+i] = c.Unit, c.Single
	}
	for row := range rows {
		out.Values = append(out.Values, t.Values[row*old:(row+1)*old]...)
		for _, c := range columns {
			out.Values = append(out.Values, c.Values[row])
		}
	}
	return out
}

// Rearranged is the table with those of its rows, in this order. Rows are not known by their places in the file then.
func (t *Table) Rearranged(rows []int) *Table {
	out := *t
	out.places, out.Texts, out.Exact = nil, nil, nil
	out.Values = make([]float64, 0, len(rows)*t.Cols)
	for _, row := range rows {
		out.Values = append(out.Values, t.Values[row*t.Cols:(row+1)*t.Cols]...)
	}
	list := func(lists [][]string) [][]string {
		if lists == nil {
			return nil
		}
		all := make([][]string, len(lists))
		for c, list := range lists {
			if list == nil {
				continue
			}
			all[c] = make([]string, len(rows))
			for i, row := range rows {
				if row < len(list) {
					all[c][i] = list[row]
				}
			}
		}
		return all
	}
	out.Texts, out.Exact, out.written = list(t.Texts), list(t.Exact), list(t.written)
	return &out
}

// setText makes a cell of the last row text.
func (t *Table) setText(row, column int, text string) {
	if t.Texts == nil {
		t.Texts = make([][]string, t.Cols)
	}
	if need := row + 1 - len(t.Texts[column]); need > 0 {
		t.Texts[column] = append(t.Texts[column], make([]string, need)...)
	}
	t.Texts[column][row] = text
}

// Numbers is Take for columns of numbers. Text and infinities are errors that name the cell. Where missing is true, a
// cell may be missing, and is NaN; else that is an error, too. Texts such as ? and None say so where a column has no others.
func (t *Table) Numbers(missing bool, columns ...int) ([]float64, error) {
	v := t.Take(columns...)
	texts := map[int]blankCells{} // of the columns that have some
	for i, x := range v {
		if missing && t.marked(x) != "" {
			v[i] = math.NaN()
			continue
		}
		if !math.IsNaN(x - x) {
			continue
		}
		row, c := i/len(columns), columns[i%len(columns)]
		text := t.Text(row, c)
		if text != "" {
			b, found := texts[c]
			if !found {
				b = t.blankCells(c)
				texts[c] = b
			}
			if b.other >= 0 && t.blank(text) {
				row, text = b.other, t.Text(b.other, c) // why the column is none of numbers
			}
			if b.other >= 0 {
				hint := t.rowHint(row, c)
				switch {
				case hint != "":
				case missing:
					hint = b.hint(text)
				case b.numbers == 0 && !isTimeOfDay(text) && !otherDate.MatchString(text) && !isDegrees(text):
					hint = ": a column of texts, such as kinds, is none of inputs, but --aux takes it"
				}
				return nil, t.Errorf(row, c, "%w: %s%s", ErrCell, notANumber(text), hint)
			}
		}
		switch {
		case math.IsInf(x, 0):
			return nil, t.Errorf(row, c, "%w: %g is not a finite number", ErrCell, x)
		case !missing:
			column := ""
			if c < len(t.Header) && t.places != nil { // else Errorf names it
				column = ", in column " + quote(t.Header[c])
			}
			if text != "" {
				column += ": it is " + quote(text)
			}
			return nil, t.Errorf(row, c, "%w: the cell is missing, and must not be%s", ErrCell, column)
		}
	}
	return v, nil
}

// Coordinates is Numbers for columns in which nothing is missing. Dates (2006-01-02, with a time or without) become
// days since the beginning of 1970.
func (t *Table) Coordinates(columns ...int) ([]float64, error) {
	v, err := t.Numbers(false, columns...)
	if err == nil || t.Texts == nil {
		return v, err
	}
	dated := *t
	dated.Values, dated.Texts = slices.Clone(t.Values), slices.Clone(t.Texts)
	for _, c := range columns {
		if t.Texts[c] == nil {
			continue
		}
		dated.Texts[c] = nil
		switch failed := t.dates(c, dated.Values); {
		case errors.Is(failed, errNoDate):
			if row, why := t.noDates(c); why != "" {
				return nil, t.Errorf(row, c, "%w: %s %s", ErrCell, quote(t.Text(row, c)), why)
			}
			return t.Numbers(false, c) // the error about this column, where another's dates were met first
		case failed != nil:
			return nil, failed
		}
	}
	return dated.Numbers(false, columns...)
}

// errNoDate is met in a column of text.
var errNoDate = errors.New("no date")

// dates sets a column of values to the days that its cells say. Text without any date is errNoDate. Among dates, a text that is none
// is another error, and so is a number: nobody knows which days it counts.
func (t *Table) dates(column int, values []float64) error {
	number, other, found := -1, -1, false
	for row := range t.Rows() {
		text := t.Text(row, column)
		if text == "" {
			if v := values[row*t.Cols+column]; v == v && number < 0 {
				number = row
			}
			continue
		}
		v, ok := Days(text)
		if !ok {
			if other < 0 {
				other = row
			}
			continue
		}
		values[row*t.Cols+column], found = v, true
	}
	switch {
	case other >= 0 && !found:
		return errNoDate
	case other >= 0:
		return t.Errorf(other, column, "%w: %s in a column of dates is none: need one like 2006-01-02", ErrCell,
			quote(t.Text(other, column)))
	}
	if number >= 0 {
		return t.Errorf(number, column, "%w: %s is a number in a column of dates: need one like 2006-01-02", ErrCell,
			t.Cell(number, column))
	}
	return nil
}

// Groups numbers the rows by the content of a column: rows of equal content have equal numbers, which count up from 0 in the order of
// their first rows. A cell that is missing is an error.
func (t *Table) Groups(column int) (group []int, n int, err error) {
	group = make([]int, t.Rows())
	type key struct {
		v    float64
		text string
	}
	seen := map[key]int{}
	for row := range group {
		k := key{t.Values[row*t.Cols+column], t.Key(row, column)}
		if k.text != "" {
			k.v = 0
		} else if math.IsNaN(k.v) {
			return nil, 0, t.Errorf(row, column, "%w: the cell is missing: which task is the row of?", ErrCell)
		}
		g, ok := seen[k]
		if !ok {
			g = len(seen)
			seen[k] = g
		}
		group[row] = g
	}
	return group, len(seen), nil
}

// Errorf is an error about a cell, "data.csv:3:5: ..."; row -1 is the header. The format may wrap an error.
func (t *Table) Errorf(row, column int, format string, args ...any) error {
	at := t.offset(row, column)
	err := fmt.Errorf(format, args...)
	if at < 0 || at >= len(t.places) {
		return fmt.Errorf("%s: %s%w", t.Name, t.cell(row, column), err)
	}
	return fmt.Errorf("%s:%d:%d: %w", t.Name, t.places[at].line, t.places[at].column, err)
}

// Place says in which line of the file a cell is, or in which row of a table without lines, from 1.
func (t *Table) Place(row, column int) string {
	if at := t.offset(row, column); at >= 0 && at < len(t.places) {
		return "line " + strconv.Itoa(int(t.places[at].line))
	}
	return "row " + strconv.Itoa(row+1)
}

// offset is where the place of a cell is among those of the table, if it has any; row -1 is the header.
func (t *Table) offset(row, column int) int {
	if t.Header != nil {
		row++
	}
	return row*t.Cols + column
}

// cell names a cell of a file without lines, "row 3, column lat: ", or nothing where that is no place.
func (t *Table) cell(row, column int) string {
	if row < 0 || row >= t.Rows() || column < 0 || column >= t.Cols {
		return ""
	}
	name := strconv.Itoa(column + 1)
	if column < len(t.Header) {
		name = quote(t.Header[column])
	}
	return fmt.Sprintf("row %d, column %s: ", row+1, name)
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
func Read(r io.Reader, name string) (*Table, error) { return ReadAs(r, name, Options{}) }

// ReadAs is Read for a text whose numbers are written in another way.
func ReadAs(r io.Reader, name string, opt Options) (*Table, error) {
	br := plainText(r)
	start, _ := br.Peek(peeked) // less where the file is shorter; Read meets any error again
	l := layoutOf(string(start), name, opt)
	if n, err := br.Discard(l.skip); err != nil || n < l.skip {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !separates(l.separator) {
		return nil, fmt.Errorf("%s: %w: %q separates no cells", name, ErrCell, l.separator)
	}
	before := bytes.Count(start[:l.skip], []byte{'\n'}) // lines
	t := &reading{Table: Table{Name: name, asked: opt}, opt: opt, layout: l, texts: map[string]string{}}
	if err := t.CountAsMissing(opt.Missing...); err != nil {
		return nil, err
	}
	if l.above > 0 {
		t.remark(-1, "skipped %s above the header of %s", words.Plural(l.above, "line"), name)
	}
	if l.separator == ' ' {
		return t.readSpaced(br, before)
	}
	cr := csv.NewReader(br)
	cr.Comma = l.separator
	cr.Comment = '#'
	cr.FieldsPerRecord = -1                // counted here, so that the error can name the place
	cr.TrimLeadingSpace = cr.Comma != '\t' // it would take tabs, too
	cr.ReuseRecord = true

	t.at = func(cell int) (line, column int) {
		line, column = cr.FieldPos(cell)
		return line + before, column
	}
	for {
		cells, err := cr.Read()
		if err == io.EOF {
			return t.complete()
		}
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%s:%d:%d: %w: %w", name, syntax.Line+before, syntax.Column, ErrCell, syntax.Err)
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if isPadding(cells) {
			continue
		}
		if err := t.row(cells); err != nil {
			return nil, err
		}
	}
}

// readSpaced reads rows whose cells are separated by spaces; so many lines are before them.
func (t *reading) readSpaced(br *bufio.Reader, before int) (*Table, error) {
	rows := spaced{in: br, line: before}
	t.at = rows.FieldPos
	for {
		cells, err := rows.Read()
		if err == io.EOF {
			return t.complete()
		}
		if err == nil && !isPadding(cells) {
			err = t.row(cells)
		} else if err != nil {
			err = fmt.Errorf("%s: %w", t.Name, err)
		}
		if err != nil {
			return nil, err
		}
	}
}

// Row is a row of a spreadsheet. Line and Column, that of the first cell, are counted from 1.
type Row struct {
	Line, Column int
	Cells        []string
	Number       []bool // cells that are numbers: they have a decimal point, whatever the options say
}

// ReadRows is ReadAs for rows that are cells already, each of as many.
func ReadRows(rows iter.Seq[Row], name string, opt Options) (*Table, error) {
	t := &reading{Table: Table{Name: name, asked: opt}, opt: opt, texts: map[string]string{}, sheet: true}
	if err := t.CountAsMissing(opt.Missing...); err != nil {
		return nil, err
	}
	for row := range rows {
		t.number = row.Number
		t.at = func(cell int) (line, column int) { return row.Line, row.Column + cell }
		cells := row.Cells
		if opt.Decimal == ',' {
			cells = slices.Clone(cells)
			for i, number := range row.Number {
				if number {
					cells[i] = strings.Replace(cells[i], ".", ",", 1)
				}
			}
		}
		if err := t.row(cells); err != nil {
			return nil, err
		}
	}
	return t.complete()
}

// complete gives columns with text a text for every row, and finds what rows and columns are that only all of them tell: a header,
// units, names of rows, numbers and dates in one of several forms.
func (t *reading) complete() (*Table, error) {
	for c := range t.Texts {
		if t.Texts[c] != nil && len(t.Texts[c]) < t.Rows() {
			t.setText(t.Rows()-1, c, "")
		}
	}
	t.nameByRest()
	if !t.opt.Piece {
		t.takeUnits()
		if err := t.checkRowNames(); err != nil {
			return nil, err
		}
		t.readNumbers()
		t.doubtPoints()
	}
	t.readDegrees()
	t.readDates()
	if !slices.ContainsFunc(t.Texts, func(texts []string) bool { return texts != nil }) {
		t.Texts = nil
	}
	if t.repeated > 0 {
		t.remark(-1, "skipped %s of %s that %s the header once more", words.Plural(t.repeated, "row"), t.Name,
			map[bool]string{true: "is", false: "are"}[t.repeated == 1])
	}
	return &t.Table, nil
}

// separates reports whether a rune can separate cells.
func separates(r rune) bool {
	return r != '"' && r != '#' && r != '\r' && r != '\n' && r != utf8.RuneError
}

// reading is a table while it is read.
type reading struct {
	Table
	at     func(cell int) (line, column int) // where a cell of the row stands
	opt    Options
	layout layout
	keys   []bool            // columns of keys
	texts  map[string]string // a text that many cells hold is kept once
	first  []string          // the cells of the first row, if it is no header

	number   []bool // cells of this row that are numbers, in whatever form
	signs    signs  // what numbers with points and commas say of these
	threes   []threes
	sheet    bool // the table is one of a spreadsheet
	rowNames bool // the first cells are names of rows, which the header has not
	windows  bool // some bytes are no UTF-8
	repeated int  // rows that are the header once more
}

// findKeys finds the columns of keys among those of these names.
func (t *reading) findKeys(names []string) {
	t.keys = nil
	for _, name := range names {
		t.keys = append(t.keys, strings.EqualFold(name, "task") || slices.Contains(t.opt.Keys, name))
	}
}

// keep notes where a cell is.
func (t *reading) keep(cell int) {
	line, column := t.at(cell)
	t.places = append(t.places, place{int32(line), int32(column)})
}

// row takes the next row, which may be the header.
func (t *reading) row(cells []string) error {
	if t.Cols == 0 {
		t.Cols = len(cells)
		first := make([]string, len(cells))
		for i, cell := range cells {
			first[i] = strings.Clone(t.utf(strings.TrimSpace(cell)))
		}
		if isHeader(first, t.opt) || t.opt.asksFor(first) {
			t.Header = first
			for i := range cells {
				t.keep(i)
			}
			t.findKeys(first)
			return nil
		}
		t.first = first
		t.findKeys(first)
		if t.layout.names(len(cells), t.opt) {
			t.layout.named = true
			for _, name := range t.layout.comment {
				t.Header = append(t.Header, t.utf(name))
			}
			t.findKeys(t.Header)
			for i := range cells { // the row below it
				t.keep(i)
			}
		}
	}
	if len(cells) != t.Cols {
		if cells = t.fit(cells); len(cells) != t.Cols {
			return t.misfitting(len(cells))
		}
	}
	if t.isRepeated(cells) {
		t.repeated++
		return nil
	}
	if len(t.Values) > maxTableCells-t.Cols {
		return fmt.Errorf("%s: %w: more than %d cells", t.Name, ErrCell, maxTableCells)
	}
	row := t.Rows()
	telling := t.opt.Decimal == 0 && !t.signs.point // what numbers say of points and commas
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		v, points, err := t.opt.parse(cell)
		if err != nil || math.IsInf(v, 0) {
			if v = math.NaN(); !missing(cell) {
				t.setText(row, i, t.once(t.utf(cell)))
			}
			t.Values = append(t.Values, v)
			t.keep(i)
			continue
		}
		if t.opt.Decimal == 0 && !t.opt.Piece && (i >= len(t.number) || !t.number[i]) {
			t.countThrees(i, cell, points)
		}
		if points && telling && (i >= len(t.number) || !t.number[i]) {
			s, _ := signsOf(cell)
			t.signs.add(s)
			telling = !t.signs.point
		}
		if i < len(t.keys) && t.keys[i] {
			if text := keyText(cell, v); text != "" {
				t.SetExact(row, i, t.once(text))
			}
		} else if text := exact(cell, v); text != "" {
			t.SetExact(row, i, t.once(text))
		}
		t.Values = append(t.Values, v)
		t.keep(i)
	}
	return nil
}

// once is a text that is kept once, however many cells hold it.
func (t *reading) once(cell string) string {
	kept, ok := t.texts[cell]
	if !ok {
		kept = strings.Clone(cell)
		t.texts[kept] = kept
	}
	return kept
}

// notANumber says why a text is no number of a table.
func notANumber(cell string) string {
	_, err := Options{}.number(cell)
	_, comma := Options{Decimal: ','}.number(cell)
	_, point := Options{Decimal: '.'}.number(cell)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return quote(cell) + " is beyond the range of numbers"
	case isInfinite(cell):
		return quote(cell) + " is not a finite number"
	case strings.HasPrefix(cell, "="):
		return quote(cell) + " is a formula without its value: open the file in a spreadsheet program and save it"
	case comma == nil && point == nil:
		return quote(cell) + " is not a number, unless --decimal . or --decimal , says what the comma is"
	case comma == nil:
		return quote(cell) + " is not a number: decimals need a point, or --decimal ,"
	}
	switch mark, digits := shape(cell); {
	case shortYear.MatchString(cell):
		return quote(cell) + " is not a number, nor a date like 2006-01-02: it has a year of two digits"
	case mark != "" && strings.Contains(digits, ",") && ambiguous(digits):
		return quote(cell) + " is not a number, unless --decimal . or --decimal , says what the comma is"
	case mark != "" && digits != "":
		return quote(cell) + " is not a number: " + mark + " is left out where all of a column are plain numbers besides"
	case otherDate.MatchString(cell):
		return quote(cell) + " is not a number, nor a date like 2006-01-02"
	case isDegrees(cell):
		return quote(cell) + " is not a number: degrees are read in a column of nothing but latitudes, or longitudes, that is called so"
	case isTimeOfDay(cell):
		return quote(cell) + " is not a number: a time of day needs its date in the same cell, as in 2006-01-02 15:04, " +
			"or in a column that is joined, as --x Date+Time"
	}
	return quote(cell) + " is not a number"
}

// ambiguous reports whether a comma of a number may be a decimal one, or stand before thousands.
func ambiguous(digits string) bool {
	_, comma := Options{Decimal: ','}.number(digits)
	_, point := Options{Decimal: '.'}.number(digits)
	return comma == nil && point == nil
}

// isInfinite reports whether a cell is a name of infinity.
func isInfinite(cell string) bool {
	v, err := strconv.ParseFloat(cell, 64)
	return err == nil && math.IsInf(v, 0)
}

// peeked is the number of bytes in which the first row is looked for, to see what separates its cells.
const peeked = 1 << 16

// quote shows a cell in an error, cut where it is long.
func quote(cell string) string {
	const most = 40
	if r := []rune(cell); len(r) > most {
		return strconv.Quote(string(r[:most])) + "..."
	}
	return strconv.Quote(cell)
}

// Write writes a table with its header, if it has one, and cells separated by that rune; a missing cell is empty.
// Numbers are written in the shortest form that reads back as the same float64, those of a single column as the same
// float32, and those of a column of days since 1970 as dates.
func Write(w io.Writer, t *Table, separator rune) error {
	if err := t.Check(); err != nil {
		return err
	}
	cw := csv.NewWriter(w)
	cw.Comma = separator
	if t.Header != nil {
		if err := cw.Write(t.Header); err != nil {
			return err
		}
	}
	row, cells := make([]string, t.Cols), make([]func(row int) string, t.Cols)
	for j := range cells {
		if cells[j] = t.Dated(j); cells[j] == nil {
			cells[j] = func(row int) string { return t.Cell(row, j) }
		}
	}
	for i := range t.Rows() {
		for j := range row {
			row[j] = cells[j](i)
		}
		if len(row) == 1 && row[0] == "" {
			row[0] = "NaN" // a blank line would be none
		}
		if err := cw.Write(row); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}
