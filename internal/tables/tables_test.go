package tables

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/netcdf"
	"github.com/equivcnp/equivcnp/internal/npy"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// A grid in a NetCDF file is a table of its places, whatever the order of the columns, and comes back as a grid.
func TestGrid(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "netcdf", "testdata", "cdf1.nc"))
	require.NoError(t, err)
	got, err := Decode(b, "a.nc", []string{"lon", "lat", "time", "t2m"})
	require.NoError(t, err)
	require.Equal(t, []string{"lon", "lat", "time", "t2m"}, got.Header)
	require.Equal(t, []string{"degrees_east", "degrees_north", "days since 2000-01-01", "K"}, got.Units)
	require.Equal(t, 18, got.Rows())
	require.Equal(t, []float64{120, -10, 0.5}, got.Values[7*4:7*4+3])
	require.InDelta(t, 273.15+7./4, got.Values[7*4+3], 1e-9)
	require.True(t, math.IsNaN(got.Values[6*4+3]))

	var out bytes.Buffer
	require.NoError(t, Write(&out, "b.nc", got, []int{0, 1, 2}))
	f, err := netcdf.Decode(out.Bytes())
	require.NoError(t, err)
	require.Equal(t, []netcdf.Dim{{Name: "time", Len: 3}, {Name: "lat", Len: 2}, {Name: "lon", Len: 3}}, f.Dims)
	require.Equal(t, []int{3, 2, 3}, f.Shape(f.Var("t2m")))
	require.Equal(t, []float64{0, 120, 240}, f.Values(f.Var("lon")))
	again, err := Decode(out.Bytes(), "b.nc", []string{"lon", "lat", "time", "t2m"})
	require.NoError(t, err)
	require.Equal(t, len(got.Values), len(again.Values))
	for i, v := range got.Values {
		require.True(t, v == again.Values[i] || math.IsNaN(v) && math.IsNaN(again.Values[i]), "value %d", i)
	}

	targets, err := Decode(b, "a.nc", []string{"lat", "lon"}) // coordinates alone make their grid
	require.NoError(t, err)
	require.Equal(t, 6, targets.Rows())
	names, err := Decode(b, "a.nc", []string{"station", "rain"})
	require.NoError(t, err)
	require.Equal(t, "north", names.Text(5, 0))
	_, err = Decode(append([]byte("CDF"), 9), "c.nc", nil)
	require.ErrorIs(t, err, netcdf.ErrFormat)
	require.ErrorContains(t, err, "c.nc: ")
}

// Scattered rows keep a dimension of their own, text and gaps; every format brings them back.
func TestFormats(t *testing.T) {
	const text = "lat,lon,station,t2m\n1,2,A,0.25\n3,4,BB,\n3,2,A,5\n"
	in, err := Decode([]byte(text), "in.csv", nil)
	require.NoError(t, err)
	for _, name := range []string{"a.csv", "a.tsv", "a.txt", "a.parquet", "a.npz", "a.nc"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			var b bytes.Buffer
			require.NoError(t, Write(&b, name, in, []int{0, 1}))
			require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
			got, err := ReadFile(path, nil)
			require.NoError(t, err)
			c, err := got.Find(tabular.Want{X: []string{"lat", "lon"}, Y: []string{"t2m"}})
			require.NoError(t, err)
			x, err := got.Coordinates(c.X...)
			require.NoError(t, err)
			require.Equal(t, []float64{1, 2, 3, 4, 3, 2}, x)
			y, err := got.Numbers(true, c.Y...)
			require.NoError(t, err)
			require.Equal(t, []float64{0.25, 5}, []float64{y[0], y[2]})
			require.True(t, math.IsNaN(y[1]))
			if name != "a.npz" {
				k, err := got.Other(c, "station", true)
				require.NoError(t, err)
				group, n, err := got.Groups(k)
				require.NoError(t, err)
				require.Equal(t, []int{0, 1, 0}, group)
				require.Equal(t, 2, n)
			}
			if _, err = got.Numbers(false, c.Y...); name == "a.nc" {
				require.ErrorContains(t, err, `a.nc: row 2, column "t2m": not a table of numbers: the cell is missing`)
			}
		})
	}
	for _, name := range []string{"e.csv", "e.tsv", "e.txt", "e.parquet", "e.npz", "e.nc"} { // nothing to write
		var b bytes.Buffer
		require.NoError(t, Write(&b, name, &tabular.Table{Header: []string{"x", "mean"}, Cols: 2}, []int{0}))
		got, err := Decode(b.Bytes(), name, nil)
		require.NoError(t, err)
		require.Zero(t, got.Rows())
	}
}

// Dates are texts in CSV, of a type of their own in Parquet, and numbers with a unit in NetCDF, where they are coordinates.
func TestDates(t *testing.T) {
	in, err := Decode([]byte("when,day,y\n2024-05-01,2024-01-01,1\n2024-05-01 12:00,2024-01-02,2\n"), "in.csv", nil)
	require.NoError(t, err)
	numbers := tabular.Of([]tabular.Column{{Name: "when", Values: []float64{19844, 19844.5}}, {Name: "y", Values: []float64{1, 2}}})
	numbers.InheritDates(0, in, 0)
	for _, written := range []*tabular.Table{in, numbers} {
		for _, name := range []string{"a.csv", "a.parquet", "a.npz", "a.nc"} {
			var b bytes.Buffer
			require.NoError(t, Write(&b, name, written, []int{0}))
			got, err := Decode(b.Bytes(), name, nil)
			require.NoError(t, err)
			c, err := got.Index("when")
			require.NoError(t, err)
			days, err := got.Coordinates(c)
			require.NoError(t, err)
			require.Equal(t, []float64{19844, 19844.5}, days)
			if name == "a.nc" {
				require.Equal(t, tabular.UnixDays, got.Units[c])
				require.Nil(t, got.Texts[c])
				require.Equal(t, "2024-05-01", in.Text(0, 0)) // which stays
			}
			if k, err := got.Index("day"); err == nil && name == "a.nc" {
				require.Equal(t, "2024-01-02", got.Text(1, k)) // no coordinate
			}
			if written == numbers && name == "a.csv" {
				require.Equal(t, "2024-05-01 00:00", got.Text(0, c))
			}
		}
	}
}

// An array of times of two dimensions is a table of dates.
func TestTimesOfTwoDimensions(t *testing.T) {
	head := "{'descr': '<M8[h]', 'fortran_order': False, 'shape': (1, 2), }\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), 0)
	b = binary.LittleEndian.AppendUint64(append(b, head...), 36)
	table, err := Decode(binary.LittleEndian.AppendUint64(b, 1<<63), "a.npy", nil) // not a time
	require.NoError(t, err)
	require.Equal(t, []string{tabular.UnixDays, tabular.UnixDays}, table.Units)
	require.Equal(t, 1.5, table.Values[0])
	require.True(t, math.IsNaN(table.Values[1]))
}

// A file that is not what its name says is an error of its own, and not one about a table's columns.
// Whole numbers that float64 does not tell apart are two keys in every format.
func TestLongKeys(t *testing.T) {
	ids := safetensors.Tensor{Name: "task", DType: safetensors.I64, Shape: []int{2}}
	for _, v := range []uint64{1 << 53, 1<<53 + 1} {
		ids.Data = binary.LittleEndian.AppendUint64(ids.Data, v)
	}
	var npz, array bytes.Buffer
	require.NoError(t, npy.Encode(&npz, []safetensors.Tensor{ids}))
	ids.Shape = []int{2, 1}
	require.NoError(t, npy.EncodeArray(&array, &ids))
	for name, b := range map[string][]byte{"a.npz": npz.Bytes(), "a.npy": array.Bytes(),
		"a.csv": []byte("task\n9007199254740992\n9007199254740993\n")} {
		table, err := Decode(b, name, nil)
		require.NoError(t, err)
		_, n, err := table.Groups(0)
		require.NoError(t, err)
		require.Equal(t, 2, n, name)
	}
	texts := npy.FromTexts("", []string{"a", "1"})
	texts.Shape = []int{1, 2}
	array.Reset()
	require.NoError(t, npy.EncodeArray(&array, &texts))
	_, err := Decode(array.Bytes(), "a.npy", nil)
	require.ErrorContains(t, err, "an array of texts of two dimensions")
}

func TestMisnamed(t *testing.T) {
	for _, name := range []string{"a.parquet", "a.npz", "a.NC", "a.npy"} {
		_, err := Decode([]byte("x,y\n1,2\n"), name, nil)
		require.ErrorIs(t, err, ErrFormat)
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte("junk"), 0o600))
		_, err = ReadFile(path, nil)
		require.ErrorIs(t, err, ErrFormat)
		require.ErrorContains(t, err, path)
	}
	got, err := Decode([]byte("x,y\n1,2\n"), "a.txt", nil)
	require.NoError(t, err)
	require.Equal(t, 1, got.Rows())
}
