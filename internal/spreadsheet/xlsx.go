package spreadsheet

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"
)

// xlsx reads a sheet of a workbook of Office Open XML.
func (k *book) xlsx(wanted string) ([]Cell, error) {
	main := "xl/workbook.xml"
	if of, err := k.relations(""); err == nil {
		for _, r := range of {
			if strings.HasSuffix(r.kind, "/officeDocument") {
				main = r.target
			}
		}
	}
	if strings.HasSuffix(main, ".bin") {
		return nil, fmt.Errorf("%w: it is a binary workbook: save it as .xlsx", ErrFormat)
	}
	x := &xlsx{book: k}
	of, err := k.relations(main)
	if err != nil {
		return nil, err
	}
	for _, r := range of {
		switch {
		case strings.HasSuffix(r.kind, "/sharedStrings"):
			err = x.readStrings(r.target)
		case strings.HasSuffix(r.kind, "/styles"):
			err = x.readStyles(r.target)
		}
		if err != nil {
			return nil, err
		}
	}
	names, files, err := x.readWorkbook(main, of)
	if err != nil {
		return nil, err
	}
	return sheets(names, wanted, func(i int, first bool) ([]Cell, error) { return x.cells(files[i], first) })
}

// xlsx is what the cells of a workbook refer to.
type xlsx struct {
	*book
	strings []string
	dates   []bool // by the number of a cell's style
	from    string // the day before which all dates lie, that of number 0
}

// relation is where a part of a document refers to.
type relation struct{ id, kind, target string }

// relations are those of a part, or of the whole document.
func (k *book) relations(of string) (out []relation, err error) {
	e, err := k.open(path.Join(path.Dir(of), "_rels", strings.TrimPrefix(path.Base(of), ".")+".rels"))
	if err != nil {
		return nil, err
	}
	defer e.close()
	for {
		what, name, err := e.next()
		if err != nil || what == over {
			return out, err
		}
		if what != start || name != "Relationship" || e.attr("TargetMode") == "External" {
			continue
		}
		target := e.attr("Target")
		if strings.HasPrefix(target, "/") {
			target = target[1:]
		} else {
			target = path.Join(path.Dir(of), target)
		}
		out = append(out, relation{e.attr("Id"), e.attr("Type"), target})
	}
}

// readWorkbook returns the names of the sheets of cells, and their files.
func (x *xlsx) readWorkbook(main string, of []relation) (names, files []string, err error) {
	e, err := x.open(main)
	if err != nil {
		return nil, nil, err
	}
	defer e.close()
	for {
		what, name, err := e.next()
		if err != nil || what == over {
			return names, files, err
		}
		switch {
		case what != start:
		case len(e.open) == 1 && name != "workbook":
			return nil, nil, e.errorf("it is a document of another kind")
		case name == "workbookPr":
			if first := e.attr("date1904"); first == "1" || first == "true" {
				x.from = "1904-01-01"
			}
		case name == "sheet":
			for _, r := range of {
				if r.id == e.attr("id") && strings.HasSuffix(r.kind, "/worksheet") {
					names, files = append(names, e.attr("name")), append(files, r.target)
				}
			}
		}
	}
}

// readStrings reads the texts that cells share.
func (x *xlsx) readStrings(file string) error {
	e, err := x.open(file)
	if err != nil {
		return err
	}
	defer e.close()
	for {
		what, name, err := e.next()
		if err != nil || what == over {
			return err
		}
		if what == start && name == "si" {
			s, err := e.richText()
			if err != nil {
				return err
			}
			if len(x.strings) == x.most {
				return e.errorf("more than %d texts", x.most)
			}
			x.strings = append(x.strings, s)
		}
	}
}

// richText is the text of the element that has just begun, without what says how to pronounce it.
func (e *elements) richText() (string, error) {
	var b strings.Builder
	for depth := len(e.open); ; {
		what, name, err := e.next()
		switch {
		case err != nil:
			return "", err
		case len(e.open) < depth:
			return b.String(), nil
		case what == start && name == "rPh":
			if err := e.skip(); err != nil {
				return "", err
			}
		case what == text && e.open[len(e.open)-1] == "t":
			b.WriteString(name)
		}
	}
}

// readStyles finds out which styles are those of dates.
func (x *xlsx) readStyles(file string) error {
	e, err := x.open(file)
	if err != nil {
		return err
	}
	defer e.close()
	custom := map[string]bool{}
	for {
		what, name, err := e.next()
		if err != nil || what == over {
			return err
		}
		switch {
		case what != start:
		case name == "numFmt":
			custom[e.attr("numFmtId")] = isDate(e.attr("formatCode"))
		case name == "xf" && e.open[max(0, len(e.open)-2)] == "cellXfs":
			id := e.attr("numFmtId")
			date, ok := custom[id]
			if n, err := strconv.Atoi(id); !ok && err == nil {
				date = n >= 14 && n <= 17 || n == 22 || n >= 27 && n <= 31 || n == 36 || n >= 50 && n <= 54 || n == 57 || n == 58
			}
			x.dates = append(x.dates, date)
		}
	}
}

// isDate reports whether a number of that format is shown as a day. A time of day alone, or a duration, is none.
func isDate(format string) bool {
	format, _, _ = strings.Cut(format, ";")
	if strings.EqualFold(format, "general") || strings.EqualFold(format, "standard") {
		return false
	}
	var months, clock, quoted bool
	for i := 0; i < len(format); i++ {
		switch c := format[i] | 0x20; {
		case format[i] == '"':
			quoted = !quoted
		case quoted:
		case format[i] == '\\', format[i] == '_', format[i] == '*':
			i++
		case format[i] == '[':
			at := strings.IndexByte(format[i:], ']')
			if at < 0 {
				return false
			}
			clock = clock || strings.Trim(strings.ToLower(format[i+1:i+at]), "hms") == "" // a duration
			i += at
		case c == 'y', c == 'd':
			return true
		case c == 'm':
			months = true
		case c == 'h', c == 's', c == '0', c == '#', c == '?':
			clock = true
		}
	}
	return months && !clock
}

// date is the day and the time of a number of a cell. It is none where there is no such day: the calendar of 1900 has a 29th of February.
func (x *xlsx) date(serial float64) (string, bool) {
	from, day := "1899-12-30", 86400*time.Second
	switch {
	case x.from != "":
		from = x.from
	case serial < 60:
		from = "1899-12-31"
	case serial < 61:
		return "", false
	}
	if !(serial >= 0 && serial < 2958466) || serial < 1 && x.from == "" {
		return "", false
	}
	t, err := time.Parse(time.DateOnly, from)
	if err != nil {
		return "", false
	}
	whole := math.Floor(serial)
	t = t.AddDate(0, 0, int(whole)).Add(time.Duration(math.Round((serial-whole)*86400000)) * time.Millisecond)
	if t.Equal(t.Truncate(day)) {
		return t.Format(time.DateOnly), true
	}
	return t.Format("2006-01-02T15:04:05.999"), true
}

// cells reads the cells of a sheet, or the first one.
func (x *xlsx) cells(file string, first bool) (cells []Cell, err error) {
	e, err := x.open(file)
	if err != nil {
		return nil, err
	}
	defer e.close()
	at := Cell{}
	for {
		what, name, err := e.next()
		switch {
		case err != nil || what == over || first && len(cells) > 0:
			return cells, err
		case what != start:
		case name == "row":
			if at.Row, err = e.number("r", at.Row+1, maxRow, at.Row+1); err != nil {
				return nil, err
			}
			at.Column = 0
		case name == "c" && e.open[max(0, len(e.open)-2)] == "row":
			if at.Column, err = e.column(at); err != nil {
				return nil, err
			}
			c, err := x.cell(e, at)
			if err != nil {
				return nil, err
			}
			if cells, err = x.add(cells, c); err != nil {
				return nil, err
			}
		}
	}
}

// column is the column of the cell that has just begun, after another one of its row.
func (e *elements) column(before Cell) (int, error) {
	name := e.attr("r")
	if name == "" {
		name = Name(before.Row, before.Column+1)
	}
	column, digits := 0, strings.TrimLeft(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	for _, letter := range name[:min(len(name)-len(digits), 4)] {
		column = 26*column + int(letter-'A') + 1
	}
	if column <= before.Column || column > maxColumn || digits != strconv.Itoa(before.Row) {
		return 0, e.errorf("a cell is called %.40q, after column %d of row %d", name, before.Column, before.Row)
	}
	return column, nil
}

// cell reads the cell that has just begun.
func (x *xlsx) cell(e *elements, at Cell) (Cell, error) {
	kind, style := e.attr("t"), e.attr("s")
	var value, formula, inline string
	computed := false
	for depth := len(e.open); len(e.open) >= depth; {
		what, name, err := e.next()
		if err != nil {
			return at, err
		}
		switch {
		case what == start && name == "is":
			if inline, err = e.richText(); err != nil {
				return at, err
			}
		case what == start && name == "f":
			computed = true
		case what == text && e.open[len(e.open)-1] == "v":
			value += name
		case what == text && e.open[len(e.open)-1] == "f":
			formula += name
		}
	}
	switch at.Text = value; kind {
	case "s":
		if value = strings.TrimSpace(value); value == "" {
			return at, nil
		}
		i, err := strconv.Atoi(value)
		if err != nil || i < 0 || i >= len(x.strings) {
			return at, e.errorf("cell %s refers to text %.40q of %d", Name(at.Row, at.Column), value, len(x.strings))
		}
		at.Text = x.strings[i]
	case "inlineStr":
		at.Text = inline
	case "b":
		at.Text = map[string]string{"1": "TRUE", "true": "TRUE", "0": "FALSE", "false": "FALSE"}[strings.TrimSpace(value)]
	case "str", "e", "d":
	default:
		at.Number = true
		i, err := strconv.Atoi(style)
		if serial, failed := strconv.ParseFloat(value, 64); err == nil && failed == nil && i >= 0 && i < len(x.dates) && x.dates[i] {
			if day, ok := x.date(serial); ok {
				at.Text, at.Number = day, false
			}
		}
		if computed && strings.TrimSpace(value) == "" {
			at.Text, at.Number = "="+formula, false
		}
	}
	return at, nil
}
