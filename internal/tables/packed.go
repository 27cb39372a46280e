package tables

import (
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/equivcnp/equivcnp/internal/netcdf"
	"github.com/equivcnp/equivcnp/internal/npy"
	"github.com/equivcnp/equivcnp/internal/spreadsheet"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// ErrPacked is wrapped where a compressed file does not hold what it should.
var ErrPacked = errors.New("not a compressed file that can be read")

// A file may become 4 MiB, as a small grid of equal values does, or 256 times as large, but no longer than what is read of standard
// input. Four times that is what gzip makes of a byte at most, and needed by no table that somebody measured.
const (
	freely     = 1 << 22
	mostGrowth = 256
	mostText   = int64(1) << 32
)

// packings are the ways to compress a file that are read, by what it begins with.
var packings = []struct {
	name, begin, ending string
	open                func(io.Reader) (io.Reader, error)
}{
	{"gzip", "\x1f\x8b", ".gz", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"bzip2", "BZh", ".bz2", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"zstd", "\x28\xb5\x2f\xfd", ".zst", func(r io.Reader) (io.Reader, error) {
		const window = 1 << 25 // of all levels but --ultra, for larger files than are usual here, and --long
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
	}},
}

// packing is the number of a way to compress a file that begins so; -1: it is not compressed by one of them.
func packing(head []byte) int {
	for i, p := range packings {
		if bytes.HasPrefix(head, []byte(p.begin)) && (p.name != "bzip2" || isBzip2(head)) {
			return i
		}
	}
	return -1
}

// isBzip2 tells bzip2 from a header like BZh,y.
func isBzip2(head []byte) bool {
	return len(head) >= 10 && (string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90")
}

// counted counts the bytes that are read.
type counted struct {
	in io.Reader
	n  int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	c.n += int64(n)
	return n, err
}

// unpacked is what a compressed file holds. Its errors wrap ErrPacked, unlike the end of a text.
type unpacked struct {
	in      io.Reader
	name    string
	from    *counted
	n       int64
	endless bool // of any length, as nobody keeps it in memory
	close   func() error
}

func (u *unpacked) Read(b []byte) (int, error) {
	most := freely + mostGrowth*u.from.n
	if !u.endless {
		most = min(most, mostText)
	}
	n, err := u.in.Read(b[:min(int64(len(b)), max(1, most-u.n))])
	if u.n += int64(n); u.n > most {
		return 0, fmt.Errorf("%w: it is compressed by %s and holds more than %d bytes, too many for its size: unpack it first", ErrPacked,
			u.name, most)
	}
	return n, u.why(err)
}

func (u *unpacked) why(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it is compressed by %s and ends too early", ErrPacked, u.name)
	}
	return fmt.Errorf("%w: it is compressed by %s and damaged: %w", ErrPacked, u.name, err)
}

// Close closes what it is read by, not the file.
func (u *unpacked) Close() error {
	if z, ok := u.in.(*zstd.Decoder); ok {
		z.Close()
	}
	if u.close != nil {
		return u.close()
	}
	return nil
}

// unpack begins to read a file that is compressed in that way.
func unpack(r io.Reader, way int) (*unpacked, error) {
	p := packings[way]
	u := &unpacked{name: p.name, from: &counted{in: r}}
	in, err := p.open(u.from)
	if err != nil {
		return nil, u.why(err)
	}
	u.in = in
	return u, nil
}

// Unpack returns what a compressed file holds, or the only file of a zip archive, from its beginning and of any length, to be read while
// the file is open. It is nil where the file is neither of these; then it is read from its beginning, too.
func Unpack(f *os.File) (io.ReadCloser, error) {
	head := make([]byte, netcdf.Head)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	way := packing(head[:n])
	if way < 0 && !npy.IsZip(head[:n]) {
		return nil, nil
	}
	var u *unpacked
	if way >= 0 {
		u, err = unpack(f, way)
	} else {
		info, failed := f.Stat()
		if failed != nil {
			return nil, failed
		}
		only, names := onlyFile(f, info.Size())
		switch {
		case only == nil && tableless(names):
			return nil, holdsMany(f.Name(), names)
		case only == nil || path.Ext(only.Name) == ".npy":
			return nil, nil
		}
		u, err = unzip(only, info.Size())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	u.endless = true
	return u, nil
}

// tableless reports whether files of a zip archive are many, none of which is an array or a part of a spreadsheet.
func tableless(names []string) bool {
	return len(names) > 1 && !slices.ContainsFunc(names, func(name string) bool {
		return path.Ext(name) == ".npy" || name == "[Content_Types].xml" || name == "mimetype"
	})
}

func holdsMany(name string, names []string) error {
	return fmt.Errorf("%s: %w: it holds %d files, such as %.100q: unpack the one that is the table", name, ErrPacked, len(names), names[0])
}

// readPacked reads the table in a compressed file, whose name errors have.
func readPacked(r io.Reader, way int, name, sheet string, wanted []string, opt tabular.Options) (*tabular.Table, error) {
	u, err := unpack(r, way)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer u.Close()
	return u.table(name, sheet, wanted, opt)
}

// onlyFile returns the file of a zip archive that holds no other, but for what macOS adds, and the names of all of them.
func onlyFile(b io.ReaderAt, size int64) (only *zip.File, names []string) {
	archive, err := zip.NewReader(b, size)
	if err != nil {
		return nil, nil
	}
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/") || strings.HasPrefix(f.Name, "__MACOSX/") || path.Base(f.Name) == ".DS_Store" {
			continue
		}
		only, names = f, append(names, f.Name)
	}
	if len(names) != 1 {
		return nil, names
	}
	return only, names
}

// readZipped reads the table in the only file of a zip archive of so many bytes.
func readZipped(f *zip.File, size int, name, sheet string, wanted []string, opt tabular.Options) (*tabular.Table, error) {
	u, err := unzip(f, int64(size))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer u.Close()
	return u.table(name, sheet, wanted, opt)
}

// unzip begins to read a file of a zip archive of so many bytes.
func unzip(f *zip.File, size int64) (*unpacked, error) {
	const encrypted = 1
	if f.Flags&encrypted != 0 {
		return nil, fmt.Errorf("%w: its file %.100q is encrypted: unpack it first", ErrPacked, f.Name)
	}
	u := &unpacked{name: "zip", from: &counted{n: size}}
	in, err := f.Open()
	if err != nil {
		return nil, u.why(err)
	}
	u.in, u.close = in, in.Close
	return u, nil
}

// table reads the table, whose name errors have.
func (u *unpacked) table(name, sheet string, wanted []string, opt tabular.Options) (*tabular.Table, error) {
	head := make([]byte, netcdf.Head)
	n, err := io.ReadFull(u, head)
	head = head[:n]
	if errors.Is(err, ErrPacked) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	content := io.MultiReader(bytes.NewReader(head), u)
	inner := packing(head)
	switch {
	case known(head):
		b, err := io.ReadAll(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if u.name == "zip" && npy.IsZip(b) && !spreadsheet.Is(b) { // an archive may even hold itself
			return nil, fmt.Errorf("%s: %w: it holds an archive of zip: unpack it first", name, ErrPacked)
		}
		return decode(b, name, sheet, wanted, opt)
	case sheet != "":
		return nil, fmt.Errorf("%s: %w: it is no spreadsheet, and has no sheet", name, ErrSheet)
	case inner >= 0:
		return nil, fmt.Errorf("%s: %w: it is compressed twice, by %s and %s: unpack it first", name, ErrPacked, u.name,
			packings[inner].name)
	case isTar(head):
		return nil, fmt.Errorf("%s: %w: it holds an archive of tar: unpack it first", name, tabular.ErrCell)
	}
	if err := tabular.CheckForeign(head, name); err != nil {
		return nil, err
	}
	if err := textual(name); n > 0 && err != nil {
		return nil, err
	}
	t, err := tabular.ReadAs(content, name, opt)
	if err != nil && !errors.Is(err, ErrPacked) {
		if _, worse := io.Copy(io.Discard, u); worse != nil { // damage makes odd cells
			return nil, fmt.Errorf("%s: %w", name, worse)
		}
	}
	return t, err
}

// Ending is what a file's name ends in, such as .csv of data.CSV.gz: what it holds, however that is compressed.
func Ending(name string) string {
	ending := strings.ToLower(filepath.Ext(name))
	for _, p := range packings {
		if ending == p.ending {
			return strings.ToLower(filepath.Ext(name[:len(name)-len(ending)]))
		}
	}
	return ending
}

// isTar reports whether bytes begin an archive of tar.
func isTar(b []byte) bool {
	const at = 257
	return len(b) >= at+5 && string(b[at:at+5]) == "ustar"
}
