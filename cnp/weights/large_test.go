package weights

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLargeOther: a large file that is no model is refused by its first bytes, and not read.
func TestLargeOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.safetensors")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, 256<<20)) // takes no room on the disk
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := ReadState(path)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, ErrFormat)
	require.ErrorContains(t, err, path+": ")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}
