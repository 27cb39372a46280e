package shards

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/atomicfile"
)

// Progress is the journal of one long piece of work that writes its result step by step, so that it resumes after
// whatever end. One process at a time has it open. Every line has the digest of itself and of those before it: what was
// changed or cut off is not known any more, and neither is what follows.
type Progress struct {
	// Steps were recorded by a process before, for the same work; First is what Begin was given then.
	First json.RawMessage
	Steps []json.RawMessage
	file  *os.File
	sum   string   // of the last line
	ends  []int64  // where the first line and those of Steps end
	sums  []string // of them
}

// progressHead is the first line's content.
type progressHead struct {
	Work  string          `json:"work"`
	First json.RawMessage `json:"first"`
}

// summed is a line of a journal: a value, and the digest of it and of the line before.
type summed struct {
	Sum   string          `json:"sum"`
	Value json.RawMessage `json:"value"`
}

// chained is the digest of a line after one of another digest.
func chained(last string, value []byte) string {
	h := sha256.New()
	h.Write([]byte(last))
	h.Write([]byte{0})
	h.Write(value)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// line is a line of a journal.
func line(last string, v any) (text []byte, sum string, err error) {
	value, err := json.Marshal(v)
	if err != nil {
		return nil, "", err
	}
	sum = chained(last, value)
	text, err = json.Marshal(summed{sum, value})
	return append(text, '\n'), sum, err
}

// readLine reads a line that follows one of another digest; false: it is not what was written.
func readLine(last string, text []byte) (value json.RawMessage, sum string, ok bool) {
	var l summed
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if dec.Decode(&l) != nil || l.Value == nil || l.Sum != chained(last, l.Value) {
		return nil, "", false
	}
	return l.Value, l.Sum, true
}

// OpenProgress opens the journal under that name, or begins it, if there is none, or if it is of other work; first is
// then its first entry. It is an error that wraps atomicfile.ErrBusy while another process has it open.
func OpenProgress(path, work string, first any) (*Progress, error) {
	f, err := atomicfile.OpenLocked(path, 0)
	if err != nil {
		return nil, err
	}
	p := &Progress{file: f}
	if err = p.read(work); err == nil && p.ends == nil {
		if p.First, err = json.Marshal(first); err == nil {
			err = p.Step(progressHead{work, p.First})
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return p, nil
}

// read reads the lines of that work, and forgets what follows the last one that is whole.
func (p *Progress) read(work string) error {
	b, err := io.ReadAll(p.file)
	if err != nil {
		return err
	}
	at := int64(0)
	for {
		text, rest, whole := bytes.Cut(b, []byte{'\n'})
		if !whole { // a process that was killed may have written a part of it
			break
		}
		value, sum, ok := readLine(p.sum, text)
		if !ok {
			break
		}
		if p.ends == nil {
			var h progressHead
			if json.Unmarshal(value, &h) != nil || h.Work != work {
				break
			}
			p.First = h.First
		} else {
			p.Steps = append(p.Steps, value)
		}
		b, at, p.sum = rest, at+int64(len(text))+1, sum
		p.ends, p.sums = append(p.ends, at), append(p.sums, sum)
	}
	return p.cut(at)
}

func (p *Progress) cut(at int64) error {
	if err := p.file.Truncate(at); err != nil {
		return err
	}
	_, err := p.file.Seek(at, io.SeekStart)
	return err
}

// Keep forgets all steps but the first n, which are done again.
func (p *Progress) Keep(n int) error {
	if n >= len(p.Steps) {
		return nil
	}
	p.Steps, p.ends, p.sums = p.Steps[:n], p.ends[:n+1], p.sums[:n+1]
	p.sum = p.sums[n]
	return p.cut(p.ends[n])
}

// Step records a step, which must be on the disk.
func (p *Progress) Step(v any) error {
	text, sum, err := line(p.sum, v)
	if err != nil {
		return err
	}
	if _, err := p.file.Write(text); err != nil {
		return err
	}
	p.sum = sum
	if stopAfter.Load() > 0 && stopAfter.Add(-1) == 0 {
		return errors.New("stopped by a test")
	}
	return p.file.Sync()
}

// stopAfter counts the steps until the work is stopped, for tests of what it leaves.
var stopAfter atomic.Int32

// StopAfter lets the n-th step from now on fail, after it is recorded, as if the process had ended there; 0 lets none. Tests use it.
func StopAfter(n int) {
	if n > 0 {
		n++ // the first line is one
	}
	stopAfter.Store(int32(n))
}

// Close closes the journal, which stays.
func (p *Progress) Close() error { return p.file.Close() }

// End removes it.
func (p *Progress) End() error {
	return errors.Join(os.Remove(p.file.Name()), p.file.Close())
}
