package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// Nothing has its name before commit, and everything has it after.
func TestOutputs(t *testing.T) {
	b := newBench(t)
	b.write("old", "old")
	o, err := newOutputs([]string{""}, outFile{"a", b.path("new"), ""}, outFile{"b", b.path("old"), ""}, outFile{"c", "", ".x"})
	require.NoError(t, err)
	require.Equal(t, []string{"old"}, b.names(), "looking leaves nothing behind")
	require.NoError(t, o.write("a", text("1")))
	require.NoError(t, o.write("b", text("2")))
	require.NoError(t, o.write("c", text("3")), "a flag that was not given")
	require.Len(t, b.names(), 3, "two temporary files")
	require.Equal(t, "old", b.files()["old"])
	require.NoError(t, o.commit())
	o.discard()
	require.Equal(t, map[string]string{"new": "1", "old": "2"}, b.files())
}

func TestOutputsDiscard(t *testing.T) {
	b := newBench(t)
	b.write("old", "old")
	o, err := newOutputs(nil, outFile{"a", b.path("new"), ""}, outFile{"b", b.path("old"), ""})
	require.NoError(t, err)
	require.NoError(t, o.write("a", text("1")))
	full := errors.New("disk full")
	err = o.write("b", func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return full
	})
	require.ErrorIs(t, err, full)
	require.ErrorContains(t, err, "--b: ")
	err = o.writeFile("b", func(path string) error { return os.WriteFile(path, []byte("half"), 0o600) })
	require.NoError(t, err)
	o.discard()
	require.Equal(t, map[string]string{"old": "old"}, b.files())
}

func TestOutputsKeepLinksAndModes(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("skipped: needs symbolic links and permissions")
	}
	b := newBench(t)
	b.write("real", "old")
	require.NoError(t, os.Chmod(b.path("real"), 0o640))
	require.NoError(t, os.Symlink("real", b.path("link")))
	o, err := newOutputs(nil, outFile{"a", b.path("link"), ""})
	require.NoError(t, err)
	require.NoError(t, o.write("a", text("new")))
	require.NoError(t, o.commit())
	require.Equal(t, "new", b.files()["real"])
	info, err := os.Lstat(b.path("link"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeSymlink)
	info, err = os.Stat(b.path("real"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode().Perm())

	_, err = newOutputs([]string{b.path("real")}, outFile{"a", b.path("link"), ""})
	require.ErrorContains(t, err, "is an input")
}

// A device is written to and never replaced by a file.
func TestOutputsDevice(t *testing.T) {
	info, err := os.Stat(os.DevNull)
	if err != nil || info.Mode().IsRegular() {
		t.Skipf("skipped: no %s here", os.DevNull)
	}
	o, err := newOutputs([]string{os.DevNull}, outFile{"a", os.DevNull, ".x"}, outFile{"b", os.DevNull, ""})
	require.NoError(t, err)
	require.NoError(t, o.write("a", text("1")))
	require.ErrorContains(t, o.writeFile("b", nil), "is not a regular file")
	require.NoError(t, o.commit())
	o.discard()
	again, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	require.Equal(t, info.Mode(), again.Mode())
}

func TestSameFile(t *testing.T) {
	b := newBench(t)
	b.write("a", "")
	b.write("b", "")
	require.True(t, sameFile(b.path("a"), filepath.Join(b.dir, ".", "a")))
	require.False(t, sameFile(b.path("a"), b.path("b")))
	require.False(t, sameFile(b.path("a"), b.path("c")))
	require.True(t, sameFile(b.path("c"), filepath.Join(b.dir, "x", "..", "c")))
	require.False(t, sameFile(b.path("c"), b.path("a")))
}
