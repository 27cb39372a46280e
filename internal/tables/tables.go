// Package tables reads and writes tables in all formats: CSV and TSV, Parquet, numpy's npz and npy, and NetCDF; HDF5, of which NetCDF-4 is
// a kind, spreadsheets and JSON are read only, and so is any of these compressed by gzip, bzip2 or zstd.
// What a file begins with says which it is; what a name ends in, how it is written.
package tables

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/netcdf"
	"github.com/equivcnp/equivcnp/internal/npy"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/spreadsheet"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// Endings are those of the formats that are written.
const Endings = ".csv .tsv .txt .parquet .npz .nc"

// ErrFormat is wrapped where a file is not of the format that its name says.
var ErrFormat = errors.New("not the file that it is called")

var nan = math.NaN()

// maxCells bounds the cells that a table made of a grid or of arrays has, which may be more than the file's values.
const maxCells = 1 << 27

// gridCells bounds those of a NetCDF file of n bytes: a grid of millions of places may be that of a mask that takes next to nothing, but a
// small file must not say of one dimension that it takes all memory.
func gridCells(n int) int { return int(min(maxCells, 1<<24+1000*int64(n))) }

// ReadFile reads the table of a file; wanted names columns, and decides which of a NetCDF file's variables the table has. A path like
// data.xlsx#name is that of a sheet of a spreadsheet, unless it is that of a file.
func ReadFile(path string, wanted []string) (*tabular.Table, error) {
	return ReadFileAs(path, wanted, tabular.Options{})
}

// ReadFileAs is ReadFile for a file that may be a text whose numbers are written in another way.
func ReadFileAs(path string, wanted []string, opt tabular.Options) (*tabular.Table, error) {
	file, sheet := SheetOf(path)
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%w: %s: it is a folder; to_netcdf of xarray makes a file of a Zarr store", ErrFormat, path)
	}
	head := make([]byte, netcdf.Head)
	n, _ := io.ReadFull(f, head)
	if way := packing(head[:n]); way >= 0 {
		return readPacked(io.MultiReader(bytes.NewReader(head[:n]), f), way, path, sheet, wanted, opt)
	}
	if known(head[:n]) {
		b, err := safetensors.ReadFile(file)
		if err != nil {
			return nil, err
		}
		return decode(b, path, sheet, wanted, opt)
	}
	if sheet != "" {
		return nil, fmt.Errorf("%s: %w: %s is no spreadsheet, and has no sheet", path, ErrSheet, file)
	}
	if err := tabular.CheckForeign(head[:n], path); err != nil {
		return nil, err
	}
	if err := textual(path); n > 0 && err != nil {
		return nil, err
	}
	return tabular.ReadAs(io.MultiReader(bytes.NewReader(head[:n]), f), path, opt)
}

// textual is an error where a file that is text, by what it begins with, has the name of another format.
func textual(name string) error {
	endings := []string{".parquet", ".npz", ".npy", ".nc", ".nc4", ".h5", ".hdf5", ".xlsx", ".ods"}
	if ending := Ending(name); slices.Contains(endings, ending) {
		return fmt.Errorf("%w: %s: it does not begin as %s files do; tables of text are .csv or .tsv", ErrFormat, name, ending)
	}
	return nil
}

// known reports whether bytes begin as a file that is no text.
func known(b []byte) bool {
	return npy.Is(b) || npy.IsZip(b) || netcdf.Is(b) || netcdf.IsHDF5(b) || isParquet(b) || isJSON(b)
}

// Decode is ReadFile for the bytes of a file, which errors call by that name.
func Decode(b []byte, name string, wanted []string) (*tabular.Table, error) {
	return DecodeAs(b, name, wanted, tabular.Options{})
}

// DecodeAs is ReadFileAs for the bytes of a file.
func DecodeAs(b []byte, name string, wanted []string, opt tabular.Options) (*tabular.Table, error) {
	return decode(b, name, "", wanted, opt)
}

// decode is DecodeAs, of a sheet of that name if it is not empty.
func decode(b []byte, name, sheet string, wanted []string, opt tabular.Options) (*tabular.Table, error) {
	if way := packing(b); way >= 0 {
		return readPacked(bytes.NewReader(b), way, name, sheet, wanted, opt)
	}
	var t *tabular.Table
	var err error
	switch {
	case !known(b):
		if err := tabular.CheckForeign(b, name); err != nil {
			return nil, err
		}
		if err := textual(name); len(b) > 0 && err != nil {
			return nil, err
		}
		return tabular.ReadAs(bytes.NewReader(b), name, opt)
	case npy.IsZip(b) && spreadsheet.Is(b):
		return ofSheet(b, name, sheet, wanted, opt)
	case npy.IsZip(b):
		f, names := onlyFile(bytes.NewReader(b), int64(len(b)))
		if f != nil && path.Ext(f.Name) != ".npy" {
			return readZipped(f, len(b), name, sheet, wanted, opt)
		}
		if tableless(names) {
			return nil, holdsMany(name, names)
		}
		if sheet == "" {
			t, err = ofArrays(b)
			break
		}
		fallthrough
	case sheet != "":
		return nil, fmt.Errorf("%s: %w: it is no spreadsheet, and has no sheet", name, ErrSheet)
	case npy.Is(b):
		t, err = ofArrays(b)
	case isParquet(b):
		t, err = ofParquet(b)
	case isJSON(b):
		t, err = ofJSON(b)
	default:
		t, err = ofNetCDF(b, wanted)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t.Name = name
	t.ReadTexts(opt)
	return t, nil
}

// ofArrays makes a table of the arrays [n] of an npz file, which are columns, or of an array [n, columns] of an npy file.
func ofArrays(b []byte) (*tabular.Table, error) {
	tensors, err := npy.Decode(b)
	if err != nil {
		return nil, err
	}
	if len(tensors) == 0 {
		return nil, fmt.Errorf("%w: a zip file without any array or sheet: need files .npy in it, or a spreadsheet", npy.ErrFormat)
	}
	if len(tensors) == 1 && tensors[0].Name == "" && len(tensors[0].Shape) == 2 {
		if _, isText := npy.Texts(&tensors[0]); isText {
			return nil, fmt.Errorf("%w: an array of texts of two dimensions: need one of numbers, or an .npz of arrays of one dimension",
				npy.ErrFormat)
		}
		n := tensors[0].Shape[1]
		if days, isTime := npy.Days(&tensors[0]); isTime {
			return &tabular.Table{Cols: n, Values: days, Units: slices.Repeat([]string{unixDays}, n)}, nil
		}
		v, err := tensors[0].Float64s()
		if err != nil {
			return nil, err
		}
		t := &tabular.Table{Cols: n, Values: v}
		for i, text := range tensors[0].Wholes() {
			t.SetExact(i/t.Cols, i%t.Cols, tabular.WholeText(text))
		}
		return t, nil
	}
	var columns []tabular.Column
	texts := map[int][]string{}
	var wholes [][]string
	for i := range tensors {
		x := &tensors[i]
		if len(x.Shape) != 1 || len(columns) > 0 && x.Shape[0] != len(columns[0].Values) {
			return nil, fmt.Errorf("%w: array %q has shape %v: a table is arrays of one dimension and equal lengths, "+
				"or one .npy array of two", npy.ErrFormat, x.Name, x.Shape)
		}
		c := tabular.Column{Name: x.Name, Single: x.DType == safetensors.F32}
		text, isText := npy.Texts(x)
		days, isTime := npy.Days(x)
		switch {
		case isText:
			texts[len(columns)], c.Values = text, slices.Repeat([]float64{nan}, len(text))
		case isTime:
			c.Values, c.Unit = days, unixDays
		default:
			if c.Values, err = x.Float64s(); err != nil {
				return nil, err
			}
		}
		columns, wholes = append(columns, c), append(wholes, x.Wholes())
	}
	t := tabular.Of(columns)
	for c, text := range texts {
		t.Texts[c] = text
	}
	for c, whole := range wholes {
		for row, text := range whole {
			t.SetExact(row, c, tabular.WholeText(text))
		}
	}
	return t, nil
}

// ofNetCDF makes a table of variables: each row is a place in the grid of their dimensions, the last of which is fastest, or an observation
// of a ragged array.
func ofNetCDF(b []byte, wanted []string) (*tabular.Table, error) {
	f, err := netcdf.Decode(b)
	if err != nil {
		return nil, err
	}
	for _, name := range wanted {
		if err := f.Left[name]; err != nil {
			return nil, err
		}
	}
	left := slices.Sorted(maps.Keys(f.Left))
	if len(f.Vars) == 0 && len(left) > 0 {
		return nil, f.Left[left[0]]
	}
	asked, over, all := gridOf(f, wanted)
	links := linksOf(f)
	if over, err = along(f, links, over, all); err != nil {
		return nil, err
	}
	rows, most := 1, gridCells(len(b))
	for _, d := range over {
		if n := f.Dims[d].Len; n > 0 && rows > most/n {
			return nil, fmt.Errorf("%w: a table of all places of its grid would have more than %d cells", netcdf.ErrFormat, most)
		}
		rows *= f.Dims[d].Len
	}
	places := placesOf(f, over, most)
	asked = slices.DeleteFunc(asked, func(v *netcdf.Var) bool {
		found, failed := places.find(links, v)
		err = errors.Join(err, failed)
		return !found
	})
	if err != nil {
		return nil, err
	}
	if rows > 0 && len(asked) > most/rows {
		return nil, fmt.Errorf("%w: a table of %d rows and %d columns has too many cells", netcdf.ErrFormat, rows, len(asked))
	}
	t := &tabular.Table{Cols: len(asked), Values: make([]float64, rows*len(asked)), Texts: make([][]string, len(asked)), Header: []string{},
		LeftOut: left, Unasked: unasked(f, asked), Mapping: mappingOf(f)}
	if d := untold(f, asked, over); d >= 0 && !all {
		dim := f.Dims[d]
		t.Remark("the %d places of dimension %s are rows like any others, as no column that is read tells them apart: --x or --task can "+
			"take %s", dim.Len, dim.Name, dim.Name)
	}
	for c, v := range asked {
		text := func(name string) string {
			if a := v.Attr(name); a != nil {
				return a.Text
			}
			return ""
		}
		t.Header, t.Units, t.Single = append(t.Header, v.Name), append(t.Units, text("units")), append(t.Single, v.Type == netcdf.Float)
		t.Calendars, t.About = append(t.Calendars, text("calendar")), append(t.About, aboutOf(v))
		if err := f.Check(v); err != nil {
			return nil, err
		}
		var values []float64
		var texts, wholes []string
		if v.IsText() {
			texts = f.Strings(v)
			t.Texts[c] = make([]string, rows)
		} else {
			values, wholes = f.Values(v), f.Wholes(v)
		}
		for row := range rows {
			at := places.at(row, v)
			if at < 0 {
				t.Values[row*t.Cols+c] = nan
			} else if texts != nil {
				t.Texts[c][row] = texts[at]
				t.Values[row*t.Cols+c] = nan
			} else if values != nil {
				t.Values[row*t.Cols+c] = values[at]
				if wholes != nil {
					t.SetExact(row, c, tabular.WholeText(wholes[at]))
				}
			}
		}
	}
	return t, nil
}

// unasked are the names of the variables of a file that are not among those of a table, nor a coordinate system.
func unasked(f *netcdf.File, asked []*netcdf.Var) (names []string) {
	for i := range f.Vars {
		if v := &f.Vars[i]; !slices.Contains(asked, v) && v.Attr("grid_mapping_name") == nil {
			names = append(names, v.Name)
		}
	}
	return names
}

// untold returns a dimension of several of a grid that no variable has which is a coordinate: one over fewer of them than another variable.
// It is -1 where there is none, or no coordinate at all.
func untold(f *netcdf.File, asked []*netcdf.Var, over []int) int {
	told := map[int]bool{}
	for _, v := range asked {
		dims := v.TextDims()
		for _, other := range asked {
			wider := other.TextDims()
			if len(dims) < len(wider) && !slices.ContainsFunc(dims, func(d int) bool { return !slices.Contains(wider, d) }) {
				for _, d := range dims {
					told[d] = true
				}
			}
		}
	}
	if len(told) == 0 {
		return -1
	}
	if i := slices.IndexFunc(over, func(d int) bool { return !told[d] && f.Dims[d].Len > 1 }); i >= 0 {
		return over[i]
	}
	return -1
}

// gridOf returns the variables of a table, and its dimensions: those of the variable that has most, then others; all: none of those that
// are wanted is there, and they are the whole file's.
func gridOf(f *netcdf.File, wanted []string) (asked []*netcdf.Var, over []int, all bool) {
	for _, name := range wanted {
		if v := f.Var(name); v != nil {
			asked = append(asked, v)
		}
	}
	if all = len(asked) == 0; all {
		for i := range f.Vars {
			asked = append(asked, &f.Vars[i])
		}
	}
	for _, v := range asked {
		if len(v.TextDims()) > len(over) {
			over = slices.Clone(v.TextDims())
		}
	}
	for _, v := range asked {
		for _, d := range v.TextDims() {
			if !all && !slices.Contains(over, d) {
				over = append(over, d)
			}
		}
	}
	for _, name := range []string{"task", "context"} { // columns with a meaning
		if v := f.Var(name); !all && v != nil && !slices.Contains(asked, v) {
			asked = append(asked, v)
		}
	}
	return asked, over, all
}

// Write writes a table as the file's name says: x are the columns of its coordinates, aux those of other inputs, which are no bands of
// a raster.
func Write(w io.Writer, path string, t *tabular.Table, x []int, aux ...int) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, c := range x {
		if c < 0 || c >= t.Cols {
			return fmt.Errorf("%s: %w: column %d of coordinates, of %d columns in all", path, tabular.ErrColumns, c, t.Cols)
		}
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".tsv", ".txt":
		return tabular.Write(w, t, '\t')
	case ".parquet":
		return writeParquet(w, t)
	case ".npz":
		return writeArrays(w, t)
	case ".nc":
		return writeNetCDF(w, t, x)
	case ".tif", ".tiff":
		return writeRaster(w, path, t, x, aux)
	}
	return tabular.Write(w, t, ',')
}

// column is a column of values, and its name.
func column(t *tabular.Table, c int) (name string, values []float64) {
	name = fmt.Sprintf("column%d", c+1)
	if t.Header != nil && t.Header[c] != "" {
		name = t.Header[c]
	}
	return name, t.Take(c)
}

// writeArrays writes every column as an array.
func writeArrays(w io.Writer, t *tabular.Table) error {
	var out []safetensors.Tensor
	for c := range t.Cols {
		name, v := column(t, c)
		switch {
		case hasText(t, c) || t.Exact != nil && t.Exact[c] != nil:
			texts := make([]string, t.Rows())
			for row := range texts {
				texts[row] = t.Cell(row, c)
			}
			out = append(out, npy.FromTexts(name, texts))
		case t.Dated(c) != nil:
			text, texts := t.Dated(c), make([]string, t.Rows())
			for row := range texts {
				texts[row] = text(row)
			}
			out = append(out, npy.FromTexts(name, texts))
		case t.Single != nil && t.Single[c]:
			narrow := make([]float32, len(v))
			for i, x := range v {
				narrow[i] = float32(x)
			}
			out = append(out, safetensors.FromFloat32s(name, []int{len(v)}, narrow))
		default:
			out = append(out, safetensors.FromFloat64s(name, []int{len(v)}, v))
		}
	}
	return npy.Encode(w, out)
}

func hasText(t *tabular.Table, c int) bool {
	return t.Texts != nil && slices.ContainsFunc(t.Texts[c], func(s string) bool { return s != "" })
}

// writeNetCDF writes variables over a grid, if the coordinates are one, else over the rows.
func writeNetCDF(w io.Writer, t *tabular.Table, x []int) error {
	f := &netcdf.File{Attrs: []netcdf.Attr{netcdf.Text("Conventions", "CF-1.8")}}
	t = t.Timed(x...)
	axes, lengths := Grid(t, x)
	if axes == nil {
		axes, lengths = tasked(t, x)
	}
	axes, lengths, from := northUp(t, axes, lengths)
	if from != nil {
		t = t.Rearranged(from)
	}
	var dims []int
	for i, c := range axes {
		name, _ := column(t, c)
		f.Dims = append(f.Dims, netcdf.Dim{Name: name, Len: lengths[i]})
		dims = append(dims, i)
	}
	if axes == nil {
		f.Dims, dims = []netcdf.Dim{{Name: "row", Len: t.Rows()}}, []int{0}
		if t.Rows() == 0 {
			f.Dims[0].Record = true
		}
	}
	var coordinates []string
	for _, c := range x {
		name, _ := column(t, c)
		coordinates = append(coordinates, name)
	}
	mapping, err := addMapping(f, t.Mapping, t.Header)
	if err != nil {
		return err
	}
	places := helpful(t, x, axes)
	for c := range t.Cols {
		name, v := column(t, c)
		attrs := slices.Concat(columnAttrs(t, c), places[c])
		over, axis, stride := dims, slices.Index(axes, c), 1
		if axis >= 0 {
			for _, n := range lengths[axis+1:] {
				stride *= n
			}
			over = []int{axis}
			short := make([]float64, lengths[axis])
			for i := range short {
				short[i] = v[i*stride]
			}
			v = short
		} else if axes == nil && !slices.Contains(x, c) {
			attrs = append(attrs, netcdf.Text("coordinates", strings.Join(coordinates, " ")))
		}
		if hasText(t, c) || t.Exact != nil && t.Exact[c] != nil {
			texts := make([]string, len(v))
			for i := range texts {
				texts[i] = t.Cell(i*stride, c)
			}
			if err := f.AddText(name, over, texts, attrs...); err != nil {
				return err
			}
			continue
		}
		kind := netcdf.Double
		if t.Single != nil && t.Single[c] {
			kind = netcdf.Float
		}
		if mapping != "" && !slices.Contains(x, c) && axis < 0 {
			attrs = append(attrs, netcdf.Text("grid_mapping", mapping))
		}
		if axis < 0 && (axes != nil || !slices.Contains(x, c)) {
			attrs = append(attrs, netcdf.Number("_FillValue", nan))
		}
		if err := f.Add(name, kind, over, v, attrs...); err != nil {
			return err
		}
	}
	return netcdf.Encode(w, f, 2)
}

// columnAttrs are the attributes of a column that its table has.
func columnAttrs(t *tabular.Table, c int) (attrs []netcdf.Attr) {
	if t.Units != nil && t.Units[c] != "" {
		attrs = append(attrs, netcdf.Text("units", t.Units[c]))
	}
	if t.Calendars != nil && t.Calendars[c] != "" {
		attrs = append(attrs, netcdf.Text("calendar", t.Calendars[c]))
	}
	if t.About != nil {
		for _, name := range told {
			if text := t.About[c][name]; text != "" {
				attrs = append(attrs, netcdf.Text(name, text))
			}
		}
	}
	return attrs
}

// Grid is grid, or that of all columns of x but one or two that follow from the others, as elevation does from where a
// place is: these then are variables on the grid.
func Grid(t *tabular.Table, x []int) (axes, lengths []int) {
	if err := t.Check(); err != nil {
		panic("tables: Grid: " + err.Error())
	}
	if axes, lengths = grid(t, x); axes != nil || len(x) > 8 {
		return axes, lengths
	}
	for i := len(x) - 1; i >= 0; i-- {
		less := slices.Delete(slices.Clone(x), i, i+1)
		if axes, lengths = grid(t, less); axes != nil {
			return axes, lengths
		}
		for k := i - 1; k >= 0; k-- {
			if axes, lengths = grid(t, slices.Delete(slices.Clone(less), k, k+1)); axes != nil {
				return axes, lengths
			}
		}
	}
	return nil, nil
}

// tasked is Grid for the places of several tasks, one after the other, which a column before the coordinates tells
// apart and which have the same places: that column is an axis, too.
func tasked(t *tabular.Table, x []int) (axes, lengths []int) {
	if len(x) == 0 {
		return nil, nil
	}
	for c := range slices.Min(x) {
		task, n, err := t.Groups(c)
		if err != nil || n < 2 || t.Rows()%n != 0 {
			continue
		}
		each := t.Rows() / n
		one := &tabular.Table{Cols: t.Cols, Values: t.Values[:each*t.Cols]}
		if axes, lengths = Grid(one, x); axes == nil {
			continue
		}
		same := true
		for row := range t.Rows() {
			same = same && task[row] == row/each
			for _, k := range x {
				a, b := t.Values[row*t.Cols+k], t.Values[row%each*t.Cols+k]
				same = same && a == b && t.Text(row, k) == ""
			}
		}
		if same {
			return append([]int{c}, axes...), append([]int{n}, lengths...)
		}
	}
	return nil, nil
}

// grid returns the columns of coordinates as the axes of a grid whose places are the rows, the slowest first, and the
// axes' lengths; nil if the rows are none.
func grid(t *tabular.Table, x []int) (axes, lengths []int) {
	rows := t.Rows()
	if rows == 0 || len(x) == 0 {
		return nil, nil
	}
	strides := map[int]int{}
	for _, c := range x {
		if hasText(t, c) {
			return nil, nil
		}
		n := 1
		for n < rows && t.Values[n*t.Cols+c] == t.Values[c] {
			n++
		}
		strides[c] = n
	}
	axes = slices.Clone(x)
	slices.SortStableFunc(axes, func(a, b int) int { return strides[b] - strides[a] })
	above := rows
	for _, c := range axes {
		if above%strides[c] != 0 {
			return nil, nil
		}
		lengths = append(lengths, above/strides[c])
		above = strides[c]
	}
	if above != 1 {
		return nil, nil
	}
	for i, c := range axes {
		seen := map[float64]bool{}
		for row := range rows {
			k := row / strides[c] % lengths[i]
			v := t.Values[row*t.Cols+c]
			if v != t.Values[k*strides[c]*t.Cols+c] {
				return nil, nil
			}
			if row == k*strides[c] {
				if seen[v] {
					return nil, nil
				}
				seen[v] = true
			}
		}
	}
	return axes, lengths
}
