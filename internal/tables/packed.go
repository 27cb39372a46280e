package tables

import (
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
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
	in   io.Reader
	name string
	from *counted
	n    int64
}

func (u *unpacked) Read(b []byte) (int, error) {
	most := min(mostText, freely+mostGrowth*u.from.n)
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

// readPacked reads the table in a compressed file, whose name errors have.
func readPacked(r io.Reader, way int, name, sheet string, wanted []string, opt tabular.Options) (*tabular.Table, error) {
	p := packings[way]
	u := &unpacked{name: p.name, from: &counted{in: r}}
	in, err := p.open(u.from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, u.why(err))
	}
	if z, ok := in.(*zstd.Decoder); ok {
		defer z.Close()
	}
	u.in = in
	return u.table(name, sheet, wanted, opt)
}

// onlyFile returns the file of a zip archive that holds no other, but for what macOS adds, and the names of all of them.
func onlyFile(b []byte) (only *zip.File, names []string) {
	archive, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
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
	const encrypted = 1
	if f.Flags&encrypted != 0 {
		return nil, fmt.Errorf("%s: %w: its file %.100q is encrypted: unpack it first", name, ErrPacked, f.Name)
	}
	u := &unpacked{name: "zip", from: &counted{n: int64(size)}}
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, u.why(err))
	}
	defer in.Close()
	u.in = in
	return u.table(name, sheet, wanted, opt)
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
