package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/shards"
	"github.com/equivcnp/equivcnp/internal/tables"
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
		if err := shards.Create(out, func(w io.Writer) error { return tables.Write(w, out, p.Table, p.X, p.Beside()...) }); err != nil {
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
