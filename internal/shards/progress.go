package shards

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// Progress is the journal of one long piece of work that writes its result step by step, so that it goes on after whatever end.
type Progress struct {
	// Steps are what was recorded by a process before, for the same work; First is what Begin was given then.
	First json.RawMessage
	Steps []json.RawMessage
	file  *os.File
}

// progressHead is the first line.
type progressHead struct {
	Work  string          `json:"work"`
	First json.RawMessage `json:"first"`
}

// OpenProgress opens the journal under that name, or begins it, if there is none, or if it is of other work; first is then its first entry.
func OpenProgress(path, work string, first any) (*Progress, error) {
	p := &Progress{}
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var h progressHead
	for i := 0; ; i++ {
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		if !whole { // a process that was killed may have written a part of it
			break
		}
		b = rest
		if i == 0 {
			if json.Unmarshal(line, &h) != nil || h.Work != work {
				h = progressHead{}
				break
			}
			continue
		}
		if json.Valid(line) && len(line) > 0 {
			p.Steps = append(p.Steps, bytes.Clone(line))
		}
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if h.Work == "" {
		flags |= os.O_TRUNC
	}
	if p.file, err = os.OpenFile(path, flags, 0o666); err != nil {
		return nil, err
	}
	if h.Work != "" {
		p.First = h.First
		_, err = p.file.WriteString("\n")
	} else {
		if p.First, err = json.Marshal(first); err == nil {
			err = appendLine(p.file, progressHead{work, p.First})
		}
	}
	if err != nil {
		p.file.Close()
		return nil, err
	}
	return p, nil
}

// Step records a step, which must be on the disk.
func (p *Progress) Step(v any) error { return appendLine(p.file, v) }

// Close closes the journal, which stays.
func (p *Progress) Close() error { return p.file.Close() }

// End removes it.
func (p *Progress) End() error {
	return errors.Join(p.file.Close(), os.Remove(p.file.Name()))
}
