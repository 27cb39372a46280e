package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/atomicfile"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/tables"
)

// stdio is the name by which a flag takes standard input or standard output.
const stdio = "-"

// interruptible returns what read does, or ctx's error once ctx ends: a read from a pipe that nobody writes to would never end. read
// is then left behind, for as long as the program still runs.
func interruptible[V any](ctx context.Context, read func() (V, error)) (V, error) {
	type result struct {
		v   V
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := read()
		done <- result{v, err}
	}()
	select {
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	case r := <-done:
		return r.v, r.err
	}
}

// standardInput reads standard input to its end.
func (a *app) standardInput() ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(a.stdin, maxInput+1))
	if err == nil && int64(len(b)) > maxInput {
		err = fmt.Errorf("more than %d bytes", maxInput)
	}
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return b, nil
}

// maxInput bounds what is read from standard input.
const maxInput = int64(1) << 32

// fromInput reads a file, or under the name "-" the bytes of standard input, unless ctx ends first.
func fromInput[V any](ctx context.Context, a *app, path string, file func(path string) (V, error),
	decode func(b []byte, name string) (V, error)) (V, error) {
	return interruptible(ctx, func() (V, error) {
		if path != stdio {
			return file(path)
		}
		b, err := a.standardInput()
		if err != nil {
			var none V
			return none, err
		}
		return decode(b, "standard input")
	})
}

// outputs are the files that a command will write. They are checked before the work starts, written under temporary
// names in their own folders, and renamed together at the end, so that no failure leaves a part of one behind.
type outputs struct {
	files  []*output
	stdout io.Writer // for the one that is called "-"
}

type output struct {
	flag   string           // the flag that names it, for errors
	path   string           // where it goes, symbolic links resolved; "-" is standard output
	direct bool             // not a regular file (a pipe, a device): written to, never replaced
	tmp    *atomicfile.File // the temporary file, once written
	text   []byte           // what goes to standard output
}

// outFile is a file that a flag names, and the endings of the formats that it is written in.
type outFile struct{ flag, path, endings string }

// endings are the formats of pictures, plots, tables, tasks and models.
const (
	pictureFiles = ".png"
	plotFiles    = ".png .svg"
	tableFiles   = tables.Endings
	taskFiles    = taskfile.Endings
	tensorFiles  = ".safetensors"
)

// plotFormat returns the format, png or svg, that the name of a plot says; standard output takes a png.
func plotFormat(path string) (string, error) {
	if path == stdio {
		return "png", nil
	}
	return picture.CurveFormat(path)
}

// outputs checks the files that the flags name. If one of them is standard output, what the command prints goes to standard error.
func (a *app) outputs(inputs []string, files ...outFile) (*outputs, error) {
	read := 0
	for _, in := range inputs {
		if isStdin(in) {
			read++
		}
	}
	if read > 1 {
		return nil, usagef("only one input can be - or /dev/stdin (standard input)")
	}
	o, err := newOutputs(inputs, files...)
	if err != nil {
		return nil, err
	}
	o.stdout = a.stdout
	if slices.ContainsFunc(o.files, func(f *output) bool { return f.path == stdio }) {
		a.stdout = a.stderr
	}
	return o, nil
}

// isStdin reports whether a name is one of standard input, which is read once.
func isStdin(path string) bool {
	if path == stdio {
		return true
	}
	switch filepath.Clean(path) {
	case "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return path != ""
	}
	return false
}

// newOutputs checks the files that the flags name; empty paths are left out. inputs are the files that the command
// reads and must not replace.
func newOutputs(inputs []string, files ...outFile) (*outputs, error) {
	o := &outputs{}
	for _, f := range files {
		if f.path == "" {
			continue
		}
		out := &output{flag: f.flag, path: f.path}
		if f.path != stdio {
			if err := out.resolve(); err != nil {
				return nil, fmt.Errorf("--%s: %w", out.flag, err)
			}
		}
		for _, in := range inputs {
			if in != "" && in != stdio && !out.direct && sameFile(in, out.path) {
				return nil, fmt.Errorf("--%s: %s is an input, refusing to replace it", out.flag, f.path)
			}
		}
		for _, other := range o.files {
			if !out.direct && sameFile(other.path, out.path) {
				return nil, fmt.Errorf("--%s: %s is also the file of --%s", out.flag, f.path, other.flag)
			}
		}
		ending := strings.ToLower(filepath.Ext(f.path))
		if f.endings != "" && f.path != stdio && !out.direct && !slices.Contains(strings.Fields(f.endings), ending) {
			return nil, usagef("--%s: %s: the name must end in %s, which is what is written", out.flag, f.path,
				strings.ReplaceAll(f.endings, " ", " or "))
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
	f, err := atomicfile.Create(o.path)
	if err == nil {
		f.Discard()
	}
	return err
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
	if o.path == stdio {
		var b bytes.Buffer
		err := f(&b)
		o.text = b.Bytes()
		return err
	}
	if o.direct {
		file, err := os.OpenFile(o.path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		w := bufio.NewWriter(file)
		if err = f(w); err == nil {
			err = w.Flush()
		}
		return errors.Join(err, file.Close())
	}
	if o.tmp, err = atomicfile.Create(o.path); err != nil {
		o.tmp = nil
		return err
	}
	w := bufio.NewWriter(o.tmp)
	if err = f(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = o.tmp.Sync() // all files are on the disk before the first is renamed
	}
	return err
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
		if out.path == stdio {
			return out.toStdout(f)
		}
		file, err := atomicfile.Create(out.path)
		if err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		out.tmp = file
		if err := f(file.Name()); err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		if err := file.Reopen(); err != nil { // it may be another file now
			return fmt.Errorf("--%s: %w", flag, err)
		}
	}
	return nil
}

// toStdout takes the bytes of a file that f writes.
func (o *output) toStdout(f func(path string) error) error {
	file, err := os.CreateTemp("", "equivcnp")
	if err == nil {
		defer os.Remove(file.Name())
		err = file.Close()
	}
	if err == nil {
		err = f(file.Name())
	}
	if err == nil {
		o.text, err = os.ReadFile(file.Name())
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", o.flag, err)
	}
	return nil
}

// draw is write for a drawing of what the other files hold: if it fails they are worth no less, and commit writes them without it.
func (o *outputs) draw(flag string, f func(w io.Writer) error) error {
	err := o.write(flag, f)
	if err != nil {
		for _, out := range o.files {
			if out.flag == flag {
				out.discard()
				out.text = nil
			}
		}
	}
	return err
}

// drawn is what a command makes of the error of draw: a drawing that cannot be made of numbers that are right is a
// caution, and any other error is one.
func (r *result) drawn(err error) error {
	if errors.Is(err, picture.ErrDrawing) {
		r.cautions = append(r.cautions, err.Error())
		return nil
	}
	return err
}

// commit gives all written files their names, and writes what goes to standard output.
func (o *outputs) commit() error {
	for _, out := range o.files {
		if out.path == stdio {
			if _, err := o.stdout.Write(out.text); err != nil {
				return fmt.Errorf("--%s: %w", out.flag, err)
			}
		}
		if out.tmp != nil {
			if err := out.tmp.Commit(); err != nil {
				return fmt.Errorf("--%s: %w", out.flag, err)
			}
			out.tmp = nil
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
	if o.tmp != nil {
		o.tmp.Discard()
		o.tmp = nil
	}
}
