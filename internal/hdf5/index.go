package hdf5

import "math/bits"

// entry reads the address of a chunk from an array of chunks; where they are filtered, its size and which filters were left out.
func (d *Dataset) entry(r *reader, filtered bool, size int) stored {
	c := stored{address: r.address(), size: uint64(d.chunkBytes)}
	if filtered {
		c.size, c.skipped = r.number(size-d.f.offsets-4), uint32(r.number(4))
	}
	return c
}

// array is what the headers of both kinds of arrays of chunks say first.
func (d *Dataset) array(what, signature string) (r *reader, filtered bool, size int) {
	r = d.f.open(what, signature, d.at)
	if version := r.byte(); version != 0 {
		r.fail("version %d", version)
	}
	filtered = r.byte() == 1
	size = int(r.byte())
	want := d.f.offsets
	if filtered {
		want += 4 + 1
	}
	if r.err == nil && (size < want || size > want+8) {
		r.fail("entries of %d bytes", size)
	}
	return r, filtered, size
}

// entries reads n chunks from first on.
func (d *Dataset) entries(r *reader, filtered bool, size int, first, n uint64, to func(i uint64, c stored) error) error {
	for i := range n {
		c := d.entry(r, filtered, size)
		if d.f.left -= size; d.f.left < 0 {
			r.fail("the file's structures are read again and again")
		}
		if r.err != nil {
			return r.err
		}
		if c.address == undefined {
			continue
		}
		if err := to(first+i, c); err != nil {
			return err
		}
	}
	return nil
}

// pages reads the pages of a block of n chunks: they lie one after the other, each with a checksum, and those that bitmap, from bit own on,
// lacks were never written.
func (d *Dataset) pages(r *reader, filtered bool, size int, first, n, page uint64, bitmap []byte, own uint64,
	to func(i uint64, c stored) error) error {
	for k := uint64(0); k*page < n; k++ {
		here := min(page, n-k*page)
		if here > uint64(len(r.b)) {
			r.fail("%d chunks", here)
			return r.err
		}
		if bit := own + k; bitmap[bit/8]>>(7-bit%8)&1 == 0 {
			r.skip(int(here)*size + 4)
			continue
		}
		r.verifyFrom(r.at, r.span(here, size))
		if err := d.entries(r, filtered, size, first+k*page, here, to); err != nil {
			return err
		}
		r.skip(4)
	}
	return r.err
}

// span is how many bytes n entries take, more than there are where that is no number.
func (r *reader) span(n uint64, each int) int {
	if n > uint64(len(r.b)) {
		return len(r.b)
	}
	return int(n) * each
}

// fixed visits the chunks of a fixed array.
func (d *Dataset) fixed(to func(i uint64, c stored) error) error {
	r, filtered, size := d.array("a fixed array", "FAHD")
	page := uint64(1) << min(63, r.byte())
	n, block := r.size(), r.address()
	r.verify(0)
	if r.err == nil && n > uint64(len(d.f.b)) {
		r.fail("%d chunks", n)
	}
	if r.err != nil || block == undefined {
		return r.err
	}
	r = d.f.open("a fixed array", "FADB", block)
	r.skip(2 + d.f.offsets)
	if n <= page {
		r.verify(r.span(n, size))
		return d.entries(r, filtered, size, 0, n, to)
	}
	bitmap := r.take(int((n+page-1)/page+7) / 8)
	r.verify(0)
	r.skip(4)
	if r.err != nil {
		return r.err
	}
	return d.pages(r, filtered, size, 0, n, page, bitmap, 0, to)
}

// extending is an extensible array. Its chunks stand in blocks that grow: the index block has the first few and the addresses of the
// smallest blocks, the others' stand in secondary blocks. Secondary block k has 2^(k/2) blocks of 2^((k+1)/2) times the smallest.
type extending struct {
	d         *Dataset
	filtered  bool
	size      int
	most      int    // bits of the number of chunks
	smallest  uint64 // chunks of the smallest block
	page      uint64 // chunks of a page, of which blocks that have more consist
	to        func(i uint64, c stored) error
	next, end uint64 // the number of the next chunk, and of the last that was set
}

func (d *Dataset) extensible(to func(i uint64, c stored) error) error {
	r, filtered, size := d.array("an extensible array", "EAHD")
	e := &extending{d: d, filtered: filtered, size: size, to: to}
	e.most = int(r.byte())
	inIndex, smallest, pointers, page := uint64(r.byte()), uint64(r.byte()), uint64(r.byte()), r.byte()
	e.smallest, e.page = smallest, 1<<min(63, page)
	r.skip(4 * d.f.length)
	e.end = r.size()
	r.skip(d.f.length)
	index := r.address()
	r.verify(0)
	power := func(n uint64) bool { return n > 0 && n&(n-1) == 0 }
	if r.err == nil && (!power(smallest) || !power(pointers) || e.most > 64 || e.end > 1<<40) {
		r.fail("%d chunks, %d bits, blocks of %d, %d pointers", e.end, e.most, smallest, pointers)
	}
	if r.err != nil || index == undefined {
		return r.err
	}
	r = d.f.open("an extensible array", "EAIB", index)
	r.skip(2 + d.f.offsets)
	levels := 1 + e.most - (bits.Len64(smallest) - 1) // of secondary blocks
	direct := 2 * (bits.Len64(pointers) - 1)          // whose blocks the index block has
	r.verify(int(inIndex)*size + (2*(int(pointers)-1)+max(0, levels-direct))*d.f.offsets)
	if err := d.entries(r, filtered, size, 0, inIndex, to); err != nil {
		return err
	}
	e.next = inIndex
	for k := 0; k < levels && e.next < e.end && r.err == nil; k++ {
		blocks, each := uint64(1)<<(k/2), smallest<<((k+1)/2)
		if k >= direct {
			if err := e.secondary(r.address(), blocks, each); err != nil {
				return err
			}
			continue
		}
		for range blocks {
			if err := e.block(r.address(), each, nil, 0); err != nil {
				return err
			}
		}
	}
	return r.err
}

// secondary visits the blocks that a secondary block lists.
func (e *extending) secondary(address, blocks, each uint64) error {
	d := e.d
	if address == undefined {
		e.next += blocks * each
		return nil
	}
	r := d.f.open("an extensible array", "EASB", address)
	r.skip(2 + d.f.offsets + (e.most+7)/8)
	if r.err == nil && blocks > uint64(len(r.b)) {
		r.fail("%d blocks", blocks)
	}
	pages := each / e.page
	var bitmap []byte // of the pages of all blocks, without gaps but as long as if each had bytes of its own
	if each > e.page && r.err == nil {
		bitmap = r.take(int(blocks) * int((pages+7)/8))
	}
	r.verify(r.span(blocks, d.f.offsets))
	for k := range blocks {
		at := r.address()
		if r.err != nil {
			return r.err
		}
		if e.next >= e.end {
			return nil
		}
		if err := e.block(at, each, bitmap, k*pages); err != nil {
			return err
		}
	}
	return nil
}

// block visits the chunks of a block, whose pages have bits in bitmap from own on.
func (e *extending) block(address, n uint64, bitmap []byte, own uint64) error {
	first := e.next
	e.next += n
	if address == undefined || first >= e.end {
		return nil
	}
	d := e.d
	r := d.f.open("an extensible array", "EADB", address)
	r.skip(2 + d.f.offsets + (e.most+7)/8)
	if n > e.page {
		r.verify(0)
		r.skip(4)
		if (own+n/e.page+7)/8 > uint64(len(bitmap)) {
			r.fail("pages of which nothing says that they were written")
			return r.err
		}
		return d.pages(r, e.filtered, e.size, first, n, e.page, bitmap, own, e.to)
	}
	r.verify(r.span(n, e.size))
	return d.entries(r, e.filtered, e.size, first, n, e.to)
}
