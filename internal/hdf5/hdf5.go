// Package hdf5 reads HDF5 files, the format under NetCDF-4: groups, datasets of numbers and texts, and their attributes.
//
// It reads what libraries have written since 1998: superblocks 0 to 3, object headers 1 and 2, groups by symbol tables, links or fractal
// heaps, values in the header, in one piece or in chunks under any of the six indexes, and the filters deflate, shuffle, Fletcher's
// checksum, bzip2, LZF and Zstandard. A file may begin with a block of its user's, as those of MATLAB 7.3 do. The fields of compounds are
// datasets of their own. What it does not read, such as virtual datasets or szip, is an error that says so.
//
// The reader does not trust its input: structures that have a checksum are compared with it, an address or a length is compared with the
// bytes that are there before anything is read or allocated, and a file whose structures refer to each other in circles is an error.
// Format: https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html.
package hdf5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrFormat is wrapped by every error about the content of a file.
var ErrFormat = errors.New("not an HDF5 file that can be read")

const signature = "\x89HDF\r\n\x1a\n"

// Head is how many bytes of a file Is needs, unless a block of its user's of more than 4 KiB stands before it.
const Head = 4096 + len(signature)

// Is reports whether bytes begin as an HDF5 file, or as one after a block of its user's, which MATLAB's files have.
func Is(b []byte) bool { return beginning(b) >= 0 }

// beginning is where an HDF5 file begins: at once, or after a user's block of 512 bytes, 1,024, and so on; -1 is nowhere.
func beginning(b []byte) int {
	for at := 0; at+len(signature) <= len(b); at = max(512, 2*at) {
		if string(b[at:at+len(signature)]) == signature {
			return at
		}
	}
	return -1
}

// File is an HDF5 file.
type File struct {
	b               []byte // from the superblock on, from which addresses count
	offsets, length int    // bytes of an address and of a length
	root            uint64
	// left is how many bytes of structures may still be read. A file holds each once, so that more than a few times its size is a circle.
	left int
	// collections are the global heap collections that were read.
	collections map[uint64]map[uint64][]byte
	heaps       int // bytes of further collections that there can be, none of which is part of another
	// shared are messages that others stand for: those of types that have names.
	shared map[place]reader
}

// place is a message of a kind of an object.
type place struct {
	address uint64
	kind    int
}

// Open reads where a file begins; it keeps the bytes.
func Open(b []byte) (*File, error) {
	at := beginning(b)
	if at < 0 {
		return nil, fmt.Errorf("%w: it begins with %.8q", ErrFormat, b)
	}
	b = b[at:]
	f := &File{b: b, offsets: 8, length: 8, heaps: len(b), shared: map[place]reader{}}
	f.refill()
	r := f.open("the superblock", signature, 0)
	switch version := r.byte(); version {
	case 0, 1:
		r.skip(4)
		f.offsets, f.length = int(r.byte()), int(r.byte())
		r.skip(9)
		if version == 1 {
			r.skip(4)
		}
		f.sizes(r)
		r.skip(4 * f.offsets) // the first says where the superblock is, which it does not know if the file was moved
		r.skip(f.length)      // the name of the root group
		f.root = r.address()
	case 2, 3:
		f.offsets, f.length = int(r.byte()), int(r.byte())
		r.skip(1)
		f.sizes(r)
		r.skip(3 * f.offsets)
		f.root = r.address()
		r.verify(0)
	default:
		r.fail("version %d", version)
	}
	return f, r.err
}

// sizes checks the sizes of addresses and lengths, which the superblock has just said.
func (f *File) sizes(r *reader) {
	for _, n := range []int{f.offsets, f.length} {
		if n != 2 && n != 4 && n != 8 {
			r.fail("addresses of %d bytes and lengths of %d", f.offsets, f.length)
		}
	}
}

// refill gives a task that begins its share of bytes to read.
func (f *File) refill() { f.left = 4*len(f.b) + 1<<16 }

// rest is how many bytes there are from an address on, -1 from one that is beyond the end.
func (f *File) rest(address uint64) int {
	if address > uint64(len(f.b)) {
		return -1
	}
	return len(f.b) - int(address)
}

// bytes returns n bytes from an address on.
func (f *File) bytes(what string, address uint64, n int) ([]byte, error) {
	if n < 0 || n > f.rest(address) {
		return nil, fmt.Errorf("%w: byte %d: %s of %d bytes is beyond the file's %d", ErrFormat, address, what, n, len(f.b))
	}
	if f.left -= n; f.left < 0 {
		return nil, fmt.Errorf("%w: byte %d: %s: the file's structures are read again and again", ErrFormat, address, what)
	}
	at := int(address)
	return f.b[at : at+n : at+n], nil
}

// reader reads little-endian numbers from a structure of a file. After the first error it returns zeros.
type reader struct {
	f     *File
	what  string
	begin uint64 // the address of b
	b     []byte
	at    int
	err   error
}

// reader reads n bytes from an address on, which errors call what; those that were not needed are not counted as read.
func (f *File) reader(what string, address uint64, n int) *reader {
	r := &reader{f: f, what: what, begin: address}
	r.b, r.err = f.bytes(what, address, n)
	return r
}

// open reads from an address to the end of the file, and expects a signature.
func (f *File) open(what, signature string, address uint64) *reader {
	r := &reader{f: f, what: what, begin: address}
	if n := f.rest(address); n > 0 {
		r.b = f.b[int(address):]
	}
	if got := r.take(len(signature)); r.err == nil && string(got) != signature {
		r.at = 0
		r.fail("begins with %.8q instead of %q", got, signature)
	}
	if f.left -= 64; f.left < 0 {
		r.fail("the file's structures are read again and again")
	}
	return r
}

// within reads part of a structure that was read.
func (r *reader) within(b []byte) *reader {
	return &reader{f: r.f, what: r.what, begin: r.begin + uint64(r.at-len(b)), b: b, err: r.err}
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: byte %d: %s: %s", ErrFormat, r.begin+uint64(r.at), r.what, fmt.Sprintf(format, args...))
	}
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b)-r.at {
		r.fail("it ends")
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at : r.at]
}

func (r *reader) skip(n int) { r.take(n) }

// number reads a number of n bytes.
func (r *reader) number(n int) uint64 {
	var v [8]byte
	if n > len(v) {
		r.fail("a number of %d bytes", n)
		return 0
	}
	copy(v[:], r.take(n))
	return binary.LittleEndian.Uint64(v[:])
}

func (r *reader) byte() byte { return byte(r.number(1)) }

// small reads a number of n bytes that is the size or the number of something in memory.
func (r *reader) small(n int) int {
	v := r.number(n)
	if v > math.MaxInt32 {
		r.fail("a size of %d", v)
		return 0
	}
	return int(v)
}

// undefined is the address of nothing.
const undefined = math.MaxUint64

func (r *reader) address() uint64 {
	v := r.number(r.f.offsets)
	if r.f.offsets < 8 && v == 1<<(8*r.f.offsets)-1 {
		return undefined
	}
	return v
}

func (r *reader) size() uint64 { return r.number(r.f.length) }

// text reads up to n bytes that a zero may end.
func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
