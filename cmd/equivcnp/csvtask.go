package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/cli"
)

const nextHelp = "forecast: so many steps behind the last row, at the usual distance of rows, of one input"

// taskOptionsVar adds the flags that name one task: context points of a table, and where to predict.
func taskOptionsVar(a *app, cmd *cobra.Command, o *tabletask.Options) {
	o.Stdin = a.stdin
	fl := cmd.Flags()
	fl.StringVar(&o.CSV, "csv", "", "table of the context points: .csv, .tsv, .parquet, .xlsx, .ods, .json, .npz, .npy, .nc (NetCDF)")
	columnsVar(cmd, &o.Columns)
	fl.StringVar(&o.Targets, "targets", "", "table of the coordinates at which to predict")
	place := func(to *tabletask.Place) *cli.Parsed[tabletask.Place] {
		return &cli.Parsed[tabletask.Place]{To: to, Parse: tabletask.ParsePlace, Kind: "number or date",
			Show: func(p tabletask.Place) string { return strconv.FormatFloat(p.Value, 'g', -1, 64) }}
	}
	fl.Var(place(&o.From), "from", "first target, a number or a date such as 2006-01-02")
	fl.Var(place(&o.To), "to", "last target")
	fl.IntVar(&o.Points, "points", 400, "number of targets from --from to --to")
	fl.Float64Var(&o.Sphere, "sphere", 0,
		"on the globe: predict on a grid of the whole globe with this spacing in degrees (5 if none is given)")
	fl.Lookup("sphere").NoOptDefVal = "5"
	fl.StringSliceVar(&o.Grid, "grid", nil, "predict on a grid: the side of square cells that cover the rows of --csv, two inputs, "+
		"as in 40; or NAME=FROM:TO:STEP for every input, from the centre of the first cell, as in east=0:10:1,north=0:10:1")
	fl.IntVar(&o.Next, "next", 0, nextHelp)
	for _, name := range []string{"csv", "targets"} {
		must(cmd.MarkFlagFilename(name, "csv"))
	}
	cmd.MarkFlagsMutuallyExclusive("targets", "grid", "next")
	cmd.MarkFlagsMutuallyExclusive("next", "sphere")
	for _, name := range []string{"from", "to", "points"} {
		for _, other := range []string{"targets", "sphere", "grid", "next"} {
			cmd.MarkFlagsMutuallyExclusive(other, name)
		}
	}
}

// checkTargets refuses flags that name no targets.
func checkTargets(o *tabletask.Options, changed func(string) bool) error {
	if !changed("sphere") && o.Targets == "" && o.Grid == nil && o.Next == 0 && !(changed("from") && changed("to")) {
		return cli.Usagef("say where to predict: --next, --from and --to, --grid, --targets, or --sphere")
	}
	if changed("model") && changed("sphere") && (o.Targets != "" || o.Grid != nil) { // without a model it says what the inputs are
		return cli.Usagef("--sphere: with a model it is a grid of targets, beside which there are no --targets and no --grid")
	}
	return flagged(o.CheckTargets(changed("sphere")))
}

// readTable reads a table that has these columns, unless ctx ends first.
func (a *app) readTable(ctx context.Context, c *tabletask.Columns, path string) (*table.Table, error) {
	t, err := cli.Interruptible(ctx, func() (*table.Table, error) { return c.ReadTable(path, a.stdin) })
	return t, flagged(err)
}

// readTask reads the tables of a task, unless ctx ends first.
func readTask(ctx context.Context, o *tabletask.Options) (*tabletask.Task, error) {
	return cli.Interruptible(ctx, func() (*tabletask.Task, error) { return tabletask.Read(o) })
}
