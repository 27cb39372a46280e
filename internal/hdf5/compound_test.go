package hdf5

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// typeOf is a type of a version, of a class, with bits, of so many bytes, and what follows.
func typeOf(version, class byte, bits uint32, size int, rest ...byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, bits<<8|uint32(version<<4|class))
	return append(binary.LittleEndian.AppendUint32(b, uint32(size)), rest...)
}

// TestFields reads compounds of all versions, with fields of kinds that are not read between those that are.
func TestFields(t *testing.T) {
	integer := func(version byte, size int) []byte { return typeOf(version, 0, 8, size, 0, 0, byte(8*size), 0) }
	for _, version := range []byte{1, 2, 3, 5} {
		member := func(name string, at int, kind []byte) []byte {
			b := append([]byte(name), 0)
			for version < 3 && len(b)%8 != 0 {
				b = append(b, 0)
			}
			switch {
			case version < 3:
				b = binary.LittleEndian.AppendUint32(b, uint32(at))
			default:
				b = append(b, byte(at))
			}
			if version == 1 {
				b = append(b, make([]byte, 28)...)
			}
			return append(b, kind...)
		}
		names := []byte("FALSE\x00TRUE\x00")
		array := append([]byte{1, 2, 0, 0, 0}, integer(version, 8)...)
		if version < 3 {
			names = []byte("FALSE\x00\x00\x00TRUE\x00\x00\x00\x00")
			array = append([]byte{1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}, integer(version, 8)...)
		}
		flag := append(append(integer(version, 1), names...), 0, 1)
		var all []byte
		for _, part := range [][]byte{member("i", 0, integer(version, 4)), member("flag", 4, typeOf(version, 8, 2, 1, flag...)),
			member("text", 5, typeOf(version, 3, 0, 3)), member("list", 8, typeOf(version, 10, 0, 16, array...)),
			member("opaque", 24, typeOf(version, 5, 8, 8, []byte("a tag\x00\x00\x00")...)), member("last", 32, integer(version, 8))} {
			all = append(all, part...)
		}
		b := typeOf(version, 6, 6, 40, all...)
		r := &reader{f: &File{offsets: 8, length: 8, left: 1 << 20}, what: "a type", b: b}
		kind := r.datatype(0)
		require.NoError(t, r.err)
		var found []string
		var readable []bool
		for _, f := range kind.Fields {
			found = append(found, f.Name)
			readable = append(readable, f.Type.Check() == nil)
		}
		require.Equal(t, []string{"i", "flag", "text", "list", "opaque", "last"}, found, version)
		require.Equal(t, []bool{true, true, true, false, false, true}, readable)
		require.Equal(t, Field{"last", 32, kind.Fields[5].Type}, kind.Fields[5])
		var parts []string
		for _, d := range (&Dataset{Type: kind, f: r.f}).Fields() {
			parts = append(parts, fmt.Sprint(d.Name, " ", d.from, " ", d.Type.Check() == nil))
		}
		require.Equal(t, []string{"i 0 true", "flag 4 true", "text 5 true", "list[0] 8 true", "list[1] 16 true", "opaque 24 false",
			"last 32 true"}, parts)
		for cut := 8; cut < len(b); cut++ { // no fields, and no other error, as the other datasets may be read
			r := &reader{f: r.f, what: "a type", b: b[:cut]}
			require.Nil(t, r.datatype(0).Fields)
			require.NoError(t, r.err)
		}
		binary.LittleEndian.PutUint32(b[4:], 39)
		require.Nil(t, (&reader{f: r.f, what: "a type", b: b}).datatype(0).Fields, "beyond its bytes")
		binary.LittleEndian.PutUint32(b[4:], 40)
		require.Nil(t, (&reader{f: &File{left: 95}, what: "a type", b: b}).datatype(0).Fields, "read again and again")
	}
}

// TestArrayFields: the values of a field that is an array are fields of their own, the last index fastest, unless they are many.
func TestArrayFields(t *testing.T) {
	number := &Type{Class: Integer, Size: 2}
	names := func(lengths ...int) (out []string) {
		f := Field{"a", 10, &Type{Class: Array, Size: 2 * product(lengths), Base: number, Lengths: lengths}}
		for _, part := range f.parts() {
			out = append(out, fmt.Sprint(part.Name, " ", part.At))
		}
		return out
	}
	require.Equal(t, []string{"a[0] 10"}, names(1))
	require.Equal(t, []string{"a[0][0] 10", "a[0][1] 12", "a[1][0] 14", "a[1][1] 16", "a[2][0] 18", "a[2][1] 20"}, names(3, 2))
	require.Len(t, names(mostParts), mostParts)
	require.Equal(t, []string{"a 10"}, names(mostParts+1))
	long := &Type{Class: Array, Size: 2 * (mostParts + 1), Base: number, Lengths: []int{mostParts + 1}}
	require.ErrorContains(t, long.Check(), "values are arrays of 65 each, of which no more than 64 become columns")
	references := &Type{Class: Array, Size: 8, Base: &Type{Class: Reference, Size: 8}, Lengths: []int{1}}
	require.Equal(t, "b", Field{"b", 0, references}.parts()[0].Name)
	for _, c := range []struct {
		lengths []int
		size    int
	}{{[]int{0}, 0}, {[]int{3}, 4}, {[]int{1 << 30, 1 << 30, 1 << 30, 1 << 30}, 1}, {[]int{2}, 6}} {
		r := &reader{f: &File{}}
		r.checkArray(&Type{Size: c.size, Base: number, Lengths: c.lengths})
		require.ErrorIs(t, r.err, ErrFormat, c.lengths)
	}
}
