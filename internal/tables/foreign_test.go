package tables

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/npy"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// TestForeign: what people take for a table is refused by what it is, from files and from bytes, and not by its first quotation mark.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	for _, f := range foreign {
		require.LessOrEqual(t, len(f.begin), 8, f.what)
		b := append([]byte(f.begin), "\x00\x01,\"\n1,2\n"...)
		path := filepath.Join(dir, "table.csv")
		require.NoError(t, os.WriteFile(path, b, 0o600))
		_, err := ReadFile(path, nil)
		require.ErrorIs(t, err, tabular.ErrCell)
		require.ErrorContains(t, err, "table.csv: not a table of numbers: it is "+f.what)
		_, err = Decode(b, "table.csv", nil)
		require.ErrorContains(t, err, "it is "+f.what)
	}
	for _, text := range []string{"PNG,y\n1,2\n", "{x},y\n1,2\n", "[x],y\n1,2\n", "<x>,y\n1,2\n", "GIF,y\n1,2\n", "II,y\n1,2\n"} {
		table, err := Decode([]byte(text), "table.csv", nil)
		require.NoError(t, err, text)
		require.Equal(t, 1, table.Rows())
	}
}

// TestSpreadsheet: a zip file that holds no arrays, as spreadsheets are, is no table without columns.
func TestSpreadsheet(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"[Content_Types].xml", "xl/workbook.xml"} {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte("<a/>"))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	path := filepath.Join(t.TempDir(), "t.xlsx")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	_, err := ReadFile(path, nil)
	require.ErrorIs(t, err, npy.ErrFormat)
	require.ErrorContains(t, err, "t.xlsx: ")
	require.ErrorContains(t, err, "save a sheet as CSV")
}
