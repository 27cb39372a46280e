package raster

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// Files of the kinds that were found wrong: as Pillow, tifffile and libtiff read them.
func TestTIFFCases(t *testing.T) {
	read := func(name string) *Image {
		path := testkit.Shared(t, "cases", name+".tif")
		channels := 1
		if name == "06_planar_tile_rgb" {
			channels = 3
		}
		im, err := ReadChannels(path, channels)
		require.NoError(t, err)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		whole, err := Decode(b, path)
		if name != "05_nodata_9999" {
			require.NoError(t, err)
			require.True(t, testkit.SameBits(im.Pix, whole.Pix))
		}
		return im
	}
	im := read("05_nodata_9999")
	missing := 0
	for _, v := range im.Pix {
		if v != v {
			missing++
		}
		require.False(t, v < 0)
	}
	require.Equal(t, 16, missing)

	im = read("06_planar_tile_rgb")
	require.Equal(t, []float32{0, 9. / 255, 18. / 255}, im.Pix[:3])
	require.Equal(t, float32(128.)/255, im.Pix[2*28*28])

	for _, name := range []string{"07_fillorder2", "09_predictor_uncompressed"} {
		for i, v := range read(name).Pix {
			require.Equal(t, float32(float64(10+i)/255), v)
		}
	}

	sum := float32(0)
	for _, v := range read("12_g4_minisblack").Pix {
		sum += v
	}
	require.Equal(t, float32(64), sum)
}

// A number of GDAL's that says that there is no value is compared in the data's type.
func TestNoData(t *testing.T) {
	little := binary.AppendByteOrder(binary.LittleEndian)
	single := func(v float64) uint64 { return uint64(math.Float32bits(float32(v))) }
	for _, c := range []struct {
		bits, format int
		text         string
		value        uint64
		missing      bool
	}{
		{32, formatFloat, "-999.9", single(-999.9), true},
		{32, formatFloat, "-3.4028234663852886e+38", single(-math.MaxFloat32), true},
		{32, formatFloat, "-3.40282e+38", single(-math.MaxFloat32), true},
		{32, formatFloat, "-3.40282e+38", single(-3.40282e+38), true},
		{32, formatFloat, "-1.7976931348623157e+308", single(-math.MaxFloat32), true},
		{32, formatFloat, "-inf", single(math.Inf(-1)), true},
		{32, formatFloat, "0.1", single(0.2), false},
		{32, formatFloat, "NaN", single(0.2), false},
		{64, formatFloat, "-999.9", math.Float64bits(-999.9), true},
		{16, formatFloat, "-999.9", 0xe3d0, true}, // -1000
		{16, formatFloat, "inf", 0x3c00, false},
		{16, formatFloat, "inf", 0x7c00, true},
		{16, formatFloat, "-inf", 0x7c00, false},
		{8, formatUint, "255", 255, true},
		{8, formatUint, "-1", 255, false},
		{16, formatInt, "-9999", 0xd8f1, true},
		{16, formatInt, "-9999.5", 0xd8f1, false},
		{64, formatInt, "-9223372036854775808", 1 << 63, true},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			b := tiffLayout{samples: 1, bits: c.bits, format: c.format, compression: 1, rows: 2, order: little,
				noData: c.text}.file(t, 2, 2, func(_, _, _ int) uint64 { return c.value })
			s, err := strips(t, "a.tif", b, 1)
			require.NoError(t, err)
			got := make([]float32, 2)
			require.NoError(t, s.Line(got, 0, 1, 0))
			require.Equal(t, c.missing, got[1] != got[1], "%v", got)
		})
	}
}

// A variant that is not read is refused by its name.
func TestTIFFRefused(t *testing.T) {
	little := binary.AppendByteOrder(binary.LittleEndian)
	plain := tiffLayout{samples: 1, bits: 8, format: 1, compression: 1, rows: 2, order: little}
	with := func(change func(l *tiffLayout)) []byte {
		l := plain
		change(&l)
		return l.file(t, 2, 2, func(_, _, _ int) uint64 { return 1 })
	}
	for want, b := range map[string][]byte{
		"compressed by JPEG, which is not read":                 with(func(l *tiffLayout) { l.compression = 7 }),
		"compressed by LERC, which is not read":                 with(func(l *tiffLayout) { l.compression = 34887 }),
		"compressed by WebP, which is not read":                 with(func(l *tiffLayout) { l.compression = 50001 }),
		"compressed by CCITT RLE, which is not read":            with(func(l *tiffLayout) { l.compression = 2 }),
		"of compression 12345, which is not read":               with(func(l *tiffLayout) { l.compression = 12345 }),
		"with predictor 2 on samples of 4 bits":                 with(func(l *tiffLayout) { l.bits, l.compression, l.predictor = 4, 8, 2 }),
		"with predictor 3 on samples of format 1":               with(func(l *tiffLayout) { l.compression, l.predictor = 8, 3 }),
		"of samples of 64 bits of format 6":                     with(func(l *tiffLayout) { l.bits, l.format = 64, 6 }),
		"compressed as a fax, of 1 samples of 8 bits":           with(func(l *tiffLayout) { l.compression = 4 }),
		"whose colours are YCbCr, which is not read":            retag(t, plain, tagPhotometric, 6),
		"whose colours are separated (CMYK), which is not read": retag(t, plain, tagPhotometric, 5),
		"0 bytes at ":  retag(t, plain, tagCounts, 0),
		"4 bytes at 0": retag(t, plain, tagOffsets, 0),
	} {
		s, err := strips(t, "a.tif", b, 1)
		if err == nil {
			err = s.Line(make([]float32, 2), 0, 0, 0)
		}
		require.ErrorIs(t, err, ErrImage)
		require.ErrorContains(t, err, want)
		_, err = Decode(b, "a.tif")
		require.ErrorIs(t, err, ErrImage)
	}
}

// Palettes have numbers of 16 bits, or of 8, which Pillow writes as the higher ones.
func TestPalettes(t *testing.T) {
	for name, colours := range map[string][2]uint64{"16 bits": {65535, 257}, "8 bits, as the higher ones": {255 << 8, 1 << 8},
		"8 bits": {255, 1}} {
		t.Run(name, func(t *testing.T) {
			palette := make([]uint64, 3<<8)
			for i := range palette {
				palette[i] = colours[0]
			}
			palette[1] = colours[1]
			b := tiffLayout{samples: 1, bits: 8, format: 1, compression: 1, rows: 2, order: binary.AppendByteOrder(binary.LittleEndian),
				palette: palette}.file(t, 1, 2, func(_, x, _ int) uint64 { return uint64(x) })
			im, err := Decode(b, "a.tif")
			require.NoError(t, err)
			require.Equal(t, []float32{1, 1. / 255}, im.Pix[:2])
		})
	}
}

// GDAL writes masks as further images of a file.
func TestTIFFMasks(t *testing.T) {
	for _, big := range []bool{false, true} {
		for kind, refused := range map[uint32]bool{0: false, 1: false, 4: true, 5: true} {
			order := binary.LittleEndian
			b := tiffLayout{samples: 1, bits: 8, format: 1, compression: 1, rows: 2, big: big,
				order: binary.AppendByteOrder(order)}.file(t, 2, 2, func(_, _, _ int) uint64 { return 1 })
			tags, next := int(order.Uint16(b[8:])), 8+2
			entry := 12
			if big {
				tags, next, entry = int(order.Uint64(b[16:])), 16+8, 20
			}
			next += entry * tags
			order.PutUint32(b[next:], uint32(len(b)))
			if big {
				b = order.AppendUint64(b, 1)
				b = order.AppendUint64(order.AppendUint16(order.AppendUint16(b, tagKind), 4), 1)
				b = order.AppendUint64(b, uint64(kind))
				b = order.AppendUint64(b, 8) // round
			} else {
				b = order.AppendUint16(b, 1)
				b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, tagKind), 4), 1)
				b = order.AppendUint32(order.AppendUint32(b, kind), 8)
			}
			_, err := Decode(b, "a.tif")
			if refused {
				require.ErrorIs(t, err, ErrImage)
				require.ErrorContains(t, err, "a mask as an image of its own")
			} else {
				require.NoError(t, err)
			}
		}
	}
}

// Masks of GDAL's, in the file and beside it, say alone which pixels are observed.
func TestTIFFMaskRead(t *testing.T) {
	s, err := OpenStrips(filepath.Join("testdata", "mask.tif"), 1)
	require.NoError(t, err)
	defer s.Close()
	all, err := s.all("mask.tif")
	require.NoError(t, err)
	for i, v := range all.Pix {
		if i == 8 || i == 14 {
			require.True(t, v != v, "%d: %v", i, v)
		} else {
			require.Equal(t, float32(i), v)
		}
	}

	order := binary.AppendByteOrder(binary.BigEndian)
	number := func(_, x, c int) uint64 { return uint64(50*x + c) }
	image := tiffLayout{samples: 3, bits: 8, format: 1, compression: 1, rows: 2, order: order, noData: "50"}.file(t, 2, 3, number)
	path := filepath.Join(t.TempDir(), "a.tif")
	require.NoError(t, os.WriteFile(path, image, 0o600))
	for _, c := range []struct {
		name    string
		samples int
		value   func(y, x, c int) uint64
		want    func(y, x, c int) bool // observed
	}{
		{"none", 0, nil, func(_, x, c int) bool { return x != 1 || c != 0 }},
		{"one", 1, func(y, x, _ int) uint64 { return uint64(y * x) }, func(y, x, _ int) bool { return y*x > 0 }},
		{"all", 1, func(_, _, _ int) uint64 { return 255 }, func(_, _, _ int) bool { return true }},
		{"of each channel", 3, func(y, x, c int) uint64 { return uint64(y * c) }, func(y, _, c int) bool { return y*c > 0 }},
	} {
		if c.samples > 0 {
			m := tiffLayout{samples: c.samples, bits: 8, format: 1, compression: 8, tileW: 16, tileH: 16,
				order: binary.AppendByteOrder(binary.LittleEndian)}.file(t, 2, 3, c.value)
			require.NoError(t, os.WriteFile(path+".msk", m, 0o600))
		}
		s, err := OpenStrips(path, 3)
		require.NoError(t, err, c.name)
		require.Equal(t, map[bool]string{true: path + ".msk"}[c.samples > 0], s.Beside())
		require.Empty(t, s.Unread(nil))
		require.NoError(t, s.Close())
		read, err := Read(path)
		require.NoError(t, err, c.name)
		numbers, err := ReadChannels(path, 3)
		require.NoError(t, err, c.name)
		for k := range 18 {
			y, x, channel := k/3%2, k%3, k/6
			for _, im := range []*Image{read, numbers} {
				v := im.Pix[k]
				require.Equal(t, c.want(y, x, channel), v == v, "%s: %d %d %d", c.name, y, x, channel)
				require.True(t, v != v || v == float32(float64(number(y, x, channel))/255))
			}
		}
	}
	other := tiffLayout{samples: 1, bits: 8, format: 1, compression: 1, rows: 2, order: order}.file(t, 2, 2, number)
	require.NoError(t, os.WriteFile(path+".msk", other, 0o600))
	_, err = Read(path)
	require.ErrorContains(t, err, "a.tif.msk: wrong image size: a mask of 2 x 2 pixels of 1 samples, the image has 3 x 2 of 3")
	_, err = OpenStrips(path, 3)
	require.ErrorIs(t, err, ErrSize)
}

// Samples of 24 bits are packed from the highest bit on, as GDAL writes them with NBITS=24: its first four pixels here are 0, 55924, 111848
// and 167772, and those of a file of little endian are 00 00 00, 00 da 74 and so on.
func TestTIFF24Bits(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, format := range []int{formatUint, formatInt} {
			l := tiffLayout{samples: 1, bits: 24, format: format, compression: packedNone, rows: 2, order: order}
			b := l.file(t, 1, 4, func(_, x, _ int) uint64 { return uint64(55924 * x) })
			require.True(t, bytes.Contains(b, []byte{0, 0, 0, 0x00, 0xda, 0x74, 0x01, 0xb4, 0xe8, 0x02, 0x8f, 0x5c}))
			s, err := strips(t, "a.tif", b, 1)
			require.NoError(t, err)
			got := make([]float32, 4)
			require.NoError(t, s.Line(got, 0, 0, 0))
			require.Equal(t, []float32{0, 55924, 111848, 167772}, got, "%v %d", order, format)
		}
	}
	l := tiffLayout{samples: 1, bits: 24, format: formatInt, compression: packedNone, rows: 1, order: binary.LittleEndian}
	s, err := strips(t, "a.tif", l.file(t, 1, 1, func(_, _, _ int) uint64 { return 1<<24 - 2 }), 1)
	require.NoError(t, err)
	got := make([]float32, 1)
	require.NoError(t, s.Line(got, 0, 0, 0))
	require.Equal(t, float32(-2), got[0])
}

// Early writers name the places of tiles by the tags of strips, and libtiff reads their files.
func TestTIFFTilesAsStrips(t *testing.T) {
	l := tiffLayout{samples: 1, bits: 8, format: formatUint, compression: packedNone, tileW: 16, tileH: 16, order: binary.LittleEndian}
	b := l.file(t, 20, 40, func(y, x, _ int) uint64 { return uint64(y*40+x) % 251 })
	want, err := tiffImage(b, "a.tif")
	require.NoError(t, err)
	changed := 0
	for at := 10; at < len(b)-12; at += 12 {
		switch tag := binary.LittleEndian.Uint16(b[at:]); tag {
		case tagTileOffsets, tagTileCounts:
			binary.LittleEndian.PutUint16(b[at:], map[uint16]uint16{tagTileOffsets: tagOffsets, tagTileCounts: tagCounts}[tag])
			changed++
		}
	}
	require.Equal(t, 2, changed)
	got, err := tiffImage(b, "a.tif")
	require.NoError(t, err)
	require.True(t, testkit.SameBits(want.Pix, got.Pix))
}

// retag writes a file and changes the number of a tag.
func retag(t *testing.T, l tiffLayout, tag, value int) []byte {
	b := l.file(t, 2, 2, func(_, _, _ int) uint64 { return 1 })
	for at := 10; at < len(b)-12; at += 12 {
		if int(binary.LittleEndian.Uint16(b[at:])) == tag {
			binary.LittleEndian.PutUint32(b[at+8:], uint32(value))
			return b
		}
	}
	t.Fatalf("no tag %d", tag)
	return nil
}

// Damage to a block of zlib's is an error where its checksum shows it, which stands behind the last row.
func TestTIFFChecksum(t *testing.T) {
	for name, l := range map[string]tiffLayout{"strips": {rows: 8}, "tiles": {tileW: 16, tileH: 16}} {
		l.samples, l.bits, l.format, l.compression, l.order = 1, 8, formatUint, packedZlib, binary.LittleEndian
		b := l.file(t, 16, 16, func(y, x, _ int) uint64 { return uint64(y * x * 7 % 251) })
		want, err := tiffImage(b, "a.tif")
		require.NoError(t, err)
		from := bytes.Index(b, []byte{0x78, 0x9c})
		require.Positive(t, from)
		unseen := 0
		for at := from; at < from+100; at++ {
			for bit := range 8 {
				damaged := bytes.Clone(b)
				damaged[at] ^= 1 << bit
				if got, err := tiffImage(damaged, "a.tif"); err == nil && !slices.Equal(got.Pix, want.Pix) {
					unseen++ // the block is longer than its rows
				}
			}
		}
		require.Less(t, unseen, 80, name)
	}
}
