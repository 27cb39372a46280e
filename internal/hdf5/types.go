package hdf5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Class is what the values of a type are.
type Class int

// The classes, as the format numbers them.
const (
	Integer   Class = 0
	Float     Class = 1
	String    Class = 3 // of a fixed length
	Compound  Class = 6
	Reference Class = 7
	Enum      Class = 8
	Sequence  Class = 9 // of any length; of texts where Base is a String
	Array     Class = 10
)

var classNames = [...]string{"integers", "floating-point numbers", "times", "texts", "bits", "opaque bytes", "compounds", "references",
	"enumerations", "sequences", "arrays", "complex numbers"}

func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("class %d", int(c))
}

// Type is the type of the values of a dataset or an attribute.
type Type struct {
	Class  Class
	Size   int // bytes of a value, at least 1
	Order  binary.ByteOrder
	Signed bool
	// Text says that a Sequence is a text of any length.
	Text bool
	// Base is the type of what a Sequence, an Enum or an Array holds.
	Base *Type
	// Lengths are those of the dimensions of an Array within a Compound.
	Lengths []int
	// Fields are those of a Compound, nil where they are not known.
	Fields []Field
	// odd says why numbers of the type are not read: they do not fill their bytes.
	odd string
}

// Field is a part of a Compound, at a byte of its.
type Field struct {
	Name string
	At   int
	Type *Type
}

// Check is an error where values of a type are not numbers, enumerations of numbers, or texts, which are all that is read.
func (t *Type) Check() error {
	switch {
	case t.Class == Enum:
		return t.Base.Check()
	case t.odd != "":
		return fmt.Errorf("%w: values are %s", ErrFormat, t.odd)
	case t.Class == Integer, t.Class == Float, t.Class == String, t.Class == Sequence && t.Text:
		return nil
	case t.Class == Compound:
		return fmt.Errorf("%w: values are %s, not numbers or texts: write each field as a dataset of its own", ErrFormat, t.Class)
	}
	if t.Class == Array && t.Base != nil && product(t.Lengths) > mostParts {
		return fmt.Errorf("%w: values are arrays of %d each, of which no more than %d become columns", ErrFormat, product(t.Lengths),
			mostParts)
	}
	return fmt.Errorf("%w: values are %s, not numbers or texts", ErrFormat, t.Class)
}

// mostParts bounds the values of an array in a field that become columns.
const mostParts = 64

// parts are the values of a field that is an array of numbers or texts as fields of their own, name[0] or name[0][1], or the field.
func (f Field) parts() []Field {
	t := f.Type
	if t.Class != Array || t.Base == nil || t.Base.Check() != nil {
		return []Field{f}
	}
	n := product(t.Lengths)
	if n > mostParts {
		return []Field{f}
	}
	out := make([]Field, n)
	for i := range out {
		name, rest, inner := f.Name, i, n
		for _, length := range t.Lengths {
			inner /= length
			name += fmt.Sprintf("[%d]", rest/inner)
			rest %= inner
		}
		out[i] = Field{name, f.At + i*t.Base.Size, t.Base}
	}
	return out
}

// Numeric is the type without its names, if it is an enumeration.
func (t *Type) Numeric() *Type {
	if t.Class == Enum {
		return t.Base
	}
	return t
}

// mostNested bounds types within types.
const mostNested = 8

// datatype reads a type.
func (r *reader) datatype(nested int) *Type {
	b := r.byte()
	version, class := b>>4, Class(b&15)
	bits := r.number(3)
	t := &Type{Class: class, Size: r.small(4), Order: binary.LittleEndian}
	if r.err == nil && (version < 1 || version > 5 || t.Size < 1) {
		r.fail("a type of version %d and %d bytes", version, t.Size)
	}
	if nested > mostNested {
		r.fail("types within types")
	}
	if r.err != nil {
		return t
	}
	if bits&1 != 0 {
		t.Order = binary.BigEndian
	}
	switch class {
	case Integer:
		t.Signed = bits&8 != 0
		if at, n := r.number(2), r.number(2); at != 0 || n != 8*uint64(t.Size) || t.Size&(t.Size-1) != 0 || t.Size > 8 {
			t.odd = fmt.Sprintf("integers of %d bits in %d bytes", n, t.Size)
		}
	case Float:
		r.ieee(t, bits)
	case Enum:
		t.Base = r.datatype(nested + 1)
		if r.err == nil && (t.Base.Class != Integer || t.Base.Size != t.Size) {
			r.fail("an enumeration of %s", t.Base.Class)
		}
		if nested > 0 { // what follows is of another type
			n := int(bits & 0xffff)
			for range n {
				r.member(version)
			}
			r.skip(n * t.Size)
		}
	case Compound:
		own := *r // the other datasets of the file are read where fields are of kinds that nobody knows
		if fields := own.fields(t, version, int(bits&0xffff), nested); own.err == nil {
			t.Fields, r.at = fields, own.at
		} else if nested > 0 {
			r.err = own.err
		}
	case Array:
		rank := int(r.byte())
		const old = 3
		if version < old {
			r.skip(3)
		}
		for range min(rank, maxRank+1) {
			t.Lengths = append(t.Lengths, r.small(4))
		}
		if version < old {
			r.skip(4 * rank) // in which order they are
		}
		if nested > 0 {
			t.Base = r.datatype(nested + 1)
			r.checkArray(t)
		}
	case Sequence:
		t.Text = bits&15 == 1
		t.Base = r.datatype(nested + 1)
		if r.err == nil && t.Size != 8+r.f.offsets {
			r.fail("sequences of %d bytes", t.Size)
		}
	default:
		r.other(class, bits)
	}
	return t
}

// checkArray refuses an array whose values do not fill its bytes.
func (r *reader) checkArray(t *Type) {
	if r.err != nil {
		return
	}
	n := 1
	for _, length := range t.Lengths {
		if length < 1 || n > t.Size/length {
			r.fail("an array of %d values in %d bytes", t.Lengths, t.Size)
			return
		}
		n *= length
	}
	if len(t.Lengths) > maxRank || n > t.Size/t.Base.Size || n*t.Base.Size != t.Size {
		r.fail("an array of %d values of %d bytes in %d", t.Lengths, t.Base.Size, t.Size)
	}
}

// other passes over what is said of types of other classes: times, bits and opaque bytes, which are not read.
func (r *reader) other(class Class, bits uint64) {
	const times, someBits, opaque = 2, 4, 5
	switch class {
	case times:
		r.skip(2)
	case someBits:
		r.skip(4)
	case opaque:
		r.skip(int(bits & 0xff))
	}
}

// member reads the name of a field or of a number of an enumeration, which versions before 3 fill up to eight bytes.
func (r *reader) member(version byte) string {
	end := -1
	if r.err == nil {
		end = bytes.IndexByte(r.b[r.at:], 0)
	}
	if end < 0 {
		r.fail("a name without an end")
		return ""
	}
	n := end + 1
	const filled = 3
	if version < filled {
		n = align(8, n)
	}
	return text(r.take(n))
}

// fields reads n fields of a compound, none of which may lie upon another.
func (r *reader) fields(t *Type, version byte, n, nested int) (all []Field) {
	const least = 16 // bytes of a field in a file, which many datasets may have in common
	if r.f.left < n*least {
		r.fail("%d fields, again and again", n)
		return nil
	}
	r.f.left -= n * least
	rest := t.Size
	for range n {
		f := Field{Name: r.member(version)}
		switch version {
		case 1:
			f.At = r.small(4)
			r.skip(28) // dimensions, which no library writes
		case 2:
			f.At = r.small(4)
		default:
			f.At = r.small((bits.Len(uint(t.Size)) + 7) / 8)
		}
		if f.Type = r.datatype(nested + 1); r.err != nil {
			return nil
		}
		if r.f.left -= (len(f.parts()) - 1) * least; r.f.left < 0 {
			r.fail("%d fields and their arrays, again and again", n)
			return nil
		}
		if rest -= f.Type.Size; rest < 0 || f.At > t.Size-f.Type.Size {
			r.fail("a field beyond its %d bytes", t.Size)
			return nil
		}
		all = append(all, f)
	}
	return all
}

// ieee reads the form of floating-point numbers, which is that of IEEE 754 wherever they are read.
func (r *reader) ieee(t *Type, bits uint64) {
	at, n := r.number(2), r.number(2)
	form := [5]uint64{r.number(1), r.number(1), r.number(1), r.number(1), r.number(4)}
	want, ok := map[int][5]uint64{2: {10, 5, 0, 10, 15}, 4: {23, 8, 0, 23, 127}, 8: {52, 11, 0, 52, 1023}}[t.Size]
	if !ok || at != 0 || n != 8*uint64(t.Size) || form != want || bits&0x40 != 0 {
		t.odd = fmt.Sprintf("floating-point numbers of %d bits, %d of them the exponent's, in %d bytes", n, form[1], t.Size)
	}
}

// dataspace reads a shape and the lengths that it may grow to, which are at least the shape's: nil and none for a single value, false for
// none at all.
func (r *reader) dataspace() (shape, most []uint64, ok bool) {
	version := r.byte()
	rank, flags := int(r.byte()), r.byte()
	switch version {
	case 1:
		r.skip(5)
	case 2:
		if kind := r.byte(); kind == 2 {
			return nil, nil, false
		}
	default:
		r.fail("a shape of version %d", version)
	}
	if rank > maxRank {
		r.fail("%d dimensions", rank)
	}
	for range rank {
		if r.err != nil {
			return nil, nil, false
		}
		shape = append(shape, r.size())
	}
	most = shape
	if flags&1 != 0 {
		most = nil
		for k := range shape {
			n := r.size()
			if r.f.length < 8 && n == 1<<(8*r.f.length)-1 {
				n = unlimited
			}
			if n < shape[k] {
				r.fail("a length of %d, at most %d", shape[k], n)
			}
			most = append(most, n)
		}
	}
	return shape, most, r.err == nil
}

// maxRank bounds the dimensions of a dataset, unlimited is a length without bound.
const (
	maxRank   = 32
	unlimited = 1<<64 - 1
)
