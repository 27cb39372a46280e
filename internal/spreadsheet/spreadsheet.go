// Package spreadsheet reads the cells of a sheet of Excel's .xlsx files (Office Open XML, ECMA-376) and LibreOffice's .ods files
// (OpenDocument 1.3). Formulas are not computed: their values are those that the file keeps. Dates are texts like 2006-01-02, or
// 2006-01-02T15:04:05 with a time.
package spreadsheet

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ErrFormat is wrapped by every error about a file.
var ErrFormat = errors.New("not a spreadsheet that can be read")

// Cell is a cell that holds something. Row and Column are counted from 1.
type Cell struct {
	Row, Column int
	// Number says that Text is a number, with a decimal point whatever the file's language is.
	Number bool
	// Text is never empty. That of a formula without a value is the formula after "=".
	Text string
}

// The largest sheets of either program.
const (
	maxRow    = 1 << 20
	maxColumn = 1 << 14
)

// unpacked is how many bytes any file may unpack to. Tests change it.
var unpacked = int64(1 << 26)

// Is reports whether the bytes of a zip file are those of a document of either kind.
func Is(b []byte) bool {
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return false
	}
	for _, f := range r.File {
		if f.Name == contentTypes || f.Name == openContent {
			return true
		}
	}
	return false
}

// The files by which the two kinds are known.
const (
	contentTypes = "[Content_Types].xml"
	openContent  = "content.xml"
)

// Read returns the cells of a sheet, row by row and in a row from left to right. An empty name means the only sheet that has any.
// A file of n bytes may unpack to some hundred times as much, and have some cells for each.
func Read(b []byte, sheet string) ([]Cell, error) {
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	k := &book{files: map[string]*zip.File{}, left: unpacked + 100*int64(len(b)), most: 1<<22 + 10*len(b)}
	for _, f := range z.File {
		if name := partName(f.Name); k.files[name] == nil {
			k.files[name] = f
		}
	}
	if k.files[openContent] != nil && k.files[partName(contentTypes)] == nil {
		return k.ods(sheet)
	}
	return k.xlsx(sheet)
}

// partName is the name by which a file is found: case does not matter to Office, and some writers separate folders as Windows does.
func partName(name string) string { return strings.ToLower(strings.ReplaceAll(name, `\`, "/")) }

// book is a document while it is read.
type book struct {
	files map[string]*zip.File // by partName
	left  int64                // bytes that may still be unpacked
	most  int                  // cells that a sheet may have
}

// sheets chooses a sheet, of those that have cells where no name is given. cells reads sheet i, or its first cell alone.
func sheets(names []string, wanted string, cells func(i int, first bool) ([]Cell, error)) ([]Cell, error) {
	if wanted != "" {
		for i, name := range names {
			if name == wanted {
				return cells(i, false)
			}
		}
		return nil, fmt.Errorf("%w: no sheet %.40q: there is %s", ErrFormat, wanted, list(names))
	}
	var found []string
	at := -1
	for i := range names {
		some, err := cells(i, true)
		if err != nil {
			return nil, err
		}
		if len(some) > 0 {
			found, at = append(found, names[i]), i
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: no sheet has any cell", ErrFormat)
	case 1:
		return cells(at, false)
	}
	return nil, fmt.Errorf("%w: %d sheets have cells, %s: name one behind the file's name and a #", ErrFormat, len(found), list(found))
}

// list names sheets, a few where there are many.
func list(names []string) string {
	const most = 8
	var out []string
	for i, name := range names {
		if i == most {
			out = append(out, fmt.Sprintf("and %d others", len(names)-most))
			break
		}
		out = append(out, fmt.Sprintf("%.40q", name))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// add adds a cell with a text, unless there are too many.
func (k *book) add(cells []Cell, c Cell) ([]Cell, error) {
	if c.Text = strings.TrimSpace(c.Text); c.Text == "" {
		return cells, nil
	}
	if len(cells) >= k.most {
		return nil, fmt.Errorf("%w: more than %d cells", ErrFormat, k.most)
	}
	if c.Number {
		if _, err := strconv.ParseFloat(c.Text, 64); err != nil {
			return nil, fmt.Errorf("%w: cell %s holds %.40q as a number", ErrFormat, Name(c.Row, c.Column), c.Text)
		}
	}
	return append(cells, c), nil
}

// Name is what programs call a cell: B7 is in row 7 of the second column.
func Name(row, column int) string {
	letters := ""
	for ; column > 0; column = (column - 1) / 26 {
		letters = string(rune('A'+(column-1)%26)) + letters
	}
	return letters + strconv.Itoa(row)
}

// unpacking counts the bytes of a file that are unpacked.
type unpacking struct {
	io.ReadCloser
	book *book
	name string
}

func (u *unpacking) Read(b []byte) (int, error) {
	if u.book.left <= 0 {
		return 0, fmt.Errorf("%w: %s: the file unpacks to too much", ErrFormat, u.name)
	}
	n, err := u.ReadCloser.Read(b[:min(int64(len(b)), u.book.left)])
	u.book.left -= int64(n)
	return n, err
}

// maxDepth bounds the elements that stand in each other.
const maxDepth = 64

// elements reads an XML document, element by element.
type elements struct {
	name  string // of the file
	in    io.Closer
	d     *xml.Decoder
	open  []string // the elements that stand in each other, by their names without prefixes
	attrs []xml.Attr
}

// open opens a file of the document.
func (k *book) open(name string) (*elements, error) {
	f := k.files[partName(name)]
	if f == nil {
		return nil, fmt.Errorf("%w: there is no %.80q in it", ErrFormat, name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFormat, name, err)
	}
	u := &unpacking{r, k, name}
	return &elements{name: name, in: r, d: xml.NewDecoder(u)}, nil
}

func (e *elements) close() { _ = e.in.Close() }

// kind is what next met.
type kind int

const (
	start kind = iota
	end
	text
	over // the document
)

// next returns the next beginning or end of an element, by its name without a prefix, or text.
func (e *elements) next() (kind, string, error) {
	for {
		t, err := e.d.RawToken()
		switch {
		case err == io.EOF && len(e.open) == 0:
			return over, "", nil
		case err == io.EOF:
			return over, "", e.errorf("it ends within %s", e.open[len(e.open)-1])
		case errors.Is(err, ErrFormat):
			return over, "", err
		case err != nil:
			return over, "", e.errorf("%w", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if len(e.open) == maxDepth {
				return over, "", e.errorf("elements stand more than %d deep in each other", maxDepth)
			}
			e.open, e.attrs = append(e.open, t.Name.Local), t.Attr
			return start, t.Name.Local, nil
		case xml.EndElement:
			if n := len(e.open); n == 0 || e.open[n-1] != t.Name.Local {
				return over, "", e.errorf("an element %.40q ends that did not begin", t.Name.Local)
			}
			e.open = e.open[:len(e.open)-1]
			return end, t.Name.Local, nil
		case xml.CharData:
			return text, string(t), nil
		}
	}
}

// skip reads to the end of the element that has just begun.
func (e *elements) skip() error {
	for depth := len(e.open); ; {
		if _, _, err := e.next(); err != nil {
			return err
		}
		if len(e.open) < depth {
			return nil
		}
	}
}

// attr is an attribute of the element that has just begun.
func (e *elements) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// number is an attribute that is a whole number of at least least, or otherwise if it is not there.
func (e *elements) number(name string, least, most, otherwise int) (int, error) {
	text := e.attr(name)
	if text == "" {
		text = strconv.Itoa(otherwise)
	}
	n, err := strconv.Atoi(text)
	if err == nil && n > most {
		return 0, e.errorf("%s is %d, at most %d is possible", name, n, most)
	}
	if err != nil || n < least {
		return 0, e.errorf("%s is %.40q, need %d to %d", name, text, least, most)
	}
	return n, nil
}

func (e *elements) errorf(format string, args ...any) error {
	return fmt.Errorf("%w: %s: %w", ErrFormat, e.name, fmt.Errorf(format, args...))
}
