package raster

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/tiff"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// save encodes an image into a PNG file of the test's folder.
func save(t testing.TB, im image.Image) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, im))
	return bytesFile(t, b.Bytes())
}

func bytesFile(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.png")
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return path
}

// fill2 sets the two pixels of a 2 x 1 image.
func fill2[I interface {
	image.Image
	Set(x, y int, c color.Color)
}](im I, left, right color.Color) image.Image {
	im.Set(0, 0, left)
	im.Set(1, 0, right)
	return im
}

func TestRead(t *testing.T) {
	r := image.Rect(0, 0, 2, 1)
	red, white := color.NRGBA{255, 0, 0, 255}, color.NRGBA{255, 255, 255, 255}
	for _, c := range []struct {
		name        string
		im          image.Image
		channels    int
		want        []float64
		translucent bool
	}{
		{"grey 8 bits", fill2(image.NewGray(r), color.Gray{51}, color.Gray{255}), 1, []float64{51. / 255, 1}, false},
		{"grey 16 bits", fill2(image.NewGray16(r), color.Gray16{1}, color.Gray16{65535}), 1, []float64{1. / 65535, 1}, false},
		{"colour", fill2(image.NewNRGBA(r), red, white), 3, []float64{1, 1, 0, 1, 0, 1}, false},
		{"colour 16 bits", fill2(image.NewNRGBA64(r), color.NRGBA64{1, 2, 3, 65535}, white), 3,
			[]float64{1. / 65535, 1, 2. / 65535, 1, 3. / 65535, 1}, false},
		{"colours that are grey", fill2(image.NewNRGBA(r), color.NRGBA{51, 51, 51, 255}, white), 1, []float64{51. / 255, 1}, false},
		{"palette", fill2(image.NewPaletted(r, color.Palette{red, white}), red, white), 3, []float64{1, 1, 0, 1, 0, 1}, false},
		{"grey palette", fill2(image.NewPaletted(r, color.Palette{color.Gray{51}, white}), color.Gray{51}, white), 1,
			[]float64{51. / 255, 1}, false},
		{"alpha is a mask", fill2(image.NewNRGBA(r), color.NRGBA{255, 255, 255, 51}, color.NRGBA{51, 51, 51, 200}), 1,
			[]float64{math.NaN(), 51. / 255}, true},
		{"transparent colours", fill2(image.NewPaletted(r, color.Palette{color.NRGBA{255, 0, 0, 0}, red}),
			color.NRGBA{255, 0, 0, 0}, red), 3,
			[]float64{math.NaN(), 1, math.NaN(), 0, math.NaN(), 0}, true},
		{"opaque alpha", fill2(image.NewNRGBA(r), white, white), 1, []float64{1, 1}, false},
		{"one pixel", image.NewGray(image.Rect(0, 0, 1, 1)), 1, []float64{0}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Read(save(t, c.im))
			require.NoError(t, err)
			want := make([]float32, len(c.want))
			for i, v := range c.want {
				want[i] = float32(v)
			}
			require.True(t, testkit.SameBits(want, got.Pix), "%v", got.Pix)
			require.Equal(t, &Image{C: c.channels, H: c.im.Bounds().Dy(), W: c.im.Bounds().Dx(), Pix: got.Pix,
				Translucent: c.translucent}, got)
		})
	}
}

// A channel-slowest layout and no transposition: pixel (x, y) = (2, 1) of a 3 x 2 image is entry 5.
func TestReadOrder(t *testing.T) {
	im := image.NewGray(image.Rect(0, 0, 3, 2))
	im.SetGray(2, 1, color.Gray{255})
	got, err := Read(save(t, im))
	require.NoError(t, err)
	require.Equal(t, []float32{0, 0, 0, 0, 0, 1}, got.Pix)
	require.Equal(t, []int{2, 3}, []int{got.H, got.W})
}

func TestReadJPEG(t *testing.T) {
	im := image.NewGray(image.Rect(0, 0, 8, 8))
	for i := range im.Pix {
		im.Pix[i] = 128
	}
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, im, &jpeg.Options{Quality: 100}))
	got, err := Read(bytesFile(t, b.Bytes()))
	require.NoError(t, err)
	require.Equal(t, 1, got.C)
	require.InDelta(t, 128./255, got.Pix[27], 0.01)
}

// header returns a PNG whose header claims w x h pixels, with nothing behind it.
func header(w, h uint32) []byte {
	b := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
	chunk := binary.BigEndian.AppendUint32([]byte("IHDR"), w)
	chunk = append(binary.BigEndian.AppendUint32(chunk, h), 8, 0, 0, 0, 0)
	return binary.BigEndian.AppendUint32(append(b, chunk...), crc32.ChecksumIEEE(chunk))
}

func TestReadErrors(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 64, 64))))
	_, err := Read(filepath.Join(t.TempDir(), "none.png"))
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, c := range []struct {
		name string
		data []byte
		is   error
		want string
	}{
		{"truncated", b.Bytes()[:b.Len()/2], ErrImage, "not enough pixel data"},
		{"empty", nil, ErrImage, "unknown format"},
		{"text", []byte("P1 1 1 0"), ErrImage, "unknown format, neither PNG, JPEG nor TIFF"},
		{"many pixels", header(100_000, 50_000), ErrSize, "the png header claims 100000 x 50000 pixels, need 1 to 16777216"},
		{"overflow", header(1<<31-1, 1<<31-1), nil, "in.png"}, // refused by the decoder or by us, before any allocation
		{"header alone", header(4096, 4096), ErrImage, "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := bytesFile(t, c.data)
			_, err := Read(path)
			require.Error(t, err)
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, c.want)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
}

func TestGreyAndColour(t *testing.T) {
	im := &Image{C: 3, H: 1, W: 2, Pix: []float32{1, 0.5, 0, 0.5, 0, 0.5}}
	g := im.Grey()
	require.Equal(t, 1, g.C)
	require.InDeltaSlice(t, []float32{0.299, 0.5}, g.Pix, 1e-7)
	require.Same(t, g, g.Grey())
	require.Same(t, im, im.Colour())
	require.Equal(t, []float32{1, 2, 1, 2, 1, 2}, (&Image{C: 1, H: 1, W: 2, Pix: []float32{1, 2}}).Colour().Pix)
}

func TestMask(t *testing.T) {
	im := image.NewNRGBA(image.Rect(0, 0, 4, 1))
	for x, c := range []color.NRGBA{{127, 127, 127, 255}, {128, 128, 128, 255}, {255, 255, 255, 0}, {255, 255, 255, 255}} {
		im.SetNRGBA(x, 0, c)
	}
	path := save(t, im)
	mask, err := Read(path)
	require.NoError(t, err)
	got, err := mask.Mask(path, 1, 4)
	require.NoError(t, err)
	require.Equal(t, []bool{false, true, false, true}, got)
	require.Equal(t, 2, Count(got))

	_, err = mask.Mask(path, 64, 32)
	require.ErrorIs(t, err, ErrSize)
	require.ErrorContains(t, err, "the mask has 4 x 1 pixels, the image 32 x 64")
	_, err = Read(path + "x")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestRandomMask(t *testing.T) {
	for _, c := range []struct {
		rate float64
		want int
	}{{0, 0}, {0.25, 16}, {0.26, 17}, {1, 64}} {
		require.Equal(t, c.want, Count(RandomMask(8, 8, c.rate, 7)))
	}
	require.Equal(t, RandomMask(8, 8, 0.5, 7), RandomMask(8, 8, 0.5, 7))
	require.NotEqual(t, RandomMask(8, 8, 0.5, 7), RandomMask(8, 8, 0.5, 8))
	require.Empty(t, RandomMask(0, 8, 0.5, 7))
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(header(1<<16, 1<<16))
	f.Fuzz(func(t *testing.T, data []byte) {
		if im, err := Read(bytesFile(t, data)); err == nil && len(im.Pix) != im.C*im.H*im.W {
			t.Fatalf("%d values for %d x %d x %d", len(im.Pix), im.C, im.H, im.W)
		}
	})
}

// TIFF files keep their 16 bits.
func TestReadTIFF(t *testing.T) {
	im := fill2(image.NewGray16(image.Rect(0, 0, 2, 1)), color.Gray16{1}, color.Gray16{65535})
	for _, c := range []tiff.CompressionType{tiff.Uncompressed, tiff.Deflate} {
		var b bytes.Buffer
		require.NoError(t, tiff.Encode(&b, im, &tiff.Options{Compression: c}))
		got, err := Decode(b.Bytes(), "a.tif")
		require.NoError(t, err)
		require.Equal(t, []int{1, 1, 2}, []int{got.C, got.H, got.W})
		require.Equal(t, []float32{float32(1. / 65535), 1}, got.Pix)
		for n := range b.Len() {
			if _, err := Decode(b.Bytes()[:n], "a.tif"); err != nil {
				require.ErrorContains(t, err, "a.tif: ")
			}
		}
	}
}

// TestReadFolder: a folder is refused as what it is, not as an image of an unknown format.
func TestReadFolder(t *testing.T) {
	dir := t.TempDir()
	_, err := Read(dir)
	require.ErrorContains(t, err, dir)
	require.NotErrorIs(t, err, ErrImage)
}
