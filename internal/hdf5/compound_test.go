package hdf5

import (
	"encoding/binary"
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
