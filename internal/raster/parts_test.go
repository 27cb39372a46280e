package raster

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"golang.org/x/image/tiff"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// Programs import internal/zstd, which a test of this package cannot.
func init() {
	Zstd = func(in io.Reader) (io.ReadCloser, error) {
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
}

// tiffLayout says how a test's TIFF file is written.
type tiffLayout struct {
	samples, bits, format  int
	compression, predictor int
	tileW, tileH, rows     int // tiles, or strips of that many rows
	planar, big, inverted  bool
	order                  binary.AppendByteOrder
	noData                 string
	sparse                 bool // the first block is not there
	reversed               bool // the bits of every byte
	palette                []uint64
	extra                  []tiffEntry
}

// predicted reports whether the predictor has an effect, which it has only in some compressions.
func (l tiffLayout) predicted(n int) bool {
	return l.predictor == n && l.compression != packedNone && l.compression != packedBits
}

// packed is samples of fewer bits than a byte has, or of a number between, from the highest bit on.
func (l tiffLayout) packed(row []uint64) (out []byte) {
	held, have := uint64(0), 0
	for _, v := range row {
		for k := l.bits - 1; k >= 0; k-- {
			if held, have = held<<1|v>>k&1, have+1; have == 8 {
				out, held, have = append(out, byte(held)), 0, 0
			}
		}
	}
	if have > 0 {
		out = append(out, byte(held<<(8-have)))
	}
	return out
}

// packBits packs as a run what is one, and else as it is.
func packBits(b []byte) (out []byte) {
	for len(b) > 0 {
		n := 1
		for n < len(b) && n < 128 && b[n] == b[0] {
			n++
		}
		if n > 2 {
			out, b = append(out, byte(1-n), b[0]), b[n:]
			continue
		}
		n = min(len(b), 5)
		out, b = append(append(out, byte(n-1)), b[:n]...), b[n:]
	}
	return append(out, 0x80)
}

// file writes samples [h, w, samples] as a TIFF file.
func (l tiffLayout) file(t testing.TB, h, w int, value func(y, x, c int) uint64) []byte {
	size := l.bits / 8
	blockW, blockH := w, l.rows
	if l.tileW > 0 {
		blockW, blockH = l.tileW, l.tileH
	}
	planes, step := 1, l.samples
	if l.planar {
		planes, step = l.samples, 1
	}
	word := func(b []byte, v uint64, size int) []byte {
		switch size {
		case 1:
			return append(b, byte(v))
		case 2:
			return l.order.AppendUint16(b, uint16(v))
		case 3: // from the highest bit on, in either byte order
			return append(b, byte(v>>16), byte(v>>8), byte(v))
		case 4:
			return l.order.AppendUint32(b, uint32(v))
		}
		return l.order.AppendUint64(b, v)
	}
	var blocks [][]byte
	for plane := range planes {
		for y0 := 0; y0 < h; y0 += blockH {
			for x0 := 0; x0 < w; x0 += blockW {
				var b []byte
				for y := y0; y < y0+blockH && (l.tileW > 0 || y < h); y++ {
					var row []byte
					var samples []uint64
					var last [8]uint64
					for x := x0; x < x0+blockW; x++ {
						for c := range step {
							v := uint64(0)
							if y < h && x < w {
								v = value(y, x, plane+c)
							}
							samples = append(samples, v)
							if l.predicted(2) {
								v, last[c] = v-last[c], v
							}
							row = word(row, v, size)
						}
					}
					if l.bits%8 != 0 {
						row = l.packed(samples)
					}
					if l.predicted(3) {
						apart := make([]byte, len(row))
						n := len(row) / size
						for i := range n {
							for k := range size {
								from := i*size + k
								if l.order == binary.AppendByteOrder(binary.LittleEndian) {
									from = i*size + size - 1 - k
								}
								apart[k*n+i] = row[from]
							}
						}
						for i := len(apart) - 1; i >= step; i-- {
							apart[i] -= apart[i-step]
						}
						row = apart
					}
					b = append(b, row...)
				}
				switch l.compression {
				case packedZlib, oldZlib:
					var z bytes.Buffer
					w := zlib.NewWriter(&z)
					_, err := w.Write(b)
					require.NoError(t, err)
					require.NoError(t, w.Close())
					b = z.Bytes()
				case packedBits:
					b = packBits(b)
				case packedZstd:
					z, err := zstd.NewWriter(nil)
					require.NoError(t, err)
					b = z.EncodeAll(b, nil)
				}
				if l.reversed {
					for i, v := range b {
						b[i] = bits.Reverse8(v)
					}
				}
				blocks = append(blocks, b)
			}
		}
	}
	if l.sparse {
		blocks[0] = nil
	}
	photometric := uint64(1)
	if l.inverted {
		photometric = 0
	}
	if l.palette != nil {
		photometric = colourPalette
	}
	type tag struct {
		id, kind int
		values   []uint64
	}
	same := func(v int) (out []uint64) {
		for range l.samples {
			out = append(out, uint64(v))
		}
		return out
	}
	planar := uint64(1)
	if l.planar {
		planar = 2
	}
	offsets, counts := make([]uint64, len(blocks)), make([]uint64, len(blocks))
	long := 4
	if l.big {
		long = 16
	}
	tags := []tag{{tagWidth, 3, []uint64{uint64(w)}}, {tagHeight, 3, []uint64{uint64(h)}}, {tagBits, 3, same(l.bits)},
		{tagCompression, 3, []uint64{uint64(l.compression)}},
		{tagPhotometric, 3, []uint64{photometric}}, {tagSamples, 3, []uint64{uint64(l.samples)}},
		{tagPlanar, 3, []uint64{planar}}, {tagFormat, 3, same(l.format)}}
	if l.reversed {
		tags = append(tags, tag{tagFillOrder, 3, []uint64{2}})
	}
	if l.predictor > 0 {
		tags = append(tags, tag{tagPredictor, 3, []uint64{uint64(l.predictor)}})
	}
	if l.palette != nil {
		tags = append(tags, tag{tagColours, 3, l.palette})
	}
	if l.samples > 1 {
		tags = append(tags, tag{tagExtra, 3, make([]uint64, l.samples-1)})
	}
	if l.tileW > 0 {
		tags = append(tags, tag{tagTileWidth, 3, []uint64{uint64(l.tileW)}}, tag{tagTileHeight, 3, []uint64{uint64(l.tileH)}},
			tag{tagTileOffsets, long, offsets}, tag{tagTileCounts, long, counts})
	} else {
		tags = append(tags, tag{tagRows, 3, []uint64{uint64(l.rows)}}, tag{tagOffsets, long, offsets}, tag{tagCounts, long, counts})
	}
	if l.noData != "" {
		var text []uint64
		for _, c := range l.noData + "\x00" {
			text = append(text, uint64(c))
		}
		tags = append(tags, tag{tagNoData, 2, text})
	}
	for _, x := range l.extra {
		own := tag{id: x.id, kind: x.kind}
		for _, v := range x.values {
			own.values = append(own.values, uint64(v))
		}
		tags = append(tags, own)
	}
	widths := map[int]int{2: 1, 3: 2, 4: 4, 11: 4, 12: 8, 16: 8}
	entry, room, end := 12, 4, 8+2+4
	if l.big {
		entry, room, end = 20, 8, 16+8+8
	}
	end += entry * len(tags)
	at := end
	for _, x := range tags {
		if n := widths[x.kind] * len(x.values); n > room {
			at += n
		}
	}
	for i, b := range blocks {
		if offsets[i], counts[i] = uint64(at), uint64(len(b)); len(b) == 0 {
			offsets[i] = 0
		}
		at += len(b)
	}
	head := []byte("II")
	if l.order == binary.AppendByteOrder(binary.BigEndian) {
		head = []byte("MM")
	}
	if l.big {
		head = word(word(word(word(word(head, 43, 2), 8, 2), 0, 2), 16, 8), uint64(len(tags)), 8)
	} else {
		head = word(word(word(head, 42, 2), 8, 4), uint64(len(tags)), 2)
	}
	var rest []byte
	for _, x := range tags {
		head = word(word(word(head, uint64(x.id), 2), uint64(x.kind), 2), uint64(len(x.values)), widths[long])
		var values []byte
		for _, v := range x.values {
			values = word(values, v, widths[x.kind])
		}
		if len(values) > room {
			where := uint64(end + len(rest))
			rest = append(rest, values...)
			values = word(nil, where, widths[long])
		}
		head = append(head, append(values, make([]byte, room-len(values))...)...)
	}
	head = append(word(head, 0, widths[long]), rest...)
	for _, b := range blocks {
		head = append(head, b...)
	}
	return head
}

// strips opens bytes as a raster of that many channels.
func strips(t testing.TB, name string, b []byte, channels int) (*Strips, error) {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, b, 0o600))
	s, err := OpenStrips(path, channels)
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, err
}

// TIFF files of all layouts give the numbers that they hold, whichever lines are asked for, in which order.
func TestTIFFStrips(t *testing.T) {
	const h, w = 37, 45
	little, big := binary.AppendByteOrder(binary.LittleEndian), binary.AppendByteOrder(binary.BigEndian)
	for _, l := range []tiffLayout{
		{samples: 1, bits: 8, format: 1, compression: 1, rows: 5, order: little},
		{samples: 1, bits: 8, format: 1, compression: 1, rows: 37, order: big, inverted: true},
		{samples: 1, bits: 16, format: 1, compression: 8, predictor: 2, rows: 9, order: little},
		{samples: 3, bits: 16, format: 1, compression: 8, predictor: 2, tileW: 16, tileH: 32, order: big},
		{samples: 1, bits: 8, format: 1, compression: 32773, rows: 8, order: little},
		{samples: 1, bits: 16, format: 2, compression: 1, rows: 8, order: little, noData: "-9999"},
		{samples: 1, bits: 32, format: 1, compression: 32946, predictor: 2, rows: 40, order: little},
		// measurements, not black and white
		{samples: 1, bits: 32, format: 1, compression: 8, predictor: 2, rows: 11, order: big, inverted: true},
		{samples: 1, bits: 32, format: 2, compression: 1, tileW: 32, tileH: 16, order: big},
		{samples: 1, bits: 32, format: 3, compression: 1, rows: 1, order: little, noData: "nan"},
		{samples: 1, bits: 32, format: 3, compression: 8, predictor: 3, tileW: 16, tileH: 16, order: little},
		{samples: 3, bits: 32, format: 3, compression: 8, predictor: 3, rows: 11, order: big},
		{samples: 2, bits: 64, format: 3, compression: 8, predictor: 3, rows: 11, planar: true, order: little},
		{samples: 3, bits: 32, format: 3, compression: 8, tileW: 16, tileH: 16, planar: true, big: true, order: little},
		{samples: 1, bits: 32, format: 3, compression: 8, tileW: 16, tileH: 16, big: true, order: big, sparse: true},
		{samples: 1, bits: 32, format: 3, compression: 8, tileW: 16, tileH: 16, big: true, order: big, sparse: true, noData: "nan"},
		{samples: 1, bits: 16, format: 2, compression: 1, tileW: 16, tileH: 16, order: little, sparse: true, noData: "-9999"},
		{samples: 3, bits: 8, format: 1, compression: 1, tileW: 16, tileH: 16, order: little, sparse: true},
		{samples: 1, bits: 1, format: 1, compression: 1, rows: 8, order: little, inverted: true},
		{samples: 1, bits: 2, format: 1, compression: 32773, rows: 8, order: big},
		{samples: 3, bits: 4, format: 1, compression: 8, rows: 7, order: little},
		{samples: 3, bits: 4, format: 1, compression: 8, tileW: 16, tileH: 16, planar: true, order: little, reversed: true},
		{samples: 1, bits: 12, format: 1, compression: 1, rows: 7, order: little},
		{samples: 1, bits: 8, format: 1, compression: 1, rows: 7, predictor: 2, order: little, reversed: true},
		{samples: 1, bits: 16, format: 1, compression: 8, rows: 7, predictor: 2, order: big, reversed: true},
		{samples: 1, bits: 16, format: 2, compression: 32773, rows: 7, predictor: 2, order: little, reversed: true},
		{samples: 3, bits: 32, format: 3, compression: 50000, rows: 7, predictor: 3, planar: true, order: little},
		{samples: 1, bits: 32, format: 3, compression: 50000, rows: 7, predictor: 2, order: big},
		{samples: 1, bits: 64, format: 3, compression: 8, tileW: 16, tileH: 16, predictor: 2, order: little},
		{samples: 1, bits: 64, format: 2, compression: 8, rows: 5, predictor: 2, order: little},
	} {
		t.Run(fmt.Sprintf("%+v", l), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			raw, want := make([]uint64, h*w*l.samples), make([]float32, h*w*l.samples)
			for i := range raw {
				v := int64(rng.IntN(200)) - 30*int64(l.format-1)
				if rng.IntN(3) > 0 && i >= l.samples { // runs
					raw[i], want[i] = raw[i-l.samples], want[i-l.samples]
					continue
				}
				f := float64(v) * 1.25
				switch {
				case l.format == formatFloat && l.bits == 32:
					raw[i], want[i] = uint64(math.Float32bits(float32(f))), float32(f)
				case l.format == formatFloat:
					raw[i], want[i] = math.Float64bits(f), float32(f)
				case l.format == formatUint && l.bits <= 16:
					most := float64(uint64(1)<<l.bits - 1)
					u := uint64(v) * uint64(most) / 255
					if raw[i], want[i] = u, float32(float64(u)/most); l.inverted {
						want[i] = float32((most - float64(u)) / most)
					}
				default:
					v *= 1 << min(l.bits-10, 24)
					if raw[i], want[i] = uint64(v), float32(v); l.noData == "-9999" && rng.IntN(4) == 0 {
						v = -9999
						raw[i], want[i] = uint64(v), float32(math.NaN())
					}
				}
			}
			b := l.file(t, h, w, func(y, x, c int) uint64 { return raw[(y*w+x)*l.samples+c] })
			if l.sparse {
				absent := float32(0) // as GDAL has it, which leaves out blocks of zeros
				if l.noData != "" {
					absent = float32(math.NaN())
				}
				for y := range l.tileH {
					for x := range l.tileW * l.samples {
						want[y*w*l.samples+x] = absent
					}
				}
			}
			s, err := strips(t, "a.tif", b, l.samples)
			require.NoError(t, err)
			require.Equal(t, []int{h, w}, []int{s.H, s.W})
			line := func(y, c, x, n int) {
				got := make([]float32, n)
				require.NoError(t, s.Line(got, c, y, x))
				for i, v := range got {
					if e := want[(y*w+x+i)*l.samples+c]; math.Float32bits(v) != math.Float32bits(e) {
						t.Fatalf("line %d, column %d, channel %d: %v, want %v", y, x+i, c, v, e)
					}
				}
			}
			for y := range h { // as a raster is read, by bands
				for c := range l.samples {
					line(y, c, 0, w)
				}
			}
			for _, x := range []int{0, 20} {
				for y := range h {
					for c := range l.samples {
						line(y, c, x, 25)
					}
				}
			}
			for range 100 {
				x := rng.IntN(w)
				line(rng.IntN(h), rng.IntN(l.samples), x, 1+rng.IntN(w-x))
			}
			for n := range len(b) { // cut off anywhere it is an error, and no more
				if n%7 != 0 {
					continue
				}
				if s, err := openTIFF(bytes.NewReader(b[:n]), int64(n)); err == nil {
					row := make([]float32, w)
					for y := 0; y < h && err == nil; y++ {
						err = s.line(row, 0, y, 0)
					}
				}
			}
		})
	}
}

// What the standard library's decoders read as a whole is the same in parts.
func TestPicturesInParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const h, w = 23, 31
	r := image.Rect(0, 0, w, h)
	some := func() uint8 { return uint8(rng.IntN(4) * rng.IntN(80)) }
	palette := color.Palette{}
	for range 13 {
		palette = append(palette, color.NRGBA{some(), some(), some(), 255})
	}
	small := palette[:3]
	for name, im := range map[string]interface {
		image.Image
		Set(x, y int, c color.Color)
	}{
		"grey": image.NewGray(r), "grey 16": image.NewGray16(r), "colour": image.NewNRGBA(r), "colour 16": image.NewNRGBA64(r),
		"palette": image.NewPaletted(r, palette),
		"2 bits":  image.NewPaletted(r, small), "alpha": image.NewNRGBA(r), "alpha 16": image.NewNRGBA64(r),
	} {
		for y := range h {
			for x := range w {
				a := uint8(255)
				if name == "alpha" || name == "alpha 16" {
					a = some()
				}
				im.Set(x, y, color.NRGBA{uint8(x * 8), uint8(y*8) + some(), some(), a})
			}
		}
		var files = map[string][]byte{}
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, im))
		files["a.png"] = bytes.Clone(b.Bytes())
		for kind, c := range map[string]tiff.CompressionType{"a.tif": tiff.Uncompressed, "b.tif": tiff.Deflate} {
			b.Reset()
			require.NoError(t, tiff.Encode(&b, im, &tiff.Options{Compression: c, Predictor: c == tiff.Deflate}))
			files[kind] = bytes.Clone(b.Bytes())
		}
		for file, b := range files {
			for _, channels := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s/%s/%d", name, file, channels), func(t *testing.T) {
					s, err := strips(t, file, b, channels)
					require.NoError(t, err)
					whole := &Strips{C: channels, file: s.file}
					_, err = s.file.Seek(0, 0)
					require.NoError(t, err)
					require.NoError(t, whole.held(file))
					require.Equal(t, []int{whole.H, whole.W}, []int{s.H, s.W})
					for _, y := range []int{0, 1, 2, 3, 4, 9, 9, 10, 22, 5, 0, 22} {
						for c := range channels {
							x := rng.IntN(w)
							want, got := make([]float32, w-x), make([]float32, w-x)
							require.NoError(t, whole.Line(want, c, y, x))
							require.NoError(t, s.Line(got, c, y, x))
							require.True(t, testkit.SameBits(want, got), "line %d: %v, want %v", y, got, want)
						}
					}
				})
			}
			// Damaged files end in an error or in numbers.
			for k := range 200 {
				d := bytes.Clone(b)
				for range 1 + k%3 {
					d[rng.IntN(len(d))] = byte(rng.IntN(256))
				}
				s, err := openParts(d)
				if err != nil || s.W > 1<<16 {
					continue
				}
				row := make([]float32, s.W)
				for y := 0; y < min(s.H, 100) && err == nil; y++ {
					err = s.line(row, 0, y, 0)
				}
			}
		}
	}
}

// What is written in parts is read again, by our own readers and by the standard library's.
func TestStripWriter(t *testing.T) {
	const h, w = 70, 41
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []int{1, 2, 3} {
		values := make([]float32, c*h*w)
		for i := range values {
			values[i] = float32(rng.IntN(65536)) / 65535
		}
		for _, name := range []string{"a.npy", "a.tif", "a.png", "a.pgm", "a.ppm"} {
			t.Run(fmt.Sprintf("%d/%s", c, name), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), name)
				s, err := OpenStripWriter(path+".partial", path, c, h, w, nil)
				if fits := map[string]bool{"a.npy": true, "a.tif": true, "a.png": c != 2, "a.pgm": c == 1, "a.ppm": c == 3}[name]; !fits {
					require.ErrorContains(t, err, "channels is written as")
					return
				}
				require.NoError(t, err)
				for _, x := range [][2]int{{16, 41}, {0, 16}} { // in any order
					for _, y := range [][2]int{{32, 70}, {0, 32}} {
						part := make([]float32, 0, c*h*w)
						for ch := range c {
							for line := y[0]; line < y[1]; line++ {
								part = append(part, values[(ch*h+line)*w+x[0]:(ch*h+line)*w+x[1]]...)
							}
						}
						require.NoError(t, s.Write(part, y[0], x[0], y[1]-y[0], x[1]-x[0]))
					}
				}
				require.NoError(t, s.Close())
				require.NoError(t, FinishStrips(path+".partial", path))
				entries, err := os.ReadDir(filepath.Dir(path))
				require.NoError(t, err)
				require.Len(t, entries, 1)
				in, err := OpenStrips(path, c)
				require.NoError(t, err)
				defer in.Close()
				for ch := range c {
					for y := range h {
						got := make([]float32, w)
						require.NoError(t, in.Line(got, ch, y, 0))
						require.Equal(t, values[(ch*h+y)*w:][:w], got, "line %d", y)
					}
				}
				if name == "a.png" {
					whole, err := Read(path)
					require.NoError(t, err)
					require.Equal(t, values, whole.Pix)
				}
			})
		}
	}
	// A file whose offsets do not fit into 32 bits.
	for _, size := range []int{1 << 10, 1 << 16} {
		head := tiffHeader(1, size, size, nil)
		f, err := openTIFF(bytes.NewReader(head), int64(len(head))+4*int64(size)*int64(size))
		require.NoError(t, err)
		require.Equal(t, []int{size, size, 32, formatFloat}, []int{f.h, f.w, f.bits, f.format})
		require.Equal(t, size > 1<<12, head[2] == 43)
		for i, at := range f.offsets {
			require.Equal(t, int64(len(head))+int64(i)*int64(f.blockH)*int64(size)*4, at)
		}
	}
}

// Headers that claim more than a file can hold are refused before anything is allocated.
func TestPartsRefused(t *testing.T) {
	little := binary.AppendByteOrder(binary.LittleEndian)
	one := func(_, _, _ int) uint64 { return 1 }
	for words, b := range map[string][]byte{
		"cannot hold": tiffLayout{samples: 1, bits: 32, format: 3, compression: 8, rows: 60000,
			order: little}.file(t, 1, 60000, one),
		"need 1 to 4194304 along":  header(1<<23, 4),
		"claims 4194304 x 4194304": header(1<<22, 1<<22),
	} {
		if words == "cannot hold" { // the same block for a larger image
			at := bytes.Index(b, []byte{tagHeight & 255, tagHeight >> 8, 3, 0})
			b[at+8], b[at+9] = 60000&255, 60000>>8
		}
		name := "a.png"
		if isTIFF(b) {
			name = "a.tif"
		}
		s, err := strips(t, name, b, 1)
		if err == nil {
			err = s.Line(make([]float32, s.W), 0, 0, 0)
		}
		require.ErrorContains(t, err, words)
	}
}

// openParts opens bytes as a TIFF or PNG file that is read in parts.
func openParts(b []byte) (*Strips, error) {
	if isTIFF(b) {
		f, err := openTIFF(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return nil, err
		}
		return &Strips{C: 1, H: f.h, W: f.w, own: f.channels(), line: f.line, picture: f}, nil
	}
	f, err := openPNG(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	return &Strips{H: f.h, W: f.w, line: f.line}, nil
}

func FuzzStrips(f *testing.F) {
	little := binary.AppendByteOrder(binary.LittleEndian)
	ramp := func(y, x, c int) uint64 { return uint64(y*3 + x + c) }
	f.Add(tiffLayout{samples: 1, bits: 32, format: 3, compression: 8, predictor: 3, tileW: 16, tileH: 16, order: little}.file(f,
		9, 20, ramp))
	f.Add(tiffLayout{samples: 3, bits: 16, format: 1, compression: 32773, predictor: 2, rows: 4, order: little}.file(f, 9, 20, ramp))
	f.Add(tiffLayout{samples: 2, bits: 8, format: 1, compression: 1, rows: 4, planar: true, big: true, order: little}.file(f, 9, 20, ramp))
	f.Add(tiffLayout{samples: 1, bits: 8, format: 1, compression: 1, rows: 4, order: little, extra: placed()}.file(f, 9, 20, ramp))
	f.Add(tiffLayout{samples: 2, bits: 16, format: 1, compression: 1, rows: 4, big: true, order: binary.BigEndian,
		extra: placed()}.file(f, 9, 20, ramp))
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA64(image.Rect(0, 0, 7, 5))); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := openParts(data)
		if err != nil || s.W > 1<<16 {
			return
		}
		row := make([]float32, s.W)
		for y := 0; y < min(s.H, 64) && err == nil; y++ {
			err = s.line(row, 0, y, 0)
		}
		if s.picture != nil {
			placeAgain(t, s)
		}
	})
}
