package cli

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
	b := &bench{t: t, dir: t.TempDir()}
	b.write("old", "old")
	o, err := NewOutputs([]string{""}, Out("a", b.path("new"), ""), Out("b", b.path("old"), ""), Out("c", "", ".x"))
	require.NoError(t, err)
	require.Equal(t, []string{"old"}, b.names(), "looking leaves nothing behind")
	require.NoError(t, o.Write("a", text("1")))
	require.NoError(t, o.Write("b", text("2")))
	require.NoError(t, o.Write("c", text("3")), "a flag that was not given")
	require.Len(t, b.names(), 3, "two temporary files")
	require.Equal(t, "old", b.files()["old"])
	require.NoError(t, o.Commit())
	o.Discard()
	require.Equal(t, map[string]string{"new": "1", "old": "2"}, b.files())
}

func TestOutputsDiscard(t *testing.T) {
	b := &bench{t: t, dir: t.TempDir()}
	b.write("old", "old")
	o, err := NewOutputs(nil, Out("a", b.path("new"), ""), Out("b", b.path("old"), ""))
	require.NoError(t, err)
	require.NoError(t, o.Write("a", text("1")))
	full := errors.New("disk full")
	err = o.Write("b", func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return full
	})
	require.ErrorIs(t, err, full)
	require.ErrorContains(t, err, "--b: ")
	err = o.WriteFile("b", func(path string) error { return os.WriteFile(path, []byte("half"), 0o600) })
	require.NoError(t, err)
	o.Discard()
	require.Equal(t, map[string]string{"old": "old"}, b.files())
}

func TestOutputsKeepLinksAndModes(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("skipped: needs symbolic links and permissions")
	}
	b := &bench{t: t, dir: t.TempDir()}
	b.write("real", "old")
	require.NoError(t, os.Chmod(b.path("real"), 0o640))
	require.NoError(t, os.Symlink("real", b.path("link")))
	o, err := NewOutputs(nil, Out("a", b.path("link"), ""))
	require.NoError(t, err)
	require.NoError(t, o.Write("a", text("new")))
	require.NoError(t, o.Commit())
	require.Equal(t, "new", b.files()["real"])
	info, err := os.Lstat(b.path("link"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeSymlink)
	info, err = os.Stat(b.path("real"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode().Perm())

	_, err = NewOutputs([]string{b.path("real")}, Out("a", b.path("link"), ""))
	require.ErrorContains(t, err, "is an input")

	// A link to a file that is not there yet stays one, too.
	require.NoError(t, os.Symlink("later", b.path("ahead")))
	o, err = NewOutputs(nil, Out("a", b.path("ahead"), ""))
	require.NoError(t, err)
	require.NoError(t, o.Write("a", text("made")))
	require.NoError(t, o.Commit())
	require.Equal(t, "made", b.files()["later"])
	info, err = os.Lstat(b.path("ahead"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeSymlink)
	require.NoError(t, os.Symlink(filepath.Join("none", "later"), b.path("astray")))
	_, err = NewOutputs(nil, Out("a", b.path("astray"), ""))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// A device is written to and never replaced by a file.
func TestOutputsDevice(t *testing.T) {
	info, err := os.Stat(os.DevNull)
	if err != nil || info.Mode().IsRegular() {
		t.Skipf("skipped: no %s here", os.DevNull)
	}
	o, err := NewOutputs([]string{os.DevNull}, Out("a", os.DevNull, ".x"), Out("b", os.DevNull, ""))
	require.NoError(t, err)
	require.NoError(t, o.Write("a", text("1")))
	require.ErrorContains(t, o.WriteFile("b", nil), "is not a regular file")
	_, err = NewOutputs(nil, OutWhole("c", os.DevNull, ".x"))
	require.ErrorAs(t, err, new(UsageError), "before any work is done")
	require.EqualError(t, err, "--c: "+os.DevNull+" is not a regular file")
	require.NoError(t, o.Commit())
	o.Discard()
	again, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	require.Equal(t, info.Mode(), again.Mode())
}

func TestSameFile(t *testing.T) {
	b := &bench{t: t, dir: t.TempDir()}
	b.write("a", "")
	b.write("b", "")
	require.True(t, sameFile(b.path("a"), filepath.Join(b.dir, ".", "a")))
	require.False(t, sameFile(b.path("a"), b.path("b")))
	require.False(t, sameFile(b.path("a"), b.path("c")))
	require.True(t, sameFile(b.path("c"), filepath.Join(b.dir, "x", "..", "c")))
	require.False(t, sameFile(b.path("c"), b.path("a")))
}

// bench is a folder of a test.
type bench struct {
	t   testing.TB
	dir string
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) write(name, text string) {
	b.t.Helper()
	require.NoError(b.t, os.WriteFile(b.path(name), []byte(text), 0o666))
}

// files are the contents of the folder by name.
func (b *bench) files() map[string]string {
	b.t.Helper()
	out := map[string]string{}
	for _, name := range b.names() {
		text, err := os.ReadFile(b.path(name))
		require.NoError(b.t, err)
		out[name] = string(text)
	}
	return out
}

func (b *bench) names() (names []string) {
	b.t.Helper()
	list, err := os.ReadDir(b.dir)
	require.NoError(b.t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}
