package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// TestDimensions: every case is a model; with three and five coordinates gradients, plans, the server and the chain rule work.
func TestDimensions(t *testing.T) {
	for _, c := range dimensionCases() {
		require.NoError(t, c.config.Validate(), c.name)
		if c.name != "levels/3" && c.name != "points/5" {
			continue
		}
		row, err := measureDimension(t.Context(), c.name, 1)
		require.NoError(t, err, c.name)
		require.Len(t, row.Times, len(dimensionColumns))
		for i, v := range row.Times {
			planned := dimensionColumns[i] == "plan" || dimensionColumns[i] == "planned"
			require.Equal(t, planned && c.name == "points/5", v < 0, "%s: %s", c.name, dimensionColumns[i])
		}
		var table strings.Builder
		row.write(&table)
		require.Regexp(t, `^\| (levels, 3|points, 5) \|( [0-9.e+]+ \| | none \|)`, table.String())
	}
	_, err := measureDimension(t.Context(), "nothing", 1)
	require.ErrorContains(t, err, "no case")
}

// TestWritable: a table that cannot be written is said before anything is measured, and looking leaves no file.
func TestWritable(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there.md")
	require.NoError(t, os.WriteFile(there, []byte("kept"), 0o666))
	require.NoError(t, writable(""))
	require.NoError(t, writable(there))
	kept, err := os.ReadFile(there)
	require.NoError(t, err)
	require.Equal(t, "kept", string(kept))
	fresh := filepath.Join(dir, "fresh.md")
	require.NoError(t, writable(fresh))
	require.NoFileExists(t, fresh)

	missing := filepath.Join(dir, "missing", "a.md")
	for name, cmd := range map[string]*cobra.Command{"costs": costsCommand(), "dimensions": dimensionsCommand(), "data": dataCommand()} {
		cmd.SetArgs([]string{"--out", missing})
		cmd.SilenceUsage = true
		require.ErrorContains(t, cmd.Execute(), "--out: open "+missing, name)
	}
}

// TestCostParts: the commands of the file's two parts leave each other's as it is.
func TestCostParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "costs.md")
	groups, coordinates, err := costParts(path)
	require.NoError(t, err)
	require.Empty(t, groups)
	require.Empty(t, coordinates)
	require.NoError(t, os.WriteFile(path, []byte("# Groups\n"), 0o666))
	groups, coordinates, err = costParts(path)
	require.NoError(t, err)
	require.Equal(t, "# Groups\n\n", string(groups))
	require.Empty(t, coordinates)
	require.NoError(t, os.WriteFile(path, append(groups, dimensionsMark+"here\n"...), 0o666))
	groups, coordinates, err = costParts(path)
	require.NoError(t, err)
	require.Equal(t, "# Groups\n\n", string(groups))
	require.Equal(t, dimensionsMark+"here\n", string(coordinates))
}
