package cli

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

	"github.com/equivcnp/equivcnp/internal/atomicfile"
)

// Stdio is the name by which a flag takes standard input or standard output.
const Stdio = "-"

// Outputs are the files that a command will write. They are checked before the work starts, written under temporary
// names in their own folders, and renamed together at the end, so that no failure leaves a part of one behind.
type Outputs struct {
	files  []*output
	stdout io.Writer // for the one that is called "-"
}

type output struct {
	flag   string           // the flag that names it, for errors
	name   string           // as the flag gives it
	path   string           // where it goes, symbolic links resolved; "-" is standard output
	direct bool             // not a regular file (a pipe, a device): written to, never replaced
	tmp    *atomicfile.File // the temporary file, once written
	text   []byte           // what goes to standard output
	made   bool             // written, and not discarded since
}

// OutFile is a file that a flag names, and the endings of the formats that it is written in.
//
// An empty path is a flag that was not given. Endings are separated by spaces; none allow any.
type OutFile struct {
	Flag, Path, Endings string
	// Whole is a file that WriteFile writes, so it cannot be a pipe or a device.
	Whole bool
}

// Out returns the file that a flag names.
func Out(flag, path, endings string) OutFile {
	return OutFile{Flag: flag, Path: path, Endings: endings}
}

// OutWhole returns the file that a flag names and WriteFile writes.
func OutWhole(flag, path, endings string) OutFile {
	return OutFile{Flag: flag, Path: path, Endings: endings, Whole: true}
}

// isStdin reports whether a name is one of standard input, which is read once.
func isStdin(path string) bool {
	if path == Stdio {
		return true
	}
	switch filepath.Clean(path) {
	case "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return path != ""
	}
	return false
}

// NewOutputs checks the files that the flags name; empty paths are left out. inputs are the files that the command
// reads and must not replace.
func NewOutputs(inputs []string, files ...OutFile) (*Outputs, error) {
	o := &Outputs{}
	for _, f := range files {
		if f.Path == "" {
			continue
		}
		out := &output{flag: f.Flag, name: f.Path, path: f.Path}
		if f.Path != Stdio {
			if err := out.resolve(); err != nil {
				return nil, fmt.Errorf("--%s: %w", out.flag, err)
			}
		}
		if out.direct && f.Whole { // before any work is done
			return nil, Usagef("--%s: %s is not a regular file", out.flag, f.Path)
		}
		for _, in := range inputs {
			if in != "" && in != Stdio && !out.direct && sameFile(in, out.path) {
				return nil, fmt.Errorf("--%s: %s is an input, refusing to replace it", out.flag, f.Path)
			}
		}
		for _, other := range o.files {
			if !out.direct && sameFile(other.path, out.path) {
				return nil, fmt.Errorf("--%s: %s is also the file of --%s", out.flag, f.Path, other.flag)
			}
		}
		ending := strings.ToLower(filepath.Ext(f.Path))
		if f.Endings != "" && f.Path != Stdio && !out.direct && !slices.Contains(strings.Fields(f.Endings), ending) {
			return nil, Usagef("--%s: %s: the name must end in %s, which is what is written", out.flag, f.Path,
				strings.ReplaceAll(f.Endings, " ", " or "))
		}
		o.files = append(o.files, out)
	}
	return o, nil
}

// StdOutputs is NewOutputs for a command that takes standard input and standard output, which one file of each kind may be.
// taken says that one of them is standard output: what else the command prints must go elsewhere.
func StdOutputs(stdout io.Writer, inputs []string, files ...OutFile) (o *Outputs, taken bool, err error) {
	read := 0
	for _, in := range inputs {
		if isStdin(in) {
			read++
		}
	}
	if read > 1 {
		return nil, false, Usagef("only one input can be - or /dev/stdin (standard input)")
	}
	if o, err = NewOutputs(inputs, files...); err != nil {
		return nil, false, err
	}
	o.stdout = stdout
	return o, slices.ContainsFunc(o.files, func(f *output) bool { return f.path == Stdio }), nil
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
	default:
		o.path = atomicfile.Target(o.path) // of a link to a file that is not there yet
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

// Write writes the output of that flag under its temporary name; a flag that was not given writes nothing.
func (o *Outputs) Write(flag string, f func(w io.Writer) error) error {
	for _, out := range o.files {
		if out.flag == flag {
			if err := out.write(f); err != nil {
				return fmt.Errorf("--%s: %w", flag, err)
			}
			out.made = true
		}
	}
	return nil
}

func (o *output) write(f func(w io.Writer) error) (err error) {
	o.discard()
	if o.path == Stdio {
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

// WriteFile is Write for a writer that wants the file's name and replaces it itself. It refuses pipes and devices, which
// cannot be replaced.
func (o *Outputs) WriteFile(flag string, f func(path string) error) error {
	for _, out := range o.files {
		if out.flag != flag {
			continue
		}
		if out.direct {
			return fmt.Errorf("--%s: %s is not a regular file", flag, out.path)
		}
		out.discard()
		if out.path == Stdio {
			err := out.toStdout(f)
			out.made = err == nil
			return err
		}
		file, err := atomicfile.Create(out.path)
		if err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		out.tmp = file
		if err := f(file.Name()); err != nil {
			return fmt.Errorf("--%s: %w", flag, renamed{err, strings.ReplaceAll(err.Error(), file.Name(), out.name)})
		}
		if err := file.Reopen(); err != nil { // it may be another file now
			return fmt.Errorf("--%s: %w", flag, err)
		}
		out.made = true
	}
	return nil
}

// renamed is an error whose text names a file as the flag gives it, not the temporary one.
type renamed struct {
	error
	text string
}

func (r renamed) Error() string { return r.text }
func (r renamed) Unwrap() error { return r.error }

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

// Draw is Write for a drawing of what the other files hold: if it fails they are worth no less, and Commit writes them without it.
func (o *Outputs) Draw(flag string, f func(w io.Writer) error) error {
	err := o.Write(flag, f)
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

// Commit gives all written files their names, and writes what goes to standard output.
func (o *Outputs) Commit() error {
	for _, out := range o.files {
		if out.path == Stdio {
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

// Written lists the files that were written, in the order of NewOutputs and by the names that the flags gave them.
func (o *Outputs) Written() (names []string) {
	for _, out := range o.files {
		if out.made {
			names = append(names, out.name)
		}
	}
	return names
}

// CommitUnlessDone is Commit, unless ctx has ended.
func (o *Outputs) CommitUnlessDone(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return o.Commit()
}

// Discard removes what was written and not committed; after Commit there is nothing to remove.
func (o *Outputs) Discard() {
	for _, out := range o.files {
		out.discard()
	}
}

// discard removes the temporary file, if there is one: an output that is written again starts anew.
func (o *output) discard() {
	o.made = false
	if o.tmp != nil {
		o.tmp.Discard()
		o.tmp = nil
	}
}

// Regular returns where the output of a flag goes, symbolic links resolved, or an error of usage if that is no regular file;
// "" if the flag was not given.
func (o *Outputs) Regular(flag string) (string, error) {
	for _, f := range o.files {
		if f.flag == flag && (f.direct || f.path == Stdio) {
			return "", Usagef("--%s: %s is not a regular file", f.flag, f.path)
		} else if f.flag == flag {
			return f.path, nil
		}
	}
	return "", nil
}
