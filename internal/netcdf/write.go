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

// Encode writes a file of that version: 1, 2 for more than 2 GiB, or 5, which the unsigned and the 64-bit types need.
func Encode(w io.Writer, f *File, version byte) error {
	wide, far := version == 5, version != 1
	be := binary.BigEndian
	var h []byte
	number := func(n int, wide bool) {
		if wide {
			h = be.AppendUint64(h, uint64(n))
		} else {
			h = be.AppendUint32(h, uint32(n))
		}
	}
	pad := func() { h = append(h, make([]byte, -len(h)&3)...) }
	name := func(s string) {
		number(len(s), wide)
		h = append(h, s...)
		pad()
	}
	list := func(tag, n int) {
		if n == 0 {
			tag = 0
		}
		number(tag, false)
		number(n, wide)
	}
	attrs := func(all []Attr, of Type) {
		list(attributes, len(all))
		for _, a := range all {
			name(a.Name)
			if a.Name == "_FillValue" { // of the variable's type
				a.Type = of
			}
			number(int(a.Type), false)
			if a.Type == Char {
				name(a.Text)
				continue
			}
			number(len(a.Numbers), wide)
			for _, x := range a.Numbers {
				h = appendValue(h, a.Type, x)
			}
			pad()
		}
	}
	records, record := 0, -1
	for i, d := range f.Dims {
		if d.Record {
			records, record = d.Len, i
		}
	}
	grows := func(v *Var) bool { return len(v.Dims) > 0 && v.Dims[0] == record }
	many := 0
	for i := range f.Vars {
		if v := &f.Vars[i]; v.Type > Double && !wide {
			return fmt.Errorf("netcdf: variable %q is of a type of CDF-5", v.Name)
		} else if grows(v) {
			many++
		}
	}
	size := func(v *Var) int { // of a record, or of all
		n := len(v.data)
		if grows(v) {
			n /= max(1, records)
		}
		if many == 1 && grows(v) {
			return n
		}
		return (n + 3) &^ 3
	}
	header := func(begins []int) {
		h = append(h[:0], 'C', 'D', 'F', version)
		number(records, wide)
		list(dimensions, len(f.Dims))
		for _, d := range f.Dims {
			name(d.Name)
			if d.Record {
				d.Len = 0
			}
			number(d.Len, wide)
		}
		attrs(f.Attrs, Double)
		list(variables, len(f.Vars))
		for i := range f.Vars {
			v := &f.Vars[i]
			name(v.Name)
			number(len(v.Dims), wide)
			for _, d := range v.Dims {
				number(d, wide)
			}
			attrs(v.Attrs, v.Type)
			number(int(v.Type), false)
			number((size(v)+3)&^3, wide)
			number(begins[i], far)
		}
	}
	begins := make([]int, len(f.Vars))
	header(begins)
	at := len(h)
	for _, growing := range []bool{false, true} {
		for i := range f.Vars {
			if v := &f.Vars[i]; grows(v) == growing {
				begins[i] = at
				at += size(v)
			}
		}
	}
	if !far && at > math.MaxInt32 {
		return fmt.Errorf("netcdf: %d bytes are too many for CDF-1", at)
	}
	header(begins)
	if _, err := w.Write(h); err != nil {
		return err
	}
	write := func(b []byte, n int) error {
		if _, err := w.Write(b); err != nil {
			return err
		}
		_, err := w.Write(make([]byte, n-len(b)))
		return err
	}
	for i := range f.Vars {
		if v := &f.Vars[i]; !grows(v) {
			if err := write(v.data, size(v)); err != nil {
				return err
			}
		}
	}
	for r := range records {
		for i := range f.Vars {
			if v := &f.Vars[i]; grows(v) {
				n := len(v.data) / records
				if err := write(v.data[r*n:(r+1)*n], size(v)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
