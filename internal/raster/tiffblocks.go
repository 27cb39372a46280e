package raster

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"math/bits"

	"golang.org/x/image/ccitt"
	"golang.org/x/image/tiff/lzw"
)

// Zstd opens a decoder of ZSTD. It is nil, and TIFF files of that compression are refused, unless a program imports internal/zstd.
var Zstd func(in io.Reader) (io.ReadCloser, error)

// tiffBlock goes down a strip or tile.
type tiffBlock struct {
	in   io.Reader
	zlib io.Reader    // in, where it can be used again
	done func() error // nil, or what gives up what in holds
	row  []byte
	next int // the row after the one that row is
}

// sample sets dst to a sample of pixels of line y, from column x on.
func (f *tiffFile) sample(dst []float32, sample, y, x int, convert func(dst []float32, row []byte, from int)) error {
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
		convert(dst[lo-x:hi-x], b, (lo-column*f.blockW)*f.step()+sample)
	}
	return nil
}

// row returns a row of a block; nil: no pixel of it is observed.
func (f *tiffFile) row(i, y int) ([]byte, error) {
	if f.counts[i] == 0 && f.offsets[i] == 0 {
		// GDAL leaves out blocks of nothing but the value for no data or, in files that name none, but zeros.
		if f.names {
			return nil, nil
		}
		if f.zeros == nil {
			f.zeros = make([]byte, f.rowBytes())
		}
		return f.zeros, nil
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
		if b.next++; b.next == f.rows(i) && b.zlib != nil { // the checksum stands behind the last row
			// What is longer than its rows, or lacks the checksum, is read, as elsewhere.
			if _, err := io.ReadFull(b.in, make([]byte, 1)); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				return nil, fmt.Errorf("%w: %w", ErrImage, err)
			}
		}
	}
	return b.row, nil
}

// begin opens a block.
func (f *tiffFile) begin(b *tiffBlock, i int) error {
	at, n := f.offsets[i], f.counts[i]
	if at < 1 || n < 1 || at > f.length || n > f.length-at {
		return fmt.Errorf("%w: %d bytes at %d, the file has %d", ErrImage, n, at, f.length)
	}
	rows, size := f.rows(i), f.rowBytes()
	if f.fax() {
		if int64(rows) > 8*n {
			return fmt.Errorf("%w: %d bytes cannot hold %d rows of a fax", ErrImage, n, rows)
		}
	} else if size*int64(rows) > n*unpacked(f.compression) {
		return fmt.Errorf("%w: %d bytes cannot hold %d rows of %d bytes", ErrImage, n, rows, size)
	}
	b.row = make([]byte, size)
	in := bufio.NewReaderSize(io.NewSectionReader(f.r, at, n), int(min(n, 1<<15)))
	if f.reversed && !f.fax() { // the bits of every byte, whatever they hold
		in = bufio.NewReaderSize(reversedBits{in}, int(min(n, 1<<15)))
	}
	switch f.compression {
	case packedNone:
		b.in = in
	case packedBits:
		b.in = &unpackBits{in: in}
	case packedFax3, packedFax4:
		order, kind := ccitt.MSB, ccitt.Group3
		if f.reversed {
			order = ccitt.LSB
		}
		if f.compression == packedFax4 {
			kind = ccitt.Group4
		}
		b.in = ccitt.NewReader(in, order, kind, f.blockW, rows, &ccitt.Options{Invert: true})
	case packedLZW:
		if head, _ := in.Peek(2); len(head) == 2 && head[0] == 0 && head[1]&1 == 1 {
			return fmt.Errorf("%w: LZW with the bits of old writers, which is not read", ErrImage)
		}
		b.in = lzw.NewReader(in, lzw.MSB, 8)
	case packedZstd:
		z, err := Zstd(in)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrImage, err)
		}
		b.in, b.done = z, z.Close
	default:
		return f.inflate(b, in)
	}
	return nil
}

// inflate opens a block of zlib's.
func (f *tiffFile) inflate(b *tiffBlock, in io.Reader) error {
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
	return nil
}

func (f *tiffFile) fax() bool { return f.compression == packedFax3 || f.compression == packedFax4 }

// unpacked is how many bytes a compressed one becomes at most.
func unpacked(compression int) int64 {
	switch compression {
	case packedNone:
		return 1
	case packedBits:
		return 64
	case packedLZW:
		return 4096
	case packedZstd:
		return 1 << 17
	}
	return 1040
}

func (f *tiffFile) close(b *tiffBlock) {
	if b.zlib != nil && len(f.idle) < 64 {
		f.idle = append(f.idle, b.zlib)
	}
	if b.done != nil {
		_ = b.done() // a decoder in memory
	}
}

// reversedBits turns the bits of every byte around.
type reversedBits struct{ in io.Reader }

func (r reversedBits) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	for i, v := range b[:n] {
		b[i] = bits.Reverse8(v)
	}
	return n, err
}

// tiffImage reads the whole image of bytes, as Read does.
func tiffImage(b []byte, name string) (*Image, error) {
	f, err := openTIFF(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f.image(name)
}

// visible reports whether the samples are those of pictures, from black to white.
func (f *tiffFile) visible() bool { return f.format == formatUint && f.bits <= 16 }

// image is the whole image, of one channel or three, with values in [0, 1].
func (f *tiffFile) image(name string) (*Image, error) {
	n := f.channels()
	switch {
	case f.w > MaxPixels/f.h:
		return nil, fmt.Errorf("%s: %w: %d x %d pixels, need at most %d in all", name, ErrSize, f.w, f.h, MaxPixels)
	case !f.visible() && f.format != formatFloat:
		return nil, fmt.Errorf("%s: %w: a TIFF file of samples of %d bits of format %d: an image has whole numbers of up to 16 bits, or "+
			"floats from 0 to 1; raster takes any numbers as they are", name, ErrImage, f.bits, f.format)
	case n != 1 && n != 3:
		return nil, fmt.Errorf("%s: %w: a TIFF file of %d channels, need 1 or 3", name, ErrImage, n)
	}
	s := &Strips{C: n, H: f.h, W: f.w, own: n, line: f.line}
	im, err := s.all(name)
	if err != nil {
		return nil, err
	}
	if f.format == formatFloat {
		if err := im.checkLight(name); err != nil {
			return nil, err
		}
	}
	im.Translucent = f.translucent
	if n == 3 && greyOf(im) {
		im.C, im.Pix = 1, im.Pix[:f.w*f.h:f.w*f.h]
	}
	im.locate(f)
	return im, nil
}

// greyOf reports whether the channels of an image agree in every pixel.
func greyOf(im *Image) bool {
	n := im.H * im.W
	for i, r := range im.Pix[:n] {
		g, b := im.Pix[n+i], im.Pix[2*n+i]
		if r != g && (r == r || g == g) || r != b && (r == r || b == b) {
			return false
		}
	}
	return true
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
