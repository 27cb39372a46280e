package train

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/equivcnp/equivcnp/internal/atomicfile"
)

// logFile is a file of records, one JSON object a line; nil writes nothing.
type logFile struct{ f *os.File }

// openLog opens the log of a run that has done so many steps. What an interrupted run wrote beyond them, or wrote in part,
// is taken off: those steps are done again.
func openLog(path string, steps int) (*logFile, error) {
	if path == "" {
		return nil, nil
	}
	f, err := atomicfile.OpenLocked(path, 0) // two runs would write over each other's lines
	if err != nil {
		return nil, fmt.Errorf("train: log: %w", err)
	}
	old, err := io.ReadAll(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("train: log: %w", err)
	}
	keep := 0
	for lines := bufio.NewReader(bytes.NewReader(old)); steps > 0; {
		line, err := lines.ReadBytes('\n')
		var rec Record
		if err != nil || json.Unmarshal(line, &rec) != nil || rec.Step > steps {
			break
		}
		keep += len(line)
	}
	if err := f.Truncate(int64(keep)); err == nil {
		_, err = f.Seek(int64(keep), 0)
		if err == nil {
			return &logFile{f}, nil
		}
	}
	f.Close()
	return nil, fmt.Errorf("train: log: %s takes no lines", path)
}

func (l *logFile) write(r Record) error {
	if l == nil {
		return nil
	}
	b, err := json.Marshal(r)
	if err == nil {
		_, err = l.f.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("train: log: %w", err)
	}
	return nil
}

func (l *logFile) close() {
	if l != nil {
		l.f.Close()
	}
}
