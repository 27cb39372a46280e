// Package netcdf reads and writes the classic NetCDF formats, CDF-1, CDF-2 and CDF-5: named dimensions, of which one may be the record
// dimension, variables over them, and attributes of both. It also reads NetCDF-4, which is HDF5, and other files of HDF5 alike.
//
// The reader does not trust its input: whatever the header claims is compared with the bytes that are there before anything is allocated.
// Format: https://docs.unidata.ucar.edu/nug/current/file_format_specifications.html.
package netcdf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/equivcnp/equivcnp/internal/hdf5"
)

// ErrFormat is wrapped by every error about the content of a file.
var ErrFormat = errors.New("not a NetCDF file that can be read")

// Type is the type of a variable or an attribute.
type Type uint32

// The types; those from UByte on are CDF-5's, and String, texts of any length, is NetCDF-4's.
const (
	Byte Type = iota + 1
	Char
	Short
	Int
	Float
	Double
	UByte
	UShort
	UInt
	Int64
	UInt64
	String
)

var sizes = [...]int{0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8}

// Size is the number of bytes of a value, 0 of an unknown type and of String.
func (t Type) Size() int {
	if int(t) < len(sizes) {
		return sizes[t]
	}
	return 0
}

// Dim is a dimension.
type Dim struct {
	Name   string
	Len    int
	Record bool // it may grow; in a classic file at most one may, and is the first of its variables' dimensions
}

// Attr is an attribute: a text, or numbers.
type Attr struct {
	Name    string
	Type    Type
	Text    string // of type Char
	Numbers []float64

	whole []uint64 // the bits of 64-bit integers, which Numbers do not hold exactly; nil: Numbers do
}

// Text and Number make attributes.
func Text(name, text string) Attr { return Attr{Name: name, Type: Char, Text: text} }
func Number(name string, v float64) Attr {
	return Attr{Name: name, Type: Double, Numbers: []float64{v}}
}

// Var is a variable.
type Var struct {
	Name  string
	Type  Type
	Dims  []int // of the file's
	Attrs []Attr

	data []byte // big-endian; of a record variable the records, stride bytes from one to the next
	// Of a record variable: bytes of one record, and from one to the next; both 0 of others.
	record, stride int

	// Of a NetCDF-4 file: where the values are, and those of type String once they were read.
	set    *hdf5.Dataset
	short  bool // fewer values are there than its dimensions have
	loaded bool
	texts  []string
}

// IsText reports whether a variable has texts, which Strings returns, instead of numbers.
func (v *Var) IsText() bool { return v.Type == Char || v.Type == String }

// TextDims are the dimensions of a variable without the length of its texts.
func (v *Var) TextDims() []int {
	if v.Type == Char && len(v.Dims) > 0 {
		return v.Dims[:len(v.Dims)-1]
	}
	return v.Dims
}

// Attr returns the attribute of that name, nil without one.
func (v *Var) Attr(name string) *Attr {
	for i := range v.Attrs {
		if v.Attrs[i].Name == name {
			return &v.Attrs[i]
		}
	}
	return nil
}

// File is the content of a file.
type File struct {
	Dims  []Dim
	Attrs []Attr
	Vars  []Var
	// Left says why variables of a NetCDF-4 file are not among Vars, by their names.
	Left map[string]error

	most int // bytes of all values
}

// Var returns the variable of that name, nil without one.
func (f *File) Var(name string) *Var {
	for i := range f.Vars {
		if f.Vars[i].Name == name {
			return &f.Vars[i]
		}
	}
	return nil
}

// Shape is the lengths of a variable's dimensions.
func (f *File) Shape(v *Var) []int {
	out := make([]int, len(v.Dims))
	for i, d := range v.Dims {
		out[i] = f.Dims[d].Len
	}
	return out
}

// Len is the number of a variable's values.
func (f *File) Len(v *Var) int {
	n := 1
	for _, d := range v.Dims {
		n *= f.Dims[d].Len
	}
	return n
}

// Head is how many bytes of a file tell whether it is one.
const Head = hdf5.Head

// Is reports whether bytes begin as a classic NetCDF file, IsHDF5 whether as a NetCDF-4 one.
func Is(b []byte) bool     { return bytes.HasPrefix(b, []byte("CDF")) }
func IsHDF5(b []byte) bool { return hdf5.Is(b) }

// The tags of a header's lists.
const (
	dimensions = 10
	variables  = 11
	attributes = 12
)

// reader reads a header. After the first error it returns zeros.
type reader struct {
	b    []byte
	at   int
	wide bool // CDF-5: counts have 8 bytes
	far  bool // CDF-2 and CDF-5: offsets have
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: byte %d: %s", ErrFormat, r.at, fmt.Sprintf(format, args...))
	}
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n > len(r.b)-r.at {
		r.fail("the header ends")
		return nil
	}
	out := r.b[r.at : r.at+n]
	r.at += n
	return out
}

// number reads 4 or 8 bytes; what no length can be is an error.
func (r *reader) number(wide bool) uint64 {
	if wide {
		if b := r.take(8); b != nil {
			return binary.BigEndian.Uint64(b)
		}
	} else if b := r.take(4); b != nil {
		return uint64(binary.BigEndian.Uint32(b))
	}
	return 0
}

// count reads the number of things of which each takes at least so many bytes of the header.
func (r *reader) count(each int) int {
	n := r.number(r.wide)
	if r.err == nil && n > uint64((len(r.b)-r.at)/each) {
		r.fail("%d things", n)
		return 0
	}
	return int(n)
}

// list reads the beginning of a list.
func (r *reader) list(tag uint64, each int) int {
	got := r.number(false)
	n := r.count(each)
	if r.err == nil && got != tag && (got != 0 || n != 0) {
		r.fail("tag %d, need %d", got, tag)
		return 0
	}
	return n
}

func (r *reader) name() string {
	n := r.count(1)
	name := string(r.take(n))
	r.take(-n & 3)
	if r.err == nil && name == "" {
		r.fail("an empty name")
	}
	return name
}

func (r *reader) kind() Type {
	t := Type(r.number(false))
	if r.err == nil && (t.Size() == 0 || t > Double && !r.wide) {
		r.fail("type %d", t)
		return 0
	}
	return t
}

func (r *reader) attrs() (out []Attr) {
	for range r.list(attributes, 12) {
		a := Attr{Name: r.name(), Type: r.kind()}
		n := r.count(max(1, a.Type.Size()))
		b := r.take(n * a.Type.Size())
		r.take(-(n * a.Type.Size()) & 3)
		if r.err != nil {
			return nil
		}
		if a.Type == Char {
			a.Text = strings.TrimRight(string(b), "\x00")
		} else {
			a.Numbers = numbers(a.Type, b)
			if a.Type == Int64 || a.Type == UInt64 {
				a.whole = wholes(b)
			}
		}
		out = append(out, a)
	}
	return out
}

// maxDims bounds a variable's dimensions.
const maxDims = 32

// Decode reads the bytes of a file, which it keeps.
func Decode(b []byte) (*File, error) {
	if IsHDF5(b) {
		return decode4(b)
	}
	if len(b) < 4 || !Is(b) || b[3] != 1 && b[3] != 2 && b[3] != 5 {
		return nil, fmt.Errorf("%w: the file begins with %.4q", ErrFormat, b)
	}
	r := &reader{b: b, at: 4, wide: b[3] == 5, far: b[3] != 1}
	records := r.number(r.wide)
	streaming := records == math.MaxUint32 && !r.wide || records == math.MaxUint64
	f := &File{most: len(b)}
	record := r.dims(f)
	f.Attrs = r.attrs()
	places := r.vars(f, record)
	if r.err != nil {
		return nil, r.err
	}
	stride, records, err := f.records(places, record, records, streaming, uint64(len(b)))
	if err != nil {
		return nil, err
	}
	if record >= 0 {
		f.Dims[record].Len = int(records)
	}
	for i := range f.Vars {
		v, p := &f.Vars[i], places[i]
		need := p.size
		if len(v.Dims) > 0 && v.Dims[0] == record {
			v.stride = int(stride)
			if need = 0; records > 0 {
				need = (records-1)*stride + p.size
			}
		}
		if need == 0 {
			continue
		}
		if p.begin > uint64(len(b)) || need > uint64(len(b))-p.begin {
			return nil, fmt.Errorf("%w: variable %q needs %d bytes from %d on, the file has %d", ErrFormat, v.Name, need, p.begin, len(b))
		}
		v.data = b[p.begin : p.begin+need]
	}
	return f, nil
}

// dims reads the list of dimensions into f, and returns the number of the record dimension, -1 without one.
func (r *reader) dims(f *File) (record int) {
	record = -1
	for i := range r.list(dimensions, 8) {
		d := Dim{Name: r.name()}
		n := r.number(r.wide)
		if n > math.MaxInt32 {
			r.fail("dimension %q of length %d", d.Name, n)
		}
		if r.err != nil {
			return record
		}
		if d.Len = int(n); n == 0 {
			if record >= 0 {
				r.fail("a second record dimension")
			}
			d.Record, record = true, i
		}
		f.Dims = append(f.Dims, d)
	}
	return record
}

// place is where a variable's bytes begin, and how many it has, or one record of it.
type place struct{ size, begin uint64 }

// vars reads the list of variables into f, without their values.
func (r *reader) vars(f *File, record int) (places []place) {
	for range r.list(variables, 24) {
		v := Var{Name: r.name()}
		n := r.count(4)
		if n > maxDims {
			r.fail("variable %q has %d dimensions", v.Name, n)
			n = 0
		}
		for k := range n {
			d := r.number(r.wide)
			if r.err == nil && (d >= uint64(len(f.Dims)) || int(d) == record && k > 0) {
				r.fail("variable %q has dimension %d in place %d", v.Name, d, k)
			}
			v.Dims = append(v.Dims, int(d))
		}
		v.Attrs, v.Type = r.attrs(), r.kind()
		r.number(r.wide) // its size, which the dimensions say, too, and in large files better
		p := place{size: uint64(v.Type.Size()), begin: r.number(r.far)}
		if r.err != nil {
			return nil
		}
		for _, d := range v.Dims {
			if n := uint64(f.Dims[d].Len); d != record {
				if n > 0 && p.size > uint64(len(r.b))/n {
					r.fail("variable %q needs more bytes than the file has", v.Name)
					break
				}
				p.size *= n
			}
		}
		f.Vars, places = append(f.Vars, v), append(places, p)
	}
	return places
}

// records returns how many bytes apart records are, and how many there are: as many as the header says or, if the file was
// streamed, as the size of the file leaves room for. Records of all variables lie side by side, each padded to 4 bytes unless it is
// the only one.
func (f *File) records(places []place, record int, records uint64, streaming bool, size uint64) (stride, n uint64, err error) {
	only, first, many := uint64(0), uint64(math.MaxUint64), 0
	for i := range f.Vars {
		if v := &f.Vars[i]; len(v.Dims) > 0 && v.Dims[0] == record {
			many++
			stride += (places[i].size + 3) &^ 3
			first = min(first, places[i].begin)
			v.record, only = int(places[i].size), places[i].size
		}
	}
	if many == 1 {
		stride = only
	}
	if many > 0 {
		if streaming {
			records = 0
			if stride > 0 && first < size {
				records = (size - first) / stride
			}
		}
		if stride == 0 && records > 0 || stride > 0 && records > size/stride+1 {
			return 0, 0, fmt.Errorf("%w: %d records of %d bytes", ErrFormat, records, stride)
		}
	} else if streaming || records > math.MaxInt32 {
		records = 0
	}
	return stride, records, nil
}

// raw returns a variable's values, big-endian, without gaps; none if they cannot be read, which Check says.
func (f *File) raw(v *Var) []byte {
	if f.load(v) != nil {
		return nil
	}
	if v.stride == v.record {
		return v.data
	}
	out := make([]byte, 0, f.Len(v)*v.Type.Size())
	for at := 0; at < len(v.data); at += v.stride {
		out = append(out, v.data[at:at+v.record]...)
	}
	return out
}

// Strings returns the texts of a variable: those of Char have the length of its last dimension.
func (f *File) Strings(v *Var) []string {
	b := f.raw(v)
	if v.Type == String {
		return v.texts
	}
	n := 1
	if len(v.Dims) > 0 {
		n = f.Dims[v.Dims[len(v.Dims)-1]].Len
	}
	var out []string
	for at := 0; n > 0 && at+n <= len(b); at += n {
		out = append(out, strings.TrimRight(string(b[at:at+n]), "\x00 "))
	}
	return out
}
