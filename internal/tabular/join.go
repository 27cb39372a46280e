package tabular

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/internal/words"
)

// partsOf are the columns that a name like Date+Time joins, nil if it joins none.
func partsOf(name string) []string {
	parts := strings.Split(name, "+")
	for i := range parts {
		if parts[i] = strings.TrimSpace(parts[i]); parts[i] == "" {
			return nil
		}
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// IsJoined reports whether a name is like Date+Time.
func IsJoined(name string) bool { return partsOf(name) != nil }

// hasName reports whether a header has a name, or all that it joins.
func hasName(header []string, name string) bool {
	parts := partsOf(name)
	return slices.Contains(header, name) ||
		parts != nil && !slices.ContainsFunc(parts, func(part string) bool { return !slices.Contains(header, part) })
}

// Parts are names of columns, and those that names like Date+Time join.
func Parts(names []string) []string {
	out := slices.Clone(names)
	for _, name := range names {
		out = append(out, partsOf(name)...)
	}
	return out
}

// Join makes a column of times of columns of dates and times of day that a name of x such as Date+Time joins, or of those of years,
// months, days, hours, minutes and seconds, such as Year+Month+Day; so it does of dates and times of day that are neighbours in x. It
// returns the names of x then. The column takes the place of the first of its parts.
func (t *Table) Join(x []string) (names []string, err error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	for i := 0; i < len(x); i++ {
		name := x[i]
		parts := partsOf(name)
		if k, err := t.column(name); err != nil || k >= 0 {
			parts = nil
		}
		if parts == nil && i+1 < len(x) && t.isDateAndTime(x[i], x[i+1]) {
			parts = x[i : i+2]
			name = parts[0] + "+" + parts[1]
			i++
		}
		names = append(names, name)
		if parts == nil || t.Cols == 0 {
			continue
		}
		var columns []int
		for _, part := range parts {
			k, err := t.column(part)
			if err == nil && k < 0 {
				err = t.misfit("it has no column %q", part)
			}
			if err == nil && slices.Contains(columns, k) {
				err = t.misfit("%s joins column %q twice", name, part)
			}
			if err != nil {
				return nil, err
			}
			columns = append(columns, k)
		}
		if err := t.join(name, columns); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// isDateAndTime reports whether two columns hold dates and times of day, and nothing else but missing values.
func (t *Table) isDateAndTime(date, clock string) bool {
	d, err := t.column(date)
	c, other := t.column(clock)
	if err != nil || other != nil || d < 0 || c < 0 {
		return false
	}
	return t.isAll(d, isDay) && t.isAll(c, isTimeOfDay)
}

// isDay reports whether a text is a date without a time.
func isDay(text string) bool {
	_, ok := Days(text)
	return ok && len(text) == len(time.DateOnly)
}

// isAll reports whether a column has texts of one kind, and nothing else but missing values.
func (t *Table) isAll(column int, is func(string) bool) bool {
	found := false
	for row := range t.Rows() {
		text := t.Text(row, column)
		if v := t.Values[row*t.Cols+column]; v == v || text != "" && !t.blank(text) && !is(text) {
			return false
		}
		found = found || is(text)
	}
	return found
}

// join makes texts like 2006-01-02 15:04:05 of columns, in the place of the first.
func (t *Table) join(name string, columns []int) error {
	texts := make([]string, t.Rows())
	dated, most := t.Texts != nil && t.Texts[columns[0]] != nil, len(timeParts)
	if dated {
		most -= 2 // a date is three of them
	}
	if len(columns) > most {
		return t.misfit("%s joins %s: need a date and a time, or years, months, days, hours, minutes and seconds", name,
			words.Plural(len(columns), "column"))
	}
	quarters, err := t.partsInOrder(name, columns, dated)
	if err != nil {
		return err
	}
	fraction := dated && len(columns) == 2 && t.isFraction(columns[1])
	last := columns[len(columns)-1]
	var halves halved
	for row := range texts {
		if digits, letter, ok := readTime(t.Text(row, last)); ok {
			_, h, _ := hourOf(digits[0], letter)
			halves.add(row, h)
		}
	}
	if row := halves.row(); row >= 0 {
		return t.Errorf(row, last, "%w: %s: %s %s", ErrCell, name, quote(t.Text(row, last)), neitherHalf)
	}
	for row := range texts {
		text, column, err := t.joined(row, columns, dated, fraction, quarters)
		if err != nil {
			return t.Errorf(row, column, "%w: %s: %w", ErrCell, name, err)
		}
		texts[row] = text
	}
	t.Values = slices.Clone(t.Values)
	if t.Texts = slices.Clone(t.Texts); t.Texts == nil {
		t.Texts = make([][]string, t.Cols)
	}
	for row := range texts {
		t.Values[row*t.Cols+columns[0]] = math.NaN()
	}
	t.Texts[columns[0]] = texts
	if t.Exact != nil {
		t.Exact = slices.Clone(t.Exact)
		t.Exact[columns[0]] = nil
	}
	t.setUnit(columns[0], "", "")
	if t.Header != nil {
		t.Header = slices.Clone(t.Header)
		t.Header[columns[0]] = name
	} else {
		t.aliases = maps.Clone(t.aliases)
		if t.aliases == nil {
			t.aliases = map[string]int{}
		}
		t.aliases[name] = columns[0]
	}
	t.source = append(slices.Clone(t.source), columns[1:]...)
	if first := slices.IndexFunc(texts, func(s string) bool { return s != "" }); first >= 0 {
		t.remark(columns[0], "columns %s of %s are read as one time, such as %s", strings.ReplaceAll(name, "+", ", "), t.Name, texts[first])
	}
	return nil
}

// isFraction reports whether a column has parts of days, as spreadsheets have times of day.
func (t *Table) isFraction(column int) bool {
	found := false
	for row := range t.Rows() {
		v := t.Values[row*t.Cols+column]
		if v < 0 || v >= 1 {
			return false
		}
		found = found || v > 0
	}
	return found
}

// timePart is a part of a time.
type timePart struct {
	name     string
	from, to float64
}

// timeParts are those of a time, and from which number to which they count.
var timeParts = []timePart{{"year", 1000, 9998}, {"month", 1, 12}, {"day", 1, 31}, {"hour", 0, 24}, {"minute", 0, 59}, {"second", 0, 60}}

// partsInOrder refuses columns that are called by another part of a time than the one in whose place they stand, as Day in Year+Day. It
// reports whether they are years and quarters.
func (t *Table) partsInOrder(name string, columns []int, dated bool) (quarters bool, err error) {
	if t.Header == nil {
		return false, nil
	}
	for i, c := range columns {
		at := i
		if dated {
			at += 2
		}
		called := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(t.Header[c])), "s")
		part := slices.IndexFunc(timeParts, func(p timePart) bool { return p.name == called })
		switch quarter := called == "quarter" || called == "qtr"; {
		case dated && i == 0:
		case quarter && at == 1 && len(columns) == 2:
			quarters = true
		case part >= 0 && part != at, quarter, called == "week":
			return false, t.misfit("%s: column %q stands where the %s belongs: parts of a time are years, months, days, hours, minutes "+
				"and seconds, in this order, or years and quarters", name, t.Header[c], timeParts[at].name)
		}
	}
	return quarters, nil
}

// monthOf is the number of a month that a cell names, or of the first of a quarter such as 2 or Q2, 0 where it is none.
func monthOf(v float64, cell string, quarter bool) float64 {
	if !quarter {
		return float64(month(cell))
	}
	if cell != "" {
		v = float64(slices.Index([]string{"Q1", "Q2", "Q3", "Q4"}, strings.ToUpper(cell)) + 1)
	}
	if v != 1 && v != 2 && v != 3 && v != 4 {
		return 0
	}
	return 3*v - 2
}

// joined is the time of a row, "" where a part of it is missing. column is that of what is wrong.
func (t *Table) joined(row int, columns []int, dated, fraction, quarters bool) (text string, column int, err error) {
	parts := []float64{1, 1, 1, 0, 0, 0}
	k := 0
	set := func(v float64) error {
		if p := timeParts[k]; !(v >= p.from && v <= p.to) || k < len(parts)-1 && v != math.Trunc(v) {
			return fmt.Errorf("%g is no %s", v, p.name)
		}
		parts[k] = v
		k++
		return nil
	}
	for i, c := range columns {
		v, cell := t.Values[row*t.Cols+c], t.Text(row, c)
		switch {
		case cell == "" && v != v, cell != "" && t.blank(cell):
			return "", 0, nil
		case dated && i == 0:
			if !isDay(cell) {
				return "", c, fmt.Errorf("%s is no date like 2006-01-02, which a time of day can follow", quote(t.Cell(row, c)))
			}
			d, _ := Days(cell)
			day := time.Unix(int64(d)*86400, 0).UTC()
			parts[0], parts[1], parts[2], k = float64(day.Year()), float64(day.Month()), float64(day.Day()), 3
		case k == 3 && i == len(columns)-1 && isTimeOfDay(cell):
			digits, letter, _ := readTime(cell)
			hour, _, ok := hourOf(digits[0], letter)
			if !ok {
				err = fmt.Errorf("%s is no time of day", quote(cell))
				break
			}
			err = set(float64(hour))
			for _, digits := range digits[1:] {
				if v, other := (Options{}).number(digits); err == nil && other == nil {
					err = set(v)
				}
			}
		case k == 1 && (quarters || cell != "") && monthOf(v, cell, quarters) > 0:
			err = set(monthOf(v, cell, quarters))
		case k == 1 && quarters:
			err = fmt.Errorf("%s is no quarter", t.Cell(row, c))
		case cell != "":
			err = fmt.Errorf("%s is no %s", quote(cell), timeParts[k].name)
		case fraction:
			parts[5] = math.Round(v*86400e3) / 1e3
		default:
			err = set(v)
		}
		if err != nil {
			return "", c, err
		}
	}
	day := time.Date(int(parts[0]), time.Month(parts[1]), int(parts[2]), 0, 0, 0, 0, time.UTC)
	seconds := parts[3]*3600 + parts[4]*60 + parts[5]
	switch {
	case day.Day() != int(parts[2]):
		return "", columns[0], fmt.Errorf("there is no day %.0f-%02.0f-%02.0f", parts[0], parts[1], parts[2])
	case seconds > 86400: // 24:00 is the end of a day
		return "", columns[len(columns)-1], fmt.Errorf("there is no time of day after 24:00")
	case k <= 3 && !fraction:
		return day.Format(time.DateOnly), 0, nil
	}
	at := day.Add(time.Duration(math.Round(seconds*1e6)) * time.Microsecond)
	if at.Year() > 9999 {
		return "", columns[0], fmt.Errorf("its year has more than four digits")
	}
	return at.Format("2006-01-02 15:04:05.999999"), 0, nil
}
