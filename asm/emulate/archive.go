//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// archive writes a file system for the guest, in the format "newc" of cpio. What it writes ends with the first error, which close returns.
type archive struct {
	f     *os.File
	w     *bufio.Writer
	size  int64
	nodes int
	made  map[string]bool
	err   error
}

func newArchive(path string) (*archive, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &archive{f: f, w: bufio.NewWriterSize(f, 1<<20), made: map[string]bool{".": true}}, nil
}

func (a *archive) write(b []byte) {
	n, err := a.w.Write(b)
	if a.size += int64(n); err != nil && a.err == nil {
		a.err = err
	}
	for a.size%4 != 0 {
		a.w.WriteByte(0)
		a.size++
	}
}

// add adds a node with its content; a device has numbers instead.
func (a *archive) add(name string, mode uint32, content []byte, major, minor int) {
	if dir := filepath.Dir(name); !a.made[dir] {
		a.dir(dir)
	}
	a.nodes++
	a.write(fmt.Appendf(nil, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		a.nodes, mode, 0, 0, 1, 0, len(content), 0, 0, major, minor, len(name)+1, 0, name))
	a.write(content)
}

// Kinds of nodes.
const (
	isDir    = 0o040000
	isFile   = 0o100000
	isDevice = 0o020000
)

func (a *archive) dir(name string) {
	if name = filepath.Clean(name); !a.made[name] {
		a.made[name] = true
		a.add(name, isDir|0o755, nil, 0, 0)
	}
}

// file adds a file of the host.
func (a *archive) file(name, path string, mode fs.FileMode) {
	b, err := os.ReadFile(path)
	if err != nil && a.err == nil {
		a.err = err
	}
	a.add(name, isFile|uint32(mode.Perm()), b, 0, 0)
}

// tree adds a folder of the host, its folders and files; a link counts as what it leads to, and a folder that is none is left out.
func (a *archive) tree(name, path string) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	err = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(path, p)
		if err != nil {
			return err
		}
		info, err := os.Stat(p)
		switch {
		case err != nil:
			return err
		case info.IsDir():
			a.dir(filepath.Join(name, inside))
		case info.Mode().IsRegular():
			a.file(filepath.Join(name, inside), p, info.Mode())
		}
		return nil
	})
	if err != nil && a.err == nil {
		a.err = err
	}
}

func (a *archive) close() error {
	a.add("TRAILER!!!", 0, nil, 0, 0)
	if err := a.w.Flush(); err != nil && a.err == nil {
		a.err = err
	}
	if err := a.f.Close(); err != nil && a.err == nil {
		a.err = err
	}
	return a.err
}
