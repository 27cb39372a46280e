package tables

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/tabular"
	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls what is exported with what nobody should pass: a table one of whose fields does not fit the others,
// columns that it does not have, in every format.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "tables", name, f, good...)
	}
	grid := tabular.Table{Name: "t", Header: []string{"x", "y", "z"}, Units: []string{"m", "", ""},
		Single: []bool{false, true, false}, Cols: 3,
		Values: []float64{0, 0, 5, 0, 1, 6, 1, 0, 7, 1, 1, 8}, Texts: [][]string{nil, nil, {"", "", "text", ""}}}
	for _, name := range []string{"a.csv", "a.tsv", "a.parquet", "a.npz", "a.nc", "a.npy"} {
		named("Write "+name, func(path string, t *tabular.Table, x []int) { _ = Write(io.Discard, path, t, x) }, name, &grid, []int{0, 1})
		var b bytes.Buffer
		require.NoError(t, Write(&b, name, &grid, []int{0, 1}))
		named("Decode "+name, func(b []byte, name string, wanted []string) { _, _ = Decode(b, name, wanted) }, b.Bytes(), name,
			[]string{"x", "z"})
	}
	named("ReadFile", func(path string, wanted []string) { _, _ = ReadFile(path, wanted) }, t.TempDir(), []string{"x"})
	testkit.HostileIndexed(t, "tables", "Grid", func(t *tabular.Table, x []int) { Grid(t, x) }, &grid, []int{0, 1})
}
