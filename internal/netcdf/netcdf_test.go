package netcdf

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// The golden files are netCDF4-python's: a record dimension with records of odd lengths, fill values, scale and offset, texts.
func TestGolden(t *testing.T) {
	for _, name := range []string{"cdf1", "cdf2", "cdf5", "nc4"} {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("testdata", name+".nc"))
			require.NoError(t, err)
			f, err := Decode(b)
			require.NoError(t, err)
			require.Equal(t, []Dim{{"time", 3, true}, {"lat", 2, false}, {"lon", 3, false}, {"name", 5, false}}, f.Dims)
			require.Equal(t, []Attr{Text("title", "golden")}, f.Attrs)
			require.Equal(t, []float64{0, 0.5, 1}, f.Values(f.Var("time")))
			require.Equal(t, "days since 2000-01-01", f.Var("time").Attr("units").Text)
			require.Equal(t, []float64{1, -1, 0}, f.Values(f.Var("flag")))
			require.Equal(t, []string{"south", "north"}, f.Strings(f.Var("station")))
			require.Equal(t, []int{3, 2, 3}, f.Shape(f.Var("t2m")))
			for i, v := range f.Values(f.Var("t2m")) {
				if i%7 == 6 {
					require.True(t, math.IsNaN(v), "value %d is %v", i, v)
				} else {
					require.InDelta(t, 273.15+float64(i)/4, v, 1e-9)
				}
			}
			rain := f.Values(f.Var("rain"))
			require.True(t, math.IsNaN(rain[4]))
			require.Equal(t, []float64{0, 1, 2, 3}, rain[:4])
			if name == "cdf5" || name == "nc4" {
				require.Equal(t, []float64{1, 2, 1 << 40}, f.Values(f.Var("count")))
			}
		})
	}
	_, err := Decode([]byte("\x89HDF\r\n\x1a\n and more"))
	require.ErrorIs(t, err, ErrFormat)
	require.ErrorContains(t, err, "the superblock")
}

// small makes a file with everything that is written.
func small(t testing.TB, version byte) []byte {
	t.Helper()
	f := &File{Dims: []Dim{{"time", 3, true}, {"lat", 2, false}},
		Attrs: []Attr{Text("title", "a"), {Name: "n", Type: Short, Numbers: []float64{1, 2, 3}}}}
	require.NoError(t, f.Add("lat", Double, []int{1}, []float64{-1, 1}, Text("units", "degrees_north")))
	require.NoError(t, f.Add("time", Double, []int{0}, []float64{0, 1, 2}))
	require.NoError(t, f.Add("flag", Byte, []int{0}, []float64{1, -1, 0}))
	require.NoError(t, f.Add("v", Float, []int{0, 1}, []float64{1, 2, math.NaN(), 4, 5, 6}, Number("_FillValue", math.NaN())))
	require.NoError(t, f.Add("s", Short, []int{0, 1}, []float64{1, 2, math.NaN(), 4, 5, 6}, Number("_FillValue", -9)))
	require.NoError(t, f.AddText("name", []int{1}, []string{"b", "long"}))
	if version == 5 {
		require.NoError(t, f.Add("id", Int64, []int{1}, []float64{1 << 40, -1}))
	}
	var b bytes.Buffer
	require.NoError(t, Encode(&b, f, version))
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	for _, version := range []byte{1, 2, 5} {
		b := small(t, version)
		f, err := Decode(b)
		require.NoError(t, err)
		require.Equal(t, []float64{-1, 1}, f.Values(f.Var("lat")))
		require.Equal(t, []float64{1, -1, 0}, f.Values(f.Var("flag")))
		require.Equal(t, []string{"b", "long"}, f.Strings(f.Var("name")))
		for _, name := range []string{"v", "s"} {
			v := f.Values(f.Var(name))
			require.True(t, math.IsNaN(v[2]))
			require.Equal(t, []float64{4, 5, 6}, v[3:])
		}
		for n := range b { // every prefix is an error or a file of whole variables
			if f, err := Decode(b[:n]); err == nil {
				for i := range f.Vars {
					f.Values(&f.Vars[i])
				}
			}
		}
	}
	var b bytes.Buffer
	f := &File{Dims: []Dim{{"x", 2, false}}}
	require.NoError(t, f.Add("one", Byte, []int{0}, []float64{1, 2}))
	require.Error(t, f.Add("two", Byte, []int{0}, []float64{1}))
	require.Error(t, f.Add("gap", Int, []int{0}, []float64{1, math.NaN()}))
	require.NoError(t, f.Add("id", UInt64, []int{0}, []float64{1, 2}))
	require.ErrorContains(t, Encode(&b, f, 2), "CDF-5")
}

// What is written opens in netCDF4-python and in xarray, where they are installed.
func TestPython(t *testing.T) {
	python := testkit.Python(t, "netCDF4", "xarray")
	for _, version := range []byte{1, 2, 5} {
		path := filepath.Join(t.TempDir(), "out.nc")
		require.NoError(t, os.WriteFile(path, small(t, version), 0o600))
		script := fmt.Sprintf(`
import netCDF4, xarray, numpy as np
f = netCDF4.Dataset(%[1]q)
assert f.title == "a" and list(f.n) == [1, 2, 3], f
assert f.dimensions["time"].isunlimited() and len(f.dimensions["time"]) == 3
assert list(f["flag"][:]) == [1, -1, 0] and f["lat"].units == "degrees_north"
s = f["s"][:]
assert s.mask[1, 0] and s.mask.sum() == 1 and s[2, 1] == 6, s
x = xarray.open_dataset(%[1]q, decode_times=False)
assert np.isnan(x.v.values[1, 0]) and x.v.values[2, 1] == 6 and x.v.dims == ("time", "lat")
assert [n.decode() for n in x.name.values] == ["b", "long"], x.name
if %[2]d == 5: assert list(f["id"][:]) == [2**40, -1]
`, path, version)
		out, err := exec.Command(python, "-c", script).CombinedOutput()
		require.NoError(t, err, "CDF-%d: %s", version, out)
	}
}
