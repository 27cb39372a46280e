package hdf5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// layout is where the values of a dataset are.
type layout struct {
	unread string // why they cannot be read, "" if they can
	// compact are values that stand in the header. at and size are those in one piece.
	compact  []byte
	at, size uint64
	// chunk is the shape of a chunk, nil where there are none; index says how they are found.
	chunk      []int
	chunkBytes int
	index      int
	partial    bool // chunks that are cut off at the end of the array are not filtered
	single     uint64
	singleMask uint32
}

// How chunks are found, as version 4 of the message numbers it; btree1 is how older versions do.
const (
	btree1 = iota
	singleChunk
	implicitChunks
	fixedArray
	extensibleArray
	btree2
)

// readLayout reads where the values are.
func (d *Dataset) readLayout(r *reader) {
	version := r.byte()
	switch version {
	case 1, 2:
		d.layout1(r)
		return
	case 3, 4, 5:
	default:
		r.fail("a layout of version %d", version)
		return
	}
	switch class := r.byte(); class {
	case 0:
		d.compact = r.take(int(r.number(2)))
	case 1:
		d.at, d.size = r.address(), r.size()
	case 2:
		if version == 3 {
			rank := int(r.byte())
			d.at = r.address()
			d.chunks(r, rank, 4)
		} else {
			d.layout4(r)
		}
	case 3:
		d.unread = "it is virtual: its values are in other files"
	default:
		r.fail("a layout of class %d", class)
	}
}

// layout1 reads versions 1 and 2.
func (d *Dataset) layout1(r *reader) {
	rank, class := int(r.byte()), r.byte()
	r.skip(5)
	if class != 0 {
		d.at = r.address()
	}
	switch class {
	case 0:
		r.skip(4 * rank)
		d.compact = r.take(r.small(4))
	case 1:
		r.skip(4 * rank)
		d.size = uint64(product(d.Shape)) * uint64(d.Type.Size)
	case 2:
		d.chunks(r, rank, 4)
	default:
		r.fail("a layout of class %d", class)
	}
}

// layout4 reads the chunks of versions 4 and 5.
func (d *Dataset) layout4(r *reader) {
	flags, rank := r.byte(), int(r.byte())
	d.partial = flags&1 != 0
	d.chunks(r, rank, int(r.byte()))
	switch d.index = int(r.byte()); d.index {
	case singleChunk:
		if flags&2 != 0 {
			d.single, d.singleMask = r.size(), uint32(r.number(4))
		}
	case implicitChunks:
	case fixedArray:
		r.skip(1)
	case extensibleArray:
		r.skip(5)
	case btree2:
		r.skip(6)
	default:
		r.fail("chunks of index %d", d.index)
	}
	d.at = r.address()
}

// chunks reads the shape of a chunk, of which the last length, of so many bytes each, is that of a value.
func (d *Dataset) chunks(r *reader, rank, each int) {
	if rank != len(d.Shape)+1 {
		r.fail("chunks of %d dimensions, values of %d", rank-1, len(d.Shape))
		return
	}
	d.chunk, d.chunkBytes = []int{}, 1
	for k := range rank {
		n := r.number(each)
		if n < 1 || n > min(1<<32, math.MaxInt)/uint64(d.chunkBytes) {
			r.fail("chunks of more than 4 GiB")
			return
		}
		d.chunkBytes *= int(n)
		if k < len(d.Shape) {
			d.chunk = append(d.chunk, int(n))
		} else if int(n) != d.Type.Size {
			r.fail("values of %d bytes in chunks of values of %d", d.Type.Size, n)
		}
	}
}

// Most is how many bytes are read of a dataset of a file: no more than deflate makes of it, 1,032 bytes of one, and than 1 GiB unless the
// file itself is larger.
func Most(file []byte) int { return max(len(file), int(min(1100*int64(len(file))+1<<16, 1<<30))) }

// Read returns the values in memory order, the last dimension fastest, in the bytes of their type.
func (d *Dataset) Read() ([]byte, error) {
	if d.of != nil && !d.Null {
		return d.field()
	}
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: %q: %s", ErrFormat, d.Name, fmt.Sprintf(format, args...))
	}
	if d.unread != "" {
		return nil, fail("%s", d.unread)
	}
	if d.Null {
		return nil, nil
	}
	n, most := product(d.Shape), Most(d.f.b)
	all := uint64(n) * uint64(d.Type.Size) // with what chunks have beyond the ends
	if d.chunk != nil && n > 0 {
		all = uint64(product(d.counts()))
		all *= uint64(d.chunkBytes)
	}
	if n > most/d.Type.Size || all > uint64(most) {
		return nil, fail("%d values of %d bytes, and no more than %d bytes are read of a file of this size", n, d.Type.Size, most)
	}
	n *= d.Type.Size
	d.f.refill()
	whole := d.compact
	if d.chunk == nil && d.compact == nil && d.at != undefined && n > 0 {
		if d.size < uint64(n) {
			return nil, fail("%d bytes are stored, %d needed", d.size, n)
		}
		var err error
		if whole, err = d.f.bytes("values", d.at, n); err != nil {
			return nil, fmt.Errorf("%q: %w", d.Name, err)
		}
	}
	if whole != nil {
		if len(whole) < n {
			return nil, fail("%d bytes are stored, %d needed", len(whole), n)
		}
		return bytes.Clone(whole[:n]), nil
	}
	out := make([]byte, n)
	if fill := d.Fill(); fill != nil {
		for at := 0; at < n; at += len(fill) {
			copy(out[at:], fill)
		}
	}
	if d.chunk == nil || d.at == undefined || n == 0 {
		return out, nil
	}
	d.inflate, d.zstd = nil, nil
	defer func() {
		if d.zstd != nil {
			d.zstd.Close()
		}
	}()
	if err := d.readChunks(out); err != nil {
		return nil, fmt.Errorf("%q: %w", d.Name, err)
	}
	return out, nil
}

// counts are how many chunks there are in each dimension.
func (d *Dataset) counts() []int {
	out := make([]int, len(d.chunk))
	for k, n := range d.chunk {
		out[k] = (d.Shape[k] + n - 1) / n
	}
	return out
}

// stored is a chunk in the file: how many bytes, and which filters were left out.
type stored struct {
	address, size uint64
	skipped       uint32
}

// pieces puts the chunks of a dataset together.
type pieces struct {
	d      *Dataset
	out    []byte
	counts []int // of chunks, in each dimension
	left   int   // of them
}

// put adds the chunk at a place. What is left over from when the array was larger is none.
func (p *pieces) put(c stored, place []uint64) error {
	for k := range place {
		if place[k] >= uint64(p.counts[k]) {
			return nil
		}
	}
	if p.left--; p.left < 0 {
		return fmt.Errorf("%w: byte %d: more than the %d chunks that there are", ErrFormat, c.address, product(p.counts))
	}
	return p.d.put(p.out, c, place)
}

// linear gives the chunks of an index that is an array their places. Lengths are those of the array in chunks, of which the last is the
// fastest, and the first that of dimension swapped.
func (p *pieces) linear(lengths []uint64, swapped int) func(i uint64, c stored) error {
	return func(i uint64, c stored) error {
		place := make([]uint64, len(lengths))
		for k := len(lengths) - 1; k > 0; k-- {
			place[k], i = i%lengths[k], i/lengths[k]
		}
		if len(place) > 0 {
			place[0] = i
		}
		unswap(place, swapped)
		return p.put(c, place)
	}
}

// readChunks reads all chunks.
func (d *Dataset) readChunks(out []byte) error {
	p := &pieces{d: d, out: out, counts: d.counts()}
	p.left = product(p.counts)
	rank := len(d.Shape)
	most := make([]uint64, rank) // chunks that there may be
	for k, n := range d.chunk {
		if most[k] = unlimited; d.most[k] != unlimited {
			most[k] = d.most[k]/uint64(n) + min(1, d.most[k]%uint64(n))
		}
	}
	switch d.index {
	case btree1:
		return d.f.tree1(d.at, 1, 8+8*(rank+1), func(key *reader, child uint64) error {
			c := stored{address: child, size: key.number(4), skipped: uint32(key.number(4))}
			place := make([]uint64, rank)
			for k := range place {
				place[k] = key.number(8) / uint64(d.chunk[k])
			}
			if key.err != nil {
				return key.err
			}
			return p.put(c, place)
		})
	case singleChunk:
		whole := stored{address: d.at, size: uint64(d.chunkBytes)}
		if d.single > 0 {
			whole.size, whole.skipped = d.single, d.singleMask
		}
		return p.put(whole, make([]uint64, rank))
	case implicitChunks:
		return d.implicit(most, p.linear(most, 0))
	case fixedArray:
		return d.fixed(p.linear(most, 0))
	case extensibleArray:
		at := max(0, slices.Index(most, unlimited)) // the dimension that grows stands first
		if rank == 0 {
			return fmt.Errorf("%w: byte %d: a single value in chunks that grow", ErrFormat, d.at)
		}
		own := slices.Concat(most[at:at+1], most[:at], most[at+1:])
		return d.extensible(p.linear(own, at))
	}
	return d.f.tree2(d.at, func(kind int, r *reader) error { return d.record(kind, r, p.put) })
}

// implicit visits chunks that lie one after the other.
func (d *Dataset) implicit(most []uint64, to func(i uint64, c stored) error) error {
	n, size := uint64(1), uint64(d.chunkBytes)
	for _, c := range most {
		if c > 0 && n > uint64(len(d.f.b))/c {
			return fmt.Errorf("%w: byte %d: %d chunks", ErrFormat, d.at, most)
		}
		n *= c
	}
	for i := range n {
		if err := to(i, stored{address: d.at + i*size, size: size}); err != nil {
			return err
		}
	}
	return nil
}

// unswap moves the first of some numbers to place k.
func unswap(place []uint64, k int) {
	if k > 0 {
		first := place[0]
		copy(place, place[1:k+1])
		place[k] = first
	}
}

// record reads the record of a chunk of a version 2 tree.
func (d *Dataset) record(kind int, r *reader, put func(c stored, place []uint64) error) error {
	c := stored{address: r.address(), size: uint64(d.chunkBytes)}
	switch kind {
	case 10:
	case 11:
		c.size, c.skipped = r.number(len(r.b)-d.f.offsets-4-8*len(d.Shape)), uint32(r.number(4))
	default:
		r.fail("a tree of kind %d", kind)
	}
	place := make([]uint64, len(d.Shape))
	for k := range place {
		place[k] = r.number(8)
	}
	if r.err != nil {
		return r.err
	}
	return put(c, place)
}

// put reads a chunk and copies what of it is in the array.
func (d *Dataset) put(out []byte, c stored, place []uint64) error {
	if c.address == undefined {
		return nil
	}
	if c.size > uint64(len(d.f.b)) {
		return fmt.Errorf("%w: byte %d: a chunk of %d bytes", ErrFormat, c.address, c.size)
	}
	b, err := d.f.bytes("a chunk", c.address, int(c.size))
	if err != nil {
		return err
	}
	rank, cut := len(d.Shape), false
	extent := make([]int, rank) // of what is in the array
	for k := range rank {
		first := int(place[k]) * d.chunk[k]
		extent[k] = min(d.chunk[k], d.Shape[k]-first)
		cut = cut || extent[k] < d.chunk[k]
	}
	if !(d.partial && cut) {
		if b, err = d.unfilter(b, c.skipped); err != nil {
			return fmt.Errorf("%w: byte %d: a chunk: %w", ErrFormat, c.address, err)
		}
	}
	if len(b) < d.chunkBytes {
		return fmt.Errorf("%w: byte %d: a chunk of %d bytes, need %d", ErrFormat, c.address, len(b), d.chunkBytes)
	}
	d.copyChunk(out, b, place, extent)
	return nil
}

// copyChunk copies the rows of a chunk to their places.
func (d *Dataset) copyChunk(out, b []byte, place []uint64, extent []int) {
	rank, size := len(d.Shape), d.Type.Size
	if rank == 0 {
		copy(out, b[:size])
		return
	}
	at := make([]int, rank) // of a row in the chunk
	for {
		from, to := 0, 0
		for k := range rank {
			from = from*d.chunk[k] + at[k]
			to = to*d.Shape[k] + int(place[k])*d.chunk[k] + at[k]
		}
		copy(out[to*size:(to+extent[rank-1])*size], b[from*size:])
		k := rank - 2
		for ; k >= 0; k-- {
			if at[k]++; at[k] < extent[k] {
				break
			}
			at[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

var le = binary.LittleEndian
