package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// FuzzConfig reads configuration files and applies them to a command. Errors name the file.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{"", "task: image\nsteps: 7\nnames: [a, b]\n", "task: [a]",
		"- a", "a: &x [*x]", "a: *b", "steps: 1\nsteps: 2",
		"steps: {a: 1}", "task: image\nconfig: other", "? [a, b]\n: c", "steps: !!binary AA==", "a: |\n  text\n", "%YAML 1.1\n---\na: 1",
		"train: image\ntask: day", "steps: 1\n---\nnames: a", "steps: 1\n---\n",
		"a: &a [1]\nb: *a\n", "<<: {steps: 3}", "steps: \"1\\0\"", strings.Repeat("[", 2000), "a: " + strings.Repeat("{a: ", 200)} {
		f.Add([]byte(s))
	}
	path := filepath.Join(f.TempDir(), "config.yaml")
	f.Fuzz(func(t *testing.T, b []byte) {
		require.NoError(t, os.WriteFile(path, b, 0o666))
		c, err := ReadConfig(path)
		if err != nil {
			require.ErrorContains(t, err, "config")
			return
		}
		if _, err := c.Kind(); err != nil {
			require.ErrorContains(t, err, path)
		}
		cmd := &cobra.Command{Use: "image"}
		cmd.Flags().Int("steps", 1, "")
		cmd.Flags().StringSlice("names", nil, "")
		if err := c.Apply(cmd); err != nil {
			require.ErrorContains(t, err, path)
		}
	})
}
