package tabletask

import (
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/table"
)

// Names numbers n columns of one kind where there are several: "mean", or "mean1", "mean2".
func Names(kind string, n int) []string {
	if n == 1 {
		return []string{kind}
	}
	return Numbered(kind, n)
}

// Numbered returns kind1, kind2, and so on, also where there is one.
func Numbered(kind string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%s%d", kind, i+1))
	}
	return out
}

// Labels returns the names of columns in the header or, without a header, Names of the kind.
func Labels(t *table.Table, columns []int, kind string, n int) []string {
	if t.Header == nil {
		return Names(kind, n)
	}
	var out []string
	for _, c := range columns {
		out = append(out, t.Header[c])
	}
	return out
}

// chosen returns the names of the columns that options chose in a table, nil if the table has no header or the columns
// were found without options.
func chosen(t *table.Table, option []string, columns []int) []string {
	if option == nil || t.Header == nil {
		return nil
	}
	return Labels(t, columns, "", 0)
}

// Chosen returns the names of the coordinates in tables of predictions, and those of the outputs: nil where options chose
// none.
func (t *Task) Chosen(c *Columns) (x, y []string) {
	in := t.Observed.Columns
	if x = chosen(t.Points, c.X, in.X); x == nil {
		x = Names("x", t.Dx)
	}
	return x, chosen(t.Points, c.Y, in.Y)
}
