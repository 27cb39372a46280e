package tabular

import (
	"io"
	"strings"
	"testing"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls what is exported with what nobody should pass: a table one of whose fields does not fit the others,
// columns that it does not have.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "tabular", name, f, good...)
	}
	named("Read", func(text, name string) { _, _ = Read(strings.NewReader(text), name) }, "x,y\n1,2\n", "a.csv")
	named("Decode", func(b []byte, name string) { _, _ = Decode(b, name) }, []byte("x,y\n1,2\n"), "a.csv")
	named("ReadFile", func(path string) { _, _ = ReadFile(path) }, t.TempDir())
	named("Days", Days, "2006-01-02")
	columns := []Column{{Name: "a", Values: []float64{1, 2}}, {Name: "b", Unit: "m", Values: []float64{3, 4}}}
	named("Of", Of, columns)
	whole := Table{Name: "t", Header: []string{"x", "y"}, Units: []string{"m", ""}, Single: []bool{false, true}, Cols: 2,
		Values: []float64{1, 2, 3, 4}, Texts: [][]string{{"a", ""}, nil}, LeftOut: []string{"z"}}
	named("Errorf", func(t Table, row, column int) { _ = t.Errorf(row, column, "why") }, whole, 0, 1)
	named("Table.With", func(t Table) { t.With(columns...) }, whole)
	named("Table.Write", func(t Table) { _ = Write(io.Discard, &t, ';') }, whole)
	named("Table", func(t Table, text string) {
		t.Rows()
		t.First(1)
		_, _ = t.Index(text)
		c, err := t.Find(Want{X: []string{text}})
		if err == nil {
			t.Extra(c)
			_, _ = t.Join([]string{text, text + "+y"})
			_, _ = t.Other(c, text, true)
			_, _ = t.Numbers(true, c.X...)
		}
	}, whole, "x")
	named("With", func(columns []Column) { whole.With(columns...) }, columns)
	named("Find", func(w Want) { _, _ = whole.Find(w) }, Want{X: []string{"x"}, Y: []string{"y"}, Dx: 1, Dy: 1, Aux: []string{"1"}})
	named("Join", func(x []string) { other := whole; _, _ = other.Join(x) }, []string{"x+y"})
	named("Parts", func(x []string) { Parts(x) }, []string{"x+y"})
	named("IsJoined", IsJoined, "x+y")
	named("Write", func(t *Table, separator rune) { _ = Write(io.Discard, t, separator) }, &Table{Cols: 1, Values: []float64{1}}, ';')
	testkit.HostileIndexed(t, "tabular", "columns", func(row, column int, columns []int) {
		_ = whole.Errorf(row, column, "why")
		_, _, _ = whole.Groups(column)
		_, _ = whole.Numbers(false, columns...)
		_, _ = whole.Coordinates(columns...)
		whole.Only(columns, []string{"a", "b"})
		whole.Take(columns...)
		whole.First(column)
		whole.Text(row, column)
		whole.Cell(row, column)
	}, 1, 1, []int{0, 1})
}
