package hdf5

import "math/bits"

// unchecked leaves checksums out: tests set it, as bytes that were changed at random would come no further.
var unchecked bool

// verify compares the checksum that stands n bytes ahead with that of what is before it, from the beginning of the structure.
func (r *reader) verify(n int) { r.verifyFrom(0, n) }

// verifyFrom is verify of a part of the structure, from a place on.
func (r *reader) verifyFrom(from, n int) {
	if r.err != nil || unchecked {
		return
	}
	end := r.at + n
	if n < 0 || end < r.at || len(r.b)-end < 4 {
		r.fail("it ends before its checksum")
		return
	}
	if got, want := lookup3(r.b[from:end]), le.Uint32(r.b[end:]); got != want {
		r.fail("its checksum is %#x, not %#x", got, want)
	}
}

// lookup3 is Bob Jenkins' hash of 2006 (https://burtleburtle.net/bob/c/lookup3.c, hashlittle), which structures of the second version end
// with.
func lookup3(k []byte) uint32 {
	a := 0xdeadbeef + uint32(len(k))
	b, c := a, a
	rot := bits.RotateLeft32
	for ; len(k) > 12; k = k[12:] {
		a, b, c = a+le.Uint32(k), b+le.Uint32(k[4:]), c+le.Uint32(k[8:])
		a = (a - c) ^ rot(c, 4)
		c += b
		b = (b - a) ^ rot(a, 6)
		a += c
		c = (c - b) ^ rot(b, 8)
		b += a
		a = (a - c) ^ rot(c, 16)
		c += b
		b = (b - a) ^ rot(a, 19)
		a += c
		c = (c - b) ^ rot(b, 4)
		b += a
	}
	if len(k) == 0 {
		return c
	}
	var last [12]byte
	copy(last[:], k)
	a, b, c = a+le.Uint32(last[:]), b+le.Uint32(last[4:]), c+le.Uint32(last[8:])
	c = (c ^ b) - rot(b, 14)
	a = (a ^ c) - rot(c, 11)
	b = (b ^ a) - rot(a, 25)
	c = (c ^ b) - rot(b, 16)
	a = (a ^ c) - rot(c, 4)
	b = (b ^ a) - rot(a, 14)
	return (c ^ b) - rot(b, 24)
}
