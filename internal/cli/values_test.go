package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// TestNotesOnce: notes are written at the first call alone, and not to who wants quiet.
func TestNotesOnce(t *testing.T) {
	var b strings.Builder
	note := NotesOnce(&b, false, []string{"one", "two"})
	require.Empty(t, b.String())
	note()
	note()
	require.Equal(t, "note: one\nnote: two\n", b.String())
	b.Reset()
	NotesOnce(&b, true, []string{"one"})()
	require.Empty(t, b.String())
}

// TestParseBytes: letters are powers of 1024; what is no amount of memory is refused.
func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{"512": 512, "64K": 64 << 10, "1.5g": 3 << 29, "0": 0,
		"2GB": 2 << 30, "2GiB": 2 << 30, "3kb": 3 << 10, "7B": 7} {
		n, ok := ParseBytes(text)
		require.True(t, ok, text)
		require.Equal(t, want, n, text)
	}
	for _, text := range []string{"", "-1", "G", "1X", "NaN", "1e30", "B", "iB", "GB", "1GBB"} {
		_, ok := ParseBytes(text)
		require.False(t, ok, text)
	}
}

// TestParseSize: one side is a square.
func TestParseSize(t *testing.T) {
	for text, want := range map[string][2]int{"64": {64, 64}, "256x128": {256, 128}} {
		w, h, err := ParseSize(text)
		require.NoError(t, err)
		require.Equal(t, want, [2]int{w, h})
	}
	for _, text := range []string{"", "0", "3x", "axb", "2x3x4"} {
		_, _, err := ParseSize(text)
		require.ErrorContains(t, err, "need a side or width x height")
	}
	require.Equal(t, "80x48", ShowSize([2]int{80, 48}))
	require.Empty(t, ShowSize([2]int{}))
}

// TestConfig: a file sets flags that the command line does not, a list becomes one value, and an unknown key names the flag
// that it may have meant.
func TestConfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	command := func() *cobra.Command {
		cmd := &cobra.Command{Use: "regression"}
		cmd.Flags().Int("steps", 1, "")
		cmd.Flags().IntSlice("channels", nil, "")
		return cmd
	}
	write("task: regression\nsteps: 7\nchannels: [8, 16]\n")
	file, err := ReadConfig(path)
	require.NoError(t, err)
	kind, err := file.Kind()
	require.NoError(t, err)
	require.Equal(t, "regression", kind)
	cmd := command()
	require.NoError(t, cmd.ParseFlags([]string{"--steps", "3"}))
	require.NoError(t, file.Apply(cmd))
	require.Equal(t, "3", cmd.Flags().Lookup("steps").Value.String())
	require.Equal(t, "[8,16]", cmd.Flags().Lookup("channels").Value.String())
	write("stesp: 7\n")
	file, err = ReadConfig(path)
	require.NoError(t, err)
	require.ErrorContains(t, file.Apply(command()), `run.yaml:1: unknown key "stesp", did you mean "steps"?`)
	write("\nsteps: 1e3\n")
	file, err = ReadConfig(path)
	require.NoError(t, err)
	require.EqualError(t, file.Apply(command()), path+`:2: --steps "1e3": need a whole number of at most 18 digits`)
	write("a: 1\na: 2\n")
	_, err = ReadConfig(path)
	require.ErrorContains(t, err, "run.yaml:2: a was already given in line 1")
	write("steps: 7\n---\nchannels: 8\n")
	_, err = ReadConfig(path)
	require.ErrorContains(t, err, "run.yaml:2: a second document begins: need one")
	for _, empty := range []string{"", "# nothing\n", "---\nsteps: 1\n...\n"} {
		write(empty)
		_, err = ReadConfig(path)
		require.NoError(t, err, empty)
	}
}

// TestConfigTask: beside the key train, the key task is the flag of that name.
func TestConfigTask(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.yaml")
	apply := func(text string) (kind, column string, err error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		file, err := ReadConfig(path)
		require.NoError(t, err)
		kind, _ = file.Kind()
		cmd := &cobra.Command{Use: "regression"}
		cmd.Flags().String("task", "", "")
		err = file.Apply(cmd)
		return kind, cmd.Flags().Lookup("task").Value.String(), err
	}
	for text, want := range map[string][2]string{
		"train: regression\ntask: day\n":   {"regression", "day"},
		"task: image\ntrain: regression\n": {"regression", "image"},
		"task: regression\n":               {"regression", ""},
	} {
		kind, column, err := apply(text)
		require.NoError(t, err, text)
		require.Equal(t, want, [2]string{kind, column}, text)
	}
	_, _, err := apply("train: image\ntask: day\n")
	require.ErrorContains(t, err, "run.yaml:1: train: image, the command trains regression")
	_, _, err = apply("task: day\n")
	require.ErrorContains(t, err, "beside the key train, task is the column with the task of each row")
}
