package raster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// TIFF files are read block by block, a block being a strip or a tile, and each block row by row: whoever goes down a
// raster holds one row of every block that he sees. What libtiff reads and this reader does not (JPEG in TIFF, for one)
// is refused by its name: golang.org/x/image/tiff, which decodes whole images of a few kinds, takes no notice of
// planes, of predictors without compression and of the order of bits.

// The tags that are read.
const (
	tagKind                                                                    = 254
	tagWidth, tagHeight, tagBits, tagCompression, tagPhotometric, tagFillOrder = 256, 257, 258, 259, 262, 266
	tagOffsets, tagSamples, tagRows, tagCounts, tagPlanar, tagPredictor        = 273, 277, 278, 279, 284, 317
	tagT4, tagColours                                                          = 292, 320
	tagTileWidth, tagTileHeight, tagTileOffsets, tagTileCounts                 = 322, 323, 324, 325
	tagExtra, tagFormat, tagMetadata, tagNoData                                = 338, 339, 42112, 42113
	tagPixelScale, tagTiePoints, tagTransformation                             = 33550, 33922, 34264
	tagGeoKeys, tagGeoDoubles, tagGeoTexts, tagPolynomials                     = 34735, 34736, 34737, 50844
)

// The types of tags' values, and the bytes of a value.
const (
	kindText, kindShort, kindLong, kindDouble, kindLong8 = 2, 3, 4, 12, 16
)

var tiffSizes = map[int]int{1: 1, kindText: 1, kindShort: 2, kindLong: 4, kindDouble: 8, kindLong8: 8}

// The values of tagFormat and tagCompression that are read.
const (
	formatUint, formatInt, formatFloat, formatVoid         = 1, 2, 3, 4
	packedNone, packedLZW, packedZlib, packedBits, oldZlib = 1, 5, 8, 32773, 32946
	packedFax3, packedFax4, packedZstd                     = 3, 4, 50000
)

// The values of tagPhotometric that are read.
const (
	whiteIsZero, blackIsZero, colourRGB, colourPalette = 0, 1, 2, 3

	maskOfPixels = 4 // only of an image that is a mask
)

// otherCompressions and otherColours are those that files have and this reader does not.
var (
	otherCompressions = map[int]string{2: "CCITT RLE", 6: "old JPEG", 7: "JPEG", 9: "JBIG", 10: "JBIG", 32766: "NeXT",
		32771: "CCITT RLE", 32809: "ThunderScan",
		34661: "JBIG", 34676: "SGILog", 34677: "SGILog24", 34712: "JPEG 2000", 34887: "LERC", 34892: "JPEG", 34925: "LZMA",
		34926: "old ZSTD", 34927: "old WebP",
		50001: "WebP", 50002: "JPEG XL", 52546: "JPEG XL"}
	otherColours = map[int]string{4: "a transparency mask", 5: "separated (CMYK)", 6: "YCbCr", 8: "CIE L*a*b*", 9: "ICC L*a*b*",
		10: "ITU L*a*b*", 32803: "a colour filter array",
		32844: "LogL", 32845: "LogLuv", 34892: "linear raw"}
)

// tiffFile is the first image of a TIFF or BigTIFF file.
type tiffFile struct {
	r      io.ReaderAt
	length int64
	order  binary.ByteOrder
	tags   map[int]tiffTag

	w, h, samples, bits, format   int
	compression, predictor        int
	photometric                   int
	planar, reversed              bool
	alpha                         int      // the sample that says how opaque a pixel is, -1 without
	multiplied                    bool     // the others are multiplied by it
	colours                       []uint16 // of a palette: all reds, then greens, then blues
	whitest                       float64  // the largest number of a palette, once it is known
	blockW, blockH, across, below int      // the blocks' size, and how many there are
	whole                         bool
	offsets, counts               []int64
	missing                       float64 // the value of pixels that are not observed; NaN: none
	extreme                       float64 // another one; 0: none
	names                         bool    // the file names a value of pixels that are not observed, NaN perhaps

	open        map[int]*tiffBlock // those that the last line went through
	at          [3]int             // the row of blocks, and the first and last in it, that open has
	idle        []io.Reader        // zlib's, to be used again
	zeros       []byte             // a row of a block that the file leaves out
	mask        *tiffFile          // not zero where pixels are observed; nil: there is none
	isMask      bool               // of another one
	cover       []float32          // how opaque the pixels of a line are
	translucent bool               // a line had pixels that are not opaque
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
	tags := f.entries(b, entry)
	f.tags = tags
	if err := f.read(tags); err != nil {
		return nil, err
	}
	own, found := f.masked(at, size, entry)
	if !found {
		return f, nil
	}
	m := &tiffFile{r: r, length: length, order: f.order, missing: math.NaN(), open: map[int]*tiffBlock{}, isMask: true}
	err = m.read(own)
	if err == nil {
		err = f.maskedBy(m)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: a TIFF file with a mask as an image of its own, which is not read (%w): write it with a value for"+
			" no data, or with alpha", ErrImage, err)
	}
	return f, nil
}

// maskedBy takes a mask, which alone says which pixels are observed, as in GDAL: a value for no data is one like others then.
func (f *tiffFile) maskedBy(m *tiffFile) error {
	if m.w != f.w || m.h != f.h || !m.visible() || m.photometric == colourPalette || m.samples != 1 && m.samples != f.samples {
		return fmt.Errorf("%w: a mask of %d x %d pixels of %d samples, the image has %d x %d of %d", ErrSize, m.w, m.h, m.samples, f.w, f.h,
			f.samples)
	}
	m.isMask, f.mask, f.missing, f.extreme = true, m, math.NaN(), 0
	return nil
}

// besideTIFF takes the mask that GDAL writes beside a file, unless that has one, and returns its file to be closed; nil: there is none.
func (f *tiffFile) besideTIFF(path string) (*os.File, error) {
	if f.mask != nil {
		return nil, nil
	}
	file, err := os.Open(path + ".msk")
	if err != nil { // most have none
		return nil, nil
	}
	info, err := file.Stat()
	var m *tiffFile
	if err == nil {
		m, err = openTIFF(file, info.Size())
	}
	if err == nil {
		err = f.maskedBy(m)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("the mask %s.msk: %w", path, err)
	}
	return file, nil
}

// maxDirectories bounds the images of a file among which a mask is looked for.
const maxDirectories = 1 << 10

// masked reports whether one of the images after the first, whose directory is at that place, is a mask of transparency, and returns the
// tags of the first one that is no overview. A file whose later directories are damaged has none.
func (f *tiffFile) masked(at, size int64, entry int) (tags map[int]tiffTag, found bool) {
	word := func(b []byte) int64 {
		switch len(b) {
		case 2:
			return int64(f.order.Uint16(b))
		case 4:
			return int64(f.order.Uint32(b))
		}
		return int64(f.order.Uint64(b))
	}
	place := int64(4)
	if size == 8 {
		place = 8
	}
	for k := range maxDirectories {
		b, err := f.bytes(at, size)
		if err != nil || word(b) < 1 || word(b) > 4096 {
			return nil, found
		}
		n := word(b) * int64(entry)
		if b, err = f.bytes(at+size, n+place); err != nil {
			return nil, found
		}
		all := f.entries(b[:n], entry)
		if t, ok := all[tagKind]; k > 0 && ok && t.kind == kindLong && f.order.Uint32(t.value)&4 != 0 {
			if found = true; f.order.Uint32(t.value)&1 == 0 {
				return all, true
			}
		}
		if at = word(b[n:]); at == 0 {
			return nil, found
		}
	}
	return nil, found
}

// entries are those of a directory, of so many bytes each.
func (f *tiffFile) entries(b []byte, entry int) map[int]tiffTag {
	tags := map[int]tiffTag{}
	for ; len(b) > 0; b = b[entry:] {
		t := tiffTag{kind: int(f.order.Uint16(b[2:])), count: uint64(f.order.Uint32(b[4:])), value: b[8:12]}
		if entry == 20 {
			t.count, t.value = f.order.Uint64(b[4:]), b[12:20]
		}
		tags[int(f.order.Uint16(b))] = t
	}
	return tags
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
	size = tiffSizes[t.kind]
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

// numbers are the values of a tag of whole numbers; of one of kindDouble, the bits.
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

// tiffTags reads tags until one is wrong.
type tiffTags struct {
	f    *tiffFile
	tags map[int]tiffTag
	err  error
}

// list is the numbers of a tag, nil without it.
func (t *tiffTags) list(tag int) []int64 {
	entry, ok := t.tags[tag]
	if !ok || t.err != nil {
		return nil
	}
	v, err := t.f.numbers(entry)
	t.err = err
	return v
}

// one is the number of a tag, which all samples must have alike.
func (t *tiffTags) one(tag int, missing int64) int {
	v := []int64{missing}
	if own := t.list(tag); len(own) > 0 {
		v = own
		for _, x := range own {
			if x != own[0] {
				t.err = errors.Join(t.err, fmt.Errorf("%w: TIFF tag %d differs between samples", ErrImage, tag))
			}
		}
	}
	if v[0] < 0 || v[0] > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(v[0])
}

// read takes the tags.
func (f *tiffFile) read(tags map[int]tiffTag) error {
	t := &tiffTags{f: f, tags: tags}
	f.w, f.h, f.samples, f.bits, f.format = t.one(tagWidth, 0), t.one(tagHeight, 0), t.one(tagSamples, 1), t.one(tagBits, 1),
		t.one(tagFormat, formatUint)
	f.compression, f.predictor, f.planar = t.one(tagCompression, packedNone), t.one(tagPredictor, 1), t.one(tagPlanar, 1) == 2
	f.photometric, f.reversed = t.one(tagPhotometric, blackIsZero), t.one(tagFillOrder, 1) == 2
	if f.isMask && f.photometric == maskOfPixels {
		f.photometric = blackIsZero
	}
	f.blockW, f.blockH = f.w, min(t.one(tagRows, math.MaxInt32), f.h)
	if f.blockH == 0 {
		f.blockH = f.h
	}
	offsets, counts := tagOffsets, tagCounts
	if _, f.whole = tags[tagTileWidth]; f.whole {
		f.blockW, f.blockH = t.one(tagTileWidth, 0), t.one(tagTileHeight, 0)
		if _, given := tags[tagTileOffsets]; given { // early writers have those of strips for tiles
			offsets, counts = tagTileOffsets, tagTileCounts
		}
	}
	extra, fax := t.list(tagExtra), t.one(tagT4, 0)
	f.offsets, f.counts = t.list(offsets), t.list(counts)
	for _, c := range t.list(tagColours) {
		f.colours = append(f.colours, uint16(c))
	}
	if t.err != nil {
		return t.err
	}
	const most = 1 << 22
	if f.w < 1 || f.h < 1 || f.w > most || f.h > most {
		return fmt.Errorf("%w: %d x %d pixels, need 1 to %d along each side", ErrSize, f.w, f.h, most)
	}
	if f.format == formatVoid {
		f.format = formatUint
	}
	if err := f.known(extra, fax); err != nil {
		return err
	}
	if f.blockW < 1 || f.blockH < 1 || f.blockW > 1<<30 || f.blockH > 1<<30 || f.rowBytes() > maxTIFFRow {
		return fmt.Errorf("%w: blocks of %d x %d pixels of %d samples", ErrImage, f.blockW, f.blockH, f.samples)
	}
	f.across, f.below = (f.w+f.blockW-1)/f.blockW, (f.h+f.blockH-1)/f.blockH
	need := int64(f.across) * int64(f.below)
	if f.planar {
		need *= int64(f.samples)
	}
	if _, given := tags[counts]; !given && f.compression == packedNone && int64(len(f.offsets)) == need { // as some old writers leave it
		for i := range f.offsets {
			f.counts = append(f.counts, f.rowBytes()*int64(f.rows(i)))
		}
	}
	if int64(len(f.offsets)) != need || int64(len(f.counts)) != need {
		return fmt.Errorf("%w: %d blocks with %d lengths, %d x %d pixels need %d", ErrImage, len(f.offsets), len(f.counts), f.w, f.h, need)
	}
	return f.noData(tags)
}

// known is an error where the file has what this reader does not read, and names it.
func (f *tiffFile) known(extra []int64, fax int) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: a TIFF file %s", ErrImage, fmt.Sprintf(format, args...))
	}
	const advice = ": write it with deflate, LZW, ZSTD, PackBits or no compression"
	kinds := map[int][]int{formatInt: {8, 16, 24, 32, 64}, formatFloat: {16, 32, 64}}
	if f.bits <= 16 || f.bits == 24 || f.bits == 32 || f.bits == 64 {
		kinds[formatUint] = []int{f.bits}
	}
	bytes := f.bits%8 == 0
	packed := slices.Contains([]int{packedLZW, packedZlib, oldZlib, packedZstd}, f.compression)
	if !packed { // as in libtiff: the predictor belongs to these compressions
		f.predictor = 1
	}
	switch {
	case f.bits < 1 || !slices.Contains(kinds[f.format], f.bits):
		return bad("of samples of %d bits of format %d", f.bits, f.format)
	case f.samples < 1 || f.samples > 64 || len(extra) >= f.samples && len(extra) > 0:
		return bad("of %d samples a pixel, %d of them extra ones", f.samples, len(extra))
	case otherCompressions[f.compression] != "":
		return bad("compressed by %s, which is not read"+advice, otherCompressions[f.compression])
	case f.compression == packedZstd && Zstd == nil:
		return bad("compressed by ZSTD, which is not read here: write it with deflate, LZW, PackBits or no compression")
	case !packed && !slices.Contains([]int{packedNone, packedBits, packedFax3, packedFax4}, f.compression):
		return bad("of compression %d, which is not read"+advice, f.compression)
	case otherColours[f.photometric] != "":
		return bad("whose colours are %s, which is not read: write it as RGB or grey", otherColours[f.photometric])
	case f.photometric > colourPalette:
		return bad("of photometric interpretation %d, which is not read: write it as RGB or grey", f.photometric)
	case (f.compression == packedFax3 || f.compression == packedFax4) && (f.bits != 1 || f.samples != 1 && !f.planar):
		return bad("compressed as a fax, of %d samples of %d bits", f.samples, f.bits)
	case f.compression == packedFax3 && fax&1 != 0:
		return bad("compressed by CCITT group 3 in two dimensions, which is not read" + advice + ", or CCITT group 4")
	case f.compression == packedFax3 && fax&6 != 0:
		return bad("compressed by CCITT group 3 with fill bits or uncompressed parts, which is not read" + advice + ", or CCITT group 4")
	case f.predictor == 2 && !(bytes && (f.bits <= 32 || f.bits == 64) && f.bits != 24):
		return bad("with predictor 2 on samples of %d bits, which is not read", f.bits)
	case f.predictor == 3 && f.format != formatFloat, f.predictor < 1 || f.predictor > 3:
		return bad("with predictor %d on samples of format %d, which is not read", f.predictor, f.format)
	case f.photometric == colourPalette && (f.format != formatUint || f.bits > 16 || len(f.colours) != 3<<f.bits ||
		f.samples != 1+len(extra)):
		return bad("of %d samples of %d bits and a palette of %d numbers", f.samples, f.bits, len(f.colours))
	}
	f.alpha = -1
	for k, v := range extra {
		if f.alpha < 0 && (v == 1 || v == 2) {
			f.alpha, f.multiplied = f.samples-len(extra)+k, v == 1
		}
	}
	return nil
}

// noData reads the number that says that a pixel has no value, as GDAL writes it: as text.
func (f *tiffFile) noData(tags map[int]tiffTag) error {
	t, ok := tags[tagNoData]
	if !ok || t.kind != 2 {
		return nil
	}
	b, _, err := f.raw(t)
	if err != nil {
		return err
	}
	if v, err := strconv.ParseFloat(strings.Trim(string(b), " \x00"), 64); err == nil {
		f.missing, f.names = v, true
		if f.format == formatFloat && f.bits == 32 { // what the data can hold of it
			const most = math.MaxFloat32
			if f.missing = float64(float32(v)); !math.IsInf(v, 0) {
				f.missing = min(max(f.missing, -most), most)
			}
			if math.Abs(math.Abs(v)-most) < 1e-5*most {
				f.extreme = math.Copysign(most, v) // -3.40282e+38 means the least number, too
			}
		}
	}
	return nil
}

// channels is how many channels the pixels have, without alpha.
func (f *tiffFile) channels() int {
	n := f.samples
	if f.alpha >= 0 {
		n--
	}
	if f.photometric == colourPalette {
		return 3
	}
	return n
}

// step is how many samples of a block's row a pixel has.
func (f *tiffFile) step() int {
	if f.planar {
		return 1
	}
	return f.samples
}

func (f *tiffFile) rowBytes() int64 {
	return (int64(f.blockW)*int64(f.step())*int64(f.bits) + 7) / 8
}

// rows is how many rows block i has.
func (f *tiffFile) rows(i int) int {
	if last := (f.below - 1) * f.blockH; !f.whole && i/f.across%f.below == f.below-1 {
		return f.h - last
	}
	return f.blockH
}
