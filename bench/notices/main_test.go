package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNotices: the file has the conditions of every module that is linked, at its version, and of nothing else.
func TestNotices(t *testing.T) {
	root := filepath.Join("..", "..")
	want, err := notices(root)
	require.NoError(t, err)
	have, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	require.True(t, string(want) == string(have), "%s is not what is linked: run go run ./bench/notices -update", name)
	for _, of := range []string{
		": LICENSE-SIL\n", ": zstd/internal/xxhash/LICENSE.txt\n", "github.com/inconshreveable/mousetrap v", ": licenses/ftl.txt\n",
	} {
		require.Contains(t, string(have), of)
	}
	require.NotContains(t, strings.ToLower(string(have)), "affero general public")
}
