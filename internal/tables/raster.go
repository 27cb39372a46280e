package tables

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/equivcnp/equivcnp/internal/raster"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// MapEndings are Endings and those of rasters, for tables of which a command says that their rows may be places on a grid.
const MapEndings = Endings + " .tif .tiff"

// maxRaster bounds the cells of a raster: a few rows far apart would make a large one of cells without any value.
const maxRaster = 1 << 24

// sparse is the number of cells, for each row, beyond which rows are scattered places and no map: those of whole metres lie on a grid, too.
const sparse = 100

// even is the share of a step by which coordinates may lie beside a grid's.
const even = 1e-3

// side is the places of one axis of a raster: n of them from lo on.
type side struct {
	lo, step float64
	n        int
}

// at is the number of a coordinate's place.
func (s side) at(v float64) int {
	if s.n == 1 {
		return 0
	}
	return int(math.Round((v - s.lo) / s.step))
}

// writeRaster writes the columns of numbers behind the coordinates x as the bands of a GeoTIFF, whose cells have the rows as their
// centres. Cells without a row have no value, and the columns aux are left out.
func writeRaster(w io.Writer, path string, t *tabular.Table, x, aux []int) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w: a raster needs rows that are the cells of one map, and %s: write %s", path, tabular.ErrColumns,
			fmt.Sprintf(format, args...), Endings)
	}
	if t.Rows() == 0 {
		return fail("there are none")
	}
	for c := range t.Cols {
		if c < slices.Min(append(slices.Clone(x), t.Cols)) {
			if _, n, err := t.Groups(c); err != nil || n > 1 {
				name, _ := column(t, c)
				return fail("%s has %d values", name, n)
			}
		}
	}
	right, up, why := rasterAxes(t, x)
	if why != "" {
		return fail("%s", why)
	}
	var sides [2]side
	for k, c := range []int{right, up} {
		name, v := column(t, c)
		if sides[k], why = sideOf(v); why != "" {
			return fail("%s %s", name, why)
		}
	}
	for k := range sides {
		if sides[k].n == 1 {
			sides[k].step = sides[1-k].step
		}
	}
	if sides[0].step == 0 {
		return fail("one place has no size")
	}
	if sides[0].n > maxRaster/sides[1].n {
		return fail("%d x %d cells are more than %d", sides[0].n, sides[1].n, maxRaster)
	}
	if cells := sides[0].n * sides[1].n; cells/sparse > t.Rows() {
		return fail("they would be %d of %d cells of %g x %g", t.Rows(), cells, sides[0].step, sides[1].step)
	}
	g := &raster.Grid{W: sides[0].n, H: sides[1].n, West: sides[0].lo, North: sides[1].lo + float64(sides[1].n-1)*sides[1].step,
		Cell: [2]float64{sides[0].step, sides[1].step}}
	rows := make([]int32, g.W*g.H) // 1 + the row of each cell, 0 without
	for row := range t.Rows() {
		i, k := sides[0].at(t.Values[row*t.Cols+right]), sides[1].at(t.Values[row*t.Cols+up])
		cell := &rows[(g.H-1-k)*g.W+i]
		if *cell != 0 {
			return fail("rows %d and %d lie in one", *cell, row+1)
		}
		*cell = int32(row + 1)
	}
	var bands []int
	for c := range t.Cols {
		if c < slices.Min(x) || slices.Contains(x, c) || slices.Contains(aux, c) || hasText(t, c) {
			continue
		}
		name, _ := column(t, c)
		band := raster.Band{Name: name}
		if t.Units != nil {
			band.Unit = t.Units[c]
		}
		bands, g.Bands = append(bands, c), append(g.Bands, band)
	}
	g.Row = func(to []float32, y int) {
		for i, row := range rows[y*g.W : (y+1)*g.W] {
			for k, c := range bands {
				v := math.NaN()
				if row > 0 {
					v = t.Values[(int(row)-1)*t.Cols+c]
				}
				to[i*len(bands)+k] = float32(v)
			}
		}
	}
	if err := g.Encode(w); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// rasterAxes returns the columns of coordinates to the right and up: those whose names or units say so, or else the two of which there
// are several values, in their order. It says why there are none.
func rasterAxes(t *tabular.Table, x []int) (right, up int, why string) {
	for _, c := range x {
		if hasText(t, c) {
			name, _ := column(t, c)
			return 0, 0, name + " holds no numbers"
		}
	}
	if i, k, ok := mapAxes(t, x); ok {
		return x[i], x[k], ""
	}
	wide := slices.DeleteFunc(slices.Clone(x), func(c int) bool {
		v := t.Take(c)
		return len(x) > 2 && slices.Min(v) == slices.Max(v)
	})
	if len(wide) != 2 {
		return 0, 0, fmt.Sprintf("%d coordinates vary", len(wide))
	}
	return wide[0], wide[1], ""
}

// sideOf returns the even places that values lie at, or says why there are none.
func sideOf(values []float64) (s side, why string) {
	v := slices.Clone(values)
	slices.Sort(v)
	v = slices.Compact(v)
	s = side{lo: v[0], n: 1}
	if len(v) == 1 {
		return s, ""
	}
	extent, least := v[len(v)-1]-v[0], math.Inf(1)
	for i := range v[1:] {
		least = min(least, v[i+1]-v[i])
	}
	steps := math.Round(extent / least)
	if !(steps < maxRaster) { // or NaN
		return s, fmt.Sprintf("has values at distances from %g on over %g", least, extent)
	}
	s.n, s.step = int(steps)+1, extent/steps
	for _, x := range v {
		if k := (x - s.lo) / s.step; math.Abs(k-math.Round(k)) > even {
			return s, fmt.Sprintf("has values that are not evenly spaced, such as %g between others %g apart", x, s.step)
		}
	}
	return s, ""
}
