package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func names(t *testing.T, dir string) (out []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	require.NoError(t, Write(path, text("one")))
	require.NoError(t, Write(path, text("two")))
	require.Error(t, Write(path, func(w io.Writer) error { _, _ = io.WriteString(w, "half"); return errors.New("no") }))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "two", string(b))
	require.Equal(t, []string{"a"}, names(t, dir))
	require.Error(t, Write(dir, text("a folder")))
	require.Error(t, Write(filepath.Join(dir, "none", "a"), text("no folder")))
}

// A new file has what the user's mask leaves, a replaced one keeps its mode, and a link stays one.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: modes of files are those of Unix")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	plain, err := os.OpenFile(filepath.Join(dir, "plain"), os.O_CREATE|os.O_WRONLY, 0o666)
	require.NoError(t, err)
	require.NoError(t, plain.Close())
	mode := func(name string) os.FileMode {
		info, err := os.Stat(name)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	require.NoError(t, Write(path, text("one")))
	require.Equal(t, mode(plain.Name()), mode(path))
	for _, m := range []os.FileMode{0o600, 0o640, 0o666} {
		require.NoError(t, os.Chmod(path, m))
		require.NoError(t, Write(path, text("two")))
		require.Equal(t, m, mode(path))
		require.NoError(t, os.WriteFile(path+".partial", []byte("three"), 0o644))
		require.NoError(t, Rename(path+".partial", path))
		require.Equal(t, m, mode(path))
	}
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink("a", link))
	require.NoError(t, Write(link, text("four")))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "four", string(b))
}

// A link to a file that is not there yet stays a link, too, and the file is made where it leads.
func TestDanglingLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: links need privileges on Windows")
	}
	dir := t.TempDir()
	far := filepath.Join(dir, "far")
	require.NoError(t, os.Mkdir(far, 0o777))
	for i, to := range []string{filepath.Join("far", "a"), filepath.Join(far, "b"), "chain"} {
		link := filepath.Join(dir, "link"+string(rune('0'+i)))
		require.NoError(t, os.Symlink(to, link))
	}
	require.NoError(t, os.Symlink(filepath.Join("far", "c"), filepath.Join(dir, "chain")))
	require.NoError(t, Write(filepath.Join(dir, "link0"), text("a")))
	require.NoError(t, os.WriteFile(filepath.Join(far, "b.partial"), []byte("b"), 0o600))
	require.NoError(t, Rename(filepath.Join(far, "b.partial"), filepath.Join(dir, "link1")))
	require.NoError(t, Write(filepath.Join(dir, "link2"), text("c")))
	require.Equal(t, []string{"chain", "far", "link0", "link1", "link2"}, names(t, dir))
	for _, name := range []string{"a", "b", "c"} {
		b, err := os.ReadFile(filepath.Join(far, name))
		require.NoError(t, err)
		require.Equal(t, name, string(b))
	}
	require.NoError(t, os.Symlink("circle", filepath.Join(dir, "circle")))
	require.Error(t, Write(filepath.Join(dir, "circle"), text("d")))
	require.NoError(t, os.Symlink(filepath.Join("none", "e"), filepath.Join(dir, "nowhere")))
	require.ErrorIs(t, Write(filepath.Join(dir, "nowhere"), text("e")), fs.ErrNotExist)
	require.Equal(t, []string{"chain", "circle", "far", "link0", "link1", "link2", "nowhere"}, names(t, dir))
}

func TestLockFolder(t *testing.T) {
	if !canLock {
		t.Skip("this system has no locks of files")
	}
	dir := t.TempDir()
	unlock, err := LockFolder(dir)
	require.NoError(t, err)
	_, err = LockFolder(dir)
	require.ErrorIs(t, err, ErrBusy)
	unlock()
	unlock, err = LockFolder(dir)
	require.NoError(t, err)
	unlock()
	_, err = LockFolder(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// What a dead process left of this file is removed, and nothing else.
func TestStale(t *testing.T) {
	if !canLock {
		t.Skip("this system has no locks of files")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, name := range []string{".a.0123abcd.tmp", ".b.0123abcd.tmp", ".a.tmp", ".a.0123abcd.tmp.more", "a.0123abcd.tmp"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	alive, err := Create(path)
	require.NoError(t, err)
	require.NoError(t, Write(path, text("one")))
	require.True(t, Same(alive.File, alive.Name()), "it is somebody's")
	require.Equal(t, []string{filepath.Base(alive.Name()), ".a.0123abcd.tmp.more", ".a.tmp", ".b.0123abcd.tmp", "a",
		"a.0123abcd.tmp"}, sorted(names(t, dir), filepath.Base(alive.Name())))
	require.NoError(t, alive.Commit())
	alive.Discard()
	_, err = os.Stat(path)
	require.NoError(t, err)
}

// A name need not be UTF-8, nor free of what regular expressions mean.
func TestStaleNames(t *testing.T) {
	if !canLock {
		t.Skip("this system has no locks of files")
	}
	for _, name := range []string{"n\xff\xfe.csv", "a+b(c", "line\nline", " ", "-"} {
		dir := t.TempDir()
		stale := filepath.Join(dir, "."+name+".0123abcd.tmp")
		if err := os.WriteFile(stale, nil, 0o600); err != nil {
			t.Logf("skipped: this system has no names like %q: %v", name, err)
			continue
		}
		require.NoError(t, os.WriteFile(stale+".0123abcd.tmp", nil, 0o600))
		require.NoError(t, Write(filepath.Join(dir, name), text("one")))
		require.ElementsMatch(t, []string{name, filepath.Base(stale) + ".0123abcd.tmp"}, names(t, dir))
	}
}

func sorted(names []string, first string) []string {
	out := []string{first}
	for _, n := range names {
		if n != first {
			out = append(out, n)
		}
	}
	return out
}

func TestLocked(t *testing.T) {
	if !canLock {
		t.Skip("this system has no locks of files")
	}
	path := filepath.Join(t.TempDir(), "a")
	f, err := OpenLocked(path, 0)
	require.NoError(t, err)
	_, err = OpenLocked(path, 0)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, f.Close())
	f, err = OpenLocked(path, 0)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	other, err := OpenLocked(path, 0)
	require.NoError(t, err, "a new file of that name")
	require.NoError(t, errors.Join(f.Close(), other.Close()))
}

// TestCreateNowhere: an error names the file that was to be written, not the temporary one.
func TestCreateNowhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "file")
	_, err := Create(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "open "+path+": ")
}

// TestErrorsName: what fails later names the file that was to be written, too, as on a full disk.
func TestErrorsName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := Create(path)
	require.NoError(t, err)
	defer os.Remove(f.Name())
	require.NoError(t, f.Close())
	_, write := f.Write([]byte("a"))
	_, at := f.WriteAt([]byte("a"), 0)
	_, text := f.WriteString("a")
	_, from := f.ReadFrom(strings.NewReader("a"))
	for _, err := range []error{write, at, text, from, f.Sync(), f.Commit()} {
		require.ErrorIs(t, err, fs.ErrClosed)
		require.ErrorContains(t, err, " "+path+": ")
	}
}
