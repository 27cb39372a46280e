package tabular

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/equivcnp/equivcnp/internal/words"
)

// utf is a cell as UTF-8. Bytes that are none are those of Windows-1252, which has all of Latin-1.
func (t *reading) utf(cell string) string {
	if utf8.ValidString(cell) {
		return cell
	}
	text, err := charmap.Windows1252.NewDecoder().String(cell)
	if err != nil {
		return cell
	}
	if !t.windows {
		t.windows = true
		t.remark(-1, "%s is not UTF-8: its texts are read as Windows-1252, such as %s", t.Name, quote(text))
	}
	return strings.TrimSpace(text)
}

// isPadding reports whether a row is nothing but the separators that a spreadsheet leaves, or the zeros, or the end mark of DOS, that
// stand where a program stopped.
func isPadding(cells []string) bool {
	return !slices.ContainsFunc(cells, func(s string) bool { return strings.Trim(s, " \t\r\n\v\f\u0085\u00a0\x00\x1a") != "" })
}

// fit makes a row fit the header where the rows have one cell more: an empty one at the end, or the row's name before the others.
func (t *reading) fit(cells []string) []string {
	if len(cells) != t.Cols+1 || t.Header == nil {
		return cells
	}
	if strings.TrimSpace(cells[t.Cols]) == "" {
		return cells[:t.Cols]
	}
	if t.Rows() == 0 && t.Cols > 1 && !t.rowNames && !t.opt.Piece { // above two columns stands a title
		t.rowNames = true
		t.Cols++
		t.Header = append([]string{""}, t.Header...)
		t.places = append(t.places[:1:1], t.places...)
		t.findKeys(t.Header)
	}
	return cells
}

// checkRowNames refuses rows of a cell more than the header has where the first cells do not look like names of rows: who knows which
// column has no name?
func (t *reading) checkRowNames() error {
	if !t.rowNames {
		return nil
	}
	seen := make(map[string]bool, t.Rows())
	for row := range t.Rows() {
		text := t.Text(row, 0)
		if v := t.Values[row*t.Cols]; text == "" && len(seen) == 0 && (v == float64(row) || v == float64(row+1)) {
			continue
		}
		if text == "" || seen[text] || len(seen) < row {
			return t.Errorf(row, 0, "%w: rows have %d cells, the header has %d: the first cells are no names of rows, as R writes them; "+
				"name all columns", ErrCell, t.Cols, t.Cols-1)
		}
		seen[text] = true
	}
	t.remark(-1, "the header of %s has one name less than rows have cells: the first cells are taken as names of rows, as R writes them",
		t.Name)
	return nil
}

// isRepeated reports whether a row is the header once more, as in files that were joined.
func (t *reading) isRepeated(cells []string) bool {
	if t.Header == nil || t.layout.named || len(cells) != len(t.Header) || strings.TrimSpace(cells[0]) != t.Header[0] {
		return false
	}
	for i, cell := range cells {
		if t.utf(strings.TrimSpace(cell)) != t.Header[i] {
			return false
		}
	}
	return slices.ContainsFunc(t.Header, func(name string) bool { return !missing(name) && !blank(name) })
}

// maxUnitRows bounds the rows of units and descriptions below a header, as loggers write them.
const maxUnitRows = 3

// takeUnits takes rows of texts below the header that stand above nothing but numbers or dates as the columns' units.
func (t *reading) takeUnits() {
	if t.Header == nil || t.Texts == nil {
		return
	}
	rows := 0
	for rows < maxUnitRows && rows < t.Rows() && t.isWords(rows) {
		rows++
	}
	for ; rows > 0; rows-- {
		if slices.ContainsFunc(t.First(t.Cols), func(c int) bool { return t.unlike(c, rows) }) {
			break
		}
	}
	if rows == 0 {
		return
	}
	if t.isTitled(rows) {
		t.takeNames(rows)
		return
	}
	var texts []string
	units := make([]string, t.Cols)
	for c := range units {
		text := t.Text(0, c)
		if unlike := t.unlike(c, rows); text != "" && !t.blank(text) && unlike {
			units[c] = strings.Trim(text, "[]()")
			texts = append(texts, text)
		}
	}
	t.Units = units
	what := "the row below the header of %s is"
	if rows > 1 {
		what = fmt.Sprintf("the %d rows below the header of %%s are", rows)
	}
	t.remark(-1, what+" taken as units of columns: %s", t.Name, quote(strings.Join(texts, ",")))
	t.dropRows(rows)
}

// takeNames makes names of those of a sheet's header and of rows below it, as pandas writes columns of several levels: the name of a group
// stands above the first of its columns alone. A single name above all is a title.
func (t *reading) takeNames(rows int) {
	names, group, groups := make([]string, t.Cols), "", 0
	for c := range names {
		if t.Header[c] != "" {
			group = t.Header[c]
			groups++
		}
		var parts []string
		if group != "" && (t.Header[c] != "" || t.Text(0, c) != "") {
			parts = append(parts, group)
		}
		for row := range rows {
			if text := t.Text(row, c); text != "" {
				parts = append(parts, text)
			}
		}
		names[c] = strings.Join(parts, ".")
	}
	const fewest = 2
	if !t.sheet || groups < fewest || !distinct(names) {
		return
	}
	t.Header = names
	t.findKeys(names)
	t.remark(-1, "the first %d rows of %s are taken as names of columns, joined: %s", rows+1, t.Name, quote(strings.Join(names, ",")))
	t.dropRows(rows)
}

// isTitled reports whether one of the first rows has texts where the header has no name: then the header may be a title.
func (t *reading) isTitled(rows int) bool {
	for i := range rows * t.Cols {
		if t.Header[i%t.Cols] == "" && t.Text(i/t.Cols, i%t.Cols) != "" {
			return true
		}
	}
	return false
}

// isWords reports whether a row has no number and no date, but a text.
func (t *reading) isWords(row int) bool {
	texts := false
	for c := range t.Cols {
		text := t.Text(row, c)
		if v := t.Values[row*t.Cols+c]; v == v || numberLike(text) || utf8.RuneCountInString(text) > 40 {
			return false
		}
		if _, date := anyDate(text); date {
			return false
		}
		texts = texts || text != "" && !t.blank(text)
	}
	return texts
}

// unlike reports whether a column has a text in one of the first rows, and below them numbers or dates, but no text.
func (t *reading) unlike(column, rows int) bool {
	if t.Texts[column] == nil || column < len(t.keys) && t.keys[column] ||
		!slices.ContainsFunc(t.Texts[column][:rows], func(s string) bool { return s != "" && !t.blank(s) }) {
		return false
	}
	return t.measured(column, rows)
}

// measured reports whether a column holds, from a row on, numbers alone or dates alone, besides missing values.
func (t *reading) measured(column, from int) bool {
	numbers, dates := 0, 0
	for row := from; row < t.Rows(); row++ {
		text := t.Text(row, column)
		_, date := anyDate(text)
		switch v := t.Values[row*t.Cols+column]; {
		case date:
			dates++
		case text == "" && v == v, numberLike(text):
			numbers++
		case text != "" && !t.blank(text):
			return false
		}
	}
	const few = 2 // one value says little
	return numbers >= few && dates == 0 || dates >= few && numbers == 0
}

// dropRows leaves out the first rows below the header.
func (t *reading) dropRows(n int) {
	t.Values = t.Values[n*t.Cols:]
	if len(t.places) >= (n+1)*t.Cols {
		t.places = append(t.places[:t.Cols], t.places[(n+1)*t.Cols:]...)
	}
	t.cutLists(n)
}

// cutLists leaves out the first rows of the lists of texts and digits, and lists that hold none then.
func (t *reading) cutLists(n int) {
	texts := false
	for c := range t.Texts {
		if t.Texts[c] != nil {
			t.Texts[c] = t.Texts[c][n:]
			if !slices.ContainsFunc(t.Texts[c], func(text string) bool { return text != "" }) {
				t.Texts[c] = nil
			}
		}
		texts = texts || t.Texts[c] != nil
	}
	if !texts {
		t.Texts = nil
	}
	for c := range t.Exact {
		t.Exact[c] = t.Exact[c][min(n, len(t.Exact[c])):]
	}
}

// misfitting is the error about a row that has another number of cells than the first.
func (t *reading) misfitting(cells int) error {
	line, column := t.at(cells - 1)
	hint := ""
	switch {
	case t.Cols == 1 || t.Rows() == 0 && t.Cols < cells:
		hint = ": lines above a table begin with #, or are skipped where --x and --y name columns"
	case t.Rows() > 0 && line > int(t.places[len(t.places)-1].line)+1:
		hint = ": does another table begin here? A file holds one"
	}
	return fmt.Errorf("%s:%d:%d: %w: this row has %s, the first has %d%s", t.Name, line, column, ErrCell, words.Plural(cells, "cell"),
		t.Cols, hint)
}

// rowHint says what a row seems to be that has a text in a column of numbers.
func (t *Table) rowHint(row, column int) string {
	numbers, texts := 0, 0
	for c := range t.Cols {
		if t.Text(row, c) != "" {
			texts++
		} else if v := t.Values[row*t.Cols+c]; v == v {
			numbers++
		}
	}
	text := strings.ToLower(t.Text(row, column))
	total := slices.ContainsFunc([]string{"total", "sum", "mean", "average", "summe", "mittel", "all"}, func(s string) bool {
		return strings.HasPrefix(text, s)
	})
	switch {
	case row > 0 && row == t.Rows()-1 && total:
		return ": leave out the last row if it is a sum or a mean"
	case row > 0 && t.Cols > 1 && numbers == 0 && texts == t.Cols:
		return ": the row has texts alone; a file holds one table"
	}
	return ""
}

// remark is a sentence about how a column was read, or, as column -1, the table.
type remark struct {
	column int
	text   string
}

func (t *Table) remark(column int, format string, args ...any) {
	t.remarks = append(t.remarks, remark{column, fmt.Sprintf(format, args...)})
}

// Remark adds a remark about the whole table.
func (t *Table) Remark(format string, args ...any) { t.remark(-1, format, args...) }

// Remarks says, in sentences for people, how a table and those of its columns that are taken were read: what was skipped, texts that
// became numbers, dates and missing values, and numbers that may stand for missing ones.
func (t *Table) Remarks(c Columns) (out []string) {
	values := slices.Concat(c.Y, c.Aux)
	for _, r := range t.remarks {
		if r.column < 0 || slices.Contains(c.X, r.column) || slices.Contains(values, r.column) {
			out = append(out, r.text)
		}
	}
	if note := t.Blanks(values...); note != "" {
		out = append(out, note)
	}
	return append(append(out, t.Marked(values...)...), t.Doubts(c)...)
}

// Doubts are those of Remarks that say that a column may not hold what it seems to: what is predicted may then be wrong.
func (t *Table) Doubts(c Columns) (out []string) {
	for _, column := range c.X {
		if v, form := t.digits(column); form != "" {
			out = append(out, fmt.Sprintf("%s holds numbers such as %s that look like dates, between which distances are no times: "+
				"write them like %s", t.columnOf(column), strconv.FormatFloat(v, 'f', -1, 64), form))
		}
	}
	for _, column := range slices.Concat(c.Y, c.Aux) {
		if v, n := t.sentinel(column); n > 0 {
			out = append(out, fmt.Sprintf("%s holds %g in %s, far from all other values: if it stands for missing ones, "+
				"say --missing %g", t.columnOf(column), v, words.Plural(n, "row"), v))
		} else if text := t.outlying(column, slices.Contains(c.Y, column)); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// digits finds numbers in a column that are the digits of dates, and says how such dates are written; few numbers may look so by chance.
func (t *Table) digits(column int) (v float64, form string) {
	const few = 3
	x := t.Take(column)
	slices.Sort(x)
	if x = slices.Compact(x); len(x) < few || x[0] != x[0] {
		return 0, ""
	}
	v = x[len(x)-1]
	if isYearMonths(x) {
		return v, fmt.Sprintf("%04.0f-%02.0f", math.Floor(v), math.Round(v*100)-100*math.Floor(v))
	}
	return v, DateForm([][]float64{x})
}

// isYearMonths reports whether ascending numbers are years with months for decimals, such as 1871.01 to 1871.12, where .1 is October:
// of several years, in which decimals of a year would not all end at .12.
func isYearMonths(x []float64) bool {
	const fewMonths = 4
	var seen [13]bool
	months := 0
	for _, v := range x {
		year := math.Floor(v)
		month := math.Round(v*100) - 100*year
		if !(year >= 1000 && year < 3000 && month >= 1 && month <= 12) || math.Abs(v*100-math.Round(v*100)) > 1e-6 {
			return false
		}
		if !seen[int(month)] {
			seen[int(month)] = true
			months++
		}
	}
	return months >= fewMonths && math.Floor(x[0]) < math.Floor(x[len(x)-1])
}

// sentinels are numbers that often stand for missing values.
var sentinels = []float64{-9999, -999, -99, -9999.9, -999.9, -99.9, -999.99, -99999, -999999, -32768, 999, 9999, 99999, 999999,
	9999.9, 999.9, 999.99, 99.9, 99.99, 1e20, -1e20, -8888, -7777, 32767, -32767, 65535, math.MinInt32, math.MaxInt32, math.MaxUint32}

// hugeSentinel is from where on numbers stand for missing values, as the largest ones of float32 and float64 and NetCDF's 9.96921e36 do,
// with however many digits.
const hugeSentinel = 1e29

// sentinel finds a number in a column that often stands for missing values, and is farther from all others than these are from each
// other, or ten times as far where it occurs once, and than half of itself; n is in how many rows.
func (t *Table) sentinel(column int) (v float64, n int) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for row := range t.Rows() {
		if x := t.Values[row*t.Cols+column]; x == x && t.marked(x) == "" {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	for _, end := range []float64{lo, hi} {
		listed := slices.ContainsFunc(sentinels, func(s float64) bool { return s == end || float64(float32(s)) == end })
		if !listed && math.Abs(end) < hugeSentinel {
			continue
		}
		n, restLo, restHi := 0, math.Inf(1), math.Inf(-1)
		for row := range t.Rows() {
			switch x := t.Values[row*t.Cols+column]; {
			case t.marked(x) != "":
			case x == end:
				n++
			case x == x:
				restLo, restHi = min(restLo, x), max(restHi, x)
			}
		}
		far, least := max(end-restHi, restLo-end), restHi-restLo
		if n == 1 {
			least *= 10
		}
		if restLo < restHi && far > least && far > math.Abs(end)/2 {
			return end, n
		}
	}
	return 0, 0
}
