package tabular

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isHeader reports whether no cell is a number and not all are missing. A row that mixes numbers and text is data. Among texts inf is
// one, the name of an inflation, but NaN is a missing cell. A row of nothing but dates and percentages is data.
func isHeader(row []string, opt Options) bool {
	named, infinite, values := false, false, true
	for _, cell := range row {
		cell = strings.TrimSpace(cell)
		mark, digits := shape(cell)
		if _, number := signsOf(digits); digits != "" && number && mark == "" {
			return false
		} else if _, date := anyDate(cell); !date && (digits == "" || !number) && !missing(cell) {
			values = false // 5% and 2020-01-01 may be names, but not all of a row
		}
		if _, err := opt.number(cell); err == nil || errors.Is(err, strconv.ErrRange) || strings.EqualFold(cell, "nan") {
			return false
		}
		if isInfinite(cell) {
			infinite = true
			if !strings.EqualFold(cell, "inf") {
				return false
			}
			continue
		}
		named = named || !missing(cell)
	}
	return named && !values && (!infinite || distinct(row))
}

// distinct reports whether no two cells are equal.
func distinct(row []string) bool {
	seen := map[string]bool{}
	for _, cell := range row {
		if seen[cell] {
			return false
		}
		seen[cell] = true
	}
	return true
}

// asksFor reports whether a row has the names of all inputs that are asked for, besides numbers of columns, and a name that is none of
// these. A name like 2019 is no number of a column.
func (o Options) asksFor(row []string) bool {
	named := false
	for i, name := range slices.Concat(o.X, o.Y) {
		is := func(name string) bool {
			return slices.ContainsFunc(row, func(cell string) bool { return strings.EqualFold(cell, name) })
		}
		parts := partsOf(name)
		found := is(name) || parts != nil && !slices.ContainsFunc(parts, func(part string) bool { return !is(part) })
		n, err := strconv.Atoi(name)
		number := err == nil && n > 0
		if i < len(o.X) && !found && (!number || n > len(row)) {
			return false
		}
		const manyColumns = 1000
		named = named || found && (!number || n >= manyColumns && n > len(row))
	}
	return named
}

// nameByRest makes the first row a header where its numbers are years, as in "date,2019,2020", and a cell of it is a word above
// nothing but numbers, or dates.
func (t *reading) nameByRest() {
	if t.Header != nil || t.first == nil || !distinct(t.first) {
		return
	}
	for i, cell := range t.first {
		const from, to = 1000, 3000
		v, err := t.opt.number(cell)
		year := len(cell) == 4 && v == math.Trunc(v) && v >= from && v < to
		if err == nil && !year || err != nil && missing(cell) && (cell != "" || i > 0) { // a first column may have no name
			return
		}
	}
	for c := range t.first {
		if t.word(c) {
			t.takeHeader()
			return
		}
	}
}

// word reports whether the first cell of a column is a word that is unlike all others, which are numbers or dates. A task may be called
// by a word or a number.
func (t *reading) word(column int) bool {
	if t.Texts == nil || t.Texts[column] == nil || slices.Contains(t.opt.Keys, strconv.Itoa(column+1)) {
		return false
	}
	name := t.Text(0, column)
	if first, _ := utf8.DecodeRuneInString(name); !unicode.IsLetter(first) || blank(name) || isInfinite(name) {
		return false // 12* or <5 are values
	}
	return t.measured(column, 1)
}

// takeHeader makes the first row the header.
func (t *reading) takeHeader() {
	t.Header, t.Values = t.first, t.Values[t.Cols:]
	t.cutLists(1)
}
