//go:build linux || darwin || freebsd || netbsd || openbsd

package frozen_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/equivcnp/equivcnp/internal/frozen"
)

// TestCutFile: a file that is cut while it is checked is damaged, and does not end the program.
func TestCutFile(t *testing.T) {
	for range 20 {
		path := write(t, sample(400_000))
		f, err := frozen.Open(path, 5, key)
		require.NoError(t, err)
		require.NoError(t, os.Truncate(path, 0))
		if err := f.Wait(); err != nil { // the check may have been faster
			require.ErrorIs(t, err, frozen.ErrFile)
		}
	}
}
