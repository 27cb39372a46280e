package tabular

import (
	"math"
	"strconv"
	"strings"
)

// Options say how the numbers of a text are written.
type Options struct {
	// Decimal is the character before the fraction of a number: a point or a comma; 0 is a point.
	Decimal rune
	// Dates is [DayFirst] or [MonthFirst], of dates such as 8/7/2016; "" is neither unless another of the column tells.
	Dates string
	// Piece says that the text is a part of a file, of which nothing is read that only all rows tell.
	Piece bool
	// Keys name columns whose cells tell rows apart by all their digits, besides one that is called task.
	Keys []string
	// X and Y name the inputs and outputs that are asked for, as [Want] has them: a row that has the names is a header, even if some
	// of these are numbers, as years are.
	X, Y []string
	// Missing are as of [Table.CountAsMissing].
	Missing []string
}

// number reads a cell as a number. Only decimal digits make one: Go's underscores, hexadecimal numbers and names of
// infinities and NaN do not. Groups of three digits may be apart.
func (o Options) number(cell string) (float64, error) {
	v, _, err := o.parse(cell)
	return v, err
}

// parse is number, which also reports whether the cell has points, or anything else besides digits, signs and exponents.
func (o Options) parse(cell string) (v float64, points bool, err error) {
	plain := o.Decimal != ','
	for i := 0; i < len(cell); i++ {
		switch c := cell[i]; {
		case c >= '0' && c <= '9' || c == '-' || c == '+' || c == 'e' || c == 'E':
		case c == '.' && plain, c == ',' && !plain:
			points = true
		default:
			v, err = o.grouped(cell)
			return v, true, err
		}
	}
	if !plain {
		cell = strings.Replace(cell, ",", ".", 1)
	}
	v, err = strconv.ParseFloat(cell, 64)
	return v, points, err
}

// spaces are what may stand between groups of three digits, besides commas and points.
const spaces = " \u00a0\u202f\u2009'’"

// grouped reads a number whose digits are in groups of three: 1,234,567.5 or 1.234.567,5 or 1 234 567.5. A single comma
// may be a decimal one, if nobody said what is.
func (o Options) grouped(cell string) (float64, error) {
	bad := &strconv.NumError{Func: "ParseFloat", Num: cell, Err: strconv.ErrSyntax}
	decimal, other := ".", ","
	if o.Decimal == ',' {
		decimal, other = ",", "."
	}
	whole, fraction, fractional := strings.Cut(cell, decimal)
	sign := ""
	if strings.HasPrefix(whole, "-") || strings.HasPrefix(whole, "+") {
		sign, whole = whole[:1], whole[1:]
	}
	at := strings.IndexAny(whole, other+spaces)
	if at < 1 || at > 3 {
		return 0, bad
	}
	separator := string([]rune(whole[at:])[0])
	parts := strings.Split(whole, separator)
	if separator == other && len(parts) == 2 && !fractional && o.Decimal == 0 {
		return 0, bad
	}
	for i, part := range parts {
		if len(part) != 3 && i > 0 || strings.Trim(part, "0123456789") != "" {
			return 0, bad
		}
	}
	if strings.Trim(fraction, "0123456789") != "" {
		return 0, bad
	}
	return strconv.ParseFloat(sign+strings.Join(parts, "")+"."+fraction, 64)
}

// exact is the digits of a whole number that float64 does not hold, "" of other numbers.
func exact(cell string, v float64) string {
	if v != math.Trunc(v) || math.Abs(v) < 1e15 || strings.ContainsAny(cell, "eE") {
		return ""
	}
	digits := canonical(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '-' || r == '+' || r == '.' {
			return r
		}
		return -1 // what stands between groups
	}, cell))
	if strings.Contains(digits, ".") || digits == canonical(strconv.FormatFloat(v, 'f', -1, 64)) {
		return ""
	}
	return digits
}

// keyText is the text of a cell of keys whose number float64 does not tell from others: more digits than it has, groups
// of them, or zeros before them, which belong to the names of stations and places. It is "" for most.
func keyText(cell string, v float64) string {
	if len(cell) > 1 && cell[0] == '0' && strings.Trim(cell, "0123456789") == "" {
		return cell
	}
	plain := true
	for i := 0; i < len(cell) && plain; i++ {
		c := cell[i]
		plain = c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+'
	}
	switch {
	case !plain && !strings.ContainsAny(cell, ","+spaces):
		return "" // it has an exponent
	case plain && len(cell) <= 15:
		return ""
	case plain:
		text := canonical(cell)
		if !strings.Contains(text, ".") && math.Abs(v) > 1<<53 || text != canonical(strconv.FormatFloat(v, 'f', -1, 64)) {
			return text // even if float64 has just this number, which would be written with an exponent beside others in full
		}
		return ""
	}
	return cell
}

// canonical is the one way to write a decimal number without an exponent.
func canonical(cell string) string {
	negative := strings.HasPrefix(cell, "-")
	cell = strings.TrimLeft(strings.TrimLeft(cell, "+-"), "0")
	if strings.Contains(cell, ".") {
		cell = strings.TrimRight(strings.TrimRight(cell, "0"), ".")
	}
	switch {
	case cell == "":
		return "0"
	case cell[0] == '.':
		cell = "0" + cell
	}
	if negative {
		return "-" + cell
	}
	return cell
}

// WholeText is the exact text of a whole number that float64 does not hold, "" of others.
func WholeText(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(v) < 1<<53 { // 2^53 is what its neighbour becomes
		return ""
	}
	return text
}

// SetExact keeps the text of a cell whose number is one of several that float64 does not tell apart, so that it can be
// a key. "" changes nothing.
func (t *Table) SetExact(row, column int, text string) {
	if text == "" {
		return
	}
	if t.Exact == nil {
		t.Exact = make([][]string, t.Cols)
	}
	if need := row + 1 - len(t.Exact[column]); need > 0 {
		t.Exact[column] = append(t.Exact[column], make([]string, need)...)
	}
	t.Exact[column][row] = text
}

// Key tells a cell from others where its value does not: by its text, or the digits of a number of more than
// float64 has. It is "" for other numbers.
func (t *Table) Key(row, column int) string {
	if text := t.Text(row, column); text != "" {
		return text
	}
	if t.Exact == nil || row >= len(t.Exact[column]) {
		return ""
	}
	return t.Exact[column][row]
}
