package tables

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/tabular"
)

// TestForeign: what people take for a table is refused by what it is, from files and from bytes, and not by its first quotation mark.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	for _, f := range tabular.Foreign {
		require.LessOrEqual(t, len(f.Begin), 8, f.What)
		b := append([]byte(f.Begin), "\x00\x01,\"\n1,2\n"...)
		path := filepath.Join(dir, "table.csv")
		require.NoError(t, os.WriteFile(path, b, 0o600))
		_, err := ReadFile(path, nil)
		require.ErrorIs(t, err, tabular.ErrCell)
		require.ErrorContains(t, err, "table.csv: not a table of numbers: it is "+f.What)
		_, err = Decode(b, "table.csv", nil)
		require.ErrorContains(t, err, "it is "+f.What)
	}
	_, err := Decode([]byte("PARE\x27\x00\x00\x00\x01\x02\"PARE"), "table.parquet", nil)
	require.ErrorContains(t, err, "table.parquet: not a table of numbers: it is an encrypted Parquet file")
	for _, binary := range []string{"\x03\x7e\x0b\x1e\x05\x00\x00\x00a,b\n1,2\n", "\x01\x02\x03\x04\x05a,b\n1,2\n"} {
		_, err = Decode([]byte(binary), "table.dbf", nil)
		require.ErrorContains(t, err, "table.dbf: not a table of numbers: it is no text, nor of another kind that is read")
	}
	for begin, what := range map[string]string{"ncols 4\nnrows 5\nxllcorner 0\n1 2 3 4\n": "a grid of Esri: gdal_translate",
		"NCOLS\t4\r\nNROWS\t5\r\n1 2 3 4\r\n": "a grid of Esri", "DSAA\n4 5\n0 1\n": "a grid of Surfer",
		"structure(list(x = c(1, 2), y = c(3,\n4)), class = \"data.frame\")": "data of R, as dput",
		"list(x = c(1, 2))": "data of R, as dput",
		strings.Repeat("\x00", 12) + "\xc2\xea\x81\x60\xb3\x14\x11\xcf": "a data set of SAS: export"} {
		_, err = Decode([]byte(begin), "table.txt", nil)
		require.ErrorContains(t, err, "table.txt: not a table of numbers: it is "+what)
	}
	for _, text := range []string{"ncols,y\n1,2\n", "structure,y\n1,2\n", "list(1),y\n1,2\n", "c(mg),y\n1,2\n",
		"PROJCS,y\n1,2\n", "PARENT,y\n1,2\n", "PNG,y\n1,2\n", "{x},y\n1,2\n", "[x],y\n1,2\n", "<x>,y\n1,2\n", "GIF,y\n1,2\n",
		"II,y\n1,2\n"} {
		table, err := Decode([]byte(text), "table.csv", nil)
		require.NoError(t, err, text)
		require.Equal(t, 1, table.Rows())
	}
}

// TestUserBlock reads a file of HDF5 that begins with a block of its user's, as MATLAB's do.
func TestUserBlock(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "netcdf", "testdata", "texts.nc"))
	require.NoError(t, err)
	block := make([]byte, 512)
	copy(block, "MATLAB 7.3 MAT-file")
	path := filepath.Join(t.TempDir(), "a.mat")
	require.NoError(t, os.WriteFile(path, append(block, b...), 0o600))
	table, err := ReadFile(path, []string{"filled"})
	require.NoError(t, err)
	require.Equal(t, []string{"none", "mid", "none"}, table.Texts[0])
}

// TestLeftOut: the error about a column that an HDF5 file has not names what was not read of it, records among others.
func TestLeftOut(t *testing.T) {
	table, err := ReadFile(filepath.Join("..", "hdf5", "testdata", "new.h5"), []string{"x"})
	require.NoError(t, err)
	require.Contains(t, table.LeftOut, "compound")
	_, err = table.Find(tabular.Want{X: []string{"x"}})
	require.ErrorContains(t, err, "which hold lists or other types: it has no column")
	_, err = ReadFile(filepath.Join("..", "hdf5", "testdata", "new.h5"), []string{"compound"})
	require.ErrorContains(t, err, `values are compounds, whose fields are variables of their own, such as "a"`)
}

// TestUnasked: of a NetCDF file only the columns that are asked for are read; the error about one that it has not names all.
func TestUnasked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "map.nc")
	require.NoError(t, os.WriteFile(path, projected(t, nil), 0o600))
	table, err := ReadFile(path, []string{"n", "e", "hight"})
	require.NoError(t, err)
	require.Equal(t, []string{"n", "e"}, table.Header)
	_, err = table.Find(tabular.Want{X: []string{"n", "e"}, Y: []string{"hight"}})
	require.ErrorContains(t, err, `header "n,e,time,height": it has no column "hight"`)
}

// TestFolder: a folder, as a Zarr store is, is refused with what makes a file of it.
func TestFolder(t *testing.T) {
	_, err := ReadFile(t.TempDir(), []string{"x"})
	require.ErrorIs(t, err, ErrFormat)
	require.ErrorContains(t, err, "it is a folder; to_netcdf of xarray makes a file of a Zarr store")
}

// TestRecords: the fields of compounds, as records of h5py and tables of pandas are, are columns.
func TestRecords(t *testing.T) {
	for _, name := range []string{"old.h5", "new.h5"} {
		table, err := ReadFile(filepath.Join("..", "hdf5", "testdata", name), []string{"a", "b"})
		require.NoError(t, err)
		require.Equal(t, "a|b\n0|0\n0|0\n0|0", cellsOf(table), name)
		require.Equal(t, []bool{true, false}, table.Single)
	}
}

// TestArraysOfRecords: the values of an array in a record are columns, unless they are many.
func TestArraysOfRecords(t *testing.T) {
	for _, name := range []string{"arrays_old.h5", "arrays_new.h5"} {
		path := filepath.Join("..", "hdf5", "testdata", name)
		table, err := ReadFile(path, []string{"t", "pos[1]", "m[1][0]", "name[1]"})
		require.NoError(t, err)
		require.Equal(t, "t|pos[1]|m[1][0]|name[1]\n0|0.5|2|bc\n1|2|6|bc\n2|3.5|10|bc", cellsOf(table), name)
		for column, want := range map[string]string{"pos": `values are arrays, whose values are variables of their own, such as "pos[0]"`,
			"big": "values are arrays of 65 each, of which no more than 64 become columns"} {
			_, err = ReadFile(path, []string{column})
			require.ErrorContains(t, err, want)
		}
	}
}

// TestGridCells: the table of a small file has no more cells than those of a mask.
func TestGridCells(t *testing.T) {
	path := filepath.Join("..", "hdf5", "testdata", "expands.h5")
	_, err := ReadFile(path, []string{"fewer"})
	b, readErr := os.ReadFile(path)
	require.NoError(t, readErr)
	require.ErrorContains(t, err, fmt.Sprintf("more than %d cells", 1<<24+1000*len(b)))
}
