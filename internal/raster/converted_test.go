package raster

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConverted: a raster of other channels than the model's is read, and what that changes about it is said.
func TestConverted(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		content  string
		channels int
		want     []string
	}{
		{"P5 1 1 255\n\x01", 1, nil},
		{"P6 1 1 255\n\x01\x02\x03", 3, nil},
		{"P5 1 1 255\n\x01", 3, []string{"the raster has 1 channel and the model 3: given 3 equal ones"}},
		{"P6 1 1 255\n\x01\x02\x03", 1,
			[]string{"the raster has 3 channels, taken as red, green and blue, and the model 1: converted to grey (luma)"}},
	} {
		path := filepath.Join(dir, "in")
		require.NoError(t, os.WriteFile(path, []byte(test.content), 0o600))
		s, err := OpenStrips(path, test.channels)
		require.NoError(t, err)
		require.Equal(t, test.want, s.Converted())
		require.NoError(t, s.Close())
	}
}

// TestGreyAndAlpha: a grey PNG with alpha is grey.
func TestGreyAndAlpha(t *testing.T) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := z.Write([]byte{0, 7, 255, 9, 0}) // one line: two pixels, the second one transparent
	require.NoError(t, err)
	require.NoError(t, z.Close())
	file := []byte(pngMagic)
	for _, chunk := range []string{"IHDR\x00\x00\x00\x02\x00\x00\x00\x01\x08\x04\x00\x00\x00", "IDAT" + packed.String(), "IEND"} {
		file = append(binary.BigEndian.AppendUint32(file, uint32(len(chunk)-4)), chunk...)
		file = binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE([]byte(chunk)))
	}
	path := filepath.Join(t.TempDir(), "in.png")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	s, err := OpenStrips(path, 1)
	require.NoError(t, err)
	defer s.Close()
	require.Nil(t, s.Converted())
	v := make([]float32, 2)
	require.NoError(t, s.Line(v, 0, 0, 0))
	require.Equal(t, float32(float64(7)/255), v[0])
	require.True(t, v[1] != v[1])
}
