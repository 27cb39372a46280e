package raster

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is predicted of an image is placed as its file, also between the pixels: a pixel becomes n x n that cover it.
func TestEncodeTIFF(t *testing.T) {
	dir := t.TempDir()
	file := func(samples int, extra ...tiffEntry) *Image {
		l := tiffLayout{samples: samples, bits: 8, format: 1, compression: 1, rows: 9, order: binary.LittleEndian, extra: extra}
		path := filepath.Join(dir, "in.tif")
		require.NoError(t, os.WriteFile(path, l.file(t, 2, 3, func(y, x, c int) uint64 { return uint64(y*90 + x*20 + c) }), 0o600))
		im, err := Read(path)
		require.NoError(t, err)
		return im
	}
	tags := func(im *Image, scale int, deviation bool) (float64, map[int][]float64) {
		pix := make([]float32, im.C*im.H*im.W*scale*scale)
		for i := range pix {
			pix[i] = float32(i)
		}
		var b bytes.Buffer
		require.NoError(t, im.EncodeTIFF(&b, pix, scale, deviation))
		require.Error(t, im.EncodeTIFF(&b, pix[1:], scale, deviation))
		f, err := openTIFF(bytes.NewReader(b.Bytes()), int64(b.Len()))
		require.NoError(t, err)
		row := make([]float32, im.W*scale)
		for c := range im.C {
			require.NoError(t, f.line(row, c, 1, 0))
			require.Equal(t, pix[(c*im.H*scale+1)*im.W*scale:][:im.W*scale], row)
		}
		p, err := f.place(im.C, im.C)
		require.NoError(t, err)
		out := map[int][]float64{}
		for _, x := range p.tags {
			for _, v := range x.values {
				out[x.id] = append(out[x.id], math.Float64frombits(uint64(v)))
			}
		}
		return p.scale[0], out
	}
	point := tiffEntry{tagGeoKeys, kindShort, []int64{1, 1, 0, 1, 1025, 0, 1, 2}}
	tied, scaled := tiffDoubles(tagTiePoints, 1, 2, 0, 500, 700, 0), tiffDoubles(tagPixelScale, 30, 60, 0)
	turned := tiffDoubles(tagTransformation, 20, 8, 0, 986, 10, -20, 0, 2005, 0, 0, 0, 0, 0, 0, 0, 1)
	polynomials := tiffDoubles(tagPolynomials, append([]float64{0, 0, 10, 20, 0, 0, 0, 5, 7}, make([]float64, 83)...)...)

	unit, got := tags(file(1, tied, scaled), 1, true)
	require.InDelta(t, 255, unit, 0)
	require.Equal(t, map[int][]float64{tagTiePoints: {1, 2, 0, 500, 700, 0}, tagPixelScale: {30, 60, 0}}, got)
	_, got = tags(file(1, tied, scaled, polynomials), 4, false)
	require.Equal(t, []float64{4, 8, 0, 500, 700, 0}, got[tagTiePoints])
	require.Equal(t, []float64{7.5, 15, 0}, got[tagPixelScale])
	require.Equal(t, []float64{41.5, 81.5}, got[tagPolynomials][2:4])
	require.Equal(t, []float64{20, 28}, got[tagPolynomials][7:9])
	_, got = tags(file(3, turned), 2, false)
	require.Equal(t, []float64{10, 4, 0, 986, 5, -10, 0, 2005, 0, 0, 0, 0, 0, 0, 0, 1}, got[tagTransformation])

	// Where pixels are points, (0, 0) of the finer ones is a quarter of a pixel above and left of the centre.
	_, got = tags(file(1, tied, scaled, point), 2, false)
	require.Equal(t, []float64{2.5, 4.5, 0, 500, 700, 0}, got[tagTiePoints])
	_, got = tags(file(1, turned, point), 2, false)
	require.Equal(t, []float64{10, 4, 0, 986 - 7, 5, -10, 0, 2005 + 2.5, 0, 0, 0, 0, 0, 0, 0, 1}, got[tagTransformation])

	colours := file(3, tied, scaled) // and as grey, whose unit is that of all
	unit, got = tags(colours.Grey(), 1, false)
	require.InDelta(t, 255, unit, 0)
	require.Len(t, got, 2)

	bad := file(1, tiffDoubles(tagPixelScale, 1, 2))
	_, notes, err := bad.Fit(1)
	require.NoError(t, err)
	require.Len(t, notes, 1)
	require.ErrorContains(t, bad.Unplaced(), "TIFF tag 33550")
	_, got = tags(bad, 1, false)
	require.Empty(t, got)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.tfw"), []byte("30 0 0 -30 15 85"), 0o600))
	_, got = tags(file(1), 3, false)
	require.Equal(t, map[int][]float64{tagTiePoints: {0, 0, 0, 0, 100, 0}, tagPixelScale: {10, 10, 0}}, got)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.tfw"), []byte("30"), 0o600))
	require.Error(t, file(1).Unplaced())
}
