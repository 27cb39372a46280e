package stations

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/tables"
)

// targets is the file of the targets, which is read by lines.
type targets struct {
	*os.File
	packed io.ReadCloser // what the file holds, if it is compressed
	lines  *bufio.Reader
	header []byte // all lines up to the header
	first  []byte // the first row, if it was read to find out that there is no header
	at     int64  // the end of what was read, of what a compressed file holds
}

// openTargets opens the file and reads its header.
func openTargets(o *Options) (*targets, error) {
	f, err := os.Open(o.Targets)
	if err != nil {
		return nil, err
	}
	t := &targets{File: f, lines: bufio.NewReaderSize(nil, 1<<20)}
	if err = t.rewind(); err == nil {
		err = t.readHeader(&o.Columns)
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// rewind goes to the beginning of the text.
func (t *targets) rewind() (err error) {
	if t.packed != nil {
		t.packed.Close()
	}
	if t.packed, err = tables.Unpack(t.File); err != nil {
		return err
	}
	if t.packed != nil {
		t.lines.Reset(t.packed)
	} else {
		t.lines.Reset(t.File)
	}
	return nil
}

// Close closes the file.
func (t *targets) Close() error {
	if t.packed != nil {
		t.packed.Close()
	}
	return t.File.Close()
}

// begin goes to where an earlier process ended, or stays behind the header.
func (t *targets) begin(at int64) error {
	if t.at = int64(len(t.header)); at == 0 {
		return nil
	}
	t.at, t.first = at, nil
	if t.packed != nil { // what it holds is read anew up to there
		if err := t.rewind(); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, t.lines, at); err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", t.Name(), err)
		}
		return nil
	}
	_, err := t.Seek(at, io.SeekStart)
	t.lines.Reset(t.File)
	return err
}

// next returns the text of the next rows, nil if there are none, and reports whether the file ends.
func (t *targets) next(rows int) (text []byte, ended bool, err error) {
	text = append(text, t.first...)
	t.at += int64(len(t.first))
	n := bytes.Count(t.first, []byte("\n"))
	for t.first = nil; n < rows; n++ {
		line, err := readLine(t.lines)
		t.at += int64(len(line))
		text = append(text, line...)
		if err == io.EOF {
			return text, true, nil
		} else if err != nil {
			return nil, false, fmt.Errorf("%s: %w", t.Name(), err)
		}
	}
	return text, false, nil
}

// maxLine bounds a line of the targets.
const maxLine = 1 << 24

// readLine reads a line with its end.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); err != bufio.ErrBufferFull {
			return line, err
		}
		if len(line) > maxLine {
			return nil, fmt.Errorf("%w: more than %d bytes without a line's end", table.ErrCell, maxLine)
		}
	}
}

// readHeader reads up to the first line that is no comment: the header, or else the first row.
func (t *targets) readHeader(c *tabletask.Columns) error {
	name := t.Name()
	if start, _ := t.lines.Peek(256); bytes.IndexByte(start, 0) >= 0 || bytes.HasPrefix(start, []byte("\xff\xfe")) ||
		bytes.HasPrefix(start, []byte("\xfe\xff")) {
		return fmt.Errorf("%s: %w: stations reads targets of UTF-8 text, compressed or not, and this is none", name, table.ErrCell)
	}
	for {
		line, err := readLine(t.lines)
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", name, err)
		}
		text := bytes.TrimSpace(line)
		if len(text) > 0 && text[0] != '#' && (len(t.header) > 0 || !bytes.HasPrefix(line, []byte("sep="))) {
			own, bad := c.Decode(append(append(bytes.Clone(t.header), line...), '\n'), name)
			switch {
			case bad != nil:
				return bad
			case own.Header != nil && own.Rows() == 0:
				t.header = append(t.header, line...)
			default:
				t.first = line
			}
			return nil
		}
		t.header = append(t.header, line...)
		if err == io.EOF {
			return nil
		}
	}
}
