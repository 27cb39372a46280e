package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/tabular"
)

// csvFlags name one task: context points of a CSV file, and where to predict.
type csvFlags struct {
	csv, targets string
	columns      columnFlags
	from, to     float64
	points       int
}

// register adds the flags.
func (f *csvFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.csv, "csv", "", "table of the context points: .csv, .tsv, .npz, .npy, .nc (NetCDF)")
	f.columns.register(cmd)
	fl.StringVar(&f.targets, "targets", "", "table of the targets' coordinates")
	fl.Float64Var(&f.from, "from", 0, "first target")
	fl.Float64Var(&f.to, "to", 0, "last target")
	fl.IntVar(&f.points, "points", 400, "number of targets from --from to --to")
	for _, name := range []string{"csv", "targets"} {
		must(cmd.MarkFlagFilename(name, "csv"))
	}
	for _, name := range []string{"from", "to", "points"} {
		cmd.MarkFlagsMutuallyExclusive("targets", name)
	}
}

// maxPoints bounds the targets of --points.
const maxPoints = 1 << 24

// check refuses flags that name no targets.
func (f *csvFlags) check(changed func(string) bool) error {
	if f.targets == "" && !(changed("from") && changed("to")) {
		return usagef("say where to predict: --from and --to, or --targets")
	}
	if f.targets == "" {
		switch {
		case f.points < 0 || f.points > maxPoints:
			return usagef("--points %d: need 0 to %d", f.points, maxPoints)
		case math.IsNaN(f.to-f.from) || math.IsInf(f.to-f.from, 0):
			return usagef("--from %g --to %g: need finite numbers", f.from, f.to)
		case f.from > f.to:
			return usagef("--from %g lies beyond --to %g", f.from, f.to)
		}
	}
	return nil
}

// csvTask is a task as its tables have it.
type csvTask struct {
	points, targets *tabular.Table
	observed, asked *task.Rows
	dx, dy          int
	incomplete      int // rows of points that lack outputs, and are left out
	batch           *cnp.Batch[float32]
}

// read reads the tables.
func (f *csvFlags) read(ctx context.Context, a *app) (*csvTask, error) {
	points, err := f.columns.table(ctx, a, f.csv)
	if err != nil {
		return nil, err
	}
	t := &csvTask{points: points, targets: &tabular.Table{Cols: 1}}
	if f.targets == "" {
		t.targets.Values = linspace(f.from, f.to, f.points)
		return t, nil
	}
	t.targets, err = f.columns.table(ctx, a, f.targets)
	return t, err
}

// fit makes the task of the tables that a model needs.
func (t *csvTask) fit(f *csvFlags, model string, cfg *cnp.Config) error {
	dx, dy := cfg.DimX, cfg.DimY
	if f.targets == "" && dx != 1 {
		return fmt.Errorf("%s: the model has %d input coordinates, use --targets instead of --from and --to", model, dx)
	}
	t.dx, t.dy = dx, dy
	opt := f.columns.options(dx, dy)
	var err error
	if t.observed, err = task.RowsOf(t.points, opt, false); err != nil {
		return hintColumns(err)
	}
	if err := oneTask(t.points, t.observed); err != nil {
		return err
	}
	if f.targets == "" {
		opt = task.CSVOptions{Dx: 1, Dy: dy}
	}
	opt.Task = "" // all targets are of that one
	if t.asked, err = task.RowsOf(t.targets, opt, true); err != nil {
		return hintColumns(err)
	}
	if err := checkTable(cfg, t.points, t.observed.Y, t.observed.Columns.Y); err != nil {
		return err
	}
	if err := checkTable(cfg, t.targets, t.asked.Y, t.asked.Columns.Y); err != nil {
		return err
	}
	b := &cnp.Batch[float32]{B: 1, Nt: t.targets.Rows(), XTarget: t.asked.X}
	for row := range t.points.Rows() {
		if known := t.observed.Known(row); known == 0 || known < dy && !cfg.ChannelDensity {
			t.incomplete++
			continue
		}
		b.XContext, b.Nc = append(b.XContext, t.observed.X[row*dx:(row+1)*dx]...), b.Nc+1
		for _, y := range t.observed.Y[row*dy : (row+1)*dy] {
			b.YContext = append(b.YContext, float32(y))
		}
	}
	t.batch = b
	return nil
}

// noteExtra names columns that nobody read.
func (t *csvTask) noteExtra(r *result) {
	for _, t := range []struct {
		table   *tabular.Table
		columns tabular.Columns
	}{{t.points, t.observed.Columns}, {t.targets, t.asked.Columns}} {
		if extra := t.table.Extra(t.columns); len(extra) > 0 {
			r.note("columns of %s that are not read: %s", t.table.Name, strings.Join(extra, ", "))
		}
	}
}
