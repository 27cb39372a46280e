package tabular

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// spacedLines is how many lines say whether spaces separate cells.
const spacedLines = 10

// isSpaced reports whether spaces separate the cells of a text that begins so, as R and instruments write tables: its first row has
// several words, and the first that has a number has as many, or one more before them, which names the row. A text each of whose
// lines is one date or one number, with a space in it, has one column.
func isSpaced(start string, opt Options) bool {
	first, lines := 0, 0
	for line := range strings.Lines(start) {
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		cells, _, err := spacedCells(text, nil, nil)
		if lines++; err != nil || len(cells) < 2 || lines > spacedLines {
			return false
		}
		if first == 0 {
			first = len(cells)
		}
		if _, date := anyDate(text); date {
			return false
		}
		if _, err := opt.number(text); err == nil && lines == 1 {
			return false
		}
		for _, cell := range cells {
			if opt.Piece && lines == 1 && numberLike(cell) {
				return false // other pieces might say another thing
			}
			if _, err := opt.number(cell); err == nil || numberLike(cell) {
				return len(cells) == first || len(cells) == first+1
			}
		}
	}
	return false
}

var errQuote = errors.New("a quote without its end")

// spacedCells splits a line at spaces outside quotes, in which a quote is doubled or follows a backslash, as R writes it. It returns
// the cells and where they begin, in those slices.
func spacedCells(line string, cells []string, at []int) ([]string, []int, error) {
	cells, at = cells[:0], at[:0]
	for i := 0; i < len(line); {
		if line[i] <= ' ' {
			i++
			continue
		}
		at = append(at, i+1)
		if line[i] != '"' {
			from := i
			for i < len(line) && line[i] > ' ' {
				i++
			}
			cells = append(cells, line[from:i])
			continue
		}
		var b strings.Builder
		for i++; ; i++ {
			if i >= len(line) {
				return nil, nil, errQuote
			}
			if (line[i] == '"' || line[i] == '\\') && i+1 < len(line) && line[i+1] == '"' && (line[i] == '"' || i+2 < len(line)) {
				i++
			} else if line[i] == '"' {
				break
			}
			b.WriteByte(line[i])
		}
		i++
		cells = append(cells, b.String())
	}
	return cells, at, nil
}

// spaced reads rows whose cells are separated by spaces.
type spaced struct {
	in    *bufio.Reader
	line  int
	cells []string
	begin []int
}

// Read returns the next row that is neither blank nor a comment.
func (s *spaced) Read() ([]string, error) {
	for {
		line, err := s.in.ReadString('\n')
		if line == "" && err != nil {
			return nil, err
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
		s.line++
		if line[0] == '#' {
			continue
		}
		if s.cells, s.begin, err = spacedCells(line, s.cells, s.begin); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrCell, s.line, err)
		}
		if len(s.cells) > 0 {
			return s.cells, nil
		}
	}
}

// FieldPos is where a cell of the row stands.
func (s *spaced) FieldPos(cell int) (line, column int) { return s.line, s.begin[cell] }
