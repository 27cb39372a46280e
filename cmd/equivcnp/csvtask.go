package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
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
	from, to     placeFlag
	points       int
	sphere       float64 // degrees
}

// placeFlag is a flag of a coordinate: a number, or a date.
type placeFlag struct {
	text string // as it was given
	v    float64
	date bool // v is days since the beginning of 1970
}

// Set reads a number or a date.
func (p *placeFlag) Set(text string) (err error) {
	p.text = text
	if p.v, p.date = tabular.Days(text); p.date {
		return nil
	}
	if p.v, err = strconv.ParseFloat(text, 64); err != nil {
		return errors.New("need a number or a date like 2006-01-02")
	}
	return nil
}

func (p *placeFlag) String() string { return strconv.FormatFloat(p.v, 'g', -1, 64) }

// Type names the value for the help.
func (p *placeFlag) Type() string { return "number or date" }

// register adds the flags.
func (f *csvFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.csv, "csv", "", "table of the context points: .csv, .tsv, .npz, .npy, .nc (NetCDF)")
	f.columns.register(cmd)
	fl.StringVar(&f.targets, "targets", "", "table of the targets' coordinates")
	fl.Var(&f.from, "from", "first target, a number or a date like 2006-01-02")
	fl.Var(&f.to, "to", "last target")
	fl.IntVar(&f.points, "points", 400, "number of targets from --from to --to")
	fl.Float64Var(&f.sphere, "sphere", 0, "models of points on the sphere: targets are a grid of the whole globe, so many degrees apart (alone: 5)")
	fl.Lookup("sphere").NoOptDefVal = "5"
	for _, name := range []string{"csv", "targets"} {
		must(cmd.MarkFlagFilename(name, "csv"))
	}
	for _, name := range []string{"from", "to", "points"} {
		cmd.MarkFlagsMutuallyExclusive("targets", name)
		cmd.MarkFlagsMutuallyExclusive("sphere", name)
	}
}

// maxPoints bounds the targets of --points.
const maxPoints = 1 << 24

// leastDegrees is the finest grid of --sphere.
const leastDegrees = 0.1

// check refuses flags that name no targets.
func (f *csvFlags) check(changed func(string) bool) error {
	if changed("sphere") {
		if !(f.sphere >= leastDegrees && f.sphere <= 90) {
			return usagef("--sphere %g: need %g to 90 degrees", f.sphere, leastDegrees)
		}
		return nil
	}
	if f.targets == "" && !(changed("from") && changed("to")) {
		return usagef("say where to predict: --from and --to, --targets, or --sphere")
	}
	if f.targets == "" {
		from, to := f.from.v, f.to.v
		switch {
		case f.points < 1 || f.points > maxPoints:
			return usagef("--points %d: need 1 to %d", f.points, maxPoints)
		case f.from.date != f.to.date:
			return usagef("--from and --to: need two numbers or two dates")
		case math.IsNaN(to-from) || math.IsInf(to-from, 0):
			return usagef("--from %g --to %g: need finite numbers", from, to)
		case from > to:
			return usagef("--from %s lies beyond --to %s", f.from.text, f.to.text)
		}
	}
	return nil
}

// csvTask is a task as its tables have it.
type csvTask struct {
	points, targets *tabular.Table
	observed, asked *task.Rows
	field           *task.Field // static
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
	if f.sphere > 0 && f.targets == "" {
		return t, nil // fit knows the model's coordinates
	}
	if f.targets == "" {
		t.targets.Values = linspace(f.from.v, f.to.v, f.points)
		return t, nil
	}
	t.targets, err = f.columns.table(ctx, a, f.targets)
	return t, err
}

// fit makes the task of the tables that a model needs.
func (t *csvTask) fit(ctx context.Context, a *app, f *csvFlags, model string, cfg *cnp.Config) error {
	dx, dy := cfg.DimX, cfg.DimY
	if n := len(cfg.Auxiliary); n > 0 && f.targets == "" {
		return fmt.Errorf("%s: the model has the auxiliary inputs %s, use --targets with a table that has them", model,
			strings.Join(cfg.Auxiliary, ", "))
	}
	if f.sphere > 0 && !cfg.OnSphere() {
		return fmt.Errorf("--sphere: the points of %s do not lie on the sphere", model)
	}
	if f.targets == "" && f.sphere == 0 && dx != 1 {
		return fmt.Errorf("%s: the model has %d input coordinates, use --targets instead of --from and --to", model, dx)
	}
	t.dx, t.dy = dx, dy
	if cfg.Degrees() && f.columns.x == nil {
		f.columns.x = latLonColumns(t.points)
	}
	var err error
	if t.field, err = f.columns.field(ctx, a, cfg, dx); err != nil {
		return err
	}
	if f.sphere > 0 {
		t.targets.Cols, t.targets.Values = dx, onSphere(cfg, globeGrid(f.sphere))
	}
	opt, err := f.columns.options(cfg)
	if err != nil {
		return err
	}
	if t.observed, err = task.RowsOf(t.points, opt, false); err != nil {
		return hintColumns(err)
	}
	if err := oneTask(t.points, t.observed); err != nil {
		return err
	}
	if err := t.clocks(f, opt); err != nil {
		return err
	}
	if f.targets == "" {
		opt = task.CSVOptions{Dx: dx, Dy: dy}
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
	if err := auxKnown(t.targets, t.asked, nil); err != nil {
		return err
	}
	da := len(cfg.Auxiliary)
	b := &cnp.Batch[float32]{B: 1, Nt: t.targets.Rows(), XTarget: t.asked.X, AuxTarget: single(t.asked.Aux)}
	for row := range t.points.Rows() {
		if known := t.observed.Known(row); known == 0 || known < dy && !cfg.ChannelDensity {
			t.incomplete++
			continue
		}
		b.XContext, b.Nc = append(b.XContext, t.observed.X[row*dx:(row+1)*dx]...), b.Nc+1
		for _, y := range t.observed.Y[row*dy : (row+1)*dy] {
			b.YContext = append(b.YContext, float32(y))
		}
		if !cfg.ChannelDensity {
			if err := auxKnown(t.points, t.observed, []int{row}); err != nil {
				return err
			}
		}
		b.AuxContext = append(b.AuxContext, single(t.observed.Aux[row*da:(row+1)*da])...)
	}
	t.field.Join(b)
	t.batch = b
	return nil
}

// clocks brings the targets' dates and times to the unit of time that the points have.
func (t *csvTask) clocks(f *csvFlags, opt task.CSVOptions) error {
	like := t.observed.Columns.X
	if f.targets != "" {
		return sameClocks(t.targets, opt, t.points, like)
	}
	if f.sphere > 0 || !f.from.date {
		return nil
	}
	clock, err := t.points.Clock(like[0])
	if err == nil && clock == nil {
		err = fmt.Errorf("--from, --to: %s holds numbers without a unit of time, so dates say nothing there", t.points.Name)
	}
	if err != nil {
		return err
	}
	t.targets.Values = linspace(clock.Of(f.from.v), clock.Of(f.to.v), f.points)
	t.targets.Units = []string{clock.Unit}
	return nil
}

// sameClocks brings the coordinates of places to the clocks of the columns x of another table.
func sameClocks(places *tabular.Table, opt task.CSVOptions, like *tabular.Table, x []int) error {
	columns, err := places.Find(tabular.Want{X: opt.X, Y: opt.Y, Dx: opt.Dx, Dy: opt.Dy, OnlyX: true, Aux: opt.Aux})
	if err != nil || len(columns.X) != len(x) {
		return nil // which whoever takes the columns says
	}
	for k, c := range columns.X {
		if err := places.SetClock(c, like, x[k]); err != nil {
			return err
		}
	}
	return nil
}

// auxKnown refuses a table in which a row lacks an auxiliary input, of some rows or of all.
func auxKnown(t *tabular.Table, r *task.Rows, rows []int) error {
	da := len(r.Columns.Aux)
	check := func(row int) error {
		for k, v := range r.Aux[row*da : (row+1)*da] {
			if v != v {
				return t.Errorf(row, r.Columns.Aux[k], "the cell is missing, and a target needs its auxiliary inputs")
			}
		}
		return nil
	}
	for _, row := range rows {
		if err := check(row); err != nil {
			return err
		}
	}
	for row := 0; rows == nil && da > 0 && row < t.Rows(); row++ {
		if err := check(row); err != nil {
			return err
		}
	}
	return nil
}

// latLonColumns are the names of the columns of latitude and longitude, nil if a table has none.
func latLonColumns(t *tabular.Table) []string {
	var found [2]string
	for _, name := range t.Header {
		switch strings.ToLower(name) {
		case "lat", "latitude":
			found[0] = name
		case "lon", "lng", "long", "longitude":
			found[1] = name
		}
	}
	if found[0] == "" || found[1] == "" {
		return nil
	}
	return found[:]
}

// globeGrid is the middles of equal cells of latitude and longitude that cover the globe, about step degrees long, from the south.
func globeGrid(step float64) (places [][2]float64) {
	rows, columns := max(1, int(math.Round(180/step))), max(1, int(math.Round(360/step)))
	for i := range rows {
		for k := range columns {
			places = append(places, [2]float64{-90 + (float64(i)+0.5)*180/float64(rows), -180 + (float64(k)+0.5)*360/float64(columns)})
		}
	}
	return places
}

// onSphere is places as a model's coordinates.
func onSphere(cfg *cnp.Config, places [][2]float64) (x []float64) {
	for _, p := range places {
		if cfg.Degrees() {
			x = append(x, p[:]...)
		} else {
			u := cnp.UnitVector(p[0], p[1])
			x = append(x, u[:]...)
		}
	}
	return x
}

// places is a model's coordinates on the sphere as latitudes and longitudes.
func places(cfg *cnp.Config, x []float64) (out [][2]float64) {
	for i := 0; i+cfg.DimX <= len(x); i += cfg.DimX {
		if cfg.Degrees() {
			out = append(out, [2]float64{x[i], x[i+1]})
		} else {
			latitude, longitude := cnp.LatLon([3]float64(x[i : i+3]))
			out = append(out, [2]float64{latitude, longitude})
		}
	}
	return out
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
