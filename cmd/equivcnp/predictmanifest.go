package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/safetensors"
	"github.com/equivcnp/equivcnp/internal/shards"
)

// predictManifest predicts the files of a manifest, or a shard of them.
func (a *app) predictManifest(ctx context.Context, f *predictFlags, opt cnp.PlanOptions) error {
	members, err := f.model.members()
	if err != nil {
		return err
	}
	if members[0] == stdio {
		return usagef("--manifest: the model must be a file that every shard reads, not standard input")
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
	model, err := f.model.load(ctx)
	if err != nil {
		return err
	}
	job := &shards.Job{Kind: "predict", Items: files, Settings: f.shards.settings(f.flags)}
	for _, path := range members {
		job.Settings = append(job.Settings, modelSetting(path))
	}
	name := func(it shards.Item) string {
		base := filepath.Base(it.Name)
		ending := filepath.Ext(base)
		stem := strings.TrimSuffix(base, ending)
		if !slices.Contains(strings.Fields(taskFiles), strings.ToLower(ending)) {
			ending = ".safetensors"
		}
		return shards.OutName(it.ID, stem, ending)
	}
	return f.shards.run(ctx, a, job, name, func(ctx context.Context, it shards.Item, out string) (any, error) {
		in, err := taskfile.Open(it.Name)
		if err != nil {
			return nil, err
		}
		r := &result{}
		p, err := a.predictFile(ctx, f, r, model, in, it.Name, opt)
		if err != nil {
			return nil, err
		}
		if err := shards.Create(out, func(w io.Writer) error { return taskfile.Write(w, out, p.tensors) }); err != nil {
			return nil, err
		}
		p.Out, p.Notes = filepath.Base(out), r.allNotes()
		p.Seconds = 0 // records do not depend on the machine
		return p.predictResult, nil
	})
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
			if have == nil || have.DType != t.DType || len(t.Shape) != len(have.Shape) || len(t.Shape) <= axis || !slices.Equal(t.Shape[axis+1:], have.Shape[axis+1:]) ||
				!slices.Equal(t.Shape[:axis], have.Shape[:axis]) {
				return fmt.Errorf("line %d: tensor %s has another shape than in the files before: without --out they stay apart", rec.Line, t.Name)
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
