package hdf5

import (
	"bytes"
	"cmp"
	"compress/bzip2"
	"compress/zlib"
	"fmt"
	"io"
)

// Zstd makes a decoder of Zstandard that keeps no more than so many bytes. It is nil, and chunks of that compression are refused, unless a
// program imports internal/zstd.
var Zstd func(window uint64) (Decoder, error)

// Decoder expands one chunk after the other.
type Decoder interface {
	io.Reader
	Reset(in io.Reader) error
	Close()
}

// The filters that are read, by the numbers under which they are registered.
const (
	filterDeflate  = 1
	filterShuffle  = 2
	filterFletcher = 3
	filterBzip2    = 307
	filterLZF      = 32000
	filterZstd     = 32015
)

// filterNames are those of filters that others use and that are not read.
var filterNames = map[int]string{4: "szip", 5: "nbit", 6: "scale-offset", 32001: "Blosc", 32004: "LZ4", 32008: "bitshuffle",
	32013: "ZFP", 32017: "SZ", 32022: "bit grooming", 32026: "Blosc2"}

// filter is a step of what was done to chunks before they were written.
type filter struct {
	id     int
	values []uint32
}

// filters reads the steps, in the order in which they were done.
func (r *reader) filters() (all []filter) {
	version, n := r.byte(), int(r.byte())
	if version == 1 {
		r.skip(6)
	} else if version != 2 {
		r.fail("filters of version %d", version)
	}
	for range n {
		f := filter{id: int(r.number(2))}
		name := 0
		if version == 1 || f.id >= 256 {
			name = int(r.number(2))
		}
		r.skip(2)
		values := int(r.number(2))
		if version == 1 {
			name = align(8, name)
		}
		r.skip(name)
		for range values {
			if r.err == nil {
				f.values = append(f.values, uint32(r.number(4)))
			}
		}
		if version == 1 && values%2 != 0 {
			r.skip(4)
		}
		all = append(all, f)
	}
	return all
}

// unfilter undoes what was done to a chunk, but for the steps that were skipped.
func (d *Dataset) unfilter(b []byte, skipped uint32) (out []byte, err error) {
	out = b
	if err := d.unreadable(skipped); err != nil {
		return nil, err
	}
	for k := len(d.filters) - 1; k >= 0; k-- {
		if k < 32 && skipped>>k&1 != 0 {
			continue
		}
		switch f := d.filters[k]; f.id {
		case filterDeflate:
			if d.inflate == nil {
				d.inflate, err = zlib.NewReader(bytes.NewReader(out))
			} else {
				err = d.inflate.(zlib.Resetter).Reset(bytes.NewReader(out), nil)
			}
			if err == nil {
				out, err = d.expand(d.inflate)
			}
		case filterBzip2:
			out, err = d.expand(bzip2.NewReader(bytes.NewReader(d.smallBlocks(out))))
		case filterZstd:
			if d.zstd == nil { // its window is what the compressor's highest level has, or as much as the values
				d.zstd, err = Zstd(max(1<<27, uint64(d.chunkBytes)))
			}
			if err == nil {
				err = d.zstd.Reset(bytes.NewReader(out))
			}
			if err == nil {
				out, err = d.expand(d.zstd)
			}
		case filterLZF:
			out, err = unlzf(out, d.chunkBytes)
		case filterShuffle:
			size := d.Type.Size
			if len(f.values) > 0 {
				size = int(f.values[0])
			}
			out = unshuffle(out, size)
		case filterFletcher:
			out, err = checked(out)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unreadable is an error where a step that was not skipped cannot be undone. It comes first: what such a step leaves has another size than
// a chunk, and what stands before it would be taken for damaged.
func (d *Dataset) unreadable(skipped uint32) error {
	for k, f := range d.filters {
		if k < 32 && skipped>>k&1 != 0 {
			continue
		}
		switch f.id {
		case filterDeflate, filterShuffle, filterFletcher, filterBzip2, filterLZF:
		case filterZstd:
			if Zstd == nil {
				return fmt.Errorf("filter %d (Zstandard) is not read here: programs import internal/zstd", f.id)
			}
		default:
			return fmt.Errorf("filter %d (%s) is not read", f.id, cmp.Or(filterNames[f.id], "unknown"))
		}
	}
	return nil
}

// smallBlocks says of what bzip2 made shorter that its blocks are no larger than a chunk needs, so that no more memory is prepared for each
// of many small chunks. What bzip2 has in a block is at most 5/4 as long as what it is of.
func (d *Dataset) smallBlocks(b []byte) []byte {
	const unit, level = 100_000, 3
	if need := byte('1' + min(8, (d.chunkBytes+4)*5/4/unit)); len(b) > level && b[level] > need && b[level] <= '9' {
		b = bytes.Clone(b)
		b[level] = need
	}
	return b
}

// expand reads what a chunk expands to: no more than a chunk has, and a checksum after it.
func (d *Dataset) expand(r io.Reader) ([]byte, error) {
	const checksum = 4
	var out bytes.Buffer
	if _, err := out.ReadFrom(io.LimitReader(r, int64(d.chunkBytes)+checksum)); err != nil {
		return nil, err
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != nil && err != io.EOF {
		return nil, fmt.Errorf("it has more than %d bytes", d.chunkBytes)
	}
	return out.Bytes(), nil
}

// unlzf expands what LZF made shorter, to no more than so many bytes. A byte below 32 stands before one more bytes than it says; the others
// have the length of a copy in their upper three bits, and how far back that is in the rest and in the byte that follows.
func unlzf(b []byte, most int) ([]byte, error) {
	out := make([]byte, 0, min(most, 256*len(b)))
	for at := 0; at < len(b); {
		n := int(b[at])
		at++
		if n < 32 {
			if n++; n > len(b)-at || n > most-len(out) {
				return nil, fmt.Errorf("LZF: %d bytes at %d of %d", n, at, len(b))
			}
			out = append(out, b[at:at+n]...)
			at += n
			continue
		}
		back := n & 31 << 8
		if n >>= 5; n == 7 && at < len(b) {
			n += int(b[at])
			at++
		}
		if n += 2; at >= len(b) || n > most-len(out) {
			return nil, fmt.Errorf("LZF: a copy of %d bytes at %d of %d", n, at, len(b))
		}
		back += int(b[at]) + 1
		at++
		if back > len(out) {
			return nil, fmt.Errorf("LZF: a copy from %d bytes back after %d", back, len(out))
		}
		for range n { // a copy may repeat what it has just written
			out = append(out, out[len(out)-back])
		}
	}
	return out, nil
}

// unshuffle undoes the order in which all first bytes of values stand before all second ones; bytes that are no whole value stay last.
func unshuffle(b []byte, size int) []byte {
	if size < 2 || len(b) < size {
		return b
	}
	n := len(b) / size
	out := make([]byte, len(b))
	for k := range size {
		from := b[k*n : (k+1)*n]
		for i, v := range from {
			out[i*size+k] = v
		}
	}
	copy(out[n*size:], b[n*size:])
	return out
}

// checked compares the checksum at the end with Fletcher's of the rest: of 16-bit numbers, as either order of bytes has them.
func checked(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, fmt.Errorf("it lacks a checksum")
	}
	data, want := b[:len(b)-4], le.Uint32(b[len(b)-4:])
	got := fletcher(data)
	// Files of before 2006 have the bytes of each half the other way round.
	if other := got&0xff00ff<<8 | got>>8&0xff00ff; got != want && other != want {
		return nil, fmt.Errorf("its checksum is %#x, not %#x", got, want)
	}
	return data, nil
}

func fletcher(b []byte) uint32 {
	var low, high uint32
	add := func(v uint32) {
		low += v
		low = low&0xffff + low>>16
		high += low
		high = high&0xffff + high>>16
	}
	for ; len(b) > 1; b = b[2:] {
		add(uint32(b[0])<<8 | uint32(b[1]))
	}
	if len(b) > 0 {
		add(uint32(b[0]) << 8)
	}
	// Sums of ones' complement have two zeros: the library's, of which a last step may leave 65535, is the one that no carry changes.
	return high<<16 | low
}
