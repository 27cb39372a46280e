package raster

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// floats is a TIFF file of 2 x 2 cells of these values [bands][4].
func floats(t *testing.T, bands ...[]float32) []byte {
	t.Helper()
	g := &Grid{W: 2, H: 2, West: 105, North: 215, Cell: [2]float64{10, 5}, Bands: make([]Band, len(bands)), Row: func(to []float32, y int) {
		for i := range to {
			to[i] = bands[i%len(bands)][2*y+i/len(bands)]
		}
	}}
	var b bytes.Buffer
	require.NoError(t, g.Encode(&b))
	return b.Bytes()
}

// TestGrid: the tags of a grid say where the corner of its first cell is.
func TestGrid(t *testing.T) {
	for bands := 1; bands < 5; bands++ {
		all := make([][]float32, bands)
		for k := range all {
			all[k] = []float32{float32(k), 1, 2, 3}
		}
		path := filepath.Join(t.TempDir(), "a.tif")
		require.NoError(t, os.WriteFile(path, floats(t, all...), 0o600))
		s, err := OpenStrips(path, bands)
		require.NoError(t, err)
		row := make([]float32, 2)
		require.NoError(t, s.Line(row, bands-1, 0, 0))
		require.Equal(t, all[bands-1][:2], row)
		p, err := s.Place()
		require.NoError(t, err)
		got := map[int][]float64{}
		for _, tag := range p.tags {
			for _, v := range tag.values {
				got[tag.id] = append(got[tag.id], math.Float64frombits(uint64(v)))
			}
		}
		require.Equal(t, map[int][]float64{tagPixelScale: {10, 5, 0}, tagTiePoints: {0, 0, 0, 100, 217.5, 0}}, got)
		require.NoError(t, s.Close())
	}
	require.ErrorIs(t, (&Grid{W: 1, H: 1}).Encode(&bytes.Buffer{}), ErrSize)
	require.ErrorIs(t, (&Grid{W: 1 << 30, H: 1, Bands: make([]Band, 1)}).Encode(&bytes.Buffer{}), ErrSize)
}
