package tables

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// grid2 is a table of the places of a grid, but for one, in the order of the first input.
func grid2(x, y string) *tabular.Table {
	var east, north, mean, std []float64
	for i := range 3 {
		for k := range 2 {
			if i == 2 && k == 0 {
				continue
			}
			east, north = append(east, 100+10*float64(i)), append(north, 50+5*float64(k))
			mean, std = append(mean, float64(10*i+k)), append(std, 0.5)
		}
	}
	return tabular.Of([]tabular.Column{{Name: x, Values: east}, {Name: y, Values: north}, {Name: "mean", Unit: "m", Values: mean},
		{Name: "std", Values: std}})
}

// TestWriteRaster: rows become cells wherever they stand, north up, and what no row has is NaN.
func TestWriteRaster(t *testing.T) {
	for name, x := range map[string][]int{"in order": {0, 1}, "columns first": {1, 0}} {
		table := grid2("east", "north")
		path := filepath.Join(t.TempDir(), "m.tif")
		var b bytes.Buffer
		require.NoError(t, Write(&b, path, table, x), name)
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
		s, err := raster.OpenStrips(path, 2)
		require.NoError(t, err)
		require.Equal(t, [3]int{2, 2, 3}, [3]int{s.C, s.H, s.W})
		row := make([]float32, 3)
		require.NoError(t, s.Line(row, 0, 0, 0))
		require.Equal(t, []float32{1, 11, 21}, row, name)
		require.NoError(t, s.Line(row, 0, 1, 0))
		require.Equal(t, []float32{0, 10}, row[:2], name)
		require.True(t, math.IsNaN(float64(row[2])))
		require.NoError(t, s.Line(row, 1, 0, 0))
		require.Equal(t, []float32{0.5, 0.5, 0.5}, row)
		place, err := s.Place()
		require.NoError(t, err)
		require.True(t, place.Located())
		require.NoError(t, s.Close())
		for _, text := range []string{`sample="0" role="description">mean<`, `sample="1" role="description">std<`, `role="unittype">m<`} {
			require.Contains(t, b.String(), text)
		}
	}
}

// TestWriteRasterRefuses: rows that are no cells of one map are refused, with the reason.
func TestWriteRasterRefuses(t *testing.T) {
	column := func(name string, v ...float64) tabular.Column { return tabular.Column{Name: name, Values: v} }
	for why, columns := range map[string][]tabular.Column{
		"there are none":              {column("x"), column("y"), column("mean")},
		"1 coordinates vary":          {column("a", 1, 2)},
		"has values that are not eve": {column("a", 0, 1, 2.5), column("b", 0, 1, 2)},
		"rows 1 and 3 lie in one":     {column("a", 0, 1, 0), column("b", 0, 1, 0)},
		"one place has no size":       {column("x", 1), column("y", 2)},
		"cells are more than":         {column("x", 0, 1, 1e5), column("y", 0, 1, 1e5)},
		"3 of 1030103 cells of 1 x 1": {column("x", 0, 1, 1e4), column("y", 0, 1, 102)},
		"has values at distances":     {column("x", 0, 1, 1e300), column("y", 0, 1, 2)},
		"3 coordinates vary":          {column("a", 0, 1), column("b", 0, 1), column("c", 0, 1)},
	} {
		table := tabular.Of(append(columns, column("mean", columns[0].Values...)))
		x := []int{0, 1, 2}[:len(columns)]
		if why == "there are none" {
			x = x[:2]
		}
		err := Write(&bytes.Buffer{}, "m.tif", table, x)
		require.ErrorIs(t, err, tabular.ErrColumns, why)
		require.ErrorContains(t, err, why)
		require.ErrorContains(t, err, "m.tif")
	}
	tasks := tabular.Of([]tabular.Column{column("day", 1, 2), column("x", 0, 1), column("y", 0, 1), column("mean", 0, 1)})
	require.ErrorContains(t, Write(&bytes.Buffer{}, "m.tif", tasks, []int{1, 2}), "day has 2 values")
}
