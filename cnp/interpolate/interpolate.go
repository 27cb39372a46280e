// Package interpolate predicts from one table without a trained model. Each output of the table gets a Gaussian process
// of package krige, whose covariance is estimated from the table itself.
//
//	input := &tabletask.Options{CSV: "zinc.csv", Targets: "grid.csv"}
//	input.X, input.Y = []string{"east", "north"}, []string{"zinc"}
//	in, err := interpolate.Run(ctx, input, interpolate.Options{Positive: true})
//	...
//	fmt.Println(in.Predicted[0].Mean, in.Predicted[0].Std) // of the first output at the rows of grid.csv
//
// Package predict does the same for numbers in memory, by Interpolate.
package interpolate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Options say how a table is interpolated.
type Options struct {
	// Sphere takes the inputs for latitude and longitude in degrees.
	Sphere bool
	// Log names the outputs whose logarithms are interpolated. Positive says that none of the others is ever negative.
	Log      []string
	Positive bool
	// Period lists periods of seasons to try, beside those that are found.
	Period []Period
	// DifferentUnits says that the inputs have units of their own.
	DifferentUnits bool
	// Robust leaves out values that are outliers; see krige.Options.
	Robust bool
	// NoCheck leaves out the prediction of every value from the others, which corrects the standard deviations: they are
	// then those of the Gaussian processes.
	NoCheck bool
	// Samples is the number of samples that are drawn by Seed: functions, or new observations with their noise.
	Samples  int
	Function bool
	Seed     uint64
	// Outputs are what Table writes, of mean, std, quantiles and samples; nil: all that there are.
	Outputs []string
}

// Interpolation is one table, with a model of each of its outputs.
type Interpolation struct {
	*tabletask.Task
	Sphere bool
	Models []*krige.Model
	// X [n, Dx] and Y [n] are the context of each output, Aux [n, da] its auxiliary inputs, the columns of a drift; Missing is how many
	// rows lack the output, Lacking how many lack an auxiliary input.
	X, Y, Aux [][]float64
	Missing   []int
	Lacking   int
	// Rows [output][n] are the rows of Points that X, Y and Aux have.
	Rows [][]int
	// Predicted has the predictions of each output at the targets, Samples [output][sample][target].
	Predicted []*krige.Prediction
	Samples   [][][]float64

	outputs []string // that Table writes
}

// Run reads the tables of input, fits a model of each output and predicts at the targets.
func Run(ctx context.Context, input *tabletask.Options, opt Options) (*Interpolation, error) {
	in, err := Read(input, opt.Sphere)
	if err == nil {
		err = in.Fit(ctx, opt)
	}
	if err == nil {
		err = in.Predict(ctx, opt)
	}
	return in, err
}

// Read reads the tables, whose inputs are latitude and longitude where sphere says so.
func Read(o *tabletask.Options, sphere bool) (*Interpolation, error) {
	in, aux, err := readPoints(o, sphere)
	if err != nil {
		return nil, err
	}
	t := in.Task
	if err := tabletask.OneTask(t.Points, t.Observed); err != nil {
		return nil, err
	}
	if o.Group != "" {
		group, err := t.Points.Index(o.Group)
		if err != nil {
			return nil, settings.Hintf("{Folds}: %w", err)
		}
		rest := &t.Observed.Columns.Rest
		*rest = slices.DeleteFunc(*rest, func(column int) bool { return column == group })
	}
	if o.NoTargets {
		t.Asked = &task.Rows{TaskColumn: -1}
		in.split()
		return in, nil
	}
	if o.Targets == "" {
		switch {
		case aux != nil:
			return nil, settings.Errorf("{Aux}: use {Targets} with a table that has %s at the targets, too", strings.Join(aux, ", "))
		case o.Grid != nil: // Clocks makes its places
		case o.Sphere > 0:
			t.Targets.Cols = 2
			for _, p := range tabletask.GlobeGrid(o.Sphere) {
				t.Targets.Values = append(t.Targets.Values, p[:]...)
			}
		case o.Next > 0:
		case t.Dx != 1:
			return nil, settings.Errorf("%s has %d inputs: use {Grid} or {Targets} instead of {From} and {To}", t.Points.Name, t.Dx)
		}
	}
	if err := t.Clocks(o, task.CSVOptions{X: o.X, Y: o.Y, Dx: t.Dx, Dy: t.Dy, Aux: aux}); err != nil {
		return nil, err
	}
	opt := task.CSVOptions{Dx: t.Dx, Dy: t.Dy, Degrees: sphere}
	if o.Targets != "" {
		opt.X, opt.Y, opt.Aux, opt.AuxKnown = o.X, o.Y, aux, true
	}
	if t.Asked, err = tabletask.RowsOf(t.Targets, opt, true); err != nil {
		return nil, err
	}
	if err := tabletask.CheckAuxiliary(t.Targets, t.Asked, nil); err != nil {
		return nil, err
	}
	in.split()
	return in, nil
}

// readPoints reads the tables, and takes the rows of that of the points apart, of which aux are the names of the auxiliary inputs.
func readPoints(o *tabletask.Options, sphere bool) (in *Interpolation, aux []string, err error) {
	t, err := tabletask.Read(o)
	if err != nil {
		return nil, nil, err
	}
	if t.Dx, t.Dy, err = Widths(&o.Columns, t.Points, sphere); err != nil {
		return nil, nil, err
	}
	if aux, err = auxiliary(&o.Columns, t.Points); err != nil {
		return nil, nil, err
	}
	opt := task.CSVOptions{X: o.X, Y: o.Y, Task: o.Columns.Task, Dx: t.Dx, Dy: t.Dy, Aux: aux, AuxKnown: true, Degrees: sphere}
	t.Observed, err = tabletask.RowsOf(t.Points, opt, false)
	return &Interpolation{Task: t, Sphere: sphere}, aux, err
}

// auxiliary returns the names of the auxiliary inputs, of which a column of texts has one for each text, nil where there are none.
func auxiliary(o *tabletask.Columns, t *table.Table) ([]string, error) {
	if len(o.Aux) == 0 {
		return nil, nil
	}
	aux, err := t.Categories(o.Aux)
	if err != nil {
		return nil, settings.Hintf("{Aux}: %w", err)
	}
	if len(aux) > krige.MaxDrift {
		return nil, settings.Errorf("{Aux}: %d auxiliary inputs, need at most %d", len(aux), krige.MaxDrift)
	}
	return aux, nil
}

// Widths returns the number of inputs and outputs of a table. Where sphere says that the inputs are latitude and
// longitude, and the columns do not name them, they do afterwards.
func Widths(o *tabletask.Columns, t *table.Table, sphere bool) (dx, dy int, err error) {
	if err := tabletask.NotEmpty(t); err != nil {
		return 0, 0, err
	}
	switch {
	case o.Static != "":
		return 0, 0, settings.Errorf("{Static}: interpolation without a model has no static fields: name a model, or give the rows and " +
			"the targets columns with the fields' values ({Aux})")
	}
	dx, dy = len(o.X), max(1, len(o.Y))
	if sphere && o.X == nil {
		o.X = tabletask.LatLonColumns(t)
		dx = len(o.X)
	}
	if o.Y == nil && t.Header != nil {
		for dy = 1; slices.Contains(t.Header, fmt.Sprintf("y%d", dy+1)); dy++ {
		}
	}
	switch {
	case dx > 0:
	case t.Header == nil:
		dx = t.Cols - dy
	case slices.Contains(t.Header, "x1"):
		for dx = 1; slices.Contains(t.Header, fmt.Sprintf("x%d", dx+1)); dx++ {
		}
	default:
		dx = 1
	}
	if sphere && dx != 2 {
		if dx > 2 && o.X != nil {
			return 0, 0, settings.Errorf("{Sphere}: {X} names %d inputs, and the globe has latitude and longitude: {Aux} takes others, "+
				"such as heights and times, in which values are linear", dx)
		}
		return 0, 0, settings.Errorf("{Sphere}: the inputs are latitude and longitude in degrees: name them with {X}, " +
			"or call the columns lat and lon")
	}
	if dx < 1 {
		return 0, 0, fmt.Errorf("%s: %s without a header: need one or more of inputs, and after them one of values", t.Name,
			words.Plural(t.Cols, "column"))
	}
	if dx > krige.MaxDim {
		return 0, 0, settings.Hintf("%w: {Aux} takes others, in which values are linear",
			fmt.Errorf("%s: %s, need 1 to %d", t.Name, words.Plural(dx, "input"), krige.MaxDim))
	}
	return dx, dy, nil
}

// split gives each output the rows that have it.
func (in *Interpolation) split() {
	t := in.Task
	in.Missing, in.X, in.Y, in.Aux = make([]int, t.Dy), make([][]float64, t.Dy), make([][]float64, t.Dy), make([][]float64, t.Dy)
	in.Rows = make([][]int, t.Dy)
	da := in.Da()
	for row := range t.Points.Rows() {
		aux := t.Observed.Aux[row*da : (row+1)*da]
		if slices.ContainsFunc(aux, math.IsNaN) {
			in.Lacking++
			continue
		}
		for c := range t.Dy {
			v := t.Observed.Y[row*t.Dy+c]
			if v != v {
				in.Missing[c]++
				continue
			}
			in.X[c], in.Y[c] = append(in.X[c], t.Observed.X[row*t.Dx:(row+1)*t.Dx]...), append(in.Y[c], v)
			in.Aux[c], in.Rows[c] = append(in.Aux[c], aux...), append(in.Rows[c], row)
		}
	}
}

// Da is the number of auxiliary inputs.
func (in *Interpolation) Da() int { return len(in.Observed.Columns.Aux) }

// Inputs puts auxiliary inputs [n, da] behind coordinates [n, Dx], as the models take them.
func (in *Interpolation) Inputs(x, aux []float64) []float64 {
	da := in.Da()
	if da == 0 {
		return x
	}
	var out []float64
	for i := range len(x) / in.Dx {
		out = append(append(out, x[i*in.Dx:(i+1)*in.Dx]...), aux[i*da:(i+1)*da]...)
	}
	return out
}

// Names returns the names of the outputs.
func (in *Interpolation) Names() []string {
	return tabletask.Labels(in.Points, in.Observed.Columns.Y, "y", in.Dy)
}

// Fit fits a model to each output.
func (in *Interpolation) Fit(ctx context.Context, opt Options) error {
	own, values, err := in.options(opt)
	if err != nil {
		return err
	}
	for _, name := range opt.Outputs {
		if !slices.Contains(outputs, name) {
			return settings.Errorf("{Outputs} %.40q: without a model there are %s", name, strings.Join(outputs, ", "))
		}
		if name == "samples" && opt.Samples == 0 {
			return settings.Errorf("{Outputs} samples: {Samples} says how many")
		}
	}
	in.outputs = opt.Outputs
	for c, name := range in.Names() {
		own.Values = values[c]
		if err := in.support(c, own.Values); err != nil {
			return err
		}
		if len(in.Y[c]) == 0 {
			return settings.Hintf("%s: %s has no values, and without a model nothing is known: {Model} names one that "+
				"expects something without any data",
				in.Points.Name, name)
		}
		m, err := krige.Fit(ctx, in.Inputs(in.X[c], in.Aux[c]), in.Y[c], own)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", in.Points.Name, name, err)
		}
		in.Models = append(in.Models, m)
	}
	return nil
}

// support refuses values of an output that cannot be amounts, or that have no logarithm, by row.
func (in *Interpolation) support(c int, values krige.Values) error {
	column := in.Observed.Columns.Y[c]
	for row := range in.Points.Rows() {
		switch v := in.Observed.Y[row*in.Dy+c]; {
		case values == krige.Positive && v < 0:
			return in.Points.Errorf(row, column, "%w: %g: amounts are never negative", krige.ErrInput, v)
		case values == krige.Logarithmic && v == 0:
			err := in.Points.Errorf(row, column, "%w: 0 has no logarithm", krige.ErrInput)
			return settings.Hintf("%w: {Positive} takes amounts with zeros", err)
		case values == krige.Logarithmic && v < 0:
			return in.Points.Errorf(row, column, "%w: %g has no logarithm", krige.ErrInput, v)
		}
	}
	return nil
}

// Predict predicts each output at the targets, and draws its samples.
func (in *Interpolation) Predict(ctx context.Context, opt Options) error {
	asked := in.Inputs(in.Asked.X, in.Asked.Aux)
	for c, m := range in.Models {
		p, err := m.At(ctx, asked)
		if err != nil {
			return err
		}
		in.Predicted = append(in.Predicted, p)
		if opt.Samples == 0 {
			continue
		}
		draw := m.Samples
		if opt.Function {
			draw = m.Functions
		}
		drawn, err := draw(ctx, asked, opt.Samples, opt.Seed+uint64(c))
		if err != nil {
			return err
		}
		in.Samples = append(in.Samples, drawn)
	}
	return nil
}

// Drawn returns the samples as [sample][target][output], nil where there are none.
func (in *Interpolation) Drawn() (out [][][]float64) {
	if in.Samples == nil {
		return nil
	}
	for s := range in.Samples[0] {
		rows := make([][]float64, in.Targets.Rows())
		for i := range rows {
			for c := range in.Dy {
				rows[i] = append(rows[i], in.Samples[c][s][i])
			}
		}
		out = append(out, rows)
	}
	return out
}

// outputs are the names of what Table can write.
var outputs = []string{"mean", "std", "quantiles", "samples"}

// Table returns the targets' coordinates with the predictions: mean, standard deviation, quantiles and samples, or those of
// Options.Outputs, in its order.
func (in *Interpolation) Table(c *tabletask.Columns, quantiles []float64) *table.Table {
	x, values := in.Chosen(c)
	var columns []table.Column
	add := func(kind string, of func(c int) []float64) {
		for c, name := range tabletask.Names(kind, in.Dy) {
			if values != nil {
				name = values[c] + "_" + kind
			}
			column := table.Column{Name: name, Values: of(c)}
			if in.Points.Units != nil {
				column.Unit = in.Points.Units[in.Observed.Columns.Y[c]]
			}
			columns = append(columns, column)
		}
	}
	names := in.outputs
	if names == nil {
		names = outputs
	}
	for _, name := range names {
		switch name {
		case "mean":
			add(name, func(c int) []float64 { return in.Predicted[c].Mean })
		case "std":
			add(name, func(c int) []float64 { return in.Predicted[c].Std })
		case "quantiles":
			for k, kind := range tabletask.QuantileKinds(quantiles) {
				add(kind, func(c int) []float64 { return in.Predicted[c].Quantile(quantiles[k]) })
			}
		case "samples":
			if in.Samples != nil {
				for s, kind := range tabletask.Numbered("sample", len(in.Samples[0])) {
					add(kind, func(c int) []float64 { return in.Samples[c][s] })
				}
			}
		}
	}
	return in.Places(x).With(columns...)
}

// Beyond says that all targets lie far beyond the context in one of the inputs: by more than the context's extent. It is empty
// where they do not. Nobody asks for that but by mistake: in another unit, or with columns that changed places.
func (in *Interpolation) Beyond() string {
	names := tabletask.Labels(in.Points, in.Observed.Columns.X, "x", in.Dx)
	if in.Sphere {
		return in.farAway(names)
	}
	for d, name := range names {
		lo, hi := extent(in.Observed.X, d, in.Dx)
		first, last := extent(in.Asked.X, d, in.Dx)
		if !(first > hi+(hi-lo) || last < lo-(hi-lo)) || lo == hi || first > last { // or no targets
			continue
		}
		unit := ""
		if clock, err := in.Points.Clock(in.Observed.Columns.X[d]); err == nil && clock != nil {
			unit = " " + clock.Unit
		}
		return fmt.Sprintf("all targets lie far beyond the context: %s is %.6g to %.6g%s there, and %.6g to %.6g in the context",
			name, first, last,
			unit, lo, hi)
	}
	return ""
}

// farAway is Beyond on the globe, where longitudes meet at the poles and the date line: all targets lie more than three times as far
// from the middle of the context as any of its rows.
func (in *Interpolation) farAway(names []string) string {
	known, asked := unitVectors(in.Observed.X), unitVectors(in.Asked.X)
	var middle [3]float64
	for _, p := range known {
		for k, v := range p {
			middle[k] += v / float64(len(known))
		}
	}
	distance := func(p [3]float64) float64 {
		return math.Hypot(math.Hypot(p[0]-middle[0], p[1]-middle[1]), p[2]-middle[2])
	}
	var radius float64
	for _, p := range known {
		radius = max(radius, distance(p))
	}
	near := func(p [3]float64) bool { return !(distance(p) > 3*radius) }
	if len(asked) == 0 || radius < 1e-9 || slices.ContainsFunc(asked, near) {
		return ""
	}
	text := "all targets lie far beyond the context"
	for d, name := range names {
		first, last := extent(in.Asked.X, d, 2)
		lo, hi := extent(in.Observed.X, d, 2)
		text += fmt.Sprintf("%s %s is %.6g to %.6g there, and %.6g to %.6g in the context", [...]string{":", ";"}[d], name, first, last,
			lo, hi)
	}
	return text
}

// unitVectors takes latitudes and longitudes in degrees to points of the sphere.
func unitVectors(x []float64) (out [][3]float64) {
	for i := 0; i+1 < len(x); i += 2 {
		slat, clat := math.Sincos(x[i] * math.Pi / 180)
		slon, clon := math.Sincos(x[i+1] * math.Pi / 180)
		out = append(out, [3]float64{clat * clon, clat * slon, slat})
	}
	return out
}

// extent returns the least and the largest of coordinate d of rows of dx.
func extent(x []float64, d, dx int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i := d; i < len(x); i += dx {
		lo, hi = min(lo, x[i]), max(hi, x[i])
	}
	return lo, hi
}

// LogLikelihood returns the mean log density of the values that the table of targets has, and how many they are.
func (in *Interpolation) LogLikelihood() (mean float64, n int) {
	y := in.Asked.Y
	if len(y) != in.Targets.Rows()*in.Dy || len(y) == 0 {
		return 0, 0
	}
	sum := 0.0
	for c, p := range in.Predicted {
		own := make([]float64, 0, len(y)/in.Dy)
		for i := c; i < len(y); i += in.Dy {
			own = append(own, y[i])
		}
		mean, k := p.LogDensity(own)
		sum, n = sum+mean*float64(k), n+k
	}
	return sum / float64(max(1, n)), n
}
