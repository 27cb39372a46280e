package tables

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/netcdf"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// projected is a map of two times in a projection, as a NetCDF file.
func projected(t *testing.T, change func(f *netcdf.File)) []byte {
	f := &netcdf.File{Dims: []netcdf.Dim{{Name: "time", Len: 2}, {Name: "n", Len: 2}, {Name: "e", Len: 3}}}
	say := netcdf.Text
	require.NoError(t, f.Add("time", netcdf.Double, []int{0}, []float64{6, 12}, say("units", "hours since 2000-01-01"),
		say("calendar", "noleap"), say("standard_name", "time")))
	require.NoError(t, f.Add("n", netcdf.Double, []int{1}, []float64{20, 10}, say("units", "m"),
		say("standard_name", "projection_y_coordinate")))
	require.NoError(t, f.Add("e", netcdf.Double, []int{2}, []float64{1, 2, 4}, say("units", "m"), say("axis", "X"),
		say("long_name", "east")))
	require.NoError(t, f.Add("height", netcdf.Float, []int{0, 1, 2}, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
		say("grid_mapping", "utm: e n"), say("units", "m")))
	require.NoError(t, f.Add("utm", netcdf.Int, nil, []float64{0}, say("grid_mapping_name", "transverse_mercator"),
		say("GeoTransform", "0 1 0 0 0 1"), netcdf.Number("longitude_of_central_meridian", 15)))
	if change != nil {
		change(f)
	}
	var b bytes.Buffer
	require.NoError(t, netcdf.Encode(&b, f, 2))
	return b.Bytes()
}

// What a NetCDF file says of coordinates comes back: the names that programs of maps look for, and the projection. The axes
// are ordered as these take for granted, whatever the order of the rows: columns of a map last, its rows before them.
func TestCoordinates(t *testing.T) {
	in, err := Decode(projected(t, nil), "in.nc", []string{"e", "n", "time", "height"})
	require.NoError(t, err)
	turned := make([]int, 0, 12) // the east slowest, time fastest
	for e := range 3 {
		for n := range 2 {
			for k := range 2 {
				turned = append(turned, k*6+n*3+e)
			}
		}
	}
	for name, rows := range map[string]*tabular.Table{"as it was": in, "turned": in.Rearranged(turned)} {
		var b bytes.Buffer
		require.NoError(t, Write(&b, "out.nc", rows, []int{0, 1, 2}))
		f, err := netcdf.Decode(b.Bytes())
		require.NoError(t, err)
		require.Equal(t, []netcdf.Dim{{Name: "time", Len: 2}, {Name: "n", Len: 2}, {Name: "e", Len: 3}}, f.Dims, name)
		require.Equal(t, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, f.Values(f.Var("height")))
		require.Equal(t, []float64{20, 10}, f.Values(f.Var("n")))
		require.Equal(t, []float64{1, 2, 4}, f.Values(f.Var("e")))
		require.Equal(t, "utm", f.Var("height").Attr("grid_mapping").Text)
		for of, want := range map[string][2]string{"time": {"calendar", "noleap"}, "n": {"standard_name", "projection_y_coordinate"},
			"e": {"long_name", "east"}, "utm": {"grid_mapping_name", "transverse_mercator"}} {
			require.Equal(t, want[1], f.Var(of).Attr(want[0]).Text)
		}
		require.Equal(t, []float64{15}, f.Var("utm").Attr("longitude_of_central_meridian").Numbers)
		require.Nil(t, f.Var("utm").Attr("GeoTransform")) // of other pixels, perhaps
		require.Nil(t, f.Var("e").Attr("grid_mapping"))
		require.Equal(t, "X", f.Var("e").Attr("axis").Text)
		require.Equal(t, "Y", f.Var("n").Attr("axis").Text)
		require.Nil(t, f.Var("time").Attr("axis"))
	}
	for name, change := range map[string]func(f *netcdf.File){
		"of two systems":   func(f *netcdf.File) { f.Var("n").Attrs = append(f.Var("n").Attrs, netcdf.Text("grid_mapping", "time")) },
		"of none":          func(f *netcdf.File) { f.Var("height").Attrs[0].Text = "other" },
		"of several words": func(f *netcdf.File) { f.Var("height").Attrs[0].Text = "utm time" },
		"of no name":       func(f *netcdf.File) { f.Var("height").Attrs[0].Text = " " },
	} {
		in, err := Decode(projected(t, change), "in.nc", []string{"e", "n", "time", "height"})
		require.NoError(t, err)
		require.Nil(t, in.Mapping, name)
	}
	in.Header[3] = "utm" // the name of the projection is taken
	var b bytes.Buffer
	require.NoError(t, Write(&b, "out.nc", in, []int{0, 1, 2}))
	f, err := netcdf.Decode(b.Bytes())
	require.NoError(t, err)
	require.Nil(t, f.Var("utm").Attr("grid_mapping"))
}

// Columns of CSV that are called latitude and longitude, and may be, have the units by which programs know them.
func TestDegrees(t *testing.T) {
	units := func(text string, x []int) (units []string, dims []netcdf.Dim) {
		in, err := Decode([]byte(text), "in.csv", nil)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, Write(&b, "out.nc", in, x))
		f, err := netcdf.Decode(b.Bytes())
		require.NoError(t, err)
		for _, v := range f.Vars {
			text := ""
			if a := v.Attr("units"); a != nil {
				text = a.Text
			}
			units = append(units, text)
		}
		return units, f.Dims
	}
	got, dims := units("lon,lat,z\n0,10,1\n0,20,2\n5,10,3\n5,20,4\n9,10,5\n9,20,6\n", []int{0, 1})
	require.Equal(t, []string{"degrees_east", "degrees_north", ""}, got)
	require.Equal(t, []netcdf.Dim{{Name: "lat", Len: 2}, {Name: "lon", Len: 3}}, dims)
	got, _ = units("Latitude,Longitude,z\n0,10,1\n1,20,2\n-90,360,3\n", []int{0, 1})
	require.Equal(t, []string{"degrees_north", "degrees_east", ""}, got)
	for _, text := range []string{"lon,lat,z\n0,91,1\n0,20,2\n", "lat,x,z\n0,1,1\n0,20,2\n", "lon,lat,z\n0,,1\n0,20,2\n",
		"lat,longitude,z\n0,1,1\n0,20,2\n"} {
		got, _ = units(text, []int{0, 1})
		require.Equal(t, []string{"", "", ""}, got)
	}
	_, dims = units("x,y,z\n0,10,1\n0,20,2\n5,10,3\n5,20,4\n9,10,5\n9,20,6\n", []int{0, 1})
	require.Equal(t, []netcdf.Dim{{Name: "y", Len: 2}, {Name: "x", Len: 3}}, dims)
	_, dims = units("x1,x2,z\n0,10,1\n0,20,2\n5,10,3\n5,20,4\n9,10,5\n9,20,6\n", []int{0, 1})
	require.Equal(t, []netcdf.Dim{{Name: "x1", Len: 3}, {Name: "x2", Len: 2}}, dims)
}

// TestUntold: a remark says that no column tells places along a dimension apart, where others are told apart by theirs.
func TestUntold(t *testing.T) {
	b := projected(t, nil)
	for wanted, dim := range map[string]string{"e n height": "time", "e n time height": "", "time n height": "e", "height": "", "e n": ""} {
		table, err := Decode(b, "in.nc", strings.Fields(wanted))
		require.NoError(t, err)
		said := strings.Join(table.Remarks(tabular.Columns{}), "\n")
		if dim == "" {
			require.NotContains(t, said, "places of dimension", wanted)
		} else {
			require.Contains(t, said, "places of dimension "+dim+" are rows like any others, as no column that is read tells them apart: "+
				"--x or --task can take "+dim, wanted)
		}
	}
}
