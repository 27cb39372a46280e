package tabular

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// maxRecord bounds the bytes of a row, and of a line of comment: a file without line ends is no table. Tests change it.
var maxRecord = 1 << 24

// maxTableCells bounds the cells of a text, which may come from a pipe that does not end.
const maxTableCells = 1 << 28

// errRecord is met in a row that does not end.
var errRecord = errors.New("row too long")

// plainText is a text as UTF-8 with line feeds at the ends of its lines: UTF-16 is converted, by its byte order mark or
// the zeros among its first bytes, and so is CR alone. Its rows are of bounded length.
func plainText(r io.Reader) *bufio.Reader {
	br := bufio.NewReaderSize(r, peeked)
	start, _ := br.Peek(peeked)
	switch {
	case bytes.HasPrefix(start, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(start, []byte("\x00\x00\xfe\xff")):
		return bufio.NewReader(refused{fmt.Errorf("%w: the text is UTF-32: write it as UTF-8", ErrCell)})
	case bytes.HasPrefix(start, []byte("\xff\xfe")), len(start) >= 4 && start[0] != 0 && start[1] == 0 && start[2] != 0 && start[3] == 0:
		br = bufio.NewReaderSize(transform.NewReader(br, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()), peeked)
	case bytes.HasPrefix(start, []byte("\xfe\xff")), len(start) >= 4 && start[0] == 0 && start[1] != 0 && start[2] == 0 && start[3] != 0:
		br = bufio.NewReaderSize(transform.NewReader(br, unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder()), peeked)
	}
	if mark, _ := br.Peek(3); string(mark) == "\ufeff" {
		_, _ = br.Discard(3)
	}
	start, _ = br.Peek(peeked) // less where the file is shorter; the reader meets any error again
	returns := bytes.IndexByte(start, '\r') >= 0 && bytes.IndexByte(start, '\n') < 0
	return bufio.NewReaderSize(&rowReader{in: br, returns: returns, line: true}, peeked)
}

// refused is a text that is not read.
type refused struct{ err error }

func (r refused) Read([]byte) (int, error) { return 0, r.err }

// rowReader passes a text on until a row of it gets too long.
type rowReader struct {
	in      *bufio.Reader
	returns bool // CR alone ends a line
	length  int  // of the row
	quoted  bool // inside quotes, where a line's end is not one of the row
	comment bool
	line    bool // at the beginning of a line
}

func (r *rowReader) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	for i, c := range b[:n] {
		if c == '\r' && r.returns {
			b[i], c = '\n', '\n'
		}
		r.length++
		switch {
		case r.line && c == '#' && !r.quoted && r.noValue(b[i+1:n]):
			b[i] = ' ' // no comment
		case r.line && c == '#' && !r.quoted:
			r.comment = true
		case c == '"' && !r.comment:
			r.quoted = !r.quoted
		case c == '\n' && (r.comment || !r.quoted):
			r.length, r.comment = 0, false
		}
		r.line = c == '\n'
		if r.length > maxRecord {
			return i, fmt.Errorf("%w: %w: more than %d bytes without a line's end", ErrCell, errRecord, maxRecord)
		}
	}
	return n, err
}

// noValues are what spreadsheets write where a formula has no value, after the #, which here begins no comment.
var noValues = []string{"N/A", "NA", "DIV/0!", "VALUE!", "REF!", "NAME?", "NUM!", "NULL!"}

// noValue reports whether a line that begins with # begins with one of these as a cell; rest is what has been read of it.
func (r *rowReader) noValue(rest []byte) bool {
	const longest = 7
	if len(rest) < longest {
		more, _ := r.in.Peek(longest - len(rest))
		rest = append(rest[:len(rest):len(rest)], more...)
	}
	for _, text := range noValues {
		if after, ok := bytes.CutPrefix(rest, []byte(text)); ok &&
			(len(after) == 0 || bytes.IndexByte([]byte(",;\t|\r\n"), after[0]) >= 0) {
			return true
		}
	}
	return false
}

// layout is what the beginning of a text says of it.
type layout struct {
	separator rune
	skip      int      // bytes before the first row that are no comment: a line "sep=;"
	comment   []string // the cells of the last comment before the first row, or nil
	named     bool     // the comment is the header
	above     int      // lines before the header that are no comments
}

// tabsName is that of a file, or of a part of it, whose cells tabs separate, compressed or not.
var tabsName = regexp.MustCompile(`(?i)\.tsv\b`)

// layoutOf finds what separates the cells of a text that begins so: what a line "sep=;" says, as spreadsheets write it,
// or of semicolon, comma, tab and bar the first that the first row has outside quotes, or else spaces. A comma may be the decimal sign
// where semicolons separate, and tabs may be spaces where commas do, unless a comma is the decimal sign. Lines above one that has all
// names that are asked for are skipped. In a file called .tsv tabs separate where the first row has one.
func layoutOf(start, name string, opt Options) layout {
	l := layout{separator: ','}
	comment := ""
	order := ";,\t|"
	switch {
	case tabsName.MatchString(name):
		order = "\t;,|"
	case opt.Decimal == ',':
		order = ";\t,|"
	}
	marked := false
	if line, _, _ := strings.Cut(start, "\n"); len(line) > 4 && strings.EqualFold(line[:4], "sep=") {
		if r := []rune(strings.TrimRight(line[4:], "\r")); len(r) == 1 {
			l.separator, l.skip, marked = r[0], min(len(line)+1, len(start)), true
		}
	}
	if !opt.Piece {
		above, lines := belowLines(start[l.skip:], order, opt)
		l.skip, l.above = l.skip+above, lines
	}
	for line := range strings.Lines(start[l.skip:]) {
		text := strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(text, "#") {
			comment = text
			continue
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if !marked {
			l.separator = separatorOf(text, order)
		}
		break
	}
	switch {
	case marked || l.separator != 0:
	case isSpaced(start[l.skip:], opt):
		l.separator = ' '
	default:
		l.separator = ','
	}
	if text := strings.TrimLeft(comment, "# \t"); text != "" {
		cells := strings.Split(text, string(l.separator))
		if l.separator == ' ' {
			cells = strings.Fields(text)
		}
		for _, cell := range cells {
			l.comment = append(l.comment, strings.Trim(strings.TrimSpace(cell), `"`))
		}
	}
	return l
}

// separatorOf is the first of some separators that a line has outside quotes, or 0.
func separatorOf(line, order string) rune {
	var has [128]bool
	quoted := false
	for _, r := range line {
		if r == '"' {
			quoted = !quoted
		} else if !quoted && r < 128 {
			has[r] = true
		}
	}
	for _, r := range order {
		if has[r] {
			return r
		}
	}
	return 0
}

// splitQuoted splits a line at separators outside quotes.
func splitQuoted(line string, separator rune) []string {
	quoted := false
	return strings.FieldsFunc(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == separator && !quoted
	})
}

// numbersOfColumns reports whether names are numbers of a row's columns, which its cells may be, too.
func numbersOfColumns(names []string, columns int) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		n, err := strconv.Atoi(name)
		return err != nil || n < 1 || n > columns
	})
}

// belowLines is how many bytes stand above the line that has the names of all inputs and outputs that are asked for, which is among the
// first hundred lines if there is one, and how many lines with text these are.
func belowLines(start, order string, opt Options) (skip, lines int) {
	const most = 100
	if len(opt.X) == 0 || len(opt.Y) == 0 {
		return 0, 0
	}
	at, above := 0, 0
	for line := range strings.Lines(start) {
		if text := strings.TrimSpace(line); text != "" && text[0] != '#' {
			cells := strings.Fields(text)
			if r := separatorOf(text, order); r != 0 {
				cells = splitQuoted(text, r)
			}
			for i, cell := range cells {
				cells[i] = strings.Trim(strings.TrimSpace(cell), `"`)
			}
			if names := slices.Concat(opt.X, opt.Y); !numbersOfColumns(names, len(cells)) &&
				!slices.ContainsFunc(names, func(name string) bool { return !hasName(cells, name) }) {
				if above == 0 {
					return 0, 0
				}
				return at, above
			}
			if above++; above > most {
				break
			}
		}
		at += len(line)
	}
	return 0, 0
}

// names reports whether the comment before a first row of so many cells names its columns, as numpy.savetxt writes it.
func (l *layout) names(cells int, opt Options) bool {
	if cells < 2 || len(l.comment) != cells || !isHeader(l.comment, opt) {
		return false
	}
	for i, name := range l.comment {
		if name == "" {
			return false
		}
		for _, other := range l.comment[:i] {
			if other == name {
				return false
			}
		}
	}
	return true
}
