package tabular

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/equivcnp/equivcnp/internal/words"
)

// missing reports whether a cell says that there is no value, whatever else its column holds.
func missing(cell string) bool {
	switch cell {
	case "", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "null", "NULL":
		return true
	}
	return strings.EqualFold(cell, "nan") || strings.EqualFold(cell, "-nan")
}

// blanks are texts that say in a column of numbers that there is no value. Elsewhere they are texts: - is a grade, na a language.
var blanks = []string{"none", "nat", "na", "n/a", "n.a.", "null", `\n`, ".", "..", "...", "-", "--", "---", "–", "—", "?", "#n/a n/a",
	"#div/0!", "#num!",
	"div/0!", "num!", // at the beginning of a line, where # is taken away
	"1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind", "nan(ind)", "-nan(ind)"}

// blank reports whether a text is one of blanks, in any case of letters.
func blank(text string) bool { return len(text) <= 9 && slices.Contains(blanks, strings.ToLower(text)) }

// marker is a number, or a text in a column of numbers, that stands for a missing value.
type marker struct {
	name   string
	number float64 // NaN: it is a text
}

// CountAsMissing makes numbers such as -9999 and texts such as <0.5 stand for missing values in the columns of values, where Numbers may
// miss some. A number is written as in Go; a text counts in any case of letters.
func (t *Table) CountAsMissing(values ...string) error {
	t.markers = nil
	for _, name := range values {
		if name = strings.TrimSpace(name); name == "" {
			return fmt.Errorf("a value that stands for missing ones is empty; empty cells are missing anyway")
		}
		v, err := strconv.ParseFloat(name, 64)
		if err != nil {
			v = math.NaN()
		}
		t.markers = append(t.markers, marker{name, v})
	}
	return nil
}

// marked is the name of the marker that a number is, or "". A column of float32 holds the nearest to a marker.
func (t *Table) marked(v float64) string {
	for _, m := range t.markers {
		if v == m.number || v == float64(float32(m.number)) {
			return m.name
		}
	}
	return ""
}

// blank reports whether a text says in a column of numbers that there is no value.
func (t *Table) blank(text string) bool {
	return blank(text) || slices.ContainsFunc(t.markers, func(m marker) bool { return strings.EqualFold(m.name, text) })
}

// Marked says how many numbers of some columns count as missing, by which markers, and which markers none of their cells is.
func (t *Table) Marked(columns ...int) (out []string) {
	found := map[string]bool{}
	for _, c := range columns {
		counts := map[string]int{}
		for row := range t.Rows() {
			if m := t.marked(t.Values[row*t.Cols+c]); m != "" {
				counts[m]++
			} else if text := t.Text(row, c); text != "" {
				found[strings.ToLower(text)] = true
			}
		}
		for _, m := range t.markers {
			if n := counts[m.name]; n > 0 {
				found[strings.ToLower(m.name)] = true
				out = append(out, fmt.Sprintf("%s is %s in %s, which counts as missing", t.columnOf(c), m.name, words.Plural(n, "row")))
			}
		}
	}
	for _, m := range t.markers {
		if !found[strings.ToLower(m.name)] && len(columns) > 0 && !t.asked.Piece {
			out = append(out, fmt.Sprintf("no value of %s is %s, which would count as missing", t.Name, m.name))
		}
	}
	return out
}

// blankCells are the cells of a column that hold blanks.
type blankCells struct {
	texts   []string // different ones, by their first rows
	n       int
	other   int // the first row with another text, or -1
	others  int // rows with one
	numbers int
}

// hint says how a text counts as missing that stands in a column of numbers; where most cells are texts, it is no such column.
func (b *blankCells) hint(text string) string {
	if b.others >= b.numbers || strings.IndexAny(text, "+-.0123456789") == 0 { // 1x is a slip
		return ""
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		text = quote(text)
	}
	return ": if it stands for a missing value, say --missing " + text
}

// blankCells finds the blanks of a column.
func (t *Table) blankCells(column int) blankCells {
	out := blankCells{other: -1}
	for row := range t.Rows() {
		switch text := t.Text(row, column); {
		case text == "":
			if v := t.Values[row*t.Cols+column]; v == v {
				out.numbers++
			}
		case !t.blank(text):
			if out.others++; out.other < 0 {
				out.other = row
			}
		default:
			if out.n++; !slices.Contains(out.texts, text) {
				out.texts = append(out.texts, text)
			}
		}
	}
	return out
}

// IsText reports whether a column holds texts, or dates. Numbers with a few texts such as ? or None, which say that there is no value,
// are no text.
func (t *Table) IsText(column int) bool {
	if t.Texts == nil || t.Texts[column] == nil {
		return false
	}
	b := t.blankCells(column)
	return b.other >= 0 || b.numbers == 0
}

// Blanks says how many cells of columns of numbers are missing by a text such as ? or None, and by which; it is "" where there are none.
func (t *Table) Blanks(columns ...int) string {
	var out []string
	for _, c := range columns {
		if t.Texts == nil || t.Texts[c] == nil {
			continue
		}
		b := t.blankCells(c)
		if b.other >= 0 || b.n == 0 {
			continue
		}
		name := fmt.Sprintf("column %d", c+1)
		if c < len(t.Header) {
			name = t.Header[c]
		}
		for i, text := range b.texts {
			b.texts[i] = quote(text)
		}
		out = append(out, fmt.Sprintf("%d of %s (%s)", b.n, name, strings.Join(b.texts, ", ")))
	}
	if out == nil {
		return ""
	}
	return fmt.Sprintf("cells of %s that are read as missing: %s", t.Name, strings.Join(out, "; "))
}
