// Package raster reads images and masks from files, as models take them.
//
// Pixels are float32 in [0, 1], row-major with the channel slowest, as the models take them: [C, H, W]. The values are
// those stored in the file (gamma-encoded, as in the paper's data), not linear light.
package raster

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // registers the format
	_ "image/png"  // registers the format
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// MaxPixels bounds the images that Read opens: one that claims more is refused before anything is decoded.
const MaxPixels = 1 << 24

var (
	// ErrImage is wrapped by errors about the content of an image file.
	ErrImage = errors.New("not a usable image")
	// ErrSize is wrapped by errors about an image's width and height.
	ErrSize = errors.New("wrong image size")
)

// Image is a picture with its values as a model takes them.
type Image struct {
	C, H, W int
	Pix     []float32 // [C, H, W] in [0, 1]; NaN in pixels that are more transparent than opaque: nothing was observed there
	// Translucent is set where the file had pixels that were not opaque.
	Translucent bool

	place    *Place // nil: it is not known where the pixels are
	unplaced error
}

// Read reads a PNG, JPEG or TIFF file (of integers of up to 16 bits, or of floats from 0 to 1) of any depth, paletted, grey or in colour.
// A photo (JPEG) is turned as its camera says. Alpha is a mask: pixels that are more transparent than opaque are NaN, and the others have
// their own colour. The result has one channel where red, green and blue agree in every pixel, else three. Errors name the file.
func Read(path string) (*Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 4)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err // as of a folder
	}
	if isTIFF(head[:n]) {
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		t, err := openTIFF(f, info.Size())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if mask, err := t.besideTIFF(path); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		} else if mask != nil {
			defer mask.Close()
		}
		im, err := t.image(path)
		if err == nil && im.unplaced == nil && !im.place.Located() {
			p := im.place
			if p == nil {
				p, _ = t.place(im.C, t.channels())
			}
			if im.unplaced = p.beside(path); p.Located() {
				im.place = p
			}
		}
		return im, err
	}
	im, err := decode(f, path)
	if err != nil {
		return nil, err
	}
	return convert(im), nil
}

// ReadChannels reads an image as one of 1 (grey) or 3 channels (in colour): a PNG, JPEG or TIFF file as Read does, and
// a TIFF of other numbers, floats for example, with the values that it has. NaN is a value that is missing: where the
// file has it, or the number that GDAL names as no data, or where a pixel is transparent.
func ReadChannels(path string, channels int) (*Image, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".tif", ".tiff":
		s, err := OpenStrips(path, channels)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		if f := s.picture; f == nil || !f.visible() || f.missing == f.missing {
			return s.all(path)
		}
		im, err := s.picture.image(path)
		return im.as(channels), err
	}
	im, err := Read(path)
	return im.as(channels), err
}

// all reads all values.
func (s *Strips) all(path string) (*Image, error) {
	if s.W > MaxPixels/s.H {
		return nil, fmt.Errorf("%s: %w: %d x %d pixels, need at most %d in all", path, ErrSize, s.W, s.H, MaxPixels)
	}
	out := &Image{C: s.C, H: s.H, W: s.W, Pix: make([]float32, s.C*s.H*s.W)}
	for c := range s.C {
		for y := range s.H {
			row := out.Pix[(c*s.H+y)*s.W:][:s.W]
			if err := s.Line(row, c, y, 0); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			for x, v := range row {
				if v == v && v-v != 0 {
					return nil, fmt.Errorf("%s: %w: channel %d of row %d, column %d is %v", path, ErrImage, c, y, x, v)
				}
			}
		}
	}
	return out, nil
}

// Decode is Read for the bytes of a file, which errors call by that name.
func Decode(b []byte, name string) (*Image, error) {
	if isTIFF(b) {
		return tiffImage(b, name)
	}
	im, err := decode(bytes.NewReader(b), name)
	if err != nil {
		return nil, err
	}
	return convert(im), nil
}

// decode decodes an image after a look at its header.
func decode(f io.ReadSeeker, path string) (image.Image, error) { return decodeUpTo(f, path, MaxPixels) }

// decodeUpTo decodes an image of at most that many pixels.
func decodeUpTo(f io.ReadSeeker, path string, most int) (image.Image, error) {
	head, format, err := image.DecodeConfig(f)
	if errors.Is(err, image.ErrFormat) {
		return nil, fmt.Errorf("%s: %w: unknown format, neither PNG, JPEG nor TIFF", path, ErrImage)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrImage, err)
	}
	if head.Width < 1 || head.Height < 1 || head.Width > most/head.Height {
		return nil, fmt.Errorf("%s: %w: the %s header claims %d x %d pixels, need 1 to %d pixels in all",
			path, ErrSize, format, head.Width, head.Height, most)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	im, _, err := image.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrImage, err)
	}
	if format != "jpeg" {
		return im, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return turn(im, orientationOf(f)), nil
}

// convert separates an image into channels.
func convert(im image.Image) *Image {
	r := im.Bounds()
	out := &Image{C: 3, H: r.Dy(), W: r.Dx()}
	n := out.H * out.W
	out.Pix = make([]float32, 3*n)
	at := at64(im)
	for y := range out.H {
		for x := range out.W {
			c, i := at(r.Min.X+x, r.Min.Y+y), y*out.W+x
			v := values(c)
			out.Pix[i], out.Pix[n+i], out.Pix[2*n+i] = v[0], v[1], v[2]
			out.Translucent = out.Translucent || c.A != 65535
		}
	}
	if greyOf(out) {
		out.C, out.Pix = 1, out.Pix[:n:n]
	}
	return out
}

// values are a pixel's channels, NaN where it is more transparent than opaque. Dividing by 65535 returns v/255 exactly
// rounded for 8-bit sources, whose v is stored as 257·v.
func values(c color.NRGBA64) [3]float32 {
	if c.A < 1<<15 {
		nan := float32(math.NaN())
		return [3]float32{nan, nan, nan}
	}
	return [3]float32{float32(float64(c.R) / 65535), float32(float64(c.G) / 65535), float32(float64(c.B) / 65535)}
}

// at64 returns a function that reads pixels, their colours not multiplied by alpha.
func at64(im image.Image) func(x, y int) color.NRGBA64 {
	switch im := im.(type) {
	case *image.NRGBA64:
		return im.NRGBA64At
	case *image.NRGBA:
		return func(x, y int) color.NRGBA64 { return straight(im.NRGBAAt(x, y)) }
	case *image.Paletted:
		all := make([]color.NRGBA64, 256) // places beyond the palette are transparent
		for i, c := range im.Palette {
			all[i] = straight(c)
		}
		return func(x, y int) color.NRGBA64 { return all[im.ColorIndexAt(x, y)] }
	case image.RGBA64Image: // allocates nothing
		return func(x, y int) color.NRGBA64 {
			c := im.RGBA64At(x, y)
			if c.A == 65535 {
				return color.NRGBA64(c)
			}
			return straight(c)
		}
	}
	return func(x, y int) color.NRGBA64 { return straight(im.At(x, y)) }
}

// straight is a colour that is not multiplied by its alpha.
func straight(c color.Color) color.NRGBA64 {
	switch c := c.(type) {
	case color.NRGBA64:
		return c
	case color.NRGBA:
		return color.NRGBA64{R: uint16(c.R) * 257, G: uint16(c.G) * 257, B: uint16(c.B) * 257, A: uint16(c.A) * 257}
	}
	return color.NRGBA64Model.Convert(c).(color.NRGBA64)
}

// Grey returns the image with one channel: its luma, 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601). A grey image is
// returned as it is.
func (im *Image) Grey() *Image {
	if im.C == 1 {
		return im
	}
	n := im.H * im.W
	out := &Image{C: 1, H: im.H, W: im.W, Pix: make([]float32, n), Translucent: im.Translucent, place: im.place.as(1),
		unplaced: im.unplaced}
	for i := range n {
		r, g, b := float64(im.Pix[i]), float64(im.Pix[n+i]), float64(im.Pix[2*n+i])
		out.Pix[i] = float32(0.299*r + 0.587*g + 0.114*b)
	}
	return out
}

// as is the image with one channel, or with three.
func (im *Image) as(channels int) *Image {
	switch {
	case im == nil:
		return nil
	case channels == 1:
		return im.Grey()
	}
	return im.Colour()
}

// Colour returns the image with three channels, equal ones if it is grey.
func (im *Image) Colour() *Image {
	if im.C == 3 {
		return im
	}
	out := &Image{C: 3, H: im.H, W: im.W, Translucent: im.Translucent, place: im.place.as(3), unplaced: im.unplaced}
	for range 3 {
		out.Pix = append(out.Pix, im.Pix...)
	}
	return out
}
