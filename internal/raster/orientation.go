package raster

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"io"
)

// orientationOf returns how a JPEG file's pixels are to be turned, by the tag of Exif that cameras write, from 1 (as they are) to 8; 1
// where the file does not say it, or nothing sensible. It reads no further than the first segment of pixels.
func orientationOf(f io.Reader) int {
	r := bufio.NewReader(f)
	var b [4]byte
	if _, err := io.ReadFull(r, b[:2]); err != nil || b[0] != 0xff || b[1] != 0xd8 {
		return 1
	}
	for {
		if _, err := io.ReadFull(r, b[:4]); err != nil || b[0] != 0xff {
			return 1
		}
		n := int(binary.BigEndian.Uint16(b[2:])) - 2 // the length counts itself
		switch {
		case n < 0 || b[1] == 0xda || b[1] == 0xd9: // the pixels, the end
			return 1
		case b[1] == 0xe1:
			segment := make([]byte, n)
			if _, err := io.ReadFull(r, segment); err != nil {
				return 1
			}
			if tags, ok := bytes.CutPrefix(segment, []byte("Exif\x00\x00")); ok {
				return exifOrientation(tags)
			}
		default:
			if _, err := r.Discard(n); err != nil {
				return 1
			}
		}
	}
}

// exifOrientation returns the orientation that the first directory of tags, which are laid out as in TIFF, has.
func exifOrientation(tags []byte) int {
	if len(tags) < 8 {
		return 1
	}
	var order binary.ByteOrder
	switch string(tags[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	at := uint64(order.Uint32(tags[4:]))
	if at+2 > uint64(len(tags)) {
		return 1
	}
	entries := tags[at+2:]
	for range order.Uint16(tags[at:]) {
		const size, orientation, short = 12, 0x112, 3
		if len(entries) < size {
			return 1
		}
		if order.Uint16(entries) == orientation && order.Uint16(entries[2:]) == short {
			if v := int(order.Uint16(entries[8:])); v >= 1 && v <= 8 {
				return v
			}
			return 1
		}
		entries = entries[size:]
	}
	return 1
}

// turned is an image as its orientation says that it is looked at.
type turned struct {
	image.Image
	orientation int
}

// turn returns the image as its orientation says.
func turn(im image.Image, orientation int) image.Image {
	if orientation == 1 {
		return im
	}
	return &turned{im, orientation}
}

func (t *turned) Bounds() image.Rectangle {
	r := t.Image.Bounds()
	if t.orientation >= 5 { // rows become columns
		return image.Rect(0, 0, r.Dy(), r.Dx())
	}
	return image.Rect(0, 0, r.Dx(), r.Dy())
}

// from is the place of the stored image that stands at one of the turned image.
func (t *turned) from(x, y int) (int, int) {
	r := t.Image.Bounds()
	right, bottom := r.Dx()-1, r.Dy()-1
	switch t.orientation {
	case 2:
		x = right - x
	case 3:
		x, y = right-x, bottom-y
	case 4:
		y = bottom - y
	case 5:
		x, y = y, x
	case 6:
		x, y = y, bottom-x
	case 7:
		x, y = right-y, bottom-x
	case 8:
		x, y = right-y, x
	}
	return r.Min.X + x, r.Min.Y + y
}

func (t *turned) At(x, y int) color.Color { return t.Image.At(t.from(x, y)) }

func (t *turned) RGBA64At(x, y int) color.RGBA64 {
	x, y = t.from(x, y)
	if im, ok := t.Image.(image.RGBA64Image); ok {
		return im.RGBA64At(x, y)
	}
	r, g, b, a := t.Image.At(x, y).RGBA()
	return color.RGBA64{R: uint16(r), G: uint16(g), B: uint16(b), A: uint16(a)}
}
