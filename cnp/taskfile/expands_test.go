package taskfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExpands: what a small file expands to is no more memory than one of its variables may take, however little each value is.
func TestExpands(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "internal", "hdf5", "testdata", "expands.h5"))
	require.NoError(t, err)
	_, err = Decode(append(b, make([]byte, 200_000)...), "expands.h5") // it may have 220 million bytes, of which float64s are 1,760
	require.ErrorContains(t, err, "more values than are read of a file of this size")
}

// TestUnread: a tensor that is there and cannot be read is an error that says why, even where the file may lack it.
func TestUnread(t *testing.T) {
	for _, required := range []bool{false, true} {
		f, err := Open(filepath.Join("..", "..", "internal", "hdf5", "testdata", "new.h5"))
		require.NoError(t, err)
		require.Nil(t, f.find("none", false, ""))
		require.NoError(t, f.err)
		require.Nil(t, f.find("compound", required, ""))
		require.ErrorContains(t, f.err, "new.h5: variable \"compound\"")
		require.ErrorContains(t, f.err, "compounds")
	}
}
