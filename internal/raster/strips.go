package raster

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/internal/atomicfile"
	"github.com/equivcnp/equivcnp/internal/npy"
)

// Strips is a raster of any size that is read line by line: .npy arrays of numbers as they are, and binary .pgm and
// .ppm, whose values are taken to [0, 1], both from their places in the file; TIFF of any numbers by strips or tiles,
// of which unsigned ones of up to 16 bits are taken to [0, 1]; PNG row by row. JPEG, and PNG that is interlaced or has
// transparent colours, are decoded as a whole, and kept in memory as they are in the file. NaN is a value that is
// missing, as in pixels that are more transparent than opaque.
type Strips struct {
	C, H, W int
	line    func(dst []float32, channel, y, x int) error // values of one of the file's channels
	own     int                                          // channels of the file
	picture *tiffFile                                    // of a TIFF file
	rest    []float32
	file    *os.File
	mask    *os.File // GDAL's beside it, nil without
}

// maxHeld bounds the pixels of an image that is decoded as a whole.
const maxHeld = 1 << 29

// OpenStrips opens a raster for a model with that many channels. A grey picture gives equal channels, a colour one its
// luma, as with Grey and Colour; an array must have the channels: [H, W] for one, otherwise [C, H, W] or [H, W, C].
func OpenStrips(path string, channels int) (*Strips, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &Strips{C: channels, file: f}
	if err := s.open(path); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the file.
func (s *Strips) Close() error {
	if s.mask != nil {
		s.mask.Close()
	}
	return s.file.Close()
}

// Beside is the file beside the raster that says which pixels are observed, "" without. The pixels depend on it, too.
func (s *Strips) Beside() string {
	if s == nil || s.mask == nil {
		return ""
	}
	return s.mask.Name()
}

// Converted notes how a raster of other channels than the model's is read.
func (s *Strips) Converted() []string {
	switch {
	case s.own == s.C:
		return nil
	case s.own == 1:
		return []string{fmt.Sprintf("the raster has 1 channel and the model %d: given %d equal ones", s.C, s.C)}
	}
	return []string{"the raster has 3 channels, taken as red, green and blue, and the model 1: converted to grey (luma)"}
}

func (s *Strips) open(path string) error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, 8)
	n, err := s.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	head = head[:n]
	var other error // why a picture is not read in parts
	switch {
	case isTIFF(head):
		var f *tiffFile
		if f, err = openTIFF(s.file, info.Size()); err == nil {
			s.H, s.W, s.own, s.line, s.picture = f.h, f.w, f.channels(), f.line, f
			s.mask, err = f.besideTIFF(path)
		}
	case string(head) == pngMagic:
		var f *pngFile
		if f, err = openPNG(s.file, info.Size()); err == nil {
			s.H, s.W, s.own, s.line = f.h, f.w, 3, f.line
			if f.kind == pngGrey || f.kind == pngGreyAlpha {
				s.own = 1
			}
		}
		other = errOtherPNG
	case npy.Is(head):
		err = s.array(info.Size())
	case len(head) > 2 && head[0] == 'P' && (head[1] == '5' || head[1] == '6'):
		err = s.portable(info.Size())
	default:
		return s.held(path)
	}
	if other != nil && errors.Is(err, other) {
		if failed := s.held(path); failed != nil {
			return fmt.Errorf("%w (%w)", failed, err)
		}
		return nil
	}
	if err == nil && s.own != s.C && s.own != 1 && (s.own != 3 || s.C != 1) {
		err = fmt.Errorf("%w: %d channels, the model has %d", ErrSize, s.own, s.C)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return err
}

func (s *Strips) array(length int64) error {
	a, err := npy.OpenArray(s.file, length)
	if err != nil {
		return err
	}
	shape, c := a.Shape, s.C
	switch {
	case len(shape) == 2 && c == 1:
		s.H, s.W = shape[0], shape[1]
	case len(shape) == 3 && shape[0] == c:
		s.H, s.W = shape[1], shape[2]
	case len(shape) == 3 && shape[2] == c:
		s.H, s.W = shape[0], shape[1]
		var all []float32
		s.line = func(dst []float32, ch, y, x int) error {
			all = slices.Grow(all[:0], c*len(dst))[:c*len(dst)]
			if err := a.Float32s(all, (y*s.W+x)*c); err != nil {
				return err
			}
			for i := range dst {
				dst[i] = all[i*c+ch]
			}
			return nil
		}
	default:
		return fmt.Errorf("%w: an array of shape %v, a model of %d channels needs [%d, H, W] or [H, W, %d], of one channel [H, W]",
			ErrSize, shape, c, c, c)
	}
	if s.line == nil {
		s.line = func(dst []float32, ch, y, x int) error { return a.Float32s(dst, (ch*s.H+y)*s.W+x) }
	}
	s.own = c
	return s.size()
}

func (s *Strips) size() error {
	if s.H < 1 || s.W < 1 {
		return fmt.Errorf("%w: %d x %d pixels", ErrSize, s.W, s.H)
	}
	return nil
}

// portable reads binary PGM and PPM: P5 or P6, width, height and the largest value, with comments between them, then one byte of space.
func (s *Strips) portable(length int64) error {
	in := bufio.NewReader(io.NewSectionReader(s.file, 0, length))
	at := int64(0)
	next := func() (byte, error) { at++; return in.ReadByte() }
	word := func() (string, error) {
		var w []byte
		for {
			b, err := next()
			switch {
			case err != nil:
				return "", fmt.Errorf("%w: the header: %v", ErrImage, err)
			case b == '#':
				for b != '\n' && err == nil {
					b, err = next()
				}
			case b == ' ' || b == '\t' || b == '\n' || b == '\r':
				if len(w) > 0 {
					return string(w), nil
				}
			case len(w) == 16:
				return "", fmt.Errorf("%w: the header", ErrImage)
			default:
				w = append(w, b)
			}
		}
	}
	var v [3]int
	kind, err := word()
	for i := range v {
		var w string
		if err == nil {
			w, err = word()
		}
		if err == nil {
			if n, bad := fmt.Sscanf(w, "%d", &v[i]); n != 1 || bad != nil || v[i] < 1 {
				err = fmt.Errorf("%w: %q in the header", ErrImage, w)
			}
		}
	}
	if err != nil {
		return err
	}
	s.W, s.H, s.own = v[0], v[1], 1
	if kind == "P6" {
		s.own = 3
	}
	most, bytes := v[2], 1
	if most > 255 {
		bytes = 2
	}
	step := s.own * bytes
	if most > math.MaxUint16 || s.W > math.MaxInt/step/s.H || int64(s.W)*int64(s.H)*int64(step) > length-at {
		return fmt.Errorf("%w: %d x %d pixels up to %d, the file has %d bytes of them", ErrImage, s.W, s.H, most, length-at)
	}
	var room []byte
	s.line = func(dst []float32, ch, y, x int) error {
		room = slices.Grow(room[:0], len(dst)*step)[:len(dst)*step]
		if _, err := s.file.ReadAt(room, at+(int64(y)*int64(s.W)+int64(x))*int64(step)); err != nil {
			return err
		}
		for i := range dst {
			v := int(room[i*step+ch*bytes])
			if bytes == 2 {
				v = int(binary.BigEndian.Uint16(room[i*step+ch*2:]))
			}
			dst[i] = float32(float64(v) / float64(most))
		}
		return nil
	}
	return nil
}

// held decodes a whole picture.
func (s *Strips) held(path string) error {
	im, err := decodeUpTo(s.file, path, maxHeld)
	if err != nil {
		return err
	}
	r := im.Bounds()
	s.H, s.W, s.own = r.Dy(), r.Dx(), 3
	switch im.(type) {
	case *image.Gray, *image.Gray16:
		s.own = 1
	}
	at := at64(im)
	s.line = func(dst []float32, ch, y, x int) error {
		for i := range dst {
			dst[i] = values(at(r.Min.X+x+i, r.Min.Y+y))[ch]
		}
		return nil
	}
	return nil
}

// Line sets dst to values of a channel, of line y from column x on.
func (s *Strips) Line(dst []float32, channel, y, x int) error {
	switch {
	case s.own == s.C:
		return s.line(dst, channel, y, x)
	case s.own == 1:
		return s.line(dst, 0, y, x)
	case s.own != 3 || s.C != 1:
		return fmt.Errorf("%w: %d channels, need %d", ErrSize, s.own, s.C)
	}
	n := len(dst)
	s.rest = slices.Grow(s.rest[:0], 3*n)[:3*n]
	for ch := range 3 {
		if err := s.line(s.rest[ch*n:(ch+1)*n], ch, y, x); err != nil {
			return err
		}
	}
	for i := range dst {
		r, g, b := float64(s.rest[i]), float64(s.rest[n+i]), float64(s.rest[2*n+i])
		dst[i] = float32(0.299*r + 0.587*g + 0.114*b)
	}
	return nil
}

// StripEndings are the formats that are written in parts.
const StripEndings = ".npy .tif .tiff .png .pgm .ppm"

// StripWriter writes a raster of which parts come in any order: .npy holds float32 [C, H, W], or [H, W] of one channel,
// .tif float32 [H, W, C], and .pgm, .ppm and .png 16 bits of values that are taken from [0, 1]. A .png file is a .pgm
// or .ppm one until FinishStrips.
type StripWriter struct {
	C, H, W     int
	file        *os.File
	data        int64
	apart, deep bool // channels are planes; float32
	room        []byte
	sum         string // of what the last Write wrote
}

// IsTIFFName reports whether a file of that name is written as TIFF.
func IsTIFFName(name string) bool {
	return slices.Contains([]string{".tif", ".tiff"}, strings.ToLower(filepath.Ext(name)))
}

// maxSide and maxWritten bound a raster that is written, and its values.
const (
	maxSide    = 1 << 28
	maxWritten = int64(1) << 56
)

// OpenStripWriter opens file, a new one or one that was begun, for a raster whose name will be name. A TIFF file says where
// its pixels are, unless place is nil.
func OpenStripWriter(file, name string, c, h, w int, place *Place) (*StripWriter, error) {
	ending := strings.ToLower(filepath.Ext(name))
	s := &StripWriter{C: c, H: h, W: w, apart: ending == ".npy"}
	if c < 1 || h < 1 || w < 1 || h > maxSide || w > maxSide || int64(c) > maxWritten/int64(h)/int64(w) {
		return nil, fmt.Errorf("%w: a raster of %d channels of %d x %d pixels", ErrSize, c, h, w)
	}
	var head []byte
	each := 2
	switch {
	case s.apart:
		shape := []int{c, h, w}
		if c == 1 {
			shape = shape[1:]
		}
		var err error
		if head, err = npy.Header(shape); err != nil {
			return nil, err
		}
		s.deep, each = true, 4
	case IsTIFFName(name):
		head = tiffHeader(c, h, w, place.entries(c))
		s.deep, each = true, 4
	case c == 1 && (ending == ".pgm" || ending == ".png"):
		head = fmt.Appendf(nil, "P5\n%d %d\n65535\n", w, h)
	case c == 3 && (ending == ".ppm" || ending == ".png"):
		head = fmt.Appendf(nil, "P6\n%d %d\n65535\n", w, h)
	default:
		return nil, fmt.Errorf("%s: a raster of %d channels is written as .npy or .tif, of one as .pgm or .png, and "+
			"of three as .ppm or .png, too", name, c)
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	s.file, s.data = f, int64(len(head))
	if _, err = f.WriteAt(head, 0); err == nil {
		err = f.Truncate(s.data + int64(c)*int64(h)*int64(w)*int64(each))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// Write writes values [C, h, w] to lines from y and columns from x on.
func (s *StripWriter) Write(values []float32, y, x, h, w int) error {
	sum := sha256.New()
	err := s.runs(y, x, h, w, func(line, channel int, at int64) error {
		s.room = s.room[:0]
		for i := range w {
			if channel >= 0 {
				s.room = s.append(values[(channel*h+line)*w+i])
				continue
			}
			for c := range s.C {
				s.room = s.append(values[(c*h+line)*w+i])
			}
		}
		sum.Write(s.room)
		_, err := s.file.WriteAt(s.room, at)
		return err
	})
	s.sum = hex.EncodeToString(sum.Sum(nil)[:16])
	return err
}

// runs calls do for every run of bytes that holds lines from y and columns from x on, with the line, counted from y,
// the channel, -1 where a run has all of them, and the place.
func (s *StripWriter) runs(y, x, h, w int, do func(line, channel int, at int64) error) error {
	each := int64(2 * s.C)
	if s.deep {
		each = int64(4 * s.C)
	}
	for line := range h {
		if !s.apart {
			if err := do(line, -1, s.data+each*(int64(y+line)*int64(s.W)+int64(x))); err != nil {
				return err
			}
			continue
		}
		for c := range s.C {
			if err := do(line, c, s.data+4*((int64(c)*int64(s.H)+int64(y+line))*int64(s.W)+int64(x))); err != nil {
				return err
			}
		}
	}
	return nil
}

// LastSum is the digest of what the last Write wrote.
func (s *StripWriter) LastSum() string { return s.sum }

// Sum is the digest of what stands in the file on lines from y and columns from x on.
func (s *StripWriter) Sum(y, x, h, w int) (string, error) {
	size := 2
	if s.deep {
		size = 4
	}
	sum := sha256.New()
	err := s.runs(y, x, h, w, func(_, channel int, at int64) error {
		n := w * size
		if channel < 0 {
			n *= s.C
		}
		s.room = slices.Grow(s.room[:0], n)[:n]
		if _, err := s.file.ReadAt(s.room, at); err != nil {
			return err
		}
		sum.Write(s.room)
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)[:16]), err
}

// append appends a value to room.
func (s *StripWriter) append(v float32) []byte {
	if s.deep {
		return binary.LittleEndian.AppendUint32(s.room, math.Float32bits(v))
	}
	return binary.BigEndian.AppendUint16(s.room, uint16(math.Round(65535*min(max(float64(v), 0), 1))))
}

// Sync brings what was written to the disk.
func (s *StripWriter) Sync() error { return s.file.Sync() }

// Close closes the file.
func (s *StripWriter) Close() error { return s.file.Close() }

// FinishStrips gives a complete file its name, at once; a .png file is encoded from what it was until now.
func FinishStrips(file, name string) error {
	if strings.ToLower(filepath.Ext(name)) != ".png" {
		return atomicfile.Rename(file, name)
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	s := &Strips{file: in}
	if err := s.portable(info.Size()); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	im := &stripImage{s: s, y: -1, rows: make([][]float32, s.own)}
	for c := range im.rows {
		im.rows[c] = make([]float32, s.W)
	}
	err = atomicfile.Write(name, func(w io.Writer) error {
		err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, im)
		return errors.Join(err, im.err)
	})
	if err != nil {
		return err
	}
	return os.Remove(file)
}

// stripImage shows a raster of 16 bits to image/png, which asks for pixels line by line.
type stripImage struct {
	s    *Strips
	y    int
	rows [][]float32
	err  error
}

func (im *stripImage) Bounds() image.Rectangle { return image.Rect(0, 0, im.s.W, im.s.H) }
func (im *stripImage) Opaque() bool            { return true }

func (im *stripImage) ColorModel() color.Model {
	if im.s.own == 1 {
		return color.Gray16Model
	}
	return color.RGBA64Model
}

func (im *stripImage) At(x, y int) color.Color {
	if y != im.y && im.err == nil {
		im.y = y
		for c, row := range im.rows {
			im.err = errors.Join(im.err, im.s.line(row, c, y, 0))
		}
	}
	v := func(c int) uint16 { return uint16(math.Round(float64(im.rows[c][x]) * 65535)) }
	if im.s.own == 1 {
		return color.Gray16{Y: v(0)}
	}
	return color.RGBA64{R: v(0), G: v(1), B: v(2), A: 65535}
}
