package main

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/plot"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/tables"
)

// tableFlags say how predict reads tasks from a table, and where it predicts them.
type tableFlags struct {
	tabletask.TasksOptions
	plot string
}

func (f *tableFlags) register(a *app, cmd *cobra.Command) {
	f.Stdin = a.stdin
	columnsVar(cmd, &f.Columns)
	fl := cmd.Flags()
	fl.StringVar(&f.Targets, "targets", "", "tables: table of the places at which to predict, for each task its own "+
		"if it has the column of --task, otherwise for all (default: the rows of --in)")
	fl.StringSliceVar(&f.Grid, "grid", nil, "tables: predict on a grid, NAME=FROM:TO:STEP or NAME=VALUE for every "+
		"input, as lat=40:60:0.5,lon=-10:10:0.5 (between dates the step is in days, or 6h, 1mo, 1y), or the side of a cell, two inputs")
	fl.IntVar(&f.Next, "next", 0, "tables: "+nextHelp+", for each task")
	fl.StringVar(&f.plot, "plot", "",
		"tables: maps of mean and standard deviation of the first task, if its targets are a grid of two inputs (.png)")
	must(cmd.MarkFlagFilename("targets", "csv", "parquet"))
	must(cmd.MarkFlagFilename("plot", "png"))
	cmd.MarkFlagsMutuallyExclusive("targets", "grid", "next")
}

// asked reports whether a file is one of rows and columns, and not of tensors: by its name, or because flags speak of columns.
func (f *tableFlags) asked(in string) bool {
	endings := []string{".csv", ".tsv", ".txt", ".parquet", ".npy", ".xlsx", ".ods", ".json", ".jsonl", ".geojson"}
	return slices.Contains(endings, tables.Ending(in)) ||
		f.X != nil || f.Y != nil || f.Task != "" || f.Static != "" || f.Targets != "" || f.Grid != nil || f.Next != 0 || f.plot != ""
}

// predictTable is predict for a table.
func (a *app) predictTable(ctx context.Context, f *predictFlags) error {
	outs, err := a.outputs([]string{f.model.path, f.in, f.table.Targets, f.table.Static},
		cli.Out("out", f.out, mapFiles), cli.Out("plot", f.table.plot, pictureFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	var model cnp.Regressor[float32]
	if f.model.path != "" {
		if model, err = f.model.regressor(ctx); err != nil {
			return err
		}
	}
	r := &result{}
	p, err := a.predictedTable(ctx, f, r, model)
	if err != nil {
		return err
	}
	if err := outs.Write("out", func(w io.Writer) error { return tables.Write(w, f.out, p.Table, p.X, p.Beside()...) }); err != nil {
		return err
	}
	if err := r.drawn(outs.Draw("plot", func(w io.Writer) error { return plot.TableMaps(w, p.TasksPrediction) })); err != nil {
		return err
	}
	return a.wrotePrediction(ctx, outs, r, &p.predictResult, f.out)
}

// tablePrediction is the prediction of one table, and what is said of it.
type tablePrediction struct {
	predictResult
	*tabletask.TasksPrediction
}

// predictedTable predicts the tasks of the table f.in, and writes to r what is to be said. Without a model they are interpolated.
func (a *app) predictedTable(ctx context.Context, f *predictFlags, r *result, model cnp.Regressor[float32]) (*tablePrediction, error) {
	if f.covariance {
		return nil, cli.Usagef("--covariance is for files of tensors")
	}
	in, err := a.readTable(ctx, &f.table.Columns, f.in)
	if err != nil {
		return nil, err
	}
	if model == nil {
		if model, err = f.model.universalOfTable(&f.table.Columns, in, f.oneTable.Options); err != nil {
			return nil, err
		}
	}
	cfg := model.Config()
	tasks, err := cli.Interruptible(ctx, func() (*tabletask.Tasks, error) { return tabletask.TasksOf(&f.table.TasksOptions, &cfg, in) })
	if err != nil {
		return nil, flagged(err)
	}
	work, done := a.withProgress(ctx, "predicting")
	defer done()
	p, err := tasks.Predict(work, model, &tabletask.TasksRun{Name: f.in, Standardise: f.standardise, NoCheck: f.oneTable.NoCheck,
		Samples: f.chain.samples, Quantiles: f.quantiles, Outputs: f.outputs,
		Sample: func(tasks, context int) cnp.SampleOptions { return f.chain.options(&cfg, tasks, context) }})
	if err != nil {
		return nil, flagged(err)
	}
	r.add(&p.Notes)
	out := predictResult{Model: f.model.path, Architecture: string(cfg.Architecture), Group: cfg.Group, In: f.in, Tasks: len(p.Rows),
		ContextPoints: p.Context, Targets: p.Table.Rows(), Shape: []int{p.Table.Rows(), p.Dy}, Columns: p.Table.Header, Inputs: p.Inputs,
		LogLikelihood: (*number)(p.LogLikelihood), LogLikelihoodOf: p.Of, LogLikelihoodValues: p.Values,
		Seconds: number(p.Time.Seconds()), Check: p.Check}
	out.lines(r, f.model.describe(cfg), " that are no context")
	return &tablePrediction{out, p}, nil
}
