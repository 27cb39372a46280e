package raster

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// withOrientation puts an Exif segment with that orientation into a JPEG file.
func withOrientation(file []byte, order binary.AppendByteOrder, mark string, orientation uint16) []byte {
	tags := append([]byte("Exif\x00\x00"), mark...)
	tags = order.AppendUint32(tags, 8) // the directory follows
	tags = order.AppendUint16(tags, 2)
	for _, entry := range [][2]uint16{{0x10f, 7}, {0x112, orientation}} { // the maker, of another kind, and the orientation
		tags = order.AppendUint16(order.AppendUint16(tags, entry[0]), 3)
		tags = order.AppendUint32(tags, 1)
		tags = order.AppendUint16(order.AppendUint16(tags, entry[1]), 0)
	}
	tags = order.AppendUint32(tags, 0)
	other := []byte{0xff, 0xe0, 0, 4, 1, 2} // a segment of another kind before it
	out := append(bytes.Clone(file[:2]), other...)
	out = append(out, 0xff, 0xe1)
	out = binary.BigEndian.AppendUint16(out, uint16(len(tags)+2))
	return append(append(out, tags...), file[2:]...)
}

// TestOrientation: photos are read as their cameras say that they are looked at. The corners of a picture that is darker from left to
// right, and from the top to the bottom, tell how it lies.
func TestOrientation(t *testing.T) {
	stored := image.NewGray(image.Rect(0, 0, 32, 16))
	for y := range 16 {
		for x := range 32 {
			stored.SetGray(x, y, color.Gray{Y: uint8(240 - 5*x - 3*y)})
		}
	}
	var file bytes.Buffer
	require.NoError(t, jpeg.Encode(&file, stored, &jpeg.Options{Quality: 100}))
	a, b, c, d := float32(240./255), float32(85./255), float32(195./255), float32(40./255) // as stored: a b above c d
	for orientation, want := range map[uint16][4]float32{0: {a, b, c, d}, 1: {a, b, c, d}, 2: {b, a, d, c}, 3: {d, c, b, a},
		4: {c, d, a, b}, 5: {a, c, b, d}, 6: {c, a, d, b}, 7: {d, b, c, a}, 8: {b, d, a, c}, 9: {a, b, c, d}} {
		for mark, order := range map[string]binary.AppendByteOrder{"II*\x00": binary.LittleEndian, "MM\x00*": binary.BigEndian} {
			photo := withOrientation(file.Bytes(), order, mark, orientation)
			im, err := Decode(photo, "photo.jpg")
			require.NoError(t, err)
			h, w := 16, 32
			if orientation >= 5 && orientation <= 8 {
				h, w = w, h
			}
			require.Equal(t, []int{1, h, w}, []int{im.C, im.H, im.W}, "orientation %d", orientation)
			got := [4]float32{im.Pix[0], im.Pix[w-1], im.Pix[(h-1)*w], im.Pix[h*w-1]}
			for k := range want {
				require.InDelta(t, want[k], got[k], 0.02, "orientation %d, corner %d", orientation, k)
			}
			path := filepath.Join(t.TempDir(), "photo.jpg")
			require.NoError(t, os.WriteFile(path, photo, 0o600))
			read, err := Read(path)
			require.NoError(t, err)
			require.Equal(t, im.Pix, read.Pix)
			for n := range photo { // nothing in a damaged file is worse than an error
				if n < 120 {
					orientationOf(bytes.NewReader(photo[:n]))
				}
			}
		}
	}
	require.Equal(t, 1, exifOrientation([]byte("II*\x00\xff\xff\xff\xff")))
	require.Equal(t, 1, exifOrientation([]byte("II*\x00\x08\x00\x00\x00\xff\xff\x12\x01")))
}
