package netcdf

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/hdf5"
)

// NetCDF-4 files are HDF5: a variable is a dataset, and a dimension is a dataset, too, its dimension scale, to which attributes of the
// others refer. The scale may hold the coordinates, or nothing. What is not numbers or texts is left out.
// https://docs.unidata.ucar.edu/netcdf-c/current/file_format_specifications.html

// The attributes in which the library keeps what a file's readers should not see.
const (
	class       = "CLASS"
	scaleName   = "NAME"
	dimensionOf = "DIMENSION_LIST"
	dimensionID = "_Netcdf4Dimid"
	coordinates = "_Netcdf4Coordinates"
	noVariable  = "This is a netCDF dimension but not a netCDF variable"
	notOfItsDim = "_nc4_non_coord_" // before the names of variables that are not over the dimension of their name
)

var hidden = []string{class, scaleName, dimensionOf, "REFERENCE_LIST", dimensionID, coordinates, "_nc3_strict", "_NCProperties"}

// scales are the dimensions of a file that is being read.
type scales struct {
	f    *File
	of   map[uint64]int // the dimension of each scale, by its address
	byID map[int]int
	// unnamed are dimensions that only a length tells apart, by it: of files that no NetCDF library wrote.
	unnamed map[int][]int
	phony   int // how many those are
}

// decode4 reads a NetCDF-4 file. Values are read later.
func decode4(b []byte) (*File, error) {
	h, err := hdf5.Open(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	all, root, err := h.Datasets()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	f := &File{Left: map[string]error{}, most: hdf5.Most(b)}
	if f.Attrs, err = attrs4(root); err != nil {
		return nil, err
	}
	s := &scales{f: f, of: map[uint64]int{}, byID: map[int]int{}, unnamed: map[int][]int{}}
	ordered := slices.Clone(all)
	slices.SortStableFunc(ordered, func(a, b *hdf5.Dataset) int { return cmp.Compare(idOf(a), idOf(b)) })
	for _, d := range ordered {
		s.add(d)
	}
	for _, d := range all {
		if a := d.Attr(scaleName); a != nil && d.Attr(class) != nil && strings.HasPrefix(textOf(a), noVariable) {
			continue
		}
		fields := fieldsOf(d, all)
		if fields[0] != d {
			f.Left[d.Name] = fmt.Errorf("variable %q: %w: values are compounds, whose fields are variables of their own, such as %q",
				d.Name, ErrFormat, fields[0].Name)
		}
		for _, a := range d.Type.Fields {
			for _, part := range fields {
				if a.Type.Class == hdf5.Array && part.Name != a.Name && strings.HasPrefix(part.Name, a.Name+"[0]") {
					f.Left[a.Name] = fmt.Errorf("variable %q: %w: values are arrays, whose values are variables of their own, such as %q",
						a.Name, ErrFormat, part.Name)
					break
				}
			}
		}
		for _, d := range fields {
			if err := s.variable(d); err != nil {
				return nil, fmt.Errorf("%w: variable %q: %w", ErrFormat, d.Name, err)
			}
		}
	}
	for i := range f.Vars {
		v := &f.Vars[i]
		for k, n := range v.set.Shape { // what was written last may have made a dimension longer
			f.Dims[v.Dims[k]].Len = max(f.Dims[v.Dims[k]].Len, n)
		}
		n := 1
		for _, l := range f.Shape(v) {
			if l > 0 && n > math.MaxInt/8/l {
				return nil, fmt.Errorf("%w: variable %q: a shape of %d", ErrFormat, v.Name, f.Shape(v))
			}
			n *= max(l, 1)
		}
	}
	for i := range f.Vars {
		v := &f.Vars[i]
		v.short = !slices.Equal(v.set.Shape, f.Shape(v))
	}
	return f, nil
}

// fieldsOf are the fields of a dataset of compounds, or itself. Fields of several, or of one name with others, are called after it, too.
func fieldsOf(d *hdf5.Dataset, all []*hdf5.Dataset) []*hdf5.Dataset {
	if len(d.Type.Fields) == 0 {
		return []*hdf5.Dataset{d}
	}
	fields := d.Fields()
	names := map[string]bool{}
	for _, field := range fields {
		names[field.Name] = true
	}
	taken := func(other *hdf5.Dataset) bool { return other != d && (len(other.Type.Fields) > 0 || names[other.Name]) }
	if slices.ContainsFunc(all, taken) {
		for _, field := range fields {
			field.Name = d.Name + "." + field.Name
		}
	}
	return fields
}

// textOf is an attribute of one text, "" if it is anything else.
func textOf(a *hdf5.Attr) string {
	if texts, err := a.Texts(); err == nil && len(texts) > 0 {
		return texts[0]
	}
	return ""
}

// add adds the dimension of a dataset that is a scale.
func (s *scales) add(d *hdf5.Dataset) {
	if a := d.Attr(class); a == nil || textOf(a) != "DIMENSION_SCALE" || len(d.Shape) == 0 {
		return
	}
	s.of[d.Address] = len(s.f.Dims)
	s.byID[idOf(d)] = len(s.f.Dims)
	s.f.Dims = append(s.f.Dims, Dim{Name: d.Name, Len: d.Shape[0], Record: d.Grows(0)})
}

// idOf is the number of the dimension of a scale, one beyond all where none is kept.
func idOf(d *hdf5.Dataset) int {
	if a := d.Attr(dimensionID); a != nil && a.Type.Check() == nil {
		if id, err := attr4(a); err == nil && len(id.Numbers) == 1 {
			return int(id.Numbers[0])
		}
	}
	return math.MaxInt
}

// variable adds the variable of a dataset.
func (s *scales) variable(d *hdf5.Dataset) error {
	v := Var{Name: d.Name, set: d}
	if at := strings.LastIndexByte(v.Name, '/') + 1; strings.HasPrefix(v.Name[at:], notOfItsDim) {
		v.Name = v.Name[:at] + strings.TrimPrefix(v.Name[at:], notOfItsDim)
	}
	err := d.Type.Check()
	if err == nil && d.Null {
		err = fmt.Errorf("%w: it has no values at all", ErrFormat)
	}
	if err != nil {
		s.f.Left[v.Name] = fmt.Errorf("variable %q: %w", v.Name, err)
		return nil
	}
	if v.Type = type4(d.Type); v.Type == Char && len(d.Shape) > 0 && !scaled(d) {
		v.Type = String // one letter a row, as h5py writes codes, and not one text
	}
	if v.Attrs, err = attrs4(d.Attrs); err != nil {
		return err
	}
	v.Dims, err = s.dims(d)
	s.f.Vars = append(s.f.Vars, v)
	return err
}

// scaled reports whether a dataset is over dimensions that a NetCDF library, or a program that knows of them, has given it.
func scaled(d *hdf5.Dataset) bool {
	named := []string{class, dimensionOf, dimensionID, coordinates}
	return slices.ContainsFunc(named, func(name string) bool { return d.Attr(name) != nil })
}

// dims returns the dimensions of a dataset.
func (s *scales) dims(d *hdf5.Dataset) (out []int, err error) {
	own := make([]int, len(d.Shape))
	for k := range own {
		own[k] = -1
	}
	if at, ok := s.of[d.Address]; ok {
		own[0] = at
	}
	if a := d.Attr(coordinates); a != nil && a.Type.Check() == nil {
		if ids, err := attr4(a); err == nil && len(ids.Numbers) == len(own) {
			for k, id := range ids.Numbers {
				if at, ok := s.byID[int(id)]; ok && own[k] < 0 {
					own[k] = at
				}
			}
		}
	}
	if a := d.Attr(dimensionOf); a != nil {
		lists, err := a.References()
		if err != nil {
			return nil, err
		}
		for k, list := range lists {
			if k < len(own) && own[k] < 0 && len(list) > 0 {
				if at, ok := s.of[list[0]]; ok {
					own[k] = at
				}
			}
		}
	}
	for k, at := range own {
		if at < 0 || s.f.Dims[at].Len != d.Shape[k] && !d.Grows(k) {
			own[k] = s.lengthOf(d.Shape[k], own)
		}
	}
	return own, nil
}

// lengthOf returns a dimension without a name, of a length, that is not among some others.
func (s *scales) lengthOf(n int, others []int) int {
	for _, at := range s.unnamed[n] {
		if !slices.Contains(others, at) {
			return at
		}
	}
	at := len(s.f.Dims)
	s.unnamed[n] = append(s.unnamed[n], at)
	s.f.Dims = append(s.f.Dims, Dim{Name: fmt.Sprintf("phony_dim_%d", s.phony), Len: n})
	s.phony++
	return at
}

// type4 is the type of values that are read.
func type4(t *hdf5.Type) Type {
	t = t.Numeric()
	switch {
	case t.Class == hdf5.String && t.Size == 1:
		return Char
	case t.Class == hdf5.String || t.Text:
		return String
	case t.Class == hdf5.Float && t.Size == 8:
		return Double
	case t.Class == hdf5.Float: // those of 2 bytes become 4
		return Float
	}
	return map[int]Type{1: Byte, 2: Short, 4: Int, 8: Int64}[t.Size].withSign(t.Signed)
}

// bytes4 brings values of a type to the bytes that Type has: big-endian.
func bytes4(t *hdf5.Type, b []byte) []byte {
	t.BigEndian(b)
	if t = t.Numeric(); t.Class != hdf5.Float || t.Size != 2 {
		return b
	}
	out := make([]byte, 0, 2*len(b))
	for at := 0; at+2 <= len(b); at += 2 {
		out = binary.BigEndian.AppendUint32(out, math.Float32bits(half(binary.BigEndian.Uint16(b[at:]))))
	}
	return out
}

// half is the number of 16 bits.
func half(b uint16) float32 {
	sign, exponent, fraction := uint32(b>>15)<<31, uint32(b>>10&31), uint32(b&1023)
	switch exponent {
	case 0:
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)*0x1p-24))
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// attrs4 are the attributes that are numbers or texts.
func attrs4(all []hdf5.Attr) (out []Attr, err error) {
	for i := range all {
		a := &all[i]
		if slices.Contains(hidden, a.Name) || a.Type.Check() != nil || a.Null {
			continue
		}
		own, err := attr4(a)
		if err != nil {
			return nil, fmt.Errorf("%w: attribute %q: %w", ErrFormat, a.Name, err)
		}
		out = append(out, own)
	}
	return out, nil
}

// textSize is the memory of a text without what it is of.
const textSize = 16

// mostText bounds the texts of an attribute, which may be one text of the file many times.
const mostText = 1 << 24

func attr4(a *hdf5.Attr) (Attr, error) {
	out := Attr{Name: a.Name, Type: type4(a.Type)}
	if out.isText() {
		texts, err := a.Texts()
		n := 0
		for _, s := range texts {
			n += len(s) + 1
		}
		if n > mostText {
			return out, fmt.Errorf("texts of %d bytes", n)
		}
		out.Type, out.Text = Char, strings.Join(texts, " ")
		return out, err
	}
	b := bytes4(a.Type, slices.Clone(a.Data))
	out.Numbers = numbers(out.Type, b)
	if out.Type.wide() {
		out.whole = wholes(b)
	}
	return out, nil
}

func (a *Attr) isText() bool { return a.Type == Char || a.Type == String }

// load reads the values of a variable of a NetCDF-4 file.
func (f *File) load(v *Var) error {
	if v.set == nil || v.loaded {
		return nil
	}
	if n, size := f.Len(v), max(1, v.Type.Size()); n > f.most/size {
		return fmt.Errorf("%w: variable %q: %d values of %d bytes, and no more than %d bytes are read of a file of this size", ErrFormat,
			v.Name, n, size, f.most)
	}
	if v.Type == String {
		texts, err := v.set.Texts()
		if n := f.Len(v); err == nil && n > len(texts) && n > f.most/textSize {
			err = fmt.Errorf("variable %q: %d texts of which most were never written", v.Name, n)
		}
		fill := ""
		if err == nil {
			fill, err = v.set.FillText()
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrFormat, err)
		}
		v.texts = grown(texts, []string{fill}, 1, v.set.Shape, f.Shape(v))
		v.loaded = true
		return nil
	}
	b, err := v.set.Read()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	size, fill := v.Type.Size(), v.Type.fill()
	if fill == nil {
		fill = make([]byte, size)
	}
	if stored := v.set.Fill(); stored != nil {
		fill = bytes4(v.set.Type, stored)
	}
	v.data = grown(bytes4(v.set.Type, b), fill, size, v.set.Shape, f.Shape(v))
	v.loaded = true
	return nil
}

// grown puts values, of size elements each, of a shape into a larger one; the others are fill. Variables of a NetCDF-4 file whose
// dimensions grow are each as long as was written of them.
func grown[T any](b, fill []T, size int, from, to []int) []T {
	if slices.Equal(from, to) {
		return b
	}
	n := 1
	for _, l := range to {
		n *= l
	}
	out := slices.Repeat(fill, n)
	row := from[len(from)-1] * size
	for at := 0; row > 0 && at < len(b); at += row {
		place, step, rest := 0, 1, at/row
		for k := len(from) - 1; k >= 0; k-- {
			if k < len(from)-1 {
				place += rest % from[k] * step
				rest /= from[k]
			}
			step *= to[k]
		}
		copy(out[place*size:], b[at:at+row])
	}
	return out
}

// Most is how many bytes the values of a file have in all, unless parts of it are those of many variables: as many as the file or, where it
// may be compressed, what it expands to.
func (f *File) Most() int { return f.most }
