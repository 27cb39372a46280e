// Package merge puts the files that the shards of a manifest's predictions wrote into one.
package merge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/shards"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// predicted is what a record says of a file of predictions.
type predicted struct {
	Tasks         int      `json:"tasks"`
	Columns       []string `json:"columns"` // of tables
	Inputs        []string `json:"inputs"`
	LogLikelihood *float64 `json:"log_likelihood"`
	Values        int      `json:"log_likelihood_values"`
}

// Summary says how good the predictions of all files are.
type Summary struct {
	Tasks int
	// LogLikelihood is the mean over Values values of all files, nil without any.
	LogLikelihood *float64
	Values        int
}

// Summarize adds up what the records of predictions say.
func Summarize(m *shards.Merged) (s Summary, err error) {
	sum := 0.0
	for _, rec := range m.Records {
		var p predicted
		if rec.Error != "" {
			continue
		}
		if err := json.Unmarshal(rec.Result, &p); err != nil {
			return s, fmt.Errorf("line %d: %w", rec.Line, err)
		}
		s.Tasks += p.Tasks
		if p.LogLikelihood != nil {
			sum += *p.LogLikelihood * float64(p.Values)
			s.Values += p.Values
		}
	}
	if s.Values > 0 {
		sum /= float64(s.Values)
		s.LogLikelihood = &sum
	}
	return s, nil
}

// maxJoined bounds the cells of a table that merge puts together.
const maxJoined = 1 << 27

// joinTables writes the predictions of all tables as one: rows one after the other, and before them a column that says
// of which file they are.
func joinTables(path, name, folder string, m *shards.Merged) error {
	if !slices.Contains(strings.Fields(tables.Endings), strings.ToLower(filepath.Ext(name))) {
		return cli.Usagef("%s: tables go into a file of %s", name, tables.Endings)
	}
	var all *tabular.Table
	var files, inputs []string
	called := fileNames(m)
	for _, rec := range m.Records {
		if rec.Error != "" {
			continue
		}
		var p predicted
		if err := json.Unmarshal(rec.Result, &p); err != nil {
			return fmt.Errorf("line %d: %w", rec.Line, err)
		}
		if p.Columns == nil {
			return fmt.Errorf("line %d: %s is no table, as others are: without --out they stay apart", rec.Line, rec.Out)
		}
		t, err := readPicked(inFolder(folder, rec), &p)
		if err != nil {
			return err
		}
		if all == nil {
			all = &tabular.Table{Cols: t.Cols, Header: t.Header, Units: t.Units, Calendars: t.Calendars, Single: t.Single,
				Texts: make([][]string, t.Cols), About: t.About, Mapping: t.Mapping}
			inputs = p.Inputs
		}
		if err := appendRows(all, t); err != nil {
			return fmt.Errorf("line %d: %s: %w: without --out they stay apart", rec.Line, rec.Out, err)
		}
		files = append(files, slices.Repeat([]string{called(rec.Name)}, t.Rows())...)
	}
	for c, texts := range all.Texts {
		if texts != nil {
			all.Texts[c] = append(texts, make([]string, all.Rows()-len(texts))...)
		}
	}
	out := &tabular.Table{Cols: all.Cols + 1, Header: append([]string{"file"}, all.Header...), Units: append([]string{""}, all.Units...),
		Single: append([]bool{false}, all.Single...), Texts: append([][]string{files}, all.Texts...),
		Values: make([]float64, 0, len(all.Values)+len(files))}
	if all.Calendars != nil {
		out.Calendars = append([]string{""}, all.Calendars...)
	}
	if out.Mapping = all.Mapping; all.About != nil {
		out.About = append([]map[string]string{nil}, all.About...)
	}
	if all.Exact != nil {
		out.Exact = append([][]string{nil}, all.Exact...)
	}
	for row := range all.Rows() {
		out.Values = append(append(out.Values, math.NaN()), all.Values[row*all.Cols:(row+1)*all.Cols]...)
	}
	var x []int
	for _, name := range inputs {
		x = append(x, slices.Index(out.Header, name))
	}
	return create(path, func(w io.Writer) error { return tables.Write(w, name, out, x) })
}

// fileNames says how the column of files calls one: without its folders, if that is no other file's name.
func fileNames(m *shards.Merged) func(name string) string {
	of := map[string]string{}
	for _, rec := range m.Records {
		base := filepath.Base(rec.Name)
		if other, ok := of[base]; ok && other != rec.Name {
			return func(name string) string { return name }
		}
		of[base] = rec.Name
	}
	return filepath.Base
}

// readPicked reads the columns of a table of predictions.
func readPicked(path string, p *predicted) (*tabular.Table, error) {
	t, err := tables.ReadFile(path, p.Columns)
	if err != nil {
		return nil, err
	}
	var picked []int
	var names []string
	for _, c := range p.Columns {
		if k := slices.Index(t.Header, c); k >= 0 { // npz has no place for text
			picked, names = append(picked, k), append(names, c)
		}
	}
	out := t.Only(picked, names)
	for c, k := range picked {
		if t.Exact == nil || slices.Contains(p.Inputs, names[c]) { // digits beyond float64's are those of identifiers
			continue
		}
		for row, text := range t.Exact[k] {
			out.SetExact(row, c, text)
		}
	}
	return out, nil
}

// appendRows puts the rows of a table below those of another one of the same columns. Times move to its clock.
func appendRows(all, t *tabular.Table) error {
	rows := all.Rows()
	switch {
	case !slices.Equal(t.Header, all.Header):
		return fmt.Errorf("it has the columns %q, the tables before it %q", t.Header, all.Header)
	case len(all.Values)+len(t.Values) > maxJoined:
		return fmt.Errorf("more than %d cells in one table", maxJoined)
	}
	calendar := func(t *tabular.Table, c int) string {
		if t.Calendars == nil {
			return ""
		}
		return t.Calendars[c]
	}
	for c, name := range all.Header {
		if t.Units[c] == all.Units[c] && calendar(t, c) == calendar(all, c) {
			continue
		}
		to, err := tabular.ParseClock(all.Units[c], calendar(all, c))
		if err != nil {
			return fmt.Errorf("column %q: %w", name, err)
		}
		own, err := tabular.ParseClock(t.Units[c], calendar(t, c))
		if err != nil {
			return fmt.Errorf("column %q: %w", name, err)
		}
		if (to == nil || own == nil) && (to != nil || own != nil || t.Units[c] != "" && all.Units[c] != "") {
			return fmt.Errorf("column %q is in %q, in the tables before it in %q", name, t.Units[c], all.Units[c])
		}
		for at := c; to != nil && at < len(t.Values); at += t.Cols {
			t.Values[at] = to.From(own, t.Values[at])
		}
	}
	all.Values = append(all.Values, t.Values...)
	for c := range all.Cols {
		if t.Texts[c] != nil {
			texts := append(all.Texts[c], make([]string, rows-len(all.Texts[c]))...)
			all.Texts[c] = append(texts, t.Texts[c]...)
		}
		if t.Exact != nil {
			for row, text := range t.Exact[c] {
				all.SetExact(rows+row, c, text)
			}
		}
	}
	return nil
}

// Join writes all predictions of a folder into the file at path, in the format of name: tensors of one name one after the
// other, or the rows of tables of equal columns with a column of the files before them.
func Join(path, name, folder string, m *shards.Merged) error {
	for _, rec := range m.Records {
		var p predicted
		if m.Kind == "predict" && json.Unmarshal(rec.Result, &p) == nil && p.Columns != nil {
			return joinTables(path, name, folder, m)
		}
	}
	if !slices.Contains(strings.Fields(taskfile.Endings), strings.ToLower(filepath.Ext(name))) {
		return cli.Usagef("%s: tensors go into a file of %s", name, taskfile.Endings)
	}
	return joinPredictions(path, name, folder, m)
}

// joinPredictions writes the predictions of all files as one: tensors of one name after each other along their axis of tasks.
func joinPredictions(path, name, folder string, m *shards.Merged) error {
	if m.Kind != "predict" {
		return fmt.Errorf("the results of %s are no predictions", m.Kind)
	}
	var names []string
	all := map[string]*safetensors.Tensor{}
	files := 0
	for _, rec := range m.Records {
		if rec.Error != "" {
			continue
		}
		f, err := taskfile.Open(inFolder(folder, rec))
		if err != nil {
			return err
		}
		in := f.Tensors()
		if files++; files > 1 && len(in) != len(names) {
			return fmt.Errorf("line %d: %s has other tensors than the files before", rec.Line, rec.Out)
		}
		for i := range in {
			t := &in[i]
			axis := 0
			if t.Name == "samples" {
				axis = 1
			}
			have := all[t.Name]
			if have == nil && files == 1 {
				names = append(names, t.Name)
				own := *t
				own.Data = slices.Clone(t.Data)
				all[t.Name] = &own
				continue
			}
			if have == nil || have.DType != t.DType || len(t.Shape) != len(have.Shape) || len(t.Shape) <= axis ||
				!slices.Equal(t.Shape[axis+1:], have.Shape[axis+1:]) ||
				!slices.Equal(t.Shape[:axis], have.Shape[:axis]) {
				return fmt.Errorf("line %d: tensor %s has another shape than in the files before: without --out they stay apart",
					rec.Line, t.Name)
			}
			*have = along(have, t, axis)
		}
	}
	var out []safetensors.Tensor
	for _, n := range names {
		out = append(out, *all[n])
	}
	return create(path, func(w io.Writer) error { return taskfile.Write(w, name, out) })
}

// create writes a file, which is on the disk then. Its caller gives it its name.
func create(path string, write func(w io.Writer) error) error {
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(w), w.Sync(), w.Close())
}

// along puts two tensors one after the other along an axis.
func along(a, b *safetensors.Tensor, axis int) safetensors.Tensor {
	out := *a
	out.Shape = slices.Clone(a.Shape)
	out.Shape[axis] += b.Shape[axis]
	if axis == 0 {
		out.Data = append(a.Data, b.Data...)
		return out
	}
	outer := 1
	for _, n := range a.Shape[:axis] {
		outer *= n
	}
	out.Data = nil
	for i := range outer {
		out.Data = append(out.Data, a.Data[i*len(a.Data)/max(outer, 1):(i+1)*len(a.Data)/max(outer, 1)]...)
		out.Data = append(out.Data, b.Data[i*len(b.Data)/max(outer, 1):(i+1)*len(b.Data)/max(outer, 1)]...)
	}
	return out
}

// inFolder is a record's file.
func inFolder(folder string, r shards.Record) string { return filepath.Join(folder, r.Out) }
