package raster

import (
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
