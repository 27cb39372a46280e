package raster

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/testkit"
)

// TestHostile calls what is exported with what nobody should pass.
func TestHostile(t *testing.T) {
	named := func(name string, f any, good ...any) {
		t.Helper()
		testkit.Hostile(t, "raster", name, f, good...)
	}
	named("RandomMask", RandomMask, 4, 4, 0.5, uint64(1))
	named("Decode", func(b []byte, name string) { _, _ = Decode(b, name) }, []byte("P5 1 1 255 a"), "a.pgm")
	dir := t.TempDir()
	written := 0
	named("OpenStripWriter", func(name string, c, h, w int) {
		s, err := OpenStripWriter(filepath.Join(dir, "part"), name, c, h, w, nil)
		if err == nil {
			written++
			_ = s.Close()
		}
	}, "o.npy", 1, 2, 3)
	require.NotZero(t, written)
	s, err := OpenStripWriter(filepath.Join(dir, "part"), "o.npy", 1, 2, 3, nil)
	require.NoError(t, err)
	defer s.Close()
	testkit.HostileIndexed(t, "raster", "Write", func(v []float32, y, x, h, w int) { _ = s.Write(v, y, x, h, w) },
		[]float32{1, 2, 3, 4, 5, 6}, 0, 0, 2, 3)
}
