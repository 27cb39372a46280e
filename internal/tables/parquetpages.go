package tables

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"io"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// pageReader reads the pages of a Parquet file's columns. Its slices serve one page after the other.
type pageReader struct {
	file     []byte
	unpacked []byte
	zstd     *zstd.Decoder
	brotli   *brotli.Reader
	levels   []uint32
	index    []uint32
	deltas   []int64
	joined   []byte
	values   pageValues // of the page
	dict     pageValues // of the column chunk
}

// pageValues are the values of a page that are there: numbers, or text.
type pageValues struct {
	numbers []float64
	texts   []string
	wholes  []int64 // the numbers of integers of 64 bits, which float64 does not hold exactly; unsigned ones as the same bits
}

// inPage bounds what a page of n bytes is unpacked to.
func inPage(n int) int { return min(1<<28, 1<<20+1000*n) }

// chunk reads the rows of a row group of one column into column c of a table, from a row on.
func (r *pageReader) chunk(l *leaf, chunk *columnChunk, rows int, t *tabular.Table, row, c int) error {
	m := &chunk.MetaData
	if chunk.FilePath != "" {
		return badParquet("its data are in another file, %.40q", chunk.FilePath)
	}
	if chunk.Crypto.Valid {
		return badParquet("it is encrypted: write it without encryption")
	}
	if m.NumValues != int64(rows) {
		return badParquet("%d values for %d rows", m.NumValues, rows)
	}
	from := m.DataPageOffset
	if d := m.DictionaryPageOffset; d > 0 && d < from {
		from = d
	}
	if rows == 0 {
		return nil
	}
	if from < 4 || from > int64(len(r.file)) {
		return badParquet("pages at %d, beyond the end of the file", from)
	}
	b := r.file[from:] // the pages say where they end; some writers leave the dictionary out of the chunk's size
	r.dict = pageValues{}
	for last := row + rows; row < last; {
		h, page, rest, err := nextPage(b)
		if err != nil {
			return err
		}
		b = rest
		unpacked := int(h.UncompressedPageSize)
		switch {
		case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
			if page, err = r.unpack(m.Codec, page, unpacked); err != nil {
				return err
			}
			if err := r.dictionary(l, page, int(h.DictionaryPageHeader.V.NumValues)); err != nil {
				return err
			}
		case h.Type == format.DataPage && h.DataPageHeader.Valid:
			d := &h.DataPageHeader.V
			if d.NumValues < 0 || int(d.NumValues) > last-row {
				return badParquet("a page of %d values, %d are left", d.NumValues, last-row)
			}
			if page, err = r.unpack(m.Codec, page, unpacked); err != nil {
				return err
			}
			if err := r.pageOne(l, t, row, c, d, page); err != nil {
				return err
			}
			row += int(d.NumValues)
		case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
			d := &h.DataPageHeaderV2.V
			if d.NumValues < 0 || int(d.NumValues) > last-row {
				return badParquet("a page of %d values, %d are left", d.NumValues, last-row)
			}
			// nothing repeats, but some writers say so
			skipped, n := int64(d.RepetitionLevelsByteLength), int64(d.DefinitionLevelsByteLength)
			if skipped < 0 || n < 0 || skipped+n > int64(min(len(page), unpacked)) {
				return badParquet("a page with %d and %d bytes of levels", skipped, n)
			}
			levels := page[skipped : skipped+n]
			page = page[skipped+n:]
			if !d.IsCompressed.Valid || d.IsCompressed.V {
				if page, err = r.unpack(m.Codec, page, unpacked-int(skipped+n)); err != nil {
					return err
				}
			}
			if err := r.data(l, t, row, c, int(d.NumValues), levels, page, d.Encoding); err != nil {
				return err
			}
			row += int(d.NumValues)
		case h.Type == format.DataPage || h.Type == format.DataPageV2 || h.Type == format.DictionaryPage:
			return badParquet("a page without its header")
		}
	}
	return nil
}

// nextPage returns the header of the page that b begins with, its bytes as they are in the file, and what follows it.
func nextPage(b []byte) (h format.PageHeader, page, rest []byte, err error) {
	n, err := decodeThrift(b, &h)
	if err != nil {
		return h, nil, nil, err
	}
	b = b[n:]
	if h.CompressedPageSize < 0 || int64(h.CompressedPageSize) > int64(len(b)) || h.UncompressedPageSize < 0 {
		return h, nil, nil, badParquet("a page of %d bytes, unpacked %d, where %d follow", h.CompressedPageSize, h.UncompressedPageSize,
			len(b))
	}
	page, rest = b[:h.CompressedPageSize], b[h.CompressedPageSize:]
	if h.CRC != 0 && crc32.ChecksumIEEE(page) != uint32(h.CRC) {
		return h, nil, nil, badParquet("a page is damaged: its bytes do not have the checksum that it says")
	}
	return h, page, rest, nil
}

// pageOne reads the values of an unpacked page of version 1.
func (r *pageReader) pageOne(l *leaf, t *tabular.Table, row, c int, d *format.DataPageHeader, page []byte) (err error) {
	levels := []byte(nil)
	if l.levels > 0 {
		if d.DefinitionLevelEncoding != format.RLE {
			return badParquet("levels encoded as %v", d.DefinitionLevelEncoding)
		}
		if levels, page, err = prefixed(page); err != nil {
			return err
		}
	}
	return r.data(l, t, row, c, int(d.NumValues), levels, page, d.Encoding)
}

// dictionary reads the n values of a dictionary.
func (r *pageReader) dictionary(l *leaf, page []byte, n int) error {
	if n < 0 || n > len(page)*8 {
		return badParquet("a dictionary of %d values in %d bytes", n, len(page))
	}
	if err := l.plain(&r.values, page, n); err != nil {
		return err
	}
	r.dict = pageValues{slices.Clone(r.values.numbers), slices.Clone(r.values.texts), slices.Clone(r.values.wholes)}
	return nil
}

// prefixed takes off bytes that begin with their number.
func prefixed(b []byte) (part, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, badParquet("a page is cut off")
	}
	n := binary.LittleEndian.Uint32(b)
	if int64(n) > int64(len(b)-4) {
		return nil, nil, badParquet("a part of %d bytes in a page of %d", n, len(b))
	}
	return b[4 : 4+n], b[4+n:], nil
}

// unpack returns a page as it was before it was compressed.
func (r *pageReader) unpack(codec format.CompressionCodec, page []byte, size int) ([]byte, error) {
	if codec == format.Uncompressed || size == 0 && len(page) == 0 { // of a page of nulls there is nothing
		return page, nil
	}
	if size > inPage(len(page)) {
		return nil, badParquet("a page of %d bytes that says that it is %d unpacked", len(page), size)
	}
	r.unpacked = reuse.Sized(r.unpacked, size)
	var err error
	out := r.unpacked
	switch codec {
	case format.Snappy:
		if n, failed := snappy.DecodedLen(page); failed != nil || n != size {
			return nil, badParquet("a page that is not snappy's")
		}
		out, err = snappy.Decode(out, page)
	case format.Gzip:
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(page)); err == nil {
			if _, err = io.ReadFull(z, out); err == nil {
				var more [1]byte
				if _, failed := io.ReadFull(z, more[:]); failed != io.EOF {
					return nil, badParquet("a page is longer than it says")
				}
			}
		}
	case format.Zstd:
		if r.zstd == nil {
			if r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecodeAllCapLimit(true)); err != nil {
				return nil, err
			}
		}
		out, err = r.zstd.DecodeAll(page, out[:0:size])
	case format.Brotli:
		if r.brotli == nil {
			r.brotli = brotli.NewReader(nil)
		}
		if err = r.brotli.Reset(bytes.NewReader(page)); err == nil {
			if _, err = io.ReadFull(r.brotli, out); err == nil {
				var more [1]byte
				if _, failed := io.ReadFull(r.brotli, more[:]); failed != io.EOF {
					return nil, badParquet("a page is longer than it says")
				}
			}
		}
	case format.Lz4Raw:
		out, err = unpackLZ4(out, page)
	case format.Lz4:
		if out, err = unpackHadoop(r.unpacked, page); err != nil {
			out, err = unpackLZ4(r.unpacked, page) // what some wrote under this name
		}
	default:
		return nil, badParquet("it is compressed by %v; write it with zstd, snappy, gzip, lz4, brotli or none", codec)
	}
	if err != nil || len(out) != size {
		return nil, badParquet("a page of %d bytes does not unpack to %d: %v", len(page), size, err)
	}
	return out, nil
}

// unpackLZ4 unpacks a block of LZ4 into all of out.
func unpackLZ4(out, page []byte) ([]byte, error) {
	if len(out) == 0 {
		return out, nil
	}
	n, err := lz4.UncompressBlock(page, out)
	if err != nil {
		return nil, err
	}
	return out[:n], nil
}

// unpackHadoop unpacks blocks of LZ4 as Hadoop writes them: before each stand its length and its bytes.
func unpackHadoop(out, page []byte) ([]byte, error) {
	at := 0
	for len(page) > 0 {
		if len(page) < 8 {
			return nil, badParquet("a page is cut off")
		}
		size, n := binary.BigEndian.Uint32(page), binary.BigEndian.Uint32(page[4:])
		if page = page[8:]; uint64(n) > uint64(len(page)) || uint64(size) > uint64(len(out)-at) {
			return nil, badParquet("a block of %d bytes, unpacked %d, where %d and %d are left", n, size, len(page), len(out)-at)
		}
		part, err := unpackLZ4(out[at:at+int(size)], page[:n])
		if err != nil || len(part) != int(size) {
			return nil, badParquet("a block of %d bytes does not unpack to %d", n, size)
		}
		at, page = at+int(size), page[n:]
	}
	return out[:at], nil
}

// data reads a page of n values, of which those of the highest level are there.
func (r *pageReader) data(l *leaf, t *tabular.Table, row, c, n int, levels, b []byte, encoding format.Encoding) error {
	present := n
	if l.levels > 0 {
		r.levels = reuse.Sized(r.levels, n)
		if err := runs(r.levels, levels, bits.Len(uint(l.levels))); err != nil {
			return err
		}
		present = 0
		for _, v := range r.levels {
			if v == uint32(l.levels) {
				present++
			}
		}
	}
	if err := r.decode(l, b, present, encoding); err != nil {
		return err
	}
	at := 0
	for i := range n {
		cell := (row+i)*t.Cols + c
		t.Values[cell] = nan
		if l.levels > 0 && r.levels[i] != uint32(l.levels) {
			continue
		}
		if l.text {
			t.Texts[c][row+i] = r.values.texts[at]
		} else {
			t.Values[cell] = r.values.numbers[at]
			if len(r.values.wholes) > 0 {
				t.SetExact(row+i, c, l.exact(r.values.wholes[at]))
			}
		}
		at++
	}
	return nil
}

// decode sets values to the n values of a page.
func (r *pageReader) decode(l *leaf, b []byte, n int, encoding format.Encoding) (err error) {
	v := &r.values
	v.numbers, v.texts, v.wholes = v.numbers[:0], v.texts[:0], v.wholes[:0]
	if n == 0 { // a page of nulls
		return nil
	}
	switch encoding {
	case format.Plain:
		return l.plain(v, b, n)
	//lint:ignore SA1019 writers of old files still use it, and it is read like the other one
	case format.PlainDictionary, format.RLEDictionary:
		if len(b) == 0 || b[0] > 32 {
			return badParquet("a page of places in a dictionary is cut off")
		}
		r.index = reuse.Sized(r.index, n)
		if err := runs(r.index, b[1:], int(b[0])); err != nil {
			return err
		}
		for _, i := range r.index {
			switch {
			case l.text && int64(i) < int64(len(r.dict.texts)):
				v.texts = append(v.texts, r.dict.texts[i])
			case !l.text && int64(i) < int64(len(r.dict.numbers)):
				v.numbers = append(v.numbers, r.dict.numbers[i])
				if len(r.dict.wholes) > 0 {
					v.wholes = append(v.wholes, r.dict.wholes[i])
				}
			default:
				return badParquet("place %d in a dictionary of %d", i, max(len(r.dict.texts), len(r.dict.numbers)))
			}
		}
		return nil
	case format.RLE:
		if l.kind == format.Boolean {
			if b, _, err = prefixed(b); err != nil {
				return err
			}
			r.index = reuse.Sized(r.index, n)
			err = runs(r.index, b, 1)
			for _, i := range r.index {
				v.numbers = append(v.numbers, float64(i))
			}
			return err
		}
	case format.DeltaBinaryPacked:
		if l.kind == format.Int32 || l.kind == format.Int64 {
			r.deltas = reuse.Sized(r.deltas, n)
			if _, err := unpackDeltas(r.deltas, b); err != nil {
				return err
			}
			for _, i := range r.deltas {
				v.numbers = append(v.numbers, l.integer(uint64(i)))
				if l.whole() {
					v.wholes = append(v.wholes, i)
				}
			}
			return nil
		}
	case format.DeltaLengthByteArray, format.DeltaByteArray:
		if l.text {
			return r.deltaTexts(b, n, encoding == format.DeltaByteArray)
		}
	case format.ByteStreamSplit:
		width := l.width()
		if width == 0 || n > len(b)/width {
			return badParquet("a page of %d bytes is cut off", len(b))
		}
		r.joined = reuse.Sized(r.joined, n*width)
		for i := range n {
			for k := range width {
				r.joined[i*width+k] = b[k*n+i]
			}
		}
		return l.plain(v, r.joined, n)
	}
	return badParquet("%v values encoded as %v", l.kind, encoding)
}

// width is that of a value in bytes, 0 where they have none in common.
func (l *leaf) width() int {
	switch l.kind {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return l.length
	}
	return 0
}

// whole reports whether the values are 64-bit integers that mean themselves, as identifiers do.
func (l *leaf) whole() bool { return l.kind == format.Int64 && l.divisor == 1 && l.unit == "" }

// exact is the text of such an integer that float64 does not hold, "" of others.
func (l *leaf) exact(v int64) string {
	switch {
	case l.unsigned && uint64(v) > 1<<53:
		return strconv.FormatUint(uint64(v), 10)
	case !l.unsigned && (v > 1<<53 || v < -1<<53):
		return strconv.FormatInt(v, 10)
	}
	return ""
}

// integer is the number that an integer stands for.
func (l *leaf) integer(v uint64) float64 {
	switch {
	case l.kind == format.Int32 && l.unsigned:
		return float64(uint32(v)) / l.divisor
	case l.kind == format.Int32:
		return float64(int32(v)) / l.divisor
	case l.scale > 0:
		if n := int64(v); n < -1<<53 || n > 1<<53 {
			return l.decimal(strconv.FormatInt(n, 10))
		}
	case l.unsigned:
		return float64(v) / l.divisor
	}
	return float64(int64(v)) / l.divisor
}

// decimal is the number nearest to that of those digits, of which some are behind the point. Where float64 does not hold
// them all, the quotient of two numbers may be its neighbour, and the same table as CSV another one.
func (l *leaf) decimal(digits string) float64 {
	f, _ := strconv.ParseFloat(digits+"e-"+strconv.Itoa(l.scale), 64)
	return f
}

// signed is a whole number of bytes, the highest first.
func signed(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if b[0] >= 1<<7 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// plain sets v to n values as the format writes them plainly.
func (l *leaf) plain(v *pageValues, b []byte, n int) error {
	v.numbers, v.texts, v.wholes = v.numbers[:0], v.texts[:0], v.wholes[:0]
	if l.text {
		for range n {
			text, rest, err := prefixed(b)
			if err != nil {
				return err
			}
			b = rest
			v.texts = append(v.texts, textOf(text))
		}
		return nil
	}
	if l.kind == format.Boolean {
		if (n+7)/8 > len(b) {
			return badParquet("a page of %d bytes is cut off", len(b))
		}
		for i := range n {
			v.numbers = append(v.numbers, float64(b[i/8]>>(i%8)&1))
		}
		return nil
	}
	if l.kind == format.ByteArray { // decimal numbers of any length
		for range n {
			x, rest, err := prefixed(b)
			if err != nil {
				return err
			}
			if len(x) == 0 || len(x) > maxDecimal {
				return badParquet("a decimal number of %d bytes", len(x))
			}
			b = rest
			v.numbers = append(v.numbers, l.decimalOf(x))
		}
		return nil
	}
	width := l.width()
	if width == 0 || n > len(b)/width {
		return badParquet("a page of %d bytes is cut off", len(b))
	}
	if l.half {
		x := safetensors.Tensor{DType: safetensors.F16, Shape: []int{n}, Data: b[:n*width]}
		numbers, err := x.Float64s()
		v.numbers = append(v.numbers, numbers...)
		return err
	}
	v.numbers = slices.Grow(v.numbers, n)
	for i := range n {
		x := b[i*width : (i+1)*width]
		var f float64
		switch l.kind {
		case format.Int32:
			f = l.integer(uint64(binary.LittleEndian.Uint32(x)))
		case format.Int64:
			f = l.integer(binary.LittleEndian.Uint64(x))
			if l.whole() {
				v.wholes = append(v.wholes, int64(binary.LittleEndian.Uint64(x)))
			}
		case format.Float:
			f = float64(math.Float32frombits(binary.LittleEndian.Uint32(x)))
		case format.Double:
			f = math.Float64frombits(binary.LittleEndian.Uint64(x))
		case format.Int96:
			const unixEpoch = 2440588
			f = float64(int32(binary.LittleEndian.Uint32(x[8:]))) - unixEpoch + float64(binary.LittleEndian.Uint64(x))/86400e9
		default:
			f = l.decimalOf(x)
		}
		v.numbers = append(v.numbers, f)
	}
	return nil
}

// maxDecimal bounds the bytes of a decimal number.
const maxDecimal = 32

// decimalOf is the decimal number of some bytes, the highest first.
func (l *leaf) decimalOf(x []byte) float64 {
	f := float64(int8(x[0]))
	for _, digit := range x[1:] {
		f = f*256 + float64(digit)
	}
	if math.Abs(f) < 1<<53 && l.scale <= 22 {
		return f / l.divisor
	}
	return l.decimal(signed(x).String())
}

// textOf is a text; bytes that are none, as of identifiers, become digits.
func textOf(b []byte) string {
	if !utf8.Valid(b) {
		return hex.EncodeToString(b)
	}
	return string(b)
}

// deltaTexts sets values to n texts whose lengths come first, and before them, if they have prefixes, how much of the
// text before each begins with.
func (r *pageReader) deltaTexts(b []byte, n int, prefixes bool) (err error) {
	shared := make([]int64, n)
	if prefixes {
		if b, err = unpackDeltas(shared, b); err != nil {
			return err
		}
	}
	r.deltas = reuse.Sized(r.deltas, n)
	if b, err = unpackDeltas(r.deltas, b); err != nil {
		return err
	}
	last, total := "", 0
	for i, length := range r.deltas {
		if length < 0 || length > int64(len(b)) || shared[i] < 0 || shared[i] > int64(len(last)) {
			return badParquet("a text of %d bytes, %d of them of the one before", length, shared[i])
		}
		text := append([]byte(last[:shared[i]]), b[:length]...)
		b = b[length:]
		if total += len(text); total > inPage(len(r.file)) {
			return badParquet("a page of more than %d bytes of text", inPage(len(r.file)))
		}
		last = string(text)
		r.values.texts = append(r.values.texts, textOf(text))
	}
	return nil
}

// runs sets dst to numbers of that many bits, which come as runs of equal ones and as packed groups of eight.
func runs(dst []uint32, b []byte, width int) error {
	cut := badParquet("a page's runs are cut off")
	for at := 0; at < len(dst); {
		head, k := binary.Uvarint(b)
		if k <= 0 || head>>1 == 0 {
			return cut
		}
		b = b[k:]
		left := uint64(len(dst) - at)
		if head&1 == 0 {
			size := (width + 7) / 8
			if len(b) < size {
				return cut
			}
			v := uint32(0)
			for i := range size {
				v |= uint32(b[i]) << (8 * i)
			}
			b = b[size:]
			n := int(min(head>>1, left))
			for i := range n {
				dst[at+i] = v
			}
			at += n
			continue
		}
		groups := int(min(head>>1, left/8+1))
		n := min(groups*8, int(left))
		if len(b) < (n*width+7)/8 {
			return cut
		}
		var held uint64
		have, next := 0, 0
		for i := range n {
			for have < width {
				held |= uint64(b[next]) << have
				have, next = have+8, next+1
			}
			dst[at+i] = uint32(held & (1<<width - 1))
			held >>= width
			have -= width
		}
		b = b[min(len(b), groups*width):]
		at += n
	}
	return nil
}

// unpackDeltas sets dst to numbers that come as differences from one to the next, and returns what follows them.
func unpackDeltas(dst []int64, b []byte) (rest []byte, err error) {
	cut := badParquet("a page's differences are cut off")
	var head [3]uint64
	for i := range head {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, cut
		}
		head[i], b = v, b[k:]
	}
	first, k := binary.Varint(b)
	if k <= 0 {
		return nil, cut
	}
	b = b[k:]
	block, minis, total := head[0], head[1], head[2]
	if total != uint64(len(dst)) || block == 0 || block > 1<<20 || minis == 0 || block%minis != 0 || block/minis%8 != 0 {
		return nil, badParquet("%d differences in blocks of %d, in %d parts; need %d", total, block, minis, len(dst))
	}
	if total == 0 {
		return b, nil
	}
	dst[0] = first
	per := int(block / minis)
	for at := 1; at < len(dst); {
		least, k := binary.Varint(b)
		if k <= 0 || uint64(len(b)-k) < minis {
			return nil, cut
		}
		widths := b[k : k+int(minis)]
		b = b[k+int(minis):]
		for _, w := range widths {
			if at >= len(dst) {
				break
			}
			size := per * int(w) / 8
			if w > 64 || len(b) < size {
				return nil, cut
			}
			for i := range min(per, len(dst)-at) {
				dst[at+i] = dst[at+i-1] + least + int64(bitsAt(b, i*int(w), int(w)))
			}
			at += min(per, len(dst)-at)
			b = b[size:]
		}
	}
	return b, nil
}

// bitsAt is the number of some bits from one on.
func bitsAt(b []byte, at, width int) (v uint64) {
	for k := 0; k < width; {
		from := (at + k) % 8
		n := min(8-from, width-k)
		v |= (uint64(b[(at+k)/8]) >> from & (1<<n - 1)) << k
		k += n
	}
	return v
}
