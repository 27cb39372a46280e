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
	"os"
	"path/filepath"
	"strings"

	_ "golang.org/x/image/tiff" // registers the format
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
	Pix     []float32 // [C, H, W] in [0, 1]
	// Translucent is set where the file had pixels that were not opaque: they are composited over black.
	Translucent bool
}

// Read reads a PNG, JPEG or TIFF file (of integers; floats are an error) of any depth, paletted, grey or in colour. Translucent pixels are composited over
// black. The result has one channel where red, green and blue agree in every pixel, else three. Errors name the file.
func Read(path string) (*Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	im, err := decode(f, path)
	if err != nil {
		return nil, err
	}
	return convert(im), nil
}

// ReadChannels reads an image as one of 1 (grey) or 3 channels (in colour): a PNG, JPEG or TIFF file as Read does, and a TIFF of other numbers, floats for example, with the values that
// it has. NaN is a value that is missing: where the file has it, or the number that GDAL names as no data.
func ReadChannels(path string, channels int) (*Image, error) {
	tiff := false
	switch strings.ToLower(filepath.Ext(path)) {
	case ".tif", ".tiff":
		tiff = true
		if s, err := OpenStrips(path, channels); err == nil {
			defer s.Close()
			if s.gaps {
				return s.all(path)
			}
		}
	}
	im, err := Read(path)
	if err == nil {
		if channels == 1 {
			return im.Grey(), nil
		}
		return im.Colour(), nil
	}
	if !tiff || !errors.Is(err, ErrImage) {
		return nil, err
	}
	s, other := OpenStrips(path, channels)
	if other != nil {
		return nil, fmt.Errorf("%w (%w)", err, other)
	}
	defer s.Close()
	return s.all(path)
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
	return im, nil
}

// convert separates an image into channels. A color.RGBA64 is premultiplied by its alpha, which is the composition over
// black; dividing by 65535 returns v/255 exactly rounded for 8-bit sources, whose v is stored as 257·v.
func convert(im image.Image) *Image {
	r := im.Bounds()
	out := &Image{C: 3, H: r.Dy(), W: r.Dx()}
	n := out.H * out.W
	out.Pix = make([]float32, 3*n)
	at, grey := at64(im), true
	for y := range out.H {
		for x := range out.W {
			c, i := at(r.Min.X+x, r.Min.Y+y), y*out.W+x
			out.Pix[i] = float32(float64(c.R) / 65535)
			out.Pix[n+i] = float32(float64(c.G) / 65535)
			out.Pix[2*n+i] = float32(float64(c.B) / 65535)
			grey = grey && c.R == c.G && c.G == c.B
			out.Translucent = out.Translucent || c.A != 65535
		}
	}
	if grey {
		out.C, out.Pix = 1, out.Pix[:n:n]
	}
	return out
}

// at64 returns a function that reads pixels. It allocates nothing if the image type offers that, as all types of the standard library do.
func at64(im image.Image) func(x, y int) color.RGBA64 {
	if fast, ok := im.(image.RGBA64Image); ok {
		return fast.RGBA64At
	}
	return func(x, y int) color.RGBA64 {
		r, g, b, a := im.At(x, y).RGBA()
		return color.RGBA64{R: uint16(r), G: uint16(g), B: uint16(b), A: uint16(a)}
	}
}

// Grey returns the image with one channel: its luma, 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601). A grey image is
// returned as it is.
func (im *Image) Grey() *Image {
	if im.C == 1 {
		return im
	}
	n := im.H * im.W
	out := &Image{C: 1, H: im.H, W: im.W, Pix: make([]float32, n), Translucent: im.Translucent}
	for i := range n {
		r, g, b := float64(im.Pix[i]), float64(im.Pix[n+i]), float64(im.Pix[2*n+i])
		out.Pix[i] = float32(0.299*r + 0.587*g + 0.114*b)
	}
	return out
}

// Colour returns the image with three channels, equal ones if it is grey.
func (im *Image) Colour() *Image {
	if im.C == 3 {
		return im
	}
	out := &Image{C: 3, H: im.H, W: im.W, Translucent: im.Translucent}
	for range 3 {
		out.Pix = append(out.Pix, im.Pix...)
	}
	return out
}
