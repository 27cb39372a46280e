package netcdf

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Add adds a variable over dimensions that are there, with values that are rounded to its type; NaN becomes the fill
// value, which the variable must have for it if it is of integers.
func (f *File) Add(name string, t Type, dims []int, values []float64, attrs ...Attr) error {
	v := Var{Name: name, Type: t, Dims: dims, Attrs: attrs}
	if err := f.checkDims(name, dims); err != nil {
		return err
	}
	if len(values) != f.Len(&v) || t.Size() == 0 || t == Char {
		return fmt.Errorf("netcdf: variable %q of type %d has %d values, its dimensions %v need %d", name, t, len(values),
			f.Shape(&v), f.Len(&v))
	}
	fill := math.NaN()
	if a := v.Attr("_FillValue"); a != nil && len(a.Numbers) == 1 {
		fill = a.Numbers[0]
	}
	v.data = make([]byte, 0, len(values)*t.Size())
	for _, x := range values {
		if math.IsNaN(x) {
			x = fill
		}
		if math.IsNaN(x) && t != Float && t != Double {
			return fmt.Errorf("netcdf: variable %q of integers lacks a value, and has no _FillValue", name)
		}
		v.data = appendValue(v.data, t, x)
	}
	f.Vars = append(f.Vars, v)
	return nil
}

// checkDims refuses dimensions that the file does not have, or whose product overflows.
func (f *File) checkDims(name string, dims []int) error {
	n := 1
	for _, d := range dims {
		if d < 0 || d >= len(f.Dims) {
			return fmt.Errorf("netcdf: variable %q: dimension %d of %d", name, d, len(f.Dims))
		}
		l := f.Dims[d].Len
		if l < 0 || l > 0 && n > math.MaxInt/8/l {
			return fmt.Errorf("netcdf: variable %q: dimension %q of length %d: no array in memory has so many values", name,
				f.Dims[d].Name, l)
		}
		n *= max(l, 1)
	}
	return nil
}

// AddText adds a variable of texts; dims are those without the one of their length, which is added.
func (f *File) AddText(name string, dims []int, texts []string, attrs ...Attr) error {
	if err := f.checkDims(name, dims); err != nil {
		return err
	}
	longest := 1
	for _, s := range texts {
		longest = max(longest, len(s))
	}
	f.Dims = append(f.Dims, Dim{Name: name + "_length", Len: longest})
	v := Var{Name: name, Type: Char, Dims: append(append([]int(nil), dims...), len(f.Dims)-1), Attrs: attrs}
	for _, s := range texts {
		v.data = append(v.data, s...)
		v.data = append(v.data, make([]byte, longest-len(s))...)
	}
	if len(v.data) != f.Len(&v) {
		return fmt.Errorf("netcdf: variable %q has %d texts, its dimensions %v need others", name, len(texts), f.Shape(&v))
	}
	f.Vars = append(f.Vars, v)
	return nil
}

func appendValue(b []byte, t Type, x float64) []byte {
	be := binary.BigEndian
	switch t {
	case Byte:
		return append(b, byte(int8(x)))
	case UByte:
		return append(b, byte(x))
	case Short:
		return be.AppendUint16(b, uint16(int16(x)))
	case UShort:
		return be.AppendUint16(b, uint16(x))
	case Int:
		return be.AppendUint32(b, uint32(int32(x)))
	case UInt:
		return be.AppendUint32(b, uint32(x))
	case Float:
		return be.AppendUint32(b, math.Float32bits(float32(x)))
	case Int64:
		return be.AppendUint64(b, uint64(int64(x)))
	case UInt64:
		return be.AppendUint64(b, uint64(x))
	}
	return be.AppendUint64(b, math.Float64bits(x))
}

// writer writes a header.
type writer struct {
	h         []byte
	wide, far bool // as in a reader
}

func (w *writer) number(n int, wide bool) {
	if wide {
		w.h = binary.BigEndian.AppendUint64(w.h, uint64(n))
	} else {
		w.h = binary.BigEndian.AppendUint32(w.h, uint32(n))
	}
}

func (w *writer) pad() { w.h = append(w.h, make([]byte, -len(w.h)&3)...) }

func (w *writer) name(s string) {
	w.number(len(s), w.wide)
	w.h = append(w.h, s...)
	w.pad()
}

func (w *writer) list(tag, n int) {
	if n == 0 {
		tag = 0
	}
	w.number(tag, false)
	w.number(n, w.wide)
}

// attrs writes attributes of a variable of type of.
func (w *writer) attrs(all []Attr, of Type) {
	w.list(attributes, len(all))
	for _, a := range all {
		w.name(a.Name)
		if a.Name == "_FillValue" { // of the variable's type
			a.Type = of
		}
		w.number(int(a.Type), false)
		if a.Type == Char {
			w.name(a.Text)
			continue
		}
		w.number(len(a.Numbers), w.wide)
		for _, x := range a.Numbers {
			w.h = appendValue(w.h, a.Type, x)
		}
		w.pad()
	}
}

// places says where the variables of a file go.
type places struct {
	*File
	records, record int // the length of the record dimension and its number, -1 without one
	growing         int // how many variables grow
	begins          []int
}

// grows reports whether a variable has records.
func (p *places) grows(v *Var) bool { return len(v.Dims) > 0 && v.Dims[0] == p.record }

// size is the bytes of a record of a variable that grows, and of all of another.
func (p *places) size(v *Var) int {
	n := len(v.data)
	if p.grows(v) {
		n /= max(1, p.records)
	}
	if p.growing == 1 && p.grows(v) {
		return n
	}
	return (n + 3) &^ 3
}

// header writes the whole header of a file of that version.
func (w *writer) header(p *places, version byte) {
	w.h = append(w.h[:0], 'C', 'D', 'F', version)
	w.number(p.records, w.wide)
	w.list(dimensions, len(p.Dims))
	for _, d := range p.Dims {
		w.name(d.Name)
		if d.Record {
			d.Len = 0
		}
		w.number(d.Len, w.wide)
	}
	w.attrs(p.Attrs, Double)
	w.list(variables, len(p.Vars))
	for i := range p.Vars {
		v := &p.Vars[i]
		w.name(v.Name)
		w.number(len(v.Dims), w.wide)
		for _, d := range v.Dims {
			w.number(d, w.wide)
		}
		w.attrs(v.Attrs, v.Type)
		w.number(int(v.Type), false)
		w.number((p.size(v)+3)&^3, w.wide)
		w.number(p.begins[i], w.far)
	}
}

// Encode writes a file of that version: 1, 2 for more than 2 GiB, or 5, which the unsigned and the 64-bit types need.
func Encode(out io.Writer, f *File, version byte) error {
	w := &writer{wide: version == 5, far: version != 1}
	p := &places{File: f, record: -1, begins: make([]int, len(f.Vars))}
	for i, d := range f.Dims {
		if d.Record {
			p.records, p.record = d.Len, i
		}
	}
	for i := range f.Vars {
		if v := &f.Vars[i]; v.Type > Double && !w.wide {
			return fmt.Errorf("netcdf: variable %q is of a type of CDF-5", v.Name)
		} else if p.grows(v) {
			p.growing++
		}
	}
	w.header(p, version)
	at := len(w.h)
	for _, growing := range []bool{false, true} {
		for i := range f.Vars {
			if v := &f.Vars[i]; p.grows(v) == growing {
				p.begins[i] = at
				at += p.size(v)
			}
		}
	}
	if !w.far && at > math.MaxInt32 {
		return fmt.Errorf("netcdf: %d bytes are too many for CDF-1", at)
	}
	w.header(p, version)
	if _, err := out.Write(w.h); err != nil {
		return err
	}
	return p.values(out)
}

// values writes the values of all variables.
func (p *places) values(out io.Writer) error {
	write := func(b []byte, n int) error {
		if _, err := out.Write(b); err != nil {
			return err
		}
		_, err := out.Write(make([]byte, n-len(b)))
		return err
	}
	for i := range p.Vars {
		if v := &p.Vars[i]; !p.grows(v) {
			if err := write(v.data, p.size(v)); err != nil {
				return err
			}
		}
	}
	for r := range p.records {
		for i := range p.Vars {
			if v := &p.Vars[i]; p.grows(v) {
				n := len(v.data) / p.records
				if err := write(v.data[r*n:(r+1)*n], p.size(v)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
