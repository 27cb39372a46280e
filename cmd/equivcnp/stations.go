package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/stations"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/cli"
)

// stationsFlags are the flags of equivcnp stations.
type stationsFlags struct {
	model    modelFlags
	opt      stations.Options
	oneTable oneTableFlags
}

func (a *app) stationsCommand() *cobra.Command {
	var f stationsFlags
	cmd := &cobra.Command{
		Use:                   "stations [--model M] --csv data.csv --targets targets.csv --out pred.csv",
		DisableFlagsInUseLine: true,
		Short:                 "Predict at more places than fit into memory",
		Long:                  helpText("stations"),
		Example: `  equivcnp stations --csv zinc.csv --targets grid.csv --x east,north --y zinc --out pred.csv
  equivcnp stations --model m.safetensors --csv stations.csv --targets places.csv --x lat,lon --y t2m --out t2m.csv`,
		Args: noArguments,
		RunE: a.action(func(cmd *cobra.Command, _ []string) error { return a.stations(cmd.Context(), &f) }),
	}
	f.model.register(a, cmd)
	optionalModel(cmd)
	f.model.registerLattice(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.opt.CSV, "csv", "", "table of the context points, required")
	fl.StringVar(&f.opt.Targets, "targets", "", "CSV or TSV file of the targets' coordinates, required")
	columnsVar(cmd, &f.opt.Columns)
	fl.StringVarP(&f.opt.Out, "out", "o", "", "table of the prediction, .csv or .tsv, required")
	fl.IntVar(&f.opt.Rows, "rows", 1<<16, "number of targets at a time")
	quantilesFlag(fl, &f.opt.Quantiles)
	outputsFlag(fl, &f.opt.Outputs)
	standardiseFlag(fl, &f.opt.Standardise)
	noCheckFlag(fl, &f.oneTable.NoCheck)
	f.oneTable.registerTasks(fl)
	a.jsonFlag(cmd)
	for _, name := range []string{"csv", "targets", "out"} {
		must(cmd.MarkFlagRequired(name))
	}
	return cmd
}

// stationsResult is what stations --json prints.
type stationsResult struct {
	Model         string   `json:"model"`
	CSV           string   `json:"csv"`
	ContextPoints int      `json:"context_points"`
	Targets       int      `json:"targets"`
	Kept          int      `json:"kept"` // predicted by an earlier process
	Seconds       number   `json:"seconds"`
	Out           string   `json:"out"`
	Notes         []string `json:"notes"`
	// Check says whether the model suits the context.
	Check *predict.Checked `json:"check,omitempty"`
}

func (a *app) stations(ctx context.Context, f *stationsFlags) error {
	opt := &f.opt
	opt.NoCheck = f.oneTable.NoCheck
	if opt.Rows == 0 {
		return cli.Usagef("--rows 0: need 1 to %d", tabletask.MaxPoints)
	}
	if err := errors.Join(cli.CheckQuantiles(opt.Quantiles), f.oneTable.check(f.model.path)); err != nil {
		return err
	}
	outs, err := cli.NewOutputs([]string{f.model.path, opt.CSV, opt.Targets}, cli.Out("out", opt.Out, ".csv .tsv"))
	if err != nil {
		return err
	}
	defer outs.Discard()
	out, err := outs.Regular("out")
	if err != nil || opt.CSV == cli.Stdio || opt.Targets == cli.Stdio {
		return cli.Usagef("stations reads and writes regular files, not standard input or output")
	}
	model, err := a.stationsModel(ctx, f)
	if err != nil {
		return err
	}
	cfg := model.Config()
	if err := stations.Suits(&cfg); err != nil {
		return fmt.Errorf("%s: %w", f.model.path, err)
	}
	members, err := f.model.members()
	if err != nil {
		return err
	}
	for _, m := range members {
		opt.Settings = append(opt.Settings, modelSetting(m))
	}
	opt.Settings = append(opt.Settings, f.model.group, f.model.alpha, f.model.pointsPerUnit, f.oneTable.Options)
	written := opt.Out
	opt.Model, opt.Out = f.model.path, out
	work, remove := a.withProgress(ctx, "predicting")
	defer remove()
	rep, err := stations.Run(work, model, *opt)
	remove()
	if err != nil {
		return err
	}
	r := &result{}
	r.add(&rep.Notes)
	seconds := rep.Time.Seconds()
	r.Line("model", "%s", f.model.describe(cfg))
	r.Line("targets", "%d, %d of them done before", rep.Targets, rep.Kept)
	r.Line("time", "%.2f s", seconds)
	r.Line("written", "%s", written)
	return a.print(r, stationsResult{f.model.path, opt.CSV, rep.ContextPoints, rep.Targets, rep.Kept, number(seconds), written,
		r.AllNotes(), rep.Check})
}

// stationsModel opens the model, or where there is none the interpolation of the table.
func (a *app) stationsModel(ctx context.Context, f *stationsFlags) (cnp.Regressor[float32], error) {
	if f.model.path != "" {
		return f.model.regressor(ctx)
	}
	points, err := a.readTable(ctx, &f.opt.Columns, f.opt.CSV)
	if err != nil {
		return nil, err
	}
	return f.model.universalOfTable(&f.opt.Columns, points, f.oneTable.Options)
}
