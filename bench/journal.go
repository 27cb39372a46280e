package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// A reportHead says which run a journal belongs to. A run resumes only what was begun on the same machine by the same program.
type reportHead struct {
	Machine description `json:"machine"`
	Started string      `json:"started"`
	Budget  string      `json:"budget"` // of a line
	Program string      `json:"program"`
	// Options are those that say what a step measures. Steps of other options would be other samples of the same lines.
	Options string   `json:"options,omitempty"`
	Peers   []peer   `json:"peers"`
	Notes   []string `json:"notes,omitempty"`
}

// A reportStep is one program that was run, in one round, with what it measured and what else the machine did meanwhile.
type reportStep struct {
	Part    string   `json:"part"`
	Name    string   `json:"name"`
	Round   int      `json:"round"`
	Seconds float64  `json:"seconds"`
	Others  float64  `json:"others"` // share of the CPUs' time that other programs used
	Stolen  float64  `json:"stolen"` // share that the host of a virtual machine took away
	Refused string   `json:"refused,omitempty"`
	Samples []sample `json:"samples,omitempty"`
}

// key tells steps apart.
func (s *reportStep) key() string { return fmt.Sprintf("%s|%s|%d", s.Part, s.Name, s.Round) }

// journal is the file to which a report adds every step as soon as it ended, a JSON object a line. The first line is the head.
type journal struct {
	file  *os.File
	head  reportHead
	steps []reportStep
	done  map[string]bool
}

// openJournal begins a journal or, with resume, reads one that is there and goes on after its last whole line.
func openJournal(path string, head reportHead, resume bool) (*journal, error) {
	j := &journal{head: head, done: map[string]bool{}}
	var kept []byte
	if resume {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if kept, err = j.read(path, b); err != nil {
			return nil, err
		}
	}
	if kept == nil {
		line, err := json.Marshal(head)
		if err != nil {
			return nil, err
		}
		kept = append(line, '\n')
	}
	if err := replaceFile(path, kept); err != nil { // without the half line at which a run was killed
		return nil, err
	}
	var err error
	j.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o666)
	return j, err
}

// read takes the head and the steps from a journal's bytes and returns those that are whole lines, nil if there is no head.
func (j *journal) read(path string, b []byte) (whole []byte, err error) {
	end := bytes.LastIndexByte(b, '\n') + 1
	lines := bufio.NewScanner(bytes.NewReader(b[:end]))
	lines.Buffer(nil, 1<<26)
	for i := 1; lines.Scan(); i++ {
		if i == 1 {
			var h reportHead
			if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
				return nil, fmt.Errorf("%s: line 1: %w", path, err)
			}
			if h.Machine != j.head.Machine || h.Program != j.head.Program || h.Budget != j.head.Budget {
				const other = "begun by another program, on another machine, or with another PEER_SECONDS"
				return nil, fmt.Errorf("%s: --resume: "+other+": %s, %s, %s",
					path, h.Machine.CPU, h.Program, h.Budget)
			}
			if h.Options != j.head.Options {
				return nil, fmt.Errorf("%s: --resume: begun with other options: %s; now %s", path,
					cmp.Or(h.Options, "neither --quick nor --filter"), cmp.Or(j.head.Options, "neither --quick nor --filter"))
			}
			if !slices.EqualFunc(h.Peers, j.head.Peers, peer.equal) { // the head's versions would be those of other programs
				return nil, fmt.Errorf("%s: --resume: begun with other peers, or other versions of them: %v; now %v", path,
					h.Peers, j.head.Peers)
			}
			j.head = h
			continue
		}
		var s reportStep
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, i, err)
		}
		j.keep(s)
	}
	if end == 0 {
		return nil, lines.Err()
	}
	return b[:end], lines.Err()
}

func (j *journal) keep(s reportStep) {
	j.steps = append(j.steps, s)
	j.done[s.key()] = s.Refused == ""
}

// add writes a step.
func (j *journal) add(s reportStep) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	j.keep(s)
	return nil
}

func (j *journal) close() error { return j.file.Close() }
