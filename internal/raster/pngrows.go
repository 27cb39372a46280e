package raster

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"image/color"
	"io"
)

// A PNG file is read row by row, from its beginning, and once more from there for whoever goes back. image/png decodes
// whole images; it is left those that are interlaced, and those with transparent colours.

// errOtherPNG is wrapped where a file may be right and is none that is read in rows.
var errOtherPNG = errors.New("no PNG file that is read in rows")

const pngMagic = "\x89PNG\r\n\x1a\n"

// pngFile is a PNG file of which one row is held.
type pngFile struct {
	r              io.ReaderAt
	length         int64
	w, h, depth    int
	kind           int // the format's colour type
	palette        []color.RGBA64
	data           int64 // where the pixels begin
	z              io.ReadCloser
	next           int    // the row after the one that is held
	row, last      []byte // with the byte of their filter before them
	channels, step int    // of a pixel, and its bytes, at least one
}

// The colour types.
const (
	pngGrey, pngColour, pngPalette, pngGreyAlpha, pngColourAlpha = 0, 2, 3, 4, 6
)

// openPNG reads a file's chunks up to its pixels.
func openPNG(r io.ReaderAt, length int64) (*pngFile, error) {
	f := &pngFile{r: r, length: length}
	in := &pngChunks{in: bufio.NewReader(io.NewSectionReader(r, int64(len(pngMagic)), length)), at: int64(len(pngMagic)),
		sum: crc32.NewIEEE()}
	for first := true; ; first = false {
		at := in.at
		name, size, err := in.chunk()
		if err != nil {
			return nil, err
		}
		switch {
		case first != (name == "IHDR"):
			return nil, fmt.Errorf("%w: chunk %q of a PNG file", ErrImage, name)
		case name == "IDAT":
			if f.kind == pngPalette && f.palette == nil {
				return nil, fmt.Errorf("%w: a PNG file of colours without its palette", ErrImage)
			}
			f.data = at
			return f, nil
		case name == "IHDR":
			b := make([]byte, 13)
			if size != 13 {
				return nil, fmt.Errorf("%w: a PNG header of %d bytes", ErrImage, size)
			}
			if _, err = io.ReadFull(in, b); err == nil {
				err = f.header(b)
			}
		case name == "PLTE":
			b := make([]byte, min(size, 768))
			if _, err = io.ReadFull(in, b); err == nil {
				if f.palette = nil; size%3 != 0 || size > 768 {
					return nil, fmt.Errorf("%w: a PNG palette of %d bytes", ErrImage, size)
				}
				for ; len(b) > 0; b = b[3:] {
					f.palette = append(f.palette, rgba64(color.RGBA{b[0], b[1], b[2], 255}))
				}
			}
		case name == "tRNS":
			return nil, fmt.Errorf("%w: it has transparent colours", errOtherPNG)
		case name == "IEND":
			return nil, fmt.Errorf("%w: a PNG file without pixels", ErrImage)
		}
		if err == nil {
			err = in.end()
		}
		if err != nil {
			return nil, err
		}
	}
}

func rgba64(c color.Color) color.RGBA64 {
	r, g, b, a := c.RGBA()
	return color.RGBA64{R: uint16(r), G: uint16(g), B: uint16(b), A: uint16(a)}
}

func (f *pngFile) header(b []byte) error {
	w, h := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	const most = 1 << 22
	if w < 1 || h < 1 || w > most || h > most {
		return fmt.Errorf("%w: the PNG header claims %d x %d pixels, need 1 to %d along each side", ErrSize, w, h, most)
	}
	f.w, f.h, f.depth, f.kind = int(w), int(h), int(b[8]), int(b[9])
	f.channels = map[int]int{pngGrey: 1, pngColour: 3, pngPalette: 1, pngGreyAlpha: 2, pngColourAlpha: 4}[f.kind]
	deep := f.depth == 8 || f.depth == 16 && f.kind != pngPalette
	low := (f.kind == pngGrey || f.kind == pngPalette) && (f.depth == 1 || f.depth == 2 || f.depth == 4)
	if f.channels == 0 || !deep && !low || b[10] != 0 || b[11] != 0 || b[12] > 1 {
		return fmt.Errorf("%w: a PNG header of %d bits, colour type %d, compression %d, filter %d, interlace %d", ErrImage,
			f.depth, f.kind, b[10], b[11], b[12])
	}
	if b[12] == 1 {
		return fmt.Errorf("%w: it is interlaced", errOtherPNG)
	}
	f.step = max(1, f.channels*f.depth/8)
	size := 1 + (int64(f.w)*int64(f.channels*f.depth)+7)/8
	if size*int64(f.h) > f.length*1040 {
		return fmt.Errorf("%w: the PNG header claims %d x %d pixels in %d bytes", ErrSize, w, h, f.length)
	}
	f.row, f.last = make([]byte, size), make([]byte, size)
	return nil
}

// read goes to a row.
func (f *pngFile) read(y int) error {
	if f.z == nil || y < f.next-1 {
		in := &pngChunks{in: bufio.NewReaderSize(io.NewSectionReader(f.r, f.data, f.length-f.data), 1<<15), at: f.data,
			sum: crc32.NewIEEE()}
		if _, _, err := in.chunk(); err != nil {
			return err
		}
		z, err := io.ReadCloser(nil), error(nil)
		if f.z == nil {
			z, err = zlib.NewReader(in)
		} else if err = f.z.(zlib.Resetter).Reset(in, nil); err == nil {
			z = f.z
		}
		if err != nil {
			f.z = nil
			return fmt.Errorf("%w: the pixels: %w", ErrImage, err)
		}
		f.z, f.next = z, 0
		clear(f.row)
	}
	for f.next <= y {
		f.row, f.last = f.last, f.row
		if _, err := io.ReadFull(f.z, f.row); err != nil {
			f.z = nil
			return fmt.Errorf("%w: the pixels of line %d: %w", ErrImage, f.next, err)
		}
		if err := f.unfilter(); err != nil {
			f.z = nil
			return err
		}
		if f.next++; f.next == f.h { // checksums stand behind the last row
			if _, err := io.ReadFull(f.z, make([]byte, 1)); err != io.EOF {
				f.z = nil
				return fmt.Errorf("%w: what follows the last line: %v", ErrImage, err)
			}
		}
	}
	return nil
}

// unfilter takes back what a row's filter did.
func (f *pngFile) unfilter() error {
	row, last, n := f.row[1:], f.last[1:], f.step
	switch f.row[0] {
	case 0:
	case 1:
		for i := n; i < len(row); i++ {
			row[i] += row[i-n]
		}
	case 2:
		for i, v := range last {
			row[i] += v
		}
	case 3:
		for i, v := range last {
			left := 0
			if i >= n {
				left = int(row[i-n])
			}
			row[i] += byte((left + int(v)) / 2)
		}
	case 4: // whichever of left, above and above left is nearest to left + above - above left
		for i, v := range last {
			a, b, c := 0, int(v), 0
			if i >= n {
				a, c = int(row[i-n]), int(last[i-n])
			}
			pa, pb, pc := b-c, a-c, a+b-2*c
			pa, pb, pc = max(pa, -pa), max(pb, -pb), max(pc, -pc)
			switch {
			case pa <= pb && pa <= pc:
				row[i] += byte(a)
			case pb <= pc:
				row[i] += byte(b)
			default:
				row[i] += byte(c)
			}
		}
	default:
		return fmt.Errorf("%w: line %d has filter %d", ErrImage, f.next, f.row[0])
	}
	return nil
}

// line sets dst to a channel of pixels of line y, from column x on, as at64 and the standard library's colours give them.
func (f *pngFile) line(dst []float32, channel, y, x int) error {
	if err := f.read(y); err != nil {
		return err
	}
	row := f.row[1:]
	sample := func(i int) uint16 { // the i-th of the row, of 16 bits
		switch f.depth {
		case 16:
			return binary.BigEndian.Uint16(row[2*i:])
		case 8:
			return uint16(row[i]) * 257
		}
		v := uint16(row[i*f.depth/8]>>(8-f.depth-i*f.depth%8)) & (1<<f.depth - 1)
		return v * (65535 / (1<<f.depth - 1))
	}
	for i := range dst {
		at := (x + i) * f.channels
		var v uint16
		switch f.kind {
		case pngGrey:
			v = sample(at)
		case pngColour:
			v = sample(at + channel)
		case pngPalette:
			k := int(row[at*f.depth/8]>>(8-f.depth-at*f.depth%8)) & (1<<f.depth - 1)
			if k >= len(f.palette) {
				return fmt.Errorf("%w: line %d, column %d: colour %d of a palette of %d", ErrImage, y, x+i, k, len(f.palette))
			}
			v = channelOf(f.palette[k], channel)
		default:
			quad := [4]uint16{sample(at), sample(at), sample(at), sample(at + f.channels - 1)}
			if f.kind == pngColourAlpha {
				quad[1], quad[2] = sample(at+1), sample(at+2)
			}
			dst[i] = values(color.NRGBA64{R: quad[0], G: quad[1], B: quad[2], A: quad[3]})[channel]
			continue
		}
		dst[i] = float32(float64(v) / 65535)
	}
	return nil
}

func channelOf(c color.RGBA64, channel int) uint16 { return [3]uint16{c.R, c.G, c.B}[channel] }

// pngChunks reads chunks; as an io.Reader it is the content of one, and of the IDAT chunks that follow an IDAT chunk.
type pngChunks struct {
	in   *bufio.Reader
	at   int64 // in the file
	left uint32
	name string
	sum  hash.Hash32
}

// chunk begins a chunk.
func (c *pngChunks) chunk() (name string, size int, err error) {
	var b [8]byte
	if _, err := io.ReadFull(c.in, b[:]); err != nil {
		return "", 0, fmt.Errorf("%w: a PNG file that is cut off: %v", ErrImage, err)
	}
	c.at += 8
	if c.left = binary.BigEndian.Uint32(b[:]); c.left > 1<<31-1 {
		return "", 0, fmt.Errorf("%w: a PNG chunk of %d bytes", ErrImage, c.left)
	}
	c.sum.Reset()
	c.sum.Write(b[4:])
	c.name = string(b[4:])
	return c.name, int(c.left), nil
}

// end skips what is left of a chunk, and checks it.
func (c *pngChunks) end() error {
	n, err := io.Copy(c.sum, io.LimitReader(c.in, int64(c.left)))
	if err == nil && n < int64(c.left) {
		err = io.ErrUnexpectedEOF
	}
	var b [4]byte
	if err == nil {
		_, err = io.ReadFull(c.in, b[:])
	}
	if err != nil {
		return fmt.Errorf("%w: a PNG file that is cut off: %v", ErrImage, err)
	}
	c.at += int64(c.left) + 4
	if c.left = 0; binary.BigEndian.Uint32(b[:]) != c.sum.Sum32() {
		return fmt.Errorf("%w: the checksum of PNG chunk %q", ErrImage, c.name)
	}
	return nil
}

func (c *pngChunks) Read(b []byte) (int, error) {
	for c.left == 0 {
		if c.name != "IDAT" {
			return 0, io.EOF
		}
		if err := c.end(); err != nil {
			return 0, err
		}
		if name, _, err := c.chunk(); err != nil {
			return 0, err
		} else if name != "IDAT" {
			c.left = 0
			return 0, io.EOF
		}
	}
	n, err := c.in.Read(b[:min(len(b), int(c.left))])
	c.sum.Write(b[:n])
	c.left -= uint32(n)
	c.at += int64(n)
	return n, err
}
