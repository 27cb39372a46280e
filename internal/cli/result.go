package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Result holds what a command prints: lines for people, in this order, or one JSON object.
type Result struct {
	Lines [][2]string
	Notes []string
	// Cautions are notes that nobody should miss: that data are not what the model knows. They go to standard error, too.
	Cautions []string
}

// AllNotes are the cautions and the notes, never nil.
func (r *Result) AllNotes() []string { return append(append([]string{}, r.Cautions...), r.Notes...) }

// Line adds a line under a name.
func (r *Result) Line(name, format string, args ...any) {
	r.Lines = append(r.Lines, [2]string{name, fmt.Sprintf(format, args...)})
}

// Written adds lines of the files that were written.
func (r *Result) Written(o *Outputs) {
	for i, name := range o.Written() {
		r.Line([]string{"written", ""}[min(i, 1)], "%s", name)
	}
}

// Note adds a note.
func (r *Result) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// NotesOnce returns what writes the notes to w when it is first called, unless quiet asks for none.
func NotesOnce(w io.Writer, quiet bool, notes []string) func() {
	return func() {
		if !quiet {
			for _, n := range notes {
				fmt.Fprintf(w, "note: %s\n", n)
			}
		}
		notes = nil
	}
}

// Print writes the cautions to stderr, and to stdout object as JSON, or else the lines and the notes.
func (r *Result) Print(stdout, stderr io.Writer, asJSON bool, object any) error {
	for _, c := range r.Cautions {
		fmt.Fprintf(stderr, "note: %s\n", c)
	}
	if asJSON {
		enc := json.NewEncoder(stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(object)
	}
	var b strings.Builder
	for _, l := range r.Lines {
		fmt.Fprintf(&b, "%-15s %s\n", l[0], l[1])
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "%-15s %s\n", "note", n)
	}
	_, err := io.WriteString(stdout, b.String())
	return err
}
