package tabular

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// marks are what may stand before or behind a number; a column has one of them.
var marks = []string{"%", "$", "€", "£", "¥", "₹"}

// signs is what numbers of a file say of commas and points.
type signs struct {
	point  bool // a number that has a decimal point for sure, or commas between thousands
	comma  bool // one that has a decimal comma for sure, or points between thousands
	either bool // one that has a point before three digits, which may be thousands
}

func (s *signs) add(o signs) {
	s.point, s.comma, s.either = s.point || o.point, s.comma || o.comma, s.either || o.either
}

// decimal is the decimal sign that the numbers say, or 0 where they do not or contradict each other.
func (s *signs) decimal() rune {
	switch {
	case s.point && !s.comma:
		return '.'
	case s.comma && !s.point && !s.either:
		return ','
	}
	return 0
}

// groups reports whether a text is digits in groups of three.
func groups(text, separator string) bool {
	parts := strings.Split(text, separator)
	for i, part := range parts {
		if strings.Trim(part, "0123456789") != "" || part == "" || i > 0 && len(part) != 3 || i == 0 && len(parts) > 1 && len(part) > 3 {
			return false
		}
	}
	return true
}

// signsOf says which sign of a number is the decimal one; ok is whether it is a number with either.
func signsOf(text string) (s signs, ok bool) {
	text = strings.TrimLeft(text, "+-")
	if e := strings.IndexAny(text, "eE"); e > 0 {
		if _, err := strconv.Atoi(text[e+1:]); err != nil {
			return s, false
		}
		text = text[:e]
	}
	last := strings.LastIndexAny(text, ".,")
	if last < 0 {
		_, err := Options{}.number(text)
		return s, err == nil
	}
	whole, tail, sign := text[:last], text[last+1:], text[last:last+1]
	if strings.Trim(tail, "0123456789") != "" || whole+tail == "" {
		return s, false
	}
	inner := strings.ContainsAny(whole, ".,"+spaces)
	switch {
	case strings.Contains(whole, sign): // 1,234,567
		if !groups(text, sign) {
			return s, false
		}
		return signs{point: sign == ",", comma: sign == "."}, true
	case inner:
		separator := string([]rune(whole[strings.IndexAny(whole, ".,"+spaces):])[0])
		if !groups(whole, separator) {
			return s, false
		}
	case strings.Trim(whole, "0123456789") != "":
		return s, false
	case len(tail) == 3 && whole != "" && len(whole) <= 3 && whole[0] != '0':
		return signs{either: sign == "."}, true // 1,234 says nothing
	}
	return signs{point: sign == ".", comma: sign == ","}, true
}

// shape takes a number apart: what marks it, and its digits with a plain minus and an exponent e. The digits of others are "".
func shape(text string) (mark, digits string) {
	if len(text) > 40 {
		return "", ""
	}
	minus := ""
	unsigned := func() {
		for _, m := range []string{"-", "−"} {
			if rest, ok := strings.CutPrefix(text, m); ok && minus == "" {
				minus, text = "-", strings.TrimSpace(rest)
			}
		}
	}
	unsigned()
	for _, m := range marks {
		rest, before := strings.CutPrefix(text, m)
		if !before {
			rest, before = strings.CutSuffix(text, m)
		} else if m == "%" {
			return "", ""
		}
		if before {
			mark, text = m, strings.Trim(rest, " \u00a0\u202f")
			unsigned()
			break
		}
	}
	if text == "" || text[0] != '.' && text[0] != ',' && (text[0] < '0' || text[0] > '9') {
		if text == "" || text[0] != '+' || minus != "" || mark != "" {
			return "", ""
		}
	}
	for i, r := range text { // Fortran's exponents
		if (r == 'D' || r == 'd') && i > 0 && i+1 < len(text) {
			text = text[:i] + "e" + text[i+1:]
			break
		}
	}
	return mark, minus + text
}

// numberLike reports whether a text is a number in one of the forms that columns may have, which it alone need not tell.
func numberLike(text string) bool {
	_, digits := shape(text)
	if digits == "" {
		return false
	}
	_, ok := signsOf(digits)
	return ok
}

// numberForm is how the texts of a column write numbers.
type numberForm struct {
	mark  string
	signs signs
}

// numberFormOf finds the form of a column's texts; false: not all are numbers. A percent sign must stand at all numbers.
func (t *reading) numberFormOf(column int) (form numberForm, ok bool) {
	seen := false
	for _, text := range t.Texts[column] {
		if text == "" || t.blank(text) {
			continue
		}
		mark, digits := shape(text)
		s, number := signsOf(digits)
		if digits == "" || !number {
			return form, false
		}
		if mark != "" && form.mark != "" && mark != form.mark || seen && (mark == "%") != (form.mark == "%") {
			return form, false
		}
		if form.mark == "" {
			form.mark = mark
		}
		form.signs.add(s)
		seen = true
	}
	if form.mark == "%" {
		for row := range t.Rows() {
			if v := t.Values[row*t.Cols+column]; v == v {
				return form, false
			}
		}
	}
	if column < len(t.Header) && form.mark != "" {
		if mark, digits := shape(t.Header[column]); mark == form.mark && digits != "" {
			return form, false // a file without a header, perhaps
		}
	}
	return form, seen
}

// ReadTexts makes numbers and dates of columns of texts as a file of text has them. Texts that are plain numbers were meant to be texts:
// 007 is a key.
func (t *Table) ReadTexts(opt Options) {
	r := reading{Table: *t, opt: opt}
	r.asked = opt
	_ = r.CountAsMissing(opt.Missing...) // whoever reads the file says what is wrong
	r.findKeys(t.Header)
	r.keys = append(r.keys, make([]bool, t.Cols-len(r.keys))...)
	for c, texts := range t.Texts {
		first := slices.IndexFunc(texts, func(text string) bool { return text != "" && !t.blank(text) })
		if first >= 0 {
			_, err := Options{}.number(texts[first])
			r.keys[c] = r.keys[c] || err == nil
		}
	}
	r.readNumbers()
	r.readDegrees()
	r.readDates()
	*t = r.Table
}

// readNumbers makes numbers of columns of texts that are all numbers in one form. What commas and points are, all columns tell
// together: where they do not, columns that have commas stay texts.
func (t *reading) readNumbers() {
	forms := map[int]numberForm{}
	all := t.signs
	for c := range t.Texts {
		if t.Texts[c] == nil || c < len(t.keys) && t.keys[c] {
			continue
		}
		if form, ok := t.numberFormOf(c); ok {
			forms[c] = form
			all.add(form.signs)
		}
	}
	opt := t.opt
	if opt.Decimal == 0 {
		opt.Decimal = all.decimal()
	}
	for c := range t.Texts {
		if form, ok := forms[c]; ok {
			t.readColumn(c, form, opt)
		}
	}
}

// readColumn makes numbers of a column's texts, unless one of them is none by those options.
func (t *reading) readColumn(column int, form numberForm, opt Options) {
	values := make([]float64, 0, len(t.Texts[column]))
	told, blanks := -1, false
	for row, text := range t.Texts[column] {
		v := math.NaN()
		if text != "" && !t.blank(text) {
			mark, digits := shape(text)
			var err error
			if v, err = opt.number(digits); err != nil || math.IsInf(v, 0) {
				return
			}
			if told < 0 && (mark != "" || strings.Contains(digits, ",") && t.opt.Decimal == 0) {
				told = row
			}
		}
		blanks = blanks || t.blank(text)
		values = append(values, v)
	}
	if told >= 0 {
		t.remark(column, "%s has numbers like %s, which is read as %s", t.columnOf(column), quote(t.Texts[column][told]),
			strconv.FormatFloat(values[told], 'g', -1, 64))
	}
	for row, v := range values {
		if v == v {
			t.Values[row*t.Cols+column], t.Texts[column][row] = v, ""
		}
	}
	if !blanks {
		t.Texts[column] = nil
	}
}

// columnOf names a column for a note.
func (t *Table) columnOf(column int) string {
	name := strconv.Itoa(column + 1)
	if column < len(t.Header) && t.Header[column] != "" {
		name = t.Header[column]
	}
	return fmt.Sprintf("column %s of %s", name, t.Name)
}

// threes counts numbers of a column by what stands behind their points.
type threes struct {
	pointed int    // three digits behind the only point, and one to three, no zero, before it
	example string // the first of these
	plain   bool   // there are others without a point, and not 0
	other   bool   // there are others with points
}

// countThrees counts a number.
func (t *reading) countThrees(column int, cell string, points bool) {
	if t.threes == nil {
		t.threes = make([]threes, t.Cols)
	}
	n := &t.threes[column]
	if n.other {
		return
	}
	cell = strings.TrimLeft(cell, "+-")
	at := strings.IndexByte(cell, '.')
	switch {
	case !points && len(cell) > 3: // where points stand between thousands, it would have one
		n.other = true
	case !points:
		n.plain = n.plain || strings.Trim(cell, "0") != ""
	case at >= 1 && at <= 3 && len(cell) == at+4 && cell[0] != '0' && strings.Trim(cell[:at]+cell[at+1:], "0123456789") == "":
		if n.pointed++; n.example == "" {
			n.example = strings.Clone(cell)
		}
	default:
		n.other = true
	}
}

// doubtPoints says of columns in which some numbers have three digits behind a point, and all others no point, that the points may stand
// between thousands, unless other numbers of the file tell. Decimals have as many digits in all rows, or less than three in some.
func (t *reading) doubtPoints() {
	const few = 3
	for c, n := range t.threes {
		if n.pointed >= few && n.plain && !n.other && !t.signs.point {
			t.remark(c, "%s has numbers like %s beside others without a point, which is read as decimal: if points stand between "+
				"thousands, say --decimal ,", t.columnOf(c), n.example)
		}
	}
}
