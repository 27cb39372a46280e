package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRun: a line for every model, and a picture.
func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	require.NoError(t, run(context.Background(), 1, 1, dir))
	table, err := os.ReadFile(filepath.Join(dir, "charges.md"))
	require.NoError(t, err)
	require.Equal(t, 2+len(candidates()), strings.Count(string(table), "\n|"))
	require.NotContains(t, string(table), "NaN")
	picture, err := os.ReadFile(filepath.Join(dir, "charges.png"))
	require.NoError(t, err)
	require.NotEmpty(t, picture)
}
