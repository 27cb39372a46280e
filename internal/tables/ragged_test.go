package tables

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/netcdf"
)

// ragged makes the file of three stations with two, one and three observations of CF's chapter 9, which belong to the stations by some
// variables.
func ragged(t *testing.T, add func(f *netcdf.File)) []byte {
	t.Helper()
	f := &netcdf.File{Dims: []netcdf.Dim{{Name: "station", Len: 3}, {Name: "obs", Len: 6}, {Name: "profile", Len: 4},
		{Name: "other", Len: 6}}}
	require.NoError(t, f.Add("lat", netcdf.Double, []int{0}, []float64{10, 20, 30}))
	require.NoError(t, f.AddText("name", []int{0}, []string{"a", "b", "c"}))
	require.NoError(t, f.Add("v", netcdf.Float, []int{1}, []float64{1, 2, 3, 4, 5, 6}))
	require.NoError(t, f.Add("w", netcdf.Float, []int{3}, []float64{1, 2, 3, 4, 5, 6}))
	add(f)
	var b bytes.Buffer
	require.NoError(t, netcdf.Encode(&b, f, 2))
	return b.Bytes()
}

// TestRagged: an observation has the place of its own station, not that of every one.
func TestRagged(t *testing.T) {
	counts := func(name string, of int, along string, n ...float64) func(f *netcdf.File) {
		return func(f *netcdf.File) {
			require.NoError(t, f.Add(name, netcdf.Int, []int{of}, n, netcdf.Text("sample_dimension", along)))
		}
	}
	indexes := func(name string, along int, of string, n ...float64) func(f *netcdf.File) {
		return func(f *netcdf.File) {
			require.NoError(t, f.Add(name, netcdf.Int, []int{along}, n, netcdf.Text("instance_dimension", of),
				netcdf.Number("_FillValue", -9)))
		}
	}
	for _, c := range []struct {
		name string
		add  []func(f *netcdf.File)
		lat  []float64
		text string
	}{
		{"contiguous", []func(f *netcdf.File){counts("n", 0, "obs", 2, 1, 3)}, []float64{10, 10, 20, 30, 30, 30}, "abc"},
		{"a station without any", []func(f *netcdf.File){counts("n", 0, "obs", 0, 6, 0)}, []float64{20, 20, 20, 20, 20, 20}, "b"},
		{"fewer than there are", []func(f *netcdf.File){counts("n", 0, "obs", 2, 1, 1)}, []float64{10, 10, 20, 30, nan, nan}, "abc"},
		{"indexed", []func(f *netcdf.File){indexes("i", 1, "station", 2, 0, 1, 0, 2, 2)}, []float64{30, 10, 20, 10, 30, 30}, "cab"},
		{"of no station", []func(f *netcdf.File){indexes("i", 1, "station", 2, -9, 1, 3, -1, 0)},
			[]float64{30, nan, 20, nan, nan, 10}, "cba"},
		{"profiles of stations", []func(f *netcdf.File){counts("n", 2, "obs", 1, 2, 2, 1), indexes("i", 2, "station", 1, 0, 1, 2)},
			[]float64{20, 10, 10, 20, 20, 30}, "bac"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := ragged(t, func(f *netcdf.File) {
				for _, add := range c.add {
					add(f)
				}
			})
			for _, wanted := range [][]string{{"lat", "name", "v"}, {"v", "name", "lat"}, nil} {
				table, err := Decode(b, "a.nc", wanted)
				require.NoError(t, err)
				require.Equal(t, 6, table.Rows())
				lat, err := table.Index("lat")
				require.NoError(t, err)
				v, err := table.Index("v")
				require.NoError(t, err)
				name, err := table.Index("name")
				require.NoError(t, err)
				require.InDeltaSlice(t, c.lat, table.Take(lat), 0)
				require.Equal(t, []float64{1, 2, 3, 4, 5, 6}, table.Take(v))
				texts := ""
				for row := range table.Rows() {
					if s := table.Text(row, name); s != "" && !bytes.ContainsAny([]byte(texts), s) {
						texts += s
					}
				}
				require.Equal(t, c.text, texts)
			}
			table, err := Decode(b, "a.nc", []string{"lat", "name"}) // the stations themselves
			require.NoError(t, err)
			require.Equal(t, []float64{10, 20, 30}, table.Take(0))
		})
	}
	_, err := Decode(ragged(t, counts("n", 0, "obs", 2, 1, 4)), "a.nc", []string{"lat", "v"})
	require.ErrorContains(t, err, `variable "n": 4 places of dimension "obs" at 3, which has 6`)
	two := func(f *netcdf.File) { counts("n", 0, "obs", 2, 1, 3)(f); counts("m", 0, "other", 1, 2, 3)(f) }
	_, err = Decode(ragged(t, two), "a.nc", []string{"lat", "v", "w"})
	require.ErrorContains(t, err, `along dimension "obs" and others along "other"`)
	table, err := Decode(ragged(t, two), "a.nc", []string{"lat", "w"})
	require.NoError(t, err)
	require.Equal(t, []float64{10, 1, 20, 2, 20, 3, 30, 4, 30, 5, 30, 6}, table.Values)
	circle := func(f *netcdf.File) {
		counts("n", 0, "obs", 2, 1, 3)(f)
		counts("m", 1, "station", 1, 1, 1, 0, 0, 0)(f)
	}
	table, err = Decode(ragged(t, circle), "a.nc", []string{"lat", "v"})
	require.NoError(t, err)
	require.Positive(t, table.Rows())
}
