package weights

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPiped: a model comes through a pipe whole, although its first bytes are looked at before the others.
func TestPiped(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "small.safetensors"))
	require.NoError(t, err)
	want, err := DecodeState(b)
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	go func() { // a small file, but a pipe has little room, too
		defer w.Close()
		_, _ = w.Write(b)
	}()
	got, err := ReadState(fmt.Sprintf("/proc/self/fd/%d", r.Fd()))
	require.NoError(t, err)
	require.Equal(t, want, got)
}
