package tabular

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// maxCategories bounds the different texts of a column that become columns of their own.
const maxCategories = 64

// category is the name of the column that is 1 where a cell has that text.
func category(column, text string) string { return column + "=" + text }

// Categories brings columns of texts among the named ones to columns of numbers, one for each text: kind becomes
// kind=land and kind=sea, which are 1 where a cell of kind is that text and 0 elsewhere. It returns the names after that.
// The names kind=land and kind=sea themselves, as a model's file has them, stand for these texts and no others: another
// one is an error that names the cell. A missing cell is missing in all of them. The new columns are the table's last.
func (t *Table) Categories(names []string) (out []string, err error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	known := map[int][]string{} // the texts that names with = ask for
	for _, name := range names {
		if c, text := t.categoryOf(name); c >= 0 {
			known[c] = append(known[c], text)
		}
	}
	done := map[int]bool{}
	for _, name := range names {
		c, err := t.column(name)
		if err != nil {
			return nil, err
		}
		if own, _ := t.categoryOf(name); own >= 0 {
			if !done[own] {
				done[own] = true
				if err := t.spread(own, known[own]); err != nil {
					return nil, err
				}
			}
			out = append(out, name)
			continue
		}
		if c < 0 || !t.IsText(c) {
			out = append(out, name) // numbers, or what Find misses
			continue
		}
		texts, err := t.texts(c)
		if err != nil {
			return nil, err
		}
		if err := t.spread(c, texts); err != nil {
			return nil, err
		}
		for _, text := range texts {
			out = append(out, category(t.Header[c], text))
		}
	}
	return out, nil
}

// KnownCategories is Categories for the inputs of a model that exists: names like kind=land get their columns, and a column
// of texts by its own name stays one, whose cells are errors where numbers are read.
func (t *Table) KnownCategories(names []string) error {
	if err := t.Check(); err != nil {
		return err
	}
	own := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		c, _ := t.categoryOf(name)
		return c < 0
	})
	_, err := t.Categories(own)
	return err
}

// categoryOf is the column of texts, and the text, that a name such as kind=land stands for; -1: it is none, or a
// column's own.
func (t *Table) categoryOf(name string) (column int, text string) {
	if slices.Contains(t.Header, name) && !slices.Contains(t.made, name) {
		return -1, ""
	}
	for i := range len(name) {
		if name[i] != '=' {
			continue
		}
		if c := slices.Index(t.Header, name[:i]); c >= 0 {
			return c, name[i+1:]
		}
	}
	return -1, ""
}

// kind is a cell as the file has it. Codes such as 2024W05 may all be dates in one file, and have others beside them in the next.
func (t *Table) kind(row, column int) string {
	if t.written == nil || row >= len(t.written[column]) || t.Text(row, column) == "" {
		return t.Cell(row, column)
	}
	return t.written[column][row]
}

// texts are the different cells of a column, in order.
func (t *Table) texts(column int) ([]string, error) {
	if t.Header == nil {
		return nil, t.Errorf(0, column, "%w: a column of texts becomes one for each text, and they have names only where the table"+
			" has a header", ErrColumns)
	}
	seen := map[string]bool{}
	var out []string
	for row := range t.Rows() {
		text := t.kind(row, column)
		if text == "" || seen[text] {
			continue
		}
		if seen[text], out = true, append(out, text); len(out) > maxCategories {
			return nil, t.Errorf(row, column, "%w: column %s has more than %d different texts, each of which would be an input of its own",
				ErrColumns, quote(t.Header[column]), maxCategories)
		}
	}
	slices.Sort(out)
	return out, nil
}

// listedMost is how many texts a message names.
const listedMost = 12

// listed names texts, of many the first ones.
func listed(texts []string) string {
	if more := len(texts) - listedMost; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(texts[:listedMost], ", "), more)
	}
	return strings.Join(texts, ", ")
}

// spread appends the columns of a column's texts, unless the table has them already.
func (t *Table) spread(column int, texts []string) error {
	name := t.Header[column]
	var fresh []Column
	for _, text := range texts {
		if own := category(name, text); !slices.Contains(t.made, own) {
			fresh = append(fresh, Column{Name: own, Values: make([]float64, t.Rows())})
		}
	}
	for row := range t.Rows() {
		cell := t.kind(row, column)
		if date := t.Cell(row, column); !slices.Contains(texts, cell) && slices.Contains(texts, date) {
			cell = date // files of models may have it
		}
		if cell != "" && !slices.Contains(texts, cell) {
			return t.Errorf(row, column, "%w: %s is not one of the known categories of %s: %s", ErrCell, quote(cell), quote(name),
				listed(texts))
		}
		for _, c := range fresh {
			switch {
			case cell == "":
				c.Values[row] = math.NaN()
			case c.Name == category(name, cell):
				c.Values[row] = 1
			}
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	for _, c := range fresh {
		if slices.Contains(t.Header, c.Name) {
			return fmt.Errorf("%s: %w: it has a column %s besides %s", t.Name, ErrColumns, quote(c.Name), quote(name))
		}
	}
	wide := t.With(fresh...)
	wide.LeftOut, wide.made, wide.source = t.LeftOut, slices.Clone(t.made), append(slices.Clone(t.source), column)
	wide.remarks, wide.asked = t.remarks, t.asked
	for _, c := range fresh {
		wide.made = append(wide.made, c.Name)
	}
	for at := 0; at < len(t.places); at += t.Cols { // errors about a new column name the cell that it is of
		line := t.places[at : at+t.Cols]
		wide.places = append(wide.places, line...)
		for range fresh {
			wide.places = append(wide.places, line[column])
		}
	}
	*t = *wide
	return nil
}

// OfCategories names the columns of a model's inputs where some are of one column's texts: for the columns a and b, of a
// model of elevation, kind=land and kind=sea, these are a, b=land and b=sea. It is columns where their number does not fit.
func OfCategories(columns, inputs []string) []string {
	var out []string
	last, at := "", -1
	for _, name := range inputs {
		column, text, texts := strings.Cut(name, "=")
		if !texts || column != last {
			at++
		}
		if last = column; !texts {
			last = ""
		}
		if at >= len(columns) {
			return columns
		}
		if out = append(out, columns[at]); texts {
			out[len(out)-1] += "=" + text
		}
	}
	if at != len(columns)-1 {
		return columns
	}
	return out
}
