package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// outputs are the files that a command will write. They are checked before the work starts, written under temporary
// names in their own folders, and renamed together at the end, so that no failure leaves a part of one behind.
type outputs struct {
	files []*output
}

type output struct {
	flag   string // the flag that names it, for errors
	path   string // where it goes, symbolic links resolved
	direct bool   // not a regular file (a pipe, a device): written to, never replaced
	tmp    string // the temporary file, once written
}

// newOutputs checks the files that the flags name; empty paths are left out. inputs are the files that the command
// reads and must not replace.
func newOutputs(inputs []string, flags ...[2]string) (*outputs, error) {
	o := &outputs{}
	for _, f := range flags {
		if f[1] == "" {
			continue
		}
		out := &output{flag: f[0], path: f[1]}
		if err := out.resolve(); err != nil {
			return nil, fmt.Errorf("--%s: %w", out.flag, err)
		}
		for _, in := range inputs {
			if in != "" && !out.direct && sameFile(in, out.path) {
				return nil, fmt.Errorf("--%s: %s is an input, refusing to replace it", out.flag, f[1])
			}
		}
		for _, other := range o.files {
			if !out.direct && sameFile(other.path, out.path) {
				return nil, fmt.Errorf("--%s: %s is also the file of --%s", out.flag, f[1], other.flag)
			}
		}
		o.files = append(o.files, out)
	}
	return o, nil
}

// resolve finds the file behind the name and proves that its folder takes a new file.
func (o *output) resolve() error {
	info, err := os.Stat(o.path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder", o.path)
	case err == nil && !info.Mode().IsRegular():
		o.direct = true
		return nil
	case err == nil:
		if o.path, err = filepath.EvalSymlinks(o.path); err != nil { // so that a link stays one
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	dir := filepath.Dir(o.path)
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	f, err := o.create()
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}

// create opens a new file beside the output, with the permissions that the output will have.
func (o *output) create() (*os.File, error) {
	mode := fs.FileMode(0o666) // less what the user's mask takes away
	if info, err := os.Stat(o.path); err == nil {
		mode = info.Mode().Perm()
	}
	dir, base := filepath.Split(o.path)
	for range 100 {
		f, err := os.OpenFile(fmt.Sprintf("%s.%s.%08x.tmp", dir, base, rand.Uint32()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("%s: no free name for a temporary file", dir)
}

// sameFile reports whether two names are one file, or would be once the missing one exists.
func sameFile(a, b string) bool {
	if ia, err := os.Stat(a); err == nil {
		ib, err := os.Stat(b)
		return err == nil && os.SameFile(ia, ib)
	}
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// write writes the output of that flag under its temporary name; a flag that was not given writes nothing.
func (o *outputs) write(flag string, f func(w io.Writer) error) error {
	for _, out := range o.files {
		if out.flag == flag {
			if err := out.write(f); err != nil {
				return fmt.Errorf("--%s: %w", flag, err)
			}
		}
	}
	return nil
}

func (o *output) write(f func(w io.Writer) error) (err error) {
	o.discard()
	var file *os.File
	if o.direct {
		file, err = os.OpenFile(o.path, os.O_WRONLY, 0)
	} else {
		file, err = o.create()
	}
	if err != nil {
		return err
	}
	if !o.direct {
		o.tmp = file.Name()
	}
	w := bufio.NewWriter(file)
	err = f(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil && !o.direct {
		err = file.Sync() // the rename must not outrun the data
	}
	return errors.Join(err, file.Close())
}

// writeFile is write for a writer that wants the file's name and replaces it itself. It refuses pipes and devices, which
// cannot be replaced.
func (o *outputs) writeFile(flag string, f func(path string) error) error {
	for _, out := range o.files {
		if out.flag != flag {
			continue
		}
		if out.direct {
			return fmt.Errorf("--%s: %s is not a regular file", flag, out.path)
		}
		out.discard()
		file, err := out.create()
		if err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		out.tmp = file.Name()
		if err := file.Close(); err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		if err := f(out.tmp); err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
	}
	return nil
}

// commit gives all written files their names.
func (o *outputs) commit() error {
	for _, out := range o.files {
		if out.tmp != "" {
			if err := os.Rename(out.tmp, out.path); err != nil {
				return fmt.Errorf("--%s: %w", out.flag, err)
			}
			out.tmp = ""
		}
	}
	return nil
}

// discard removes what was written and not committed; after commit there is nothing to remove.
func (o *outputs) discard() {
	for _, out := range o.files {
		out.discard()
	}
}

// discard removes the temporary file, if there is one: an output that is written again starts anew.
func (o *output) discard() {
	if o.tmp != "" {
		os.Remove(o.tmp)
		o.tmp = ""
	}
}
