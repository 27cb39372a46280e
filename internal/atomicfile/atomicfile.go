// Package atomicfile writes files that are whole or not there at all: under a temporary name in their own folder,
// brought to the disk, and renamed at the end. What is replaced keeps its mode, a new file has what the user's mask
// leaves, and the temporary files of processes that died are removed by the next one that writes the same file.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// File is a file that is being written. It is locked, so that other processes know that its writer lives.
type File struct {
	*os.File
	path string
	done bool
}

// Target returns the file behind a name: that to which a symbolic link leads, also where there is no such file yet.
func Target(path string) string {
	for range 40 { // as many as Linux follows; links in a circle stay as they are
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(to) {
			dir := filepath.Dir(path)
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				dir = real
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return path
}

// Create begins to write the file of that name. A symbolic link stays one: the file behind it is replaced, or made.
func Create(path string) (*File, error) {
	path = Target(path)
	mode, replaces := fs.FileMode(0o666), false // less what the user's mask takes away
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a regular file", path)
		}
		mode, replaces = info.Mode().Perm(), true
	} else if !errors.Is(err, fs.ErrNotExist) { // such as links in a circle
		return nil, err
	}
	removeStale(path)
	dir, base := filepath.Split(path)
	for range 100 {
		f, err := os.OpenFile(fmt.Sprintf("%s.%s.%08x.tmp", dir, base, rand.Uint32()), os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if bad := (*fs.PathError)(nil); errors.As(err, &bad) { // the name that was asked for says more than the temporary one
			return nil, &fs.PathError{Op: bad.Op, Path: path, Err: bad.Err}
		}
		if err != nil {
			return nil, err
		}
		if locked, err := TryLock(f); err == nil && !locked || !Same(f, f.Name()) { // somebody took it for a dead process's
			f.Close()
			continue
		}
		out := &File{File: f, path: path}
		if replaces {
			if err := f.Chmod(mode); err != nil {
				out.Discard()
				return nil, err
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("%s: no free name for a temporary file", path)
}

// named makes an error about the temporary file one about the file that it becomes, whose name the user knows.
func (f *File) named(err error) error {
	if bad := (*fs.PathError)(nil); errors.As(err, &bad) && bad.Path == f.Name() {
		return &fs.PathError{Op: bad.Op, Path: f.path, Err: bad.Err}
	}
	return err
}

// Write implements io.Writer.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, f.named(err)
}

// WriteAt implements io.WriterAt.
func (f *File) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	return n, f.named(err)
}

// WriteString implements io.StringWriter.
func (f *File) WriteString(s string) (int, error) {
	n, err := f.File.WriteString(s)
	return n, f.named(err)
}

// ReadFrom implements io.ReaderFrom.
func (f *File) ReadFrom(r io.Reader) (int64, error) {
	n, err := f.File.ReadFrom(r)
	return n, f.named(err)
}

// Sync brings the bytes to the disk.
func (f *File) Sync() error { return f.named(f.File.Sync()) }

// Commit brings the file to the disk and gives it its name.
func (f *File) Commit() error {
	if err := f.Sync(); err != nil { // the name must not outrun the bytes
		f.Discard()
		return err
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		f.Discard()
		return err
	}
	f.done = true
	syncFolder(f.path)
	return f.Close()
}

// Reopen takes the file up again after somebody else replaced it under its temporary name.
func (f *File) Reopen() error {
	file, err := os.OpenFile(f.Name(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, _ = TryLock(file)
	f.Close()
	f.File = file
	return nil
}

// Discard removes the file; after Commit it does nothing.
func (f *File) Discard() {
	if !f.done {
		f.done = true
		os.Remove(f.Name())
		f.Close()
	}
}

// Write writes a file as write says. The error of write leaves nothing behind.
func Write(path string, write func(w io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Commit()
}

// Rename gives a complete file another name, at once: it takes the mode of the file that it replaces, and both are on the disk then.
func Rename(from, to string) error {
	to = Target(to)
	f, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if info, failed := os.Stat(to); failed == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	syncFolder(to)
	return nil
}

// syncFolder brings the names of a folder to the disk, where the system can do that.
func syncFolder(path string) {
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

// Same reports whether a name is that of an open file.
func Same(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(name)
	return err == nil && os.SameFile(a, b)
}

// removeStale removes the temporary files of a file whose writers died, which nobody has locked.
func removeStale(path string) {
	if !canLock {
		return
	}
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !temporary(e.Name(), base) {
			continue
		}
		name := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if locked, err := TryLock(f); err == nil && locked && Same(f, name) {
			os.Remove(name)
		}
		f.Close()
	}
}

// temporary reports whether a name is one that Create gives to the temporary file of base, whose bytes need not be UTF-8.
func temporary(name, base string) bool {
	rest, ok := strings.CutPrefix(name, "."+base+".")
	digits, isTemporary := strings.CutSuffix(rest, ".tmp")
	return ok && isTemporary && len(digits) == 8 && strings.Trim(digits, "0123456789abcdef") == ""
}

// ErrBusy is wrapped where another process is at work on a file.
var ErrBusy = errors.New("another process is writing it")

// LockFolder keeps a folder for this process until unlock is called or the process ends. While another process has it that is an
// error that wraps ErrBusy. Where the system or the file system has no such locks it does nothing.
func LockFolder(path string) (unlock func(), err error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if locked, err := TryLock(d); err == nil && !locked {
		d.Close()
		return nil, fmt.Errorf("%s: %w", path, ErrBusy)
	}
	return func() { d.Close() }, nil
}

// OpenLocked opens a file for reading and writing, a new one if there is none, that one process at a time has open: it
// is an error that wraps ErrBusy while another has. The lock ends with the process, or when the file is closed.
func OpenLocked(path string, flags int) (*os.File, error) {
	for range 100 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|flags, 0o666)
		if bad := (*fs.PathError)(nil); errors.As(err, &bad) { // the name that was asked for says more than the temporary one
			return nil, &fs.PathError{Op: bad.Op, Path: path, Err: bad.Err}
		}
		if err != nil {
			return nil, err
		}
		if locked, err := TryLock(f); err == nil && !locked {
			f.Close()
			return nil, fmt.Errorf("%s: %w", path, ErrBusy)
		}
		if here, err := f.Stat(); err == nil {
			if there, err := os.Stat(path); err == nil && os.SameFile(here, there) {
				return f, nil
			}
		}
		f.Close() // who had it removed it
	}
	return nil, fmt.Errorf("%s: %w", path, ErrBusy)
}
