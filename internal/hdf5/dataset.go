package hdf5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// Dataset is an array of values.
type Dataset struct {
	Name string
	// Address is what references call it.
	Address uint64
	// Shape has the length of each dimension, nil of a single value. Null says that there is no value at all.
	Shape []int
	Null  bool
	Type  *Type
	Attrs []Attr

	f    *File
	most []uint64 // lengths that the shape may grow to
	layout
	filters []filter
	fill    []byte // a value, nil: zeros
	inflate io.ReadCloser
	zstd    Decoder

	of      *Dataset // whose field this is, from a byte of each value on; nil: it is none
	from    int
	records []byte // the values of a dataset of compounds, for its fields
}

// Fields are the fields of a dataset of compounds as datasets of their own, and the values of a field that is an array, as name[0]; nil: it
// is none, or they are not known.
func (d *Dataset) Fields() (out []*Dataset) {
	var all []Field
	for _, f := range d.Type.Fields {
		all = append(all, f.parts()...)
	}
	for _, f := range all {
		own := &Dataset{Name: f.Name, Address: d.Address, Shape: d.Shape, Null: d.Null, Type: f.Type, f: d.f, most: d.most, of: d,
			from: f.At}
		if fill := d.Fill(); fill != nil {
			own.fill = fill[f.At : f.At+f.Type.Size]
		}
		out = append(out, own)
	}
	return out
}

// field reads a field.
func (d *Dataset) field() ([]byte, error) {
	if d.of.records == nil {
		var err error
		if d.of.records, err = d.of.Read(); err != nil {
			return nil, err
		}
	}
	out := make([]byte, 0, product(d.Shape)*d.Type.Size)
	for at := d.from; at+d.Type.Size <= len(d.of.records); at += d.of.Type.Size {
		out = append(out, d.of.records[at:at+d.Type.Size]...)
	}
	return out, nil
}

// Attr is an attribute of a dataset or of the file.
type Attr struct {
	Name  string
	Shape []int
	Null  bool
	Type  *Type
	Data  []byte // as the type has them

	f *File
}

// lengths brings a shape to int, where its product is one, too; false: it is not.
func lengths(shape []uint64) (out []int, ok bool) {
	n := uint64(1)
	for _, l := range shape {
		if l > math.MaxInt32 || l > 0 && n > math.MaxInt/8/l {
			return nil, false
		}
		n *= max(l, 1)
		out = append(out, int(l))
	}
	return out, true
}

func product(shape []int) int {
	n := 1
	for _, l := range shape {
		n *= l
	}
	return n
}

// Grows reports whether a dimension may grow without bound.
func (d *Dataset) Grows(k int) bool { return k < len(d.most) && d.most[k] == unlimited }

// Attr returns the attribute of that name, nil without one.
func (d *Dataset) Attr(name string) *Attr {
	for i := range d.Attrs {
		if d.Attrs[i].Name == name {
			return &d.Attrs[i]
		}
	}
	return nil
}

// Fill returns the value that the file says of places that were never written, nil if it says none.
func (d *Dataset) Fill() []byte {
	if len(d.fill) != d.Type.Size {
		return nil
	}
	return bytes.Clone(d.fill)
}

// FillText is Fill of a dataset of texts, "" if the file says none.
func (d *Dataset) FillText() (string, error) {
	out, err := d.f.texts(d.Type, d.Fill())
	if err != nil || len(out) == 0 {
		return "", err
	}
	return out[0], nil
}

// dataset reads what the messages of a dataset say.
func (f *File) dataset(m messages, name string, address uint64) (*Dataset, error) {
	d := &Dataset{Name: name, Address: address, f: f}
	r, space := m.one(msgDatatype), m.one(msgDataspace)
	if r == nil || space == nil {
		return nil, fmt.Errorf("%w: byte %d: a dataset without type or shape", ErrFormat, address)
	}
	d.Type = r.datatype(0)
	shape, most, ok := space.dataspace()
	for _, r := range []*reader{r, space} {
		if r.err != nil {
			return nil, r.err
		}
	}
	d.Null, d.most = !ok, most
	if d.Shape, ok = lengths(shape); !ok { // the others of the file may be read
		own := *d.Type.Numeric()
		own.odd, d.Type = fmt.Sprintf("too many: its shape is %d", shape), &own
		return d, nil
	}
	if r := m.one(msgFill); r != nil {
		d.fill = r.fill()
	} else if r := m.one(msgOldFill); r != nil { // of before 2001
		d.fill = r.take(r.small(4))
	}
	if r := m.one(msgFilters); r != nil {
		if d.filters = r.filters(); r.err != nil {
			return nil, r.err
		}
	}
	if m.one(msgExternal) != nil {
		d.unread = "its values are in other files"
	}
	r = m.one(msgLayout)
	d.readLayout(r)
	if r.err != nil {
		return nil, r.err
	}
	var err error
	d.Attrs, err = f.attributes(m)
	return d, err
}

// fill reads the value of what was never written, nil if there is none.
func (r *reader) fill() []byte {
	defined := true
	switch version := r.byte(); version {
	case 1, 2:
		r.skip(2)
		defined = r.byte() != 0 || version == 1
	case 3:
		defined = r.byte()&0x20 != 0
	default:
		defined = false
	}
	if !defined || r.err != nil {
		return nil
	}
	return r.take(r.small(4))
}

// attributes returns the attributes of an object.
func (f *File) attributes(m messages) (all []Attr, err error) {
	add := func(r *reader) error {
		a := r.attribute()
		if r.err != nil {
			return r.err
		}
		all = append(all, a)
		return nil
	}
	for _, x := range m {
		if x.kind == msgAttribute {
			if err := add(x.r); err != nil {
				return nil, err
			}
		}
	}
	r := m.one(msgAttributeInfo)
	if r == nil {
		return all, nil
	}
	err = f.dense(r, 2, func(kind int, _ *reader) int {
		if kind == 8 || kind == 9 {
			return 0
		}
		return -1
	}, func(b []byte) error {
		return add(&reader{f: f, what: "an attribute", b: b})
	})
	return all, err
}

// attribute reads an attribute.
func (r *reader) attribute() (a Attr) {
	version := r.byte()
	flags := r.byte()
	if version < 1 || version > 3 {
		r.fail("version %d", version)
	}
	n, typeBytes, spaceBytes := int(r.number(2)), int(r.number(2)), int(r.number(2))
	to := 1
	switch version {
	case 1:
		to, flags = 8, 0
	case 3:
		r.skip(1)
	}
	part := func(n int) *reader { return r.within(r.take(align(to, n))) }
	a.f = r.f
	a.Name = text(part(n).b)
	kind, space := part(typeBytes), part(spaceBytes)
	if r.err != nil {
		return a
	}
	if flags&1 != 0 {
		kind = (&blocks{f: r.f}).elsewhere(kind, msgDatatype)
	}
	if flags&2 != 0 {
		space = (&blocks{f: r.f}).elsewhere(space, msgDataspace)
	}
	a.Type = kind.datatype(0)
	shape, _, ok := space.dataspace()
	a.Null = !ok
	if a.Shape, ok = lengths(shape); !ok {
		r.fail("attribute %q: a shape of %d", a.Name, shape)
	}
	for _, part := range []*reader{kind, space} {
		if part.err != nil && r.err == nil {
			r.err = part.err
		}
	}
	if r.err != nil || a.Null {
		return a
	}
	size := product(a.Shape)
	if size > len(r.b)/a.Type.Size {
		r.fail("attribute %q: %d values of %d bytes", a.Name, size, a.Type.Size)
		return a
	}
	a.Data = r.take(size * a.Type.Size)
	return a
}

// Texts returns the values of an attribute that is of texts.
func (a *Attr) Texts() ([]string, error) { return a.f.texts(a.Type, a.Data) }

// References returns what an attribute of sequences of references, one sequence for each dimension of a dataset, refers to: addresses.
func (a *Attr) References() (out [][]uint64, err error) {
	if a.Type.Class != Sequence || a.Type.Base.Class != Reference {
		return nil, fmt.Errorf("%w: attribute %q is of %s", ErrFormat, a.Name, a.Type.Class)
	}
	for at := 0; at+a.Type.Size <= len(a.Data); at += a.Type.Size {
		b, n, err := a.f.sequence(a.Data[at : at+a.Type.Size])
		if err != nil {
			return nil, err
		}
		r := &reader{f: a.f, what: "references", b: b}
		var all []uint64
		for range n {
			if r.err == nil {
				all = append(all, r.address())
			}
		}
		if r.err != nil {
			return nil, r.err
		}
		out = append(out, all)
	}
	return out, nil
}

// sequence returns the bytes of a sequence, and the number of its values.
func (f *File) sequence(b []byte) (data []byte, n int, err error) {
	r := &reader{f: f, what: "a sequence", b: b}
	n = r.small(4)
	address, index := r.address(), r.number(4)
	if n == 0 || address == 0 || address == undefined || r.err != nil {
		return nil, 0, r.err
	}
	if data, err = f.global(address, index); err == nil {
		if f.left -= len(data); f.left < 0 {
			r.fail("the file's texts are read again and again")
			return nil, 0, r.err
		}
	}
	return data, min(n, len(data)), err
}

// mostKnown is how many texts are compared with those of a fixed length that follow, so that equal ones are one in memory.
const mostKnown = 1 << 12

// textsOf is an error where n texts of a type, for each of which there are a string and what it is of, take too much memory.
func (f *File) textsOf(t *Type, n int) error {
	const head = 16
	if most := max(Most(f.b), head*len(f.b)); n > most/(head+t.Size) {
		return fmt.Errorf("%w: %d texts of %d bytes are too many for a file of %d bytes", ErrFormat, n, t.Size, len(f.b))
	}
	return nil
}

// texts returns values of a type of texts. Those that are one object of the file are one in memory, too, however many refer to it.
func (f *File) texts(t *Type, b []byte) (out []string, err error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if err := f.textsOf(t, len(b)/t.Size); err != nil {
		return nil, err
	}
	known := map[string]string{}
	out = make([]string, 0, len(b)/t.Size)
	for at := 0; at+t.Size <= len(b); at += t.Size {
		own := b[at : at+t.Size]
		switch {
		case t.Class == String:
			s, ok := known[string(own)]
			if !ok {
				s = strings.TrimRight(text(own), " ")
				if len(known) < mostKnown {
					known[string(own)] = s
				}
			}
			out = append(out, s)
		case t.Text:
			s, ok := known[string(own)]
			if !ok {
				data, n, err := f.sequence(own)
				if err != nil {
					return nil, err
				}
				s = text(data[:n])
				known[string(own)] = s
			}
			out = append(out, s)
		default:
			return nil, fmt.Errorf("%w: values are %s, not texts", ErrFormat, t.Class)
		}
	}
	return out, nil
}

// Texts returns the values of a dataset of texts.
func (d *Dataset) Texts() ([]string, error) {
	if err := d.f.textsOf(d.Type, product(d.Shape)); err != nil {
		return nil, fmt.Errorf("%q: %w", d.Name, err)
	}
	b, err := d.Read()
	if err != nil {
		return nil, err
	}
	out, err := d.f.texts(d.Type, b)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", d.Name, err)
	}
	return out, nil
}

// BigEndian changes the order of bytes of values of a type in place.
func (t *Type) BigEndian(b []byte) {
	if t = t.Numeric(); t.Order == binary.BigEndian {
		return
	}
	for at := 0; at+t.Size <= len(b); at += t.Size {
		own := b[at : at+t.Size]
		for i, j := 0, len(own)-1; i < j; i, j = i+1, j-1 {
			own[i], own[j] = own[j], own[i]
		}
	}
}
