package hdf5

import (
	"bytes"
	"math"
	"math/bits"
)

// heapName returns the text at an offset of a local heap, which holds the names of a symbol table.
func (f *File) localHeap(address uint64) ([]byte, error) {
	r := f.open("a local heap", "HEAP", address)
	r.skip(4)
	size := r.size()
	r.skip(f.length)
	data := r.address()
	if r.err == nil && size > uint64(len(f.b)) {
		r.fail("%d bytes", size)
	}
	if r.err != nil {
		return nil, r.err
	}
	return f.bytes("a local heap", data, int(size))
}

// global returns an object of a global heap collection.
func (f *File) global(address uint64, index uint64) ([]byte, error) {
	all, ok := f.collections[address]
	if !ok {
		var err error
		if all, err = f.collection(address); err != nil {
			return nil, err
		}
		if f.collections == nil {
			f.collections = map[uint64]map[uint64][]byte{}
		}
		f.collections[address] = all
	}
	b, ok := all[index]
	if !ok {
		r := &reader{f: f, what: "a global heap", begin: address}
		r.fail("it has no object %d", index)
		return nil, r.err
	}
	return b, nil
}

// collection reads a collection of a global heap.
func (f *File) collection(address uint64) (map[uint64][]byte, error) {
	r := f.open("a global heap", "GCOL", address)
	r.skip(4)
	size := r.size()
	r.skip(align(8, r.at) - r.at)
	head := uint64(r.at)
	if r.err == nil && (size < head || size > uint64(len(r.b))) {
		r.fail("%d bytes", size)
	}
	if r.err != nil {
		return nil, r.err
	}
	f.left, f.heaps = f.left-int(size), f.heaps-int(size)
	if f.left < 0 || f.heaps < 0 {
		r.fail("the file's structures are read again and again")
	}
	r.b = r.b[:size]
	all := map[uint64][]byte{}
	for r.err == nil && len(r.b)-r.at >= align(8, 8+f.length) {
		index := r.number(2)
		r.skip(6)
		n := r.size()
		r.skip(align(8, f.length) - f.length)
		if index == 0 { // the rest is free
			break
		}
		if n > uint64(len(r.b)) {
			r.fail("an object of %d bytes", n)
			break
		}
		b := r.take(align(8, int(n)))
		if r.err == nil {
			all[index] = b[:n:n]
		}
	}
	return all, r.err
}

func align(to, n int) int { return (n + to - 1) / to * to }

// fractalHeap is a heap of the links or attributes of an object that has many.
type fractalHeap struct {
	f       *File
	address uint64
	// Bytes of an offset and of a length in what names an object.
	offset, length int
	checksums      bool
	width          int
	start, largest uint64 // bytes of the first and the largest direct blocks
	root           uint64
	rows           int // of the root, 0: it is a direct block
	huge           uint64
	verified       map[uint64]bool // blocks whose checksums are right, by their addresses
}

// bytesOf is how many bytes hold numbers up to n.
func bytesOf(n uint64) int { return max(1, (bits.Len64(n)+7)/8) }

func (f *File) fractalHeap(address uint64) (*fractalHeap, error) {
	r := f.open("a fractal heap", "FRHP", address)
	h := &fractalHeap{f: f, address: address, verified: map[uint64]bool{}}
	if version := r.byte(); version != 0 {
		r.fail("version %d", version)
	}
	r.skip(2)
	filters, flags := r.number(2), r.byte()
	h.checksums = flags&2 != 0
	object := r.number(4)
	r.skip(f.length)
	h.huge = r.address()
	r.skip(f.length + f.offsets + 8*f.length)
	h.width = int(r.number(2))
	h.start, h.largest = r.size(), r.size()
	most := int(r.number(2))
	r.skip(2)
	h.root = r.address()
	h.rows = int(r.number(2))
	if filters == 0 {
		r.verify(0)
	}
	power := func(n uint64) bool { return n > 0 && n&(n-1) == 0 && n < 1<<32 }
	if r.err == nil && (filters != 0 || !power(uint64(h.width)) || !power(h.start) || !power(h.largest) || h.largest < h.start ||
		most > 64) {
		r.fail("%d filters, %d blocks of %d to %d bytes in a row", filters, h.width, h.start, h.largest)
	}
	h.offset = (most + 7) / 8
	h.length = min((bits.Len64(h.largest-1)+7)/8, bytesOf(object))
	return h, r.err
}

// object returns the object that an identifier names.
func (h *fractalHeap) object(id []byte) ([]byte, error) {
	r := &reader{f: h.f, what: "an object of a fractal heap", begin: h.address, b: id}
	switch flags := r.byte(); flags >> 4 & 3 {
	case 0:
		at, n := r.number(h.offset), r.small(h.length)
		if r.err != nil {
			return nil, r.err
		}
		if h.rows == 0 {
			return h.direct(h.root, h.start, at, n)
		}
		return h.indirect(h.root, h.rows, at, n, 0)
	case 1:
		key := r.number(min(8, len(id)-1))
		return h.hugeObject(key)
	case 2:
		n := int(flags&15) + 1
		return r.take(n), r.err
	default:
		r.fail("flags %#x", flags)
	}
	return nil, r.err
}

// direct returns n bytes at an offset of a block of size bytes.
func (h *fractalHeap) direct(address, size, at uint64, n int) ([]byte, error) {
	const what = "a block of a fractal heap"
	if h.checksums && !unchecked && !h.verified[address] { // its checksum stands in the header, and is that of a block with zeros there
		b, err := h.f.bytes(what, address, int(min(size, math.MaxInt)))
		if err != nil {
			return nil, err
		}
		r := &reader{f: h.f, what: what, begin: address, b: b}
		r.skip(len("FHDB") + 1 + h.f.offsets + h.offset)
		zeros := bytes.Clone(b)
		clear(zeros[r.at:min(r.at+4, len(b))])
		if want := uint32(r.number(4)); r.err == nil && lookup3(zeros) != want {
			r.fail("its checksum is %#x, not %#x", lookup3(zeros), want)
		}
		if r.err != nil {
			return nil, r.err
		}
		h.verified[address] = true
	}
	return h.f.bytes("an object of a fractal heap", address+at, n)
}

// indirect finds the block that has an offset from the beginning of what the block at an address spans. Blocks of a row are of one size:
// those of the first two rows are the smallest, and from there on they double.
func (h *fractalHeap) indirect(address uint64, rows int, at uint64, n, depth int) ([]byte, error) {
	r := h.f.open("a block of a fractal heap", "FHIB", address)
	r.skip(1 + h.f.offsets + h.offset)
	if depth > 16 {
		r.fail("blocks within blocks")
	}
	if !h.verified[address] {
		r.verify(rows * h.width * h.f.offsets)
		h.verified[address] = true
	}
	first := uint64(0)
	for row := range rows {
		size := h.start << max(0, row-1)
		if row > 40 {
			r.fail("%d rows", rows)
		}
		if r.err != nil {
			return nil, r.err
		}
		if span := size * uint64(h.width); at >= first+span {
			first += span
			r.skip(h.width * h.f.offsets)
			continue
		}
		k := (at - first) / size
		first += k * size
		r.skip(int(k) * h.f.offsets)
		child := r.address()
		if r.err == nil && child == undefined {
			r.fail("it has no object at %d", at)
		}
		if r.err != nil {
			return nil, r.err
		}
		if size <= h.largest {
			return h.direct(child, size, at-first, n)
		}
		inner := bits.Len64(size) - bits.Len64(h.start*uint64(h.width)) + 1
		return h.indirect(child, inner, at-first, n, depth+1)
	}
	r.fail("it has no object at %d", at)
	return nil, r.err
}

// hugeObject returns an object that is too large for blocks, which a tree lists.
func (h *fractalHeap) hugeObject(key uint64) (out []byte, err error) {
	err = h.f.tree2(h.huge, func(kind int, r *reader) error {
		if kind != 1 {
			r.fail("a tree of kind %d", kind)
			return r.err
		}
		address, n := r.address(), r.size()
		if r.size() != key || r.err != nil {
			return r.err
		}
		if n > uint64(len(h.f.b)) {
			r.fail("an object of %d bytes", n)
			return r.err
		}
		out, err = h.f.bytes("an object of a fractal heap", address, int(n))
		return err
	})
	if err == nil && out == nil {
		r := &reader{f: h.f, what: "a fractal heap", begin: h.address}
		r.fail("it has no object %d", key)
		err = r.err
	}
	return out, err
}
