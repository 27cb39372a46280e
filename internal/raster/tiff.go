package raster

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/image/tiff/lzw"
)

// TIFF files are read block by block, a block being a strip or a tile, and each block row by row: whoever goes down a raster holds one row of every block
// that he sees. golang.org/x/image/tiff decodes whole images, of integers, in files of less than 4 GB; what only that reads (palettes,
// alpha, faxes) is left to it.

// errOtherTIFF is wrapped where a file may be right and is none that is read in parts.
var errOtherTIFF = errors.New("no TIFF file that is read in parts")

// The tags that are read.
const (
	tagWidth, tagHeight, tagBits, tagCompression, tagPhotometric, tagFillOrder = 256, 257, 258, 259, 262, 266
	tagOffsets, tagSamples, tagRows, tagCounts, tagPlanar, tagPredictor        = 273, 277, 278, 279, 284, 317
	tagTileWidth, tagTileHeight, tagTileOffsets, tagTileCounts                 = 322, 323, 324, 325
	tagExtra, tagFormat, tagNoData                                             = 338, 339, 42113
)

// The values of tagFormat and tagCompression that are read.
const (
	formatUint, formatInt, formatFloat                     = 1, 2, 3
	packedNone, packedLZW, packedZlib, packedBits, oldZlib = 1, 5, 8, 32773, 32946
)

// tiffFile is the first image of a TIFF or BigTIFF file.
type tiffFile struct {
	r      io.ReaderAt
	length int64
	order  binary.ByteOrder

	w, h, samples, bits, format   int
	compression, predictor        int
	inverted, planar              bool
	blockW, blockH, across, below int // the blocks' size, and how many there are
	whole                         bool
	offsets, counts               []int64
	missing                       float64 // the value of pixels that are not observed; NaN: none

	open map[int]*tiffBlock // those that the last line went through
	at   [3]int             // the row of blocks, and the first and last in it, that open has
	idle []io.Reader        // zlib's, to be used again
}

// maxTIFFRow bounds the bytes of a block's row.
const maxTIFFRow = 1 << 28

// isTIFF reports whether bytes begin as a TIFF or BigTIFF file.
func isTIFF(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	switch string(b[:4]) {
	case "II*\x00", "MM\x00*", "II+\x00", "MM\x00+":
		return true
	}
	return false
}

// openTIFF reads the directory of a file of length bytes.
func openTIFF(r io.ReaderAt, length int64) (*tiffFile, error) {
	head := make([]byte, 16)
	if n, err := r.ReadAt(head, 0); n < 8 {
		return nil, fmt.Errorf("%w: a TIFF file of %d bytes: %v", ErrImage, n, err)
	}
	f := &tiffFile{r: r, length: length, order: binary.LittleEndian, missing: math.NaN(), open: map[int]*tiffBlock{}}
	if head[0] == 'M' {
		f.order = binary.BigEndian
	}
	big := f.order.Uint16(head[2:]) == 43
	at, size, entry := int64(f.order.Uint32(head[4:])), int64(2), 12
	if big {
		at, size, entry = int64(f.order.Uint64(head[8:])), 8, 20
	}
	b, err := f.bytes(at, size)
	if err != nil {
		return nil, err
	}
	n := uint64(f.order.Uint16(b))
	if big {
		n = f.order.Uint64(b)
	}
	if n == 0 || n > 4096 {
		return nil, fmt.Errorf("%w: a TIFF directory of %d entries", ErrImage, n)
	}
	if b, err = f.bytes(at+size, int64(n)*int64(entry)); err != nil {
		return nil, err
	}
	tags := map[int]tiffTag{}
	for ; len(b) > 0; b = b[entry:] {
		t := tiffTag{kind: int(f.order.Uint16(b[2:])), count: uint64(f.order.Uint32(b[4:])), value: b[8:12]}
		if big {
			t.count, t.value = f.order.Uint64(b[4:]), b[12:20]
		}
		tags[int(f.order.Uint16(b))] = t
	}
	return f, f.read(tags)
}

// tiffTag is an entry of a directory.
type tiffTag struct {
	kind  int
	count uint64
	value []byte // the values, or where they are
}

// bytes reads n bytes of the file.
func (f *tiffFile) bytes(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > f.length || n > f.length-at {
		return nil, fmt.Errorf("%w: %d bytes at %d in a TIFF file of %d bytes", ErrImage, n, at, f.length)
	}
	b := make([]byte, n)
	if _, err := f.r.ReadAt(b, at); err != nil {
		return nil, err
	}
	return b, nil
}

// raw is the bytes of a tag's values, which have size bytes each.
func (f *tiffFile) raw(t tiffTag) (b []byte, size int, err error) {
	size = map[int]int{1: 1, 2: 1, 3: 2, 4: 4, 16: 8}[t.kind] // bytes, text, and numbers of 16, 32 and 64 bits
	if size == 0 || t.count > uint64(f.length)/uint64(size) {
		return nil, 0, fmt.Errorf("%w: a TIFF tag of %d values of type %d", ErrImage, t.count, t.kind)
	}
	n := int64(t.count) * int64(size)
	if n <= int64(len(t.value)) {
		return t.value[:n], size, nil
	}
	at := int64(f.order.Uint32(t.value))
	if len(t.value) == 8 {
		at = int64(f.order.Uint64(t.value))
	}
	b, err = f.bytes(at, n)
	return b, size, err
}

// numbers are the values of a tag of whole numbers.
func (f *tiffFile) numbers(t tiffTag) ([]int64, error) {
	b, size, err := f.raw(t)
	if err != nil {
		return nil, err
	}
	out := make([]int64, t.count)
	for i := range out {
		switch x := b[i*size:]; size {
		case 1:
			out[i] = int64(x[0])
		case 2:
			out[i] = int64(f.order.Uint16(x))
		case 4:
			out[i] = int64(f.order.Uint32(x))
		default:
			out[i] = int64(f.order.Uint64(x))
		}
	}
	return out, nil
}

// read takes the tags.
func (f *tiffFile) read(tags map[int]tiffTag) error {
	var failed error
	list := func(tag int) []int64 {
		t, ok := tags[tag]
		if !ok || failed != nil {
			return nil
		}
		v, err := f.numbers(t)
		failed = err
		return v
	}
	one := func(tag int, missing int64) int {
		v := []int64{missing}
		if own := list(tag); len(own) > 0 {
			v = own
			for _, x := range own { // of each sample, and of all the same
				if x != own[0] {
					failed = errors.Join(failed, fmt.Errorf("%w: tag %d differs between samples", errOtherTIFF, tag))
				}
			}
		}
		if v[0] < 0 || v[0] > math.MaxInt32 {
			return math.MaxInt32
		}
		return int(v[0])
	}
	f.w, f.h, f.samples, f.bits, f.format = one(tagWidth, 0), one(tagHeight, 0), one(tagSamples, 1), one(tagBits, 1), one(tagFormat, formatUint)
	f.compression, f.predictor, f.planar = one(tagCompression, packedNone), one(tagPredictor, 1), one(tagPlanar, 1) == 2
	photometric, order := one(tagPhotometric, 1), one(tagFillOrder, 1)
	f.blockW, f.blockH = f.w, min(one(tagRows, math.MaxInt32), f.h)
	offsets, counts := tagOffsets, tagCounts
	if _, f.whole = tags[tagTileWidth]; f.whole {
		f.blockW, f.blockH, offsets, counts = one(tagTileWidth, 0), one(tagTileHeight, 0), tagTileOffsets, tagTileCounts
	}
	extra := list(tagExtra)
	f.offsets, f.counts = list(offsets), list(counts)
	if failed != nil {
		return failed
	}
	const most = 1 << 22
	if f.w < 1 || f.h < 1 || f.w > most || f.h > most {
		return fmt.Errorf("%w: %d x %d pixels, need 1 to %d along each side", ErrSize, f.w, f.h, most)
	}
	kinds := map[int][]int{formatUint: {8, 16, 32}, formatInt: {8, 16, 32}, formatFloat: {32, 64}}
	switch {
	case !slices.Contains(kinds[f.format], f.bits):
		return fmt.Errorf("%w: samples of %d bits of format %d", errOtherTIFF, f.bits, f.format)
	case photometric > 2 || order != 1:
		return fmt.Errorf("%w: photometric interpretation %d, fill order %d", errOtherTIFF, photometric, order)
	case f.samples < 1 || f.samples > 64 || slices.ContainsFunc(extra, func(v int64) bool { return v == 1 || v == 2 }):
		return fmt.Errorf("%w: %d samples a pixel, or alpha among them", errOtherTIFF, f.samples)
	case !slices.Contains([]int{packedNone, packedLZW, packedZlib, packedBits, oldZlib}, f.compression):
		return fmt.Errorf("%w: compression %d; write it with deflate, LZW, PackBits or none", errOtherTIFF, f.compression)
	case f.predictor != 1 && (f.predictor != 2 || f.format == formatFloat) && (f.predictor != 3 || f.format != formatFloat):
		return fmt.Errorf("%w: predictor %d", errOtherTIFF, f.predictor)
	case f.blockW < 1 || f.blockH < 1 || f.rowBytes() > maxTIFFRow:
		return fmt.Errorf("%w: blocks of %d x %d pixels of %d samples", ErrImage, f.blockW, f.blockH, f.samples)
	}
	f.inverted = photometric == 0 && f.format == formatUint
	f.across, f.below = (f.w+f.blockW-1)/f.blockW, (f.h+f.blockH-1)/f.blockH
	need := int64(f.across) * int64(f.below)
	if f.planar {
		need *= int64(f.samples)
	}
	if int64(len(f.offsets)) != need || int64(len(f.counts)) != need {
		return fmt.Errorf("%w: %d blocks with %d lengths, %d x %d pixels need %d", ErrImage, len(f.offsets), len(f.counts), f.w, f.h, need)
	}
	if t, ok := tags[tagNoData]; ok && t.kind == 2 { // as GDAL writes it
		b, _, err := f.raw(t)
		if err != nil {
			return err
		}
		if v, err := strconv.ParseFloat(strings.Trim(string(b), " \x00"), 64); err == nil {
			f.missing = v
		}
	}
	return nil
}

// step is how many samples of a block's row a pixel has.
func (f *tiffFile) step() int {
	if f.planar {
		return 1
	}
	return f.samples
}

func (f *tiffFile) rowBytes() int64 {
	return int64(f.blockW) * int64(f.step()) * int64(f.bits/8)
}

// line sets dst to a sample of pixels of line y, from column x on.
func (f *tiffFile) line(dst []float32, sample, y, x int) error {
	if len(dst) == 0 {
		return nil
	}
	plane := 0
	if f.planar {
		plane, sample = sample, 0
	}
	row, first, last := y/f.blockH, x/f.blockW, (x+len(dst)-1)/f.blockW
	if at := [3]int{row, first, last}; at != f.at {
		for i, b := range f.open {
			if i/f.across%f.below != row || i%f.across < first || i%f.across > last {
				f.close(b)
				delete(f.open, i)
			}
		}
		f.at = at
	}
	for column := first; column <= last; column++ {
		lo, hi := max(x, column*f.blockW), min(x+len(dst), (column+1)*f.blockW)
		i := (plane*f.below+row)*f.across + column
		b, err := f.row(i, y-row*f.blockH)
		if err != nil {
			what := "strip"
			if f.whole {
				what = "tile"
			}
			return fmt.Errorf("%s %d: %w", what, i, err)
		}
		f.convert(dst[lo-x:hi-x], b, (lo-column*f.blockW)*f.step()+sample)
	}
	return nil
}

// tiffBlock goes down a strip or tile.
type tiffBlock struct {
	in   io.Reader
	zlib io.Reader // in, where it can be used again
	row  []byte
	next int // the row after the one that row is
}

// row returns a row of a block; nil: no pixel of it is observed.
func (f *tiffFile) row(i, y int) ([]byte, error) {
	if f.counts[i] == 0 { // a sparse file
		return nil, nil
	}
	b := f.open[i]
	if b != nil && b.next > y+1 {
		f.close(b)
		b = nil
	}
	if b == nil {
		b = &tiffBlock{}
		if err := f.begin(b, i); err != nil {
			return nil, err
		}
		f.open[i] = b
	}
	for b.next <= y {
		if _, err := io.ReadFull(b.in, b.row); err != nil {
			return nil, fmt.Errorf("%w: row %d: %w", ErrImage, b.next, err)
		}
		f.undo(b.row)
		b.next++
	}
	return b.row, nil
}

// begin opens a block.
func (f *tiffFile) begin(b *tiffBlock, i int) error {
	at, n := f.offsets[i], f.counts[i]
	if at < 0 || n < 0 || at > f.length || n > f.length-at {
		return fmt.Errorf("%w: %d bytes at %d, the file has %d", ErrImage, n, at, f.length)
	}
	rows := f.blockH
	if last := (f.below - 1) * f.blockH; !f.whole && i/f.across%f.below == f.below-1 {
		rows = f.h - last
	}
	size := f.rowBytes()
	if size*int64(rows) > n*unpacked(f.compression) {
		return fmt.Errorf("%w: %d bytes cannot hold %d rows of %d bytes", ErrImage, n, rows, size)
	}
	b.row = make([]byte, size)
	in := bufio.NewReaderSize(io.NewSectionReader(f.r, at, n), int(min(n, 1<<15)))
	switch f.compression {
	case packedNone:
		b.in = in
	case packedBits:
		b.in = &unpackBits{in: in}
	case packedLZW:
		b.in = lzw.NewReader(in, lzw.MSB, 8)
	default:
		if n := len(f.idle); n > 0 {
			b.zlib, f.idle = f.idle[n-1], f.idle[:n-1]
			if err := b.zlib.(zlib.Resetter).Reset(in, nil); err != nil {
				return fmt.Errorf("%w: %w", ErrImage, err)
			}
			b.in = b.zlib
			return nil
		}
		z, err := zlib.NewReader(in)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrImage, err)
		}
		b.in, b.zlib = z, z
	}
	return nil
}

// unpacked is how many bytes a compressed one becomes at most.
func unpacked(compression int) int64 {
	switch compression {
	case packedNone:
		return 1
	case packedBits:
		return 64
	case packedLZW:
		return 4096
	}
	return 1040
}

func (f *tiffFile) close(b *tiffBlock) {
	if b.zlib != nil && len(f.idle) < 64 {
		f.idle = append(f.idle, b.zlib)
	}
}

// undo takes back what a predictor did to a row.
func (f *tiffFile) undo(row []byte) {
	step, size := f.step(), f.bits/8
	switch f.predictor {
	case 2:
		switch size {
		case 1:
			for i := step; i < len(row); i++ {
				row[i] += row[i-step]
			}
		case 2:
			for i := 2 * step; i < len(row); i += 2 {
				f.order.PutUint16(row[i:], f.order.Uint16(row[i:])+f.order.Uint16(row[i-2*step:]))
			}
		default:
			for i := 4 * step; i < len(row); i += 4 {
				f.order.PutUint32(row[i:], f.order.Uint32(row[i:])+f.order.Uint32(row[i-4*step:]))
			}
		}
	case 3: // differences of bytes, of which all highest ones come first, then the next
		for i := step; i < len(row); i++ {
			row[i] += row[i-step]
		}
		apart := slices.Clone(row)
		n := len(row) / size
		for i := range n {
			for k := range size {
				to := i*size + k
				if f.order == binary.ByteOrder(binary.LittleEndian) {
					to = i*size + size - 1 - k
				}
				row[to] = apart[k*n+i]
			}
		}
	}
}

// convert sets dst to every step-th sample from one on. Unsigned numbers of 8 and 16 bits are taken to [0, 1], others are as they are.
func (f *tiffFile) convert(dst []float32, row []byte, from int) {
	nan := float32(math.NaN())
	if row == nil {
		for i := range dst {
			dst[i] = nan
		}
		return
	}
	step, size := f.step(), f.bits/8
	most := 1.0
	if f.format == formatUint && f.bits <= 16 {
		most = float64(uint(1)<<f.bits - 1)
	}
	known := f.missing == f.missing
	for i := range dst {
		b := row[(from+i*step)*size:]
		var v float64
		switch f.format*100 + f.bits {
		case 108:
			v = float64(b[0])
		case 116:
			v = float64(f.order.Uint16(b))
		case 132:
			v = float64(f.order.Uint32(b))
		case 208:
			v = float64(int8(b[0]))
		case 216:
			v = float64(int16(f.order.Uint16(b)))
		case 232:
			v = float64(int32(f.order.Uint32(b)))
		case 332:
			v = float64(math.Float32frombits(f.order.Uint32(b)))
		default:
			v = math.Float64frombits(f.order.Uint64(b))
		}
		switch {
		case known && v == f.missing:
			dst[i] = nan
		case f.inverted:
			dst[i] = float32((most - v) / most)
		default:
			dst[i] = float32(v / most)
		}
	}
}

// unpackBits is Apple's PackBits.
type unpackBits struct {
	in     *bufio.Reader
	copies int // bytes that are left to be copied, or times that value is
	value  byte
	same   bool
}

func (u *unpackBits) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if u.copies == 0 {
			head, err := u.in.ReadByte()
			switch k := int(int8(head)); {
			case err != nil:
				return n, err
			case k >= 0:
				u.copies, u.same = k+1, false
			case k > -128:
				u.copies, u.same = 1-k, true
				if u.value, err = u.in.ReadByte(); err != nil {
					return n, err
				}
			}
			continue
		}
		part := b[n:min(len(b), n+u.copies)]
		if u.same {
			for i := range part {
				part[i] = u.value
			}
		} else if k, err := io.ReadFull(u.in, part); err != nil {
			return n + k, err
		}
		n, u.copies = n+len(part), u.copies-len(part)
	}
	return n, nil
}

// tiffHeader is the beginning of a file of float32 of c samples a pixel, uncompressed, up to its pixels, row after row; a BigTIFF file where an
// offset would not fit into 32 bits.
func tiffHeader(c, h, w int) []byte {
	row := int64(w) * int64(c) * 4
	rows := int(max(1, min(int64(h), (1<<16)/row))) // of a strip
	strips := (h + rows - 1) / rows
	order := binary.LittleEndian
	big := row*int64(h)+int64(strips)*16 > math.MaxUint32-1<<16
	type tag struct {
		id, kind int
		values   []int64
	}
	same := func(v int64) []int64 { return slices.Repeat([]int64{v}, c) }
	photometric := int64(1)
	if c == 3 {
		photometric = 2
	}
	long := 4
	if big {
		long = 16
	}
	offsets, counts := make([]int64, strips), make([]int64, strips)
	tags := []tag{
		{tagWidth, 4, []int64{int64(w)}}, {tagHeight, 4, []int64{int64(h)}}, {tagBits, 3, same(32)}, {tagCompression, 3, []int64{packedNone}},
		{tagPhotometric, 3, []int64{photometric}}, {tagOffsets, long, offsets}, {tagSamples, 3, []int64{int64(c)}}, {tagRows, 4, []int64{int64(rows)}},
		{tagCounts, long, counts}, {tagPlanar, 3, []int64{1}}, {tagFormat, 3, same(formatFloat)},
	}
	if c != 1 && c != 3 {
		tags = slices.Insert(tags, len(tags)-1, tag{tagExtra, 3, make([]int64, c-1)})
	}
	size := func(kind int) int { return map[int]int{3: 2, 4: 4, 16: 8}[kind] }
	entry, room, head := 12, 4, 8+2+4
	if big {
		entry, room, head = 20, 8, 16+8+8
	}
	head += entry * len(tags)
	end := head
	for _, t := range tags {
		if n := size(t.kind) * len(t.values); n > room {
			end += n
		}
	}
	for i := range strips {
		offsets[i] = int64(end) + int64(i*rows)*row
		counts[i] = int64(min(rows, h-i*rows)) * row
	}
	var b, rest []byte
	number := func(to []byte, kind int, v int64) []byte {
		switch kind {
		case 3:
			return order.AppendUint16(to, uint16(v))
		case 4:
			return order.AppendUint32(to, uint32(v))
		}
		return order.AppendUint64(to, uint64(v))
	}
	if big {
		b = append(b, "II+\x00\x08\x00\x00\x00"...)
		b = order.AppendUint64(order.AppendUint64(b, 16), uint64(len(tags)))
	} else {
		b = append(b, "II*\x00\x08\x00\x00\x00"...)
		b = order.AppendUint16(b, uint16(len(tags)))
	}
	for _, t := range tags {
		b = order.AppendUint16(order.AppendUint16(b, uint16(t.id)), uint16(t.kind))
		b = number(b, long, int64(len(t.values)))
		var values []byte
		for _, v := range t.values {
			values = number(values, t.kind, v)
		}
		if len(values) > room {
			at := int64(head + len(rest))
			rest = append(rest, values...)
			values = number(nil, long, at)
		}
		b = append(b, append(values, make([]byte, room-len(values))...)...)
	}
	b = number(b, long, 0) // there is no other image
	return append(b, rest...)
}
