package raster

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// EncodeTIFF writes values pix [C, scale·H, scale·W], predicted of an image with so many along each side of a pixel, as
// float32. The file says where they are, where the image's does; of standard deviations it has no offsets.
func (im *Image) EncodeTIFF(w io.Writer, pix []float32, scale int, deviation bool) error {
	if scale < 1 || im.H < 1 || im.W < 1 || im.C < 1 || len(pix)%scale != 0 || len(pix)/scale%scale != 0 ||
		len(pix)/scale/scale != im.C*im.H*im.W {
		return fmt.Errorf("%w: %d values of an image of %d x %d pixels", ErrSize, len(pix), im.W, im.H)
	}
	place := im.place.finer(scale)
	if deviation {
		place = place.Deviation()
	}
	n := len(pix) / im.C
	b := tiffHeader(im.C, scale*im.H, scale*im.W, place.entries(im.C))
	for i := range n {
		for c := range im.C {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(pix[c*n+i]))
		}
		if len(b) >= 1<<16 || i == n-1 {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	return nil
}

// Unplaced is why it is not known where the pixels of an image are, although its file says so; nil otherwise.
func (im *Image) Unplaced() error { return im.unplaced }

// locate notes where the pixels of an image of a TIFF file are.
func (im *Image) locate(f *tiffFile) {
	p, err := f.place(im.C, f.channels())
	if im.unplaced = err; err == nil && (len(p.tags) > 0 || p.described) {
		im.place = p
	}
}

// as is the place of a raster of c channels that come of others: what is said of single ones is left out.
func (p *Place) as(c int) *Place {
	if p == nil || len(p.scale) == c {
		return p
	}
	out := newPlace(c)
	out.tags, out.described = p.tags, p.described
	for _, item := range p.items {
		if item.Sample == "" {
			out.items = append(out.items, item)
		}
	}
	for k := range p.scale {
		if p.scale[k] != p.scale[0] || p.offset[k] != p.offset[0] {
			return out
		}
	}
	for k := range c {
		out.scale[k], out.offset[k] = p.scale[0], p.offset[0]
	}
	return out
}

// finer is the place of a raster with n values along each side of a pixel, which together cover the pixel.
func (p *Place) finer(n int) *Place {
	if p == nil || n == 1 {
		return p
	}
	by, out := float64(n), *p
	// Where the tags say that a pixel is its centre, (0, 0) is a centre, else the corner at which the raster begins.
	shift := 0.
	if p.isPoint() {
		shift = 0.5
	}
	place := func(v, shift float64) float64 { return float64((v+shift)*by) - shift }
	out.tags = slices.Clone(p.tags)
	for i, t := range out.tags {
		v := make([]float64, len(t.values))
		for k, x := range t.values {
			v[k] = math.Float64frombits(uint64(x))
		}
		switch t.id {
		case tagPixelScale:
			v[0], v[1] = v[0]/by, v[1]/by
		case tagTiePoints:
			for k := 0; k < len(v); k += 6 {
				v[k], v[k+1] = place(v[k], shift), place(v[k+1], shift)
			}
		case tagTransformation: // of (column, row, height, 1), in rows of four
			back := (shift - float64(shift*by)) / by
			for row := range 3 {
				a, b := v[4*row], v[4*row+1]
				v[4*row], v[4*row+1] = a/by, b/by
				v[4*row+3] += float64((a + b) * back)
			}
		case tagPolynomials: // offsets and scales of line and sample, whose centres are whole numbers
			v[2], v[3], v[7], v[8] = place(v[2], 0.5), place(v[3], 0.5), v[7]*by, v[8]*by
		default:
			continue
		}
		out.tags[i] = tiffDoubles(t.id, v...)
	}
	return &out
}

// isPoint reports whether a key says that a pixel is a point, its centre.
func (p *Place) isPoint() bool {
	for _, t := range p.tags {
		for k := 4; t.id == tagGeoKeys && k+4 <= len(t.values); k += 4 {
			if t.values[k] == 1025 && t.values[k+1] == 0 {
				return t.values[k+3] == 2
			}
		}
	}
	return false
}
