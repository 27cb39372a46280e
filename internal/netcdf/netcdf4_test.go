package netcdf

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

func decode(t *testing.T, path string) *File {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := Decode(b)
	require.NoError(t, err)
	return f
}

// values reads the values of a variable, of which NaN becomes -1.
func values(t *testing.T, f *File, name string) []float64 {
	t.Helper()
	v := f.Var(name)
	require.NotNil(t, v, name)
	require.NoError(t, f.Check(v))
	out := f.Values(v)
	for i, x := range out {
		if math.IsNaN(x) {
			out[i] = -1
		}
	}
	return out
}

// TestGroups reads what only NetCDF-4 has.
func TestGroups(t *testing.T) {
	f := decode(t, filepath.Join("testdata", "groups.nc"))
	var names []string
	for _, v := range f.Vars {
		names = append(names, v.Name)
	}
	require.Equal(t, []string{"time", "long", "short", "x", "station", "one", "inner/y"}, names)
	for name, dims := range map[string][]string{"time": {"time"}, "long": {"time", "level"}, "short": {"time", "level"}, "x": {"time"},
		"station": {"x"}, "one": nil, "inner/y": {"inner/x", "time"}} {
		var got []string
		for _, d := range f.Var(name).Dims {
			got = append(got, f.Dims[d].Name)
		}
		require.Equal(t, dims, got, name)
	}
	require.Equal(t, []float64{10, 20, 30}, values(t, f, "time"))
	require.Equal(t, []string{"10", "20", "30"}, f.Wholes(f.Var("time")))
	require.Equal(t, "hours since 1999-01-01", f.Var("time").Attr("units").Text)
	require.Equal(t, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, -1}, values(t, f, "long")) // 14 is beyond valid_range
	require.Equal(t, []float64{1, 2, 3, -1, -1, 4, 5, 6, -1, -1, -1, -1, -1, -1, -1}, values(t, f, "short"))
	require.Equal(t, []float64{0.5, 1.5, 2.5}, values(t, f, "x"))
	require.NoError(t, f.Check(f.Var("station")))
	require.Equal(t, []string{"north", "", "east of the Å", "west"}, f.Strings(f.Var("station")))
	require.Equal(t, []float64{-1}, values(t, f, "one")) // the library's fill value
	require.Equal(t, []float64{1, 2, 3, 4, 5, 6}, values(t, f, "inner/y"))
	long := f.Var("long")
	require.Len(t, long.Attrs, 21)
	require.Equal(t, []float64{3.5}, long.Attr("attribute7").Numbers)
}

// TestHDF5 reads files that know nothing of NetCDF: arrays of one length are over one dimension, and what is left out says why.
func TestHDF5(t *testing.T) {
	f := decode(t, filepath.Join("..", "hdf5", "testdata", "new.h5"))
	require.Equal(t, f.Var("type <f4").Dims, f.Var("type >u8").Dims)
	square := f.Var("sparse")
	require.NotEqual(t, square.Dims[0], square.Dims[1])
	require.Equal(t, []int{20, 20}, f.Shape(square))
	for _, name := range []string{"type <f4", "type <f2", "type >u8"} {
		require.Equal(t, []float64{0, 7, 14, 21, 28, 35, 42, 49, 56, 63, 70}, values(t, f, name), name)
	}
	require.Nil(t, f.Var("compound"))
	require.ErrorContains(t, f.Left["compound"], "compounds")
	require.ErrorContains(t, f.Left["empty"], "no values")
	require.NoError(t, f.Check(f.Var("fixed")))
	require.Equal(t, []string{"abc", "de", ""}, f.Strings(f.Var("fixed")))
}

// TestCodes: texts of one letter in a file that knows nothing of NetCDF are one a row, also in records; in one of NetCDF they are letters
// of texts.
func TestCodes(t *testing.T) {
	f := decode(t, filepath.Join("testdata", "codes.h5"))
	require.Equal(t, f.Var("x").Dims, f.Var("code").Dims)
	for name, want := range map[string][]string{"code": {"M", "F", "", "M"}, "k": {"a", "b"}} {
		require.NoError(t, f.Check(f.Var(name)))
		require.Equal(t, want, f.Strings(f.Var(name)))
	}
	f = decode(t, filepath.Join("testdata", "nc4.nc"))
	require.NoError(t, f.Check(f.Var("station")))
	require.Equal(t, []string{"south", "north"}, f.Strings(f.Var("station")))
}

// TestHalf: all numbers of 16 bits are those of their formula.
func TestHalf(t *testing.T) {
	for b := range 1 << 16 {
		exponent, fraction := b>>10&31, float64(b&1023)/1024
		want := math.Ldexp(1+fraction, exponent-15)
		switch {
		case exponent == 0:
			want = math.Ldexp(fraction, -14)
		case exponent == 31 && fraction == 0:
			want = math.Inf(1)
		case exponent == 31:
			want = math.NaN()
		}
		if b>>15 != 0 {
			want = -want
		}
		got := float64(half(uint16(b)))
		same := got == want && math.Signbit(got) == math.Signbit(want) || got != got && want != want
		require.True(t, same, "%#x: %v, need %v", b, got, want)
	}
}

// TestXarray reads what xarray and netCDF4-python write of one set of data in every format, and finds the same in all.
func TestXarray(t *testing.T) {
	python := testkit.Python(t, "netCDF4", "xarray")
	dir := t.TempDir()
	script := `
import sys, numpy as np, xarray as xr
rng = np.random.default_rng(3)
d = xr.Dataset({"t2m": (("time", "lat", "lon"), 270 + rng.integers(0, 2000, size=(5, 4, 3)) / 100, {"units": "K"}),
    "rain": (("time", "lat"), np.where(rng.random((5, 4)) < 0.3, np.nan, rng.integers(0, 9, size=(5, 4))).astype("f4")),
    "name": (("lat",), np.array(["a", "bcd", "ef", "g"]))},
    {"time": np.datetime64("2001-02-03") + np.arange(5) * np.timedelta64(6, "h"), "lat": [10., 20., 30., 40.],
     "lon": np.array([1, 2, 3], "f4")})
packed = {"t2m": {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280., "_FillValue": -32000},
    "time": {"units": "hours since 2001-01-01"}}
for form in ("NETCDF3_64BIT", "NETCDF4", "NETCDF4_CLASSIC"):
    d.to_netcdf(f"{sys.argv[1]}/{form}.nc", format=form, encoding=packed)
packed["t2m"].update(zlib=True, complevel=5, shuffle=True, chunksizes=(2, 3, 2))
d.to_netcdf(f"{sys.argv[1]}/zlib.nc", encoding=packed, unlimited_dims=["time"])
`
	out, err := exec.Command(python, "-c", script, dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	want := decode(t, filepath.Join(dir, "NETCDF3_64BIT.nc"))
	for _, name := range []string{"NETCDF4", "NETCDF4_CLASSIC", "zlib"} {
		f := decode(t, filepath.Join(dir, name+".nc"))
		for _, v := range []string{"time", "lat", "lon", "t2m", "rain"} {
			require.Equal(t, values(t, want, v), values(t, f, v), "%s: %s", name, v)
			require.Equal(t, want.Shape(want.Var(v)), f.Shape(f.Var(v)))
			for i := range want.Var(v).Dims {
				require.Equal(t, want.Dims[want.Var(v).Dims[i]].Name, f.Dims[f.Var(v).Dims[i]].Name)
			}
			for _, a := range want.Var(v).Attrs {
				got := f.Var(v).Attr(a.Name)
				require.NotNil(t, got, "%s: %s: %s", name, v, a.Name)
				require.Equal(t, fmt.Sprint(a.Text, a.Numbers), fmt.Sprint(got.Text, got.Numbers), "%s: %s: %s", name, v, a.Name)
			}
		}
		require.NoError(t, f.Check(f.Var("name")))
		require.Equal(t, want.Strings(want.Var("name")), f.Strings(f.Var("name")))
	}
}

// TestTexts: in the places of texts that were not written stands what the file says, also beyond what was written of a variable.
func TestTexts(t *testing.T) {
	f := decode(t, filepath.Join("testdata", "texts.nc"))
	for name, want := range map[string][]string{"plain": {"", "mid", ""}, "filled": {"none", "mid", "none"},
		"gaps": {"gap", "gap", "gap", "gap", "gap", "end"}, "short": {"gap", "b", "gap", "gap", "gap", "gap"}} {
		v := f.Var(name)
		require.NoError(t, f.Check(v))
		require.Equal(t, want, f.Strings(v), name)
	}
	require.Equal(t, []float64{1, 2, -1, -1, -1, -1}, values(t, f, "wide"))
}

// TestOwnFill: in files that name no value of what was not written, the library's own is one that data have. That of a variable that is
// shorter than its dimension is missing.
func TestOwnFill(t *testing.T) {
	f := decode(t, filepath.Join("testdata", "counts.h5"))
	for name, want := range map[string][]float64{"u2": {7, 65535}, "i2": {7, -32767}, "u4": {7, 4294967295}, "i4": {7, -2147483647},
		"i8": {7, -9223372036854775806}, "f4": {7, float64(float32(9.96921e36))}, "named": {7, -1}, "chosen": {7, 65535}} {
		require.Equal(t, want, values(t, f, name), name)
	}
}

// TestManyUnnamed: dimensions that only lengths tell apart are found by them.
func TestManyUnnamed(t *testing.T) {
	s := &scales{f: &File{}, unnamed: map[int][]int{}}
	first := s.lengthOf(7, nil)
	require.Equal(t, first, s.lengthOf(7, nil))
	second := s.lengthOf(7, []int{first})
	require.NotEqual(t, first, second)
	require.Equal(t, second, s.lengthOf(7, []int{first}))
	require.Equal(t, []Dim{{Name: "phony_dim_0", Len: 7}, {Name: "phony_dim_1", Len: 7}}, s.f.Dims)
}
