package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/shards"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// predictManifest predicts the files of a manifest, or a shard of them.
func (a *app) predictManifest(ctx context.Context, f *predictFlags, opt cnp.PlanOptions) error {
	members, err := f.model.members()
	if err != nil {
		return err
	}
	if slices.Contains(members, cli.Stdio) {
		return cli.Usagef("--manifest: the model must be a file that every shard reads, not standard input")
	}
	lines, err := f.shards.lines()
	if err != nil {
		return err
	}
	files, err := shards.Files(lines, filepath.Dir(f.shards.manifest), f.shards.manifest)
	if err != nil {
		return err
	}
	if _, err := f.shards.which(); err != nil {
		return err
	}
	var model cnp.Model[float32] // nil: each file is interpolated
	if len(members) > 0 {
		if model, err = f.model.load(ctx); err != nil {
			return err
		}
	}
	job := &shards.Job{Kind: "predict", Items: files, Settings: f.shards.settings(f.flags)}
	for _, path := range members {
		job.Settings = append(job.Settings, modelSetting(path))
	}
	name := func(it shards.Item) string {
		base := filepath.Base(it.Name)
		ending := filepath.Ext(base)
		stem, written := strings.TrimSuffix(base, ending), strings.ToLower(ending)
		switch table := f.table.asked(it.Name); {
		case slices.Contains(strings.Fields(taskFiles), written), table && slices.Contains(strings.Fields(tableFiles), written):
		case table:
			ending = ".csv"
		default:
			ending = ".safetensors"
		}
		return shards.OutName(it.ID, stem, ending)
	}
	return f.shards.run(ctx, a, job, name, func(ctx context.Context, it shards.Item, out string) (any, error) {
		own := *f
		own.in = it.Name
		return a.predictItem(ctx, &own, model, out, opt)
	})
}

// predictItem predicts the file f.in of a manifest into another, and returns what a shard keeps of it.
func (a *app) predictItem(ctx context.Context, f *predictFlags, model cnp.Model[float32], out string, opt cnp.PlanOptions) (any, error) {
	r := &result{}
	if f.table.asked(f.in) {
		curves, ok := model.(cnp.Regressor[float32])
		if model != nil && !ok {
			return nil, fmt.Errorf("%s: a table, and %s completes images", f.in, f.model.path)
		}
		p, err := a.predictedTable(ctx, f, r, curves)
		if err != nil {
			return nil, err
		}
		if err := shards.Create(out, func(w io.Writer) error { return tables.Write(w, out, p.Table, p.X) }); err != nil {
			return nil, err
		}
		return recorded(p.predictResult, r, out), nil
	}
	in, err := taskfile.Open(f.in)
	if err != nil {
		return nil, err
	}
	p, err := a.predictFile(ctx, f, r, model, in, f.in, opt)
	if err != nil {
		return nil, err
	}
	if err := shards.Create(out, func(w io.Writer) error { return taskfile.Write(w, out, p.tensors) }); err != nil {
		return nil, err
	}
	return recorded(p.predictResult, r, out), nil
}

// recorded is what a shard keeps of a prediction, which does not depend on the machine.
func recorded(p predictResult, r *result, out string) predictResult {
	p.Out, p.Notes, p.Seconds = filepath.Base(out), r.AllNotes(), 0
	return p
}

// maxJoined bounds the cells of a table that merge puts together.
const maxJoined = 1 << 27

// joinTables writes the predictions of all tables as one: rows one after the other, and before them a column that says
// of which file they are.
func joinTables(path, name, folder string, m *shards.Merged) error {
	if !slices.Contains(strings.Fields(tableFiles), strings.ToLower(filepath.Ext(name))) {
		return cli.Usagef("--out %s: tables go into a file of %s", name, tableFiles)
	}
	var all *tabular.Table
	var files, inputs []string
	for _, rec := range m.Records {
		if rec.Error != "" {
			continue
		}
		var p predictResult
		if err := json.Unmarshal(rec.Result, &p); err != nil {
			return fmt.Errorf("line %d: %w", rec.Line, err)
		}
		if p.Columns == nil {
			return fmt.Errorf("line %d: %s is no table, as others are: without --out they stay apart", rec.Line, rec.Out)
		}
		t, err := tables.ReadFile(inFolder(folder, rec), p.Columns)
		if err != nil {
			return err
		}
		var picked []int
		var names []string
		for _, c := range p.Columns {
			if k := slices.Index(t.Header, c); k >= 0 { // npz has no place for text
				picked, names = append(picked, k), append(names, c)
			}
		}
		t = t.Only(picked, names)
		if all == nil {
			all = &tabular.Table{Cols: t.Cols, Header: t.Header, Units: t.Units, Single: t.Single, Texts: make([][]string, t.Cols)}
			inputs = p.Inputs
		}
		rows := all.Rows()
		switch {
		case !slices.Equal(t.Header, all.Header):
			return fmt.Errorf("line %d: %s has the columns %q, the tables before it %q: without --out they stay apart", rec.Line,
				rec.Out, t.Header, all.Header)
		case len(all.Values)+len(t.Values) > maxJoined:
			return fmt.Errorf("line %d: more than %d cells in one table: without --out they stay apart", rec.Line, maxJoined)
		}
		all.Values = append(all.Values, t.Values...)
		for c := range all.Cols {
			if t.Texts[c] != nil {
				texts := append(all.Texts[c], make([]string, rows-len(all.Texts[c]))...)
				all.Texts[c] = append(texts, t.Texts[c]...)
			}
		}
		files = append(files, slices.Repeat([]string{filepath.Base(rec.Name)}, t.Rows())...)
	}
	for c, texts := range all.Texts {
		if texts != nil {
			all.Texts[c] = append(texts, make([]string, all.Rows()-len(texts))...)
		}
	}
	out := &tabular.Table{Cols: all.Cols + 1, Header: append([]string{"file"}, all.Header...), Units: append([]string{""}, all.Units...),
		Single: append([]bool{false}, all.Single...), Texts: append([][]string{files}, all.Texts...),
		Values: make([]float64, 0, len(all.Values)+len(files))}
	for row := range all.Rows() {
		out.Values = append(append(out.Values, math.NaN()), all.Values[row*all.Cols:(row+1)*all.Cols]...)
	}
	var x []int
	for _, name := range inputs {
		x = append(x, slices.Index(out.Header, name))
	}
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(tables.Write(w, name, out, x), w.Sync(), w.Close())
}

// join writes all predictions of a folder into one file.
func join(path, name, folder string, m *shards.Merged) error {
	for _, rec := range m.Records {
		var p predictResult
		if m.Kind == "predict" && json.Unmarshal(rec.Result, &p) == nil && p.Columns != nil {
			return joinTables(path, name, folder, m)
		}
	}
	if !slices.Contains(strings.Fields(taskFiles), strings.ToLower(filepath.Ext(name))) {
		return cli.Usagef("--out %s: tensors go into a file of %s", name, taskFiles)
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
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	err = taskfile.Write(w, name, out)
	if err == nil {
		err = w.Sync()
	}
	if closed := w.Close(); err == nil {
		err = closed
	}
	return err
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
