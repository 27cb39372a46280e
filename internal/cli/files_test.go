package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Patterns stand for files in order, each once; one that stands for nothing is an error, a name that does not exist is left to who reads
// it.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for _, name := range []string{"a1.csv", "a2.csv", "b.csv"} {
		want = append(want, filepath.Join(dir, name))
		require.NoError(t, os.WriteFile(want[len(want)-1], nil, 0o600))
	}
	got, err := Files("csv", []string{filepath.Join(dir, "a?.csv"), filepath.Join(dir, "*.csv"), "none.csv"})
	require.NoError(t, err)
	require.Equal(t, append(want, "none.csv"), got)
	_, err = Files("csv", []string{filepath.Join(dir, "c*")})
	require.ErrorContains(t, err, "no file of such a name")
	_, err = Files("csv", []string{"[a"})
	require.ErrorContains(t, err, "--csv [a: syntax error in pattern")
}
