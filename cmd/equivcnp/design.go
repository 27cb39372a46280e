package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/design"
	"github.com/equivcnp/equivcnp/cnp/interpolate"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/picture"
	"github.com/equivcnp/equivcnp/internal/tables"
	"github.com/equivcnp/equivcnp/internal/tabular"
	"github.com/equivcnp/equivcnp/internal/words"
)

// designFlags are the flags of equivcnp design.
type designFlags struct {
	model      modelFlags
	input      tabletask.Options // of which it has the tables and their columns
	candidates string
	sphere     bool
	count      int
	goal       string
	samples    int
	seed       uint64
	noise      float64
	out, plot  string
	oneTable   oneTableFlags
}

func (a *app) designCommand() *cobra.Command {
	f := designFlags{oneTable: oneTableFlags{units: "same"}}
	cmd := &cobra.Command{
		Use:                   "design [--model M] --csv data.csv --candidates C.csv [--targets T.csv] --number N --out chosen.csv",
		DisableFlagsInUseLine: true,
		Short:                 "Choose where to measure next",
		Long: `Choose, among candidates, the places whose measurements would tell most about the targets, which are
the candidates themselves without --targets. The first tells most, the second most given the first,
and so on.

--goal entropy lowers the joint entropy of the targets most, in nats; --goal error lowers the sum of
their variances, which is the expected squared error. Both depend on where is measured, and not on
the values that will be found, so that all places are chosen at once.

The targets and the candidates are predicted jointly, by samples: without --model of the table's own
interpolation, with nothing trained, or of a model by the chain rule. --noise is the standard
deviation of a new measurement; without it, the interpolation's own noise, or a hundredth of the
values' deviation.

The table that is written has the chosen rows of the candidates in order, with their gain and how
much all up to them gain. --plot draws candidates, context and chosen places: on the map of the
standard deviation of the plane, for one input beside the prediction's curve.`,
		Example: `  # Five of the places of a grid, by the interpolation of measurements in the plane.
  equivcnp design --csv zinc.csv --x east,north --y zinc --candidates grid.csv --number 5 --out next.csv --plot next.png

  # Two by a model's samples, so that the targets are known best.
  equivcnp design --model rbf-levels --csv data.csv --candidates targets.csv --goal error --number 2 --out next.csv`,
		Args: cobra.NoArgs,
	}
	cmd.RunE = a.action(func(cmd *cobra.Command, _ []string) error { return a.design(cmd.Context(), &f) })
	f.model.register(a, cmd)
	optionalModel(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.input.CSV, "csv", "", "table of what was measured, required")
	columnsVar(cmd, &f.input.Columns)
	fl.StringVar(&f.candidates, "candidates", "", "table of the places where could be measured, required")
	fl.StringVar(&f.input.Targets, "targets", "", "table of the places that are to be known (default: the candidates)")
	fl.BoolVar(&f.sphere, "sphere", false, "without --model: inputs are latitude and longitude in degrees")
	fl.IntVarP(&f.count, "number", "k", 1, "how many places are chosen")
	fl.StringVar(&f.goal, "goal", string(design.Entropy), "what measurements are to lower: entropy or error")
	fl.IntVar(&f.samples, "samples", 1000, "joint samples by which places are compared")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of the samples")
	fl.Float64Var(&f.noise, "noise", 0, "standard deviation of a new measurement (default: what the data say)")
	fl.StringVarP(&f.out, "out", "o", "", "table to write, required")
	fl.StringVar(&f.plot, "plot", "", "drawing to write, with one input or two: .png or .svg")
	fl.BoolVar(&a.json, "json", false, "print one JSON object")
	for _, name := range []string{"csv", "candidates", "out"} {
		must(cmd.MarkFlagRequired(name))
	}
	for _, name := range []string{"csv", "candidates", "targets"} {
		must(cmd.MarkFlagFilename(name, "csv"))
	}
	must(cmd.MarkFlagFilename("plot", "png", "svg"))
	completions(cmd, map[string][]string{"goal": {string(design.Entropy), string(design.Error)}})
	return cmd
}

// maxDesign bounds candidates and targets together, of whose covariance all numbers are kept.
const maxDesign = 8192

// designed is a choice in the making.
type designed struct {
	*interpolate.Interpolation
	sites      *tabular.Table
	places     *task.Rows // of the candidates
	all        []float64  // coordinates of candidates and targets
	candidates int
	belief     *design.Belief
	chosen     []design.Choice
}

// designResult is what design --json prints.
type designResult struct {
	CSV        string   `json:"csv"`
	Candidates int      `json:"candidates"`
	Targets    int      `json:"targets"`
	Goal       string   `json:"goal"`
	Chosen     []int    `json:"chosen"` // rows of the candidates, from 0
	Gains      []number `json:"gains"`
	Seconds    number   `json:"seconds"`
	Out        string   `json:"out"`
	Plot       string   `json:"plot,omitempty"`
	Notes      []string `json:"notes"`
}

func (f *designFlags) check() error {
	switch {
	case !slices.Contains(design.Goals, design.Goal(f.goal)):
		return cli.Usagef("--goal %q: need %s or %s", f.goal, design.Entropy, design.Error)
	case f.samples < 2 || f.samples > 1<<20:
		return cli.Usagef("--samples %d: need 2 to %d", f.samples, 1<<20)
	case f.noise < 0 || math.IsNaN(f.noise-f.noise):
		return cli.Usagef("--noise %g: need a standard deviation", f.noise)
	case f.model.path != "" && f.sphere:
		return cli.Usagef("--sphere is for interpolation without a model: leave --model out")
	}
	return nil
}

// design is the command.
func (a *app) design(ctx context.Context, f *designFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	format := ""
	if f.plot != "" {
		var err error
		if format, err = plotFormat(f.plot); err != nil {
			return cli.Usage(fmt.Errorf("--plot: %w", err))
		}
	}
	outs, err := a.outputs([]string{f.model.path, f.input.CSV, f.candidates, f.input.Targets}, cli.Out("out", f.out, tableFiles),
		cli.Out("plot", f.plot, plotFiles))
	if err != nil {
		return err
	}
	defer outs.Discard()
	d, err := a.readDesign(ctx, f)
	if err != nil {
		return err
	}
	if f.plot != "" && (d.Dx > 2 || d.Sphere) {
		return fmt.Errorf("--plot: %s has %s; a curve needs one, a map two of the plane", d.Points.Name, words.Plural(d.Dx, "input"))
	}
	start := time.Now()
	if err := d.Fit(ctx, f.oneTable.Options); err != nil {
		return err
	}
	if err := d.believe(ctx, f); err != nil {
		return err
	}
	if d.chosen, err = d.belief.Choose(f.count, design.Goal(f.goal)); err != nil {
		return fmt.Errorf("--number: %w", err)
	}
	seconds := time.Since(start).Seconds()
	written := d.choices(f)
	if err := outs.Write("out", func(w io.Writer) error { return tables.Write(w, f.out, written, written.First(d.Dx)) }); err != nil {
		return err
	}
	if err := outs.Write("plot", func(w io.Writer) error { return d.draw(ctx, w, format, f.goal) }); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := outs.Commit(); err != nil {
		return err
	}
	return d.print(a, f, seconds)
}

// print says what was chosen.
func (d *designed) print(a *app, f *designFlags, seconds float64) error {
	r, out := &result{}, designResult{CSV: f.input.CSV, Candidates: d.candidates, Targets: d.Targets.Rows(), Goal: f.goal,
		Seconds: number(seconds), Out: f.out, Plot: f.plot}
	r.Line("candidates", "%d", d.candidates)
	r.Line("targets", "%d", d.Targets.Rows())
	for i, c := range d.chosen {
		out.Chosen, out.Gains = append(out.Chosen, c.Candidate), append(out.Gains, number(c.Gain))
		r.Line(fmt.Sprintf("place %d", i+1), "row %d of the candidates: %s falls by %.4g", c.Candidate+1, f.goal, c.Gain)
	}
	r.Line("time", "%.2f s", seconds)
	r.Line("written", "%s", f.out)
	out.Notes = r.AllNotes()
	return a.print(r, out)
}

// readDesign reads the tables.
func (a *app) readDesign(ctx context.Context, f *designFlags) (*designed, error) {
	input := f.input
	if input.Targets == "" {
		input.Targets = f.candidates
	}
	in, err := cli.Interruptible(ctx, func() (*interpolate.Interpolation, error) { return interpolate.Read(&input, f.sphere) })
	if err != nil {
		return nil, err
	}
	f.input.Columns = input.Columns
	if in.Dy != 1 {
		return nil, cli.Usagef("%s has %s: name the one that is measured with --y", in.Points.Name, words.Plural(in.Dy, "output"))
	}
	d := &designed{Interpolation: in}
	if d.sites, err = f.input.ReadTable(f.candidates, a.stdin); err != nil {
		return nil, err
	}
	opt := task.CSVOptions{X: f.input.X, Y: f.input.Y, Dx: in.Dx, Dy: in.Dy}
	if d.places, err = task.RowsOf(d.sites, opt, true); err != nil {
		return nil, hintColumns(err)
	}
	d.candidates = d.sites.Rows()
	if n := d.candidates + in.Targets.Rows(); n > maxDesign {
		return nil, fmt.Errorf("%s and the targets have %d rows, need at most %d", d.sites.Name, n, maxDesign)
	}
	d.all = slices.Concat(d.places.X, in.Asked.X)
	return d, nil
}

// believe samples candidates and targets jointly.
func (d *designed) believe(ctx context.Context, f *designFlags) (err error) {
	var samples [][]float64
	noise := f.noise * f.noise
	if f.model.path != "" {
		samples, err = d.byModel(ctx, f)
	} else {
		samples, err = d.Models[0].Functions(ctx, d.all, f.samples, f.seed)
		if noise == 0 && err == nil {
			noise, err = d.ownNoise(ctx, samples)
		}
	}
	if err != nil {
		return err
	}
	if least := 1e-4 * variance(d.Y[0]); noise < least {
		noise = least
	}
	if noise == 0 { // equal values
		noise = 1e-12
	}
	d.belief, err = design.FromSamples(samples, d.candidates, noise)
	return err
}

// byModel samples by the chain rule.
func (d *designed) byModel(ctx context.Context, f *designFlags) ([][]float64, error) {
	m, err := f.model.regressor(ctx)
	if err != nil {
		return nil, err
	}
	c := m.Config()
	if c.DimX != d.Dx || c.DimY != 1 || len(c.Auxiliary) > 0 || len(c.Static) > 0 {
		return nil, fmt.Errorf("%s: design takes models of one output without auxiliary inputs, and of %s like the table", f.model.path,
			words.Plural(d.Dx, "input"))
	}
	b := &cnp.Batch[float32]{B: 1, Nc: len(d.Y[0]), Nt: len(d.all) / d.Dx, XContext: d.X[0], XTarget: d.all}
	for _, v := range d.Y[0] {
		b.YContext = append(b.YContext, float32(v))
	}
	opt := cnp.SampleOptions{Chain: cnp.Chain{Seed: f.seed}, Samples: f.samples, Function: true}
	drawn, err := cnp.SampleCurves(ctx, cnp.Standardised(m), b, opt)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, f.samples)
	for s := range out {
		for _, v := range drawn[s*b.Nt : (s+1)*b.Nt] {
			out[s] = append(out[s], float64(v))
		}
	}
	return out, nil
}

// ownNoise is the variance of the interpolation's new values beyond that of its function, in the median over the candidates.
func (d *designed) ownNoise(ctx context.Context, samples [][]float64) (float64, error) {
	_, std, err := d.Models[0].Predict(ctx, d.places.X)
	if err != nil {
		return 0, err
	}
	var more []float64
	column := make([]float64, len(samples))
	for i, s := range std {
		for k, row := range samples {
			column[k] = row[i]
		}
		more = append(more, s*s-variance(column))
	}
	slices.Sort(more)
	return max(0, more[len(more)/2]), nil
}

// variance is that of values about their mean.
func variance(v []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	return sum / float64(max(1, len(v)))
}

// choices is the table of the chosen candidates.
func (d *designed) choices(f *designFlags) *tabular.Table {
	x, _ := d.Chosen(&f.input.Columns)
	var order, gain, total []float64
	out := &tabular.Table{Name: d.sites.Name, Header: x, Cols: d.Dx}
	sum := 0.0
	for i, c := range d.chosen {
		sum += c.Gain
		order, gain, total = append(order, float64(i+1)), append(gain, c.Gain), append(total, sum)
		out.Values = append(out.Values, d.places.X[c.Candidate*d.Dx:(c.Candidate+1)*d.Dx]...)
	}
	var rows []float64
	for _, c := range d.chosen {
		rows = append(rows, float64(c.Candidate+1))
	}
	return out.With(tabular.Column{Name: "order", Values: order}, tabular.Column{Name: "row", Values: rows},
		tabular.Column{Name: "gain", Values: gain}, tabular.Column{Name: "total_gain", Values: total})
}

// draw draws the context, the candidates and the chosen places, with what the interpolation knows.
func (d *designed) draw(ctx context.Context, w io.Writer, format, goal string) error {
	chart := &picture.Chart{Title: fmt.Sprintf("%s that lower the %s most", words.Plural(len(d.chosen), "place"), goal)}
	axes := tabletask.Labels(d.Points, d.Observed.Columns.X, "x", d.Dx)
	chart.XLabel = axes[0]
	of := func(x []float64) (s picture.Series) {
		for i := 0; i < len(x); i += d.Dx {
			s.X, s.Y = append(s.X, x[i]), append(s.Y, x[i+d.Dx-1])
		}
		return s
	}
	var picked []float64
	for _, c := range d.chosen {
		picked = append(picked, d.places.X[c.Candidate*d.Dx:(c.Candidate+1)*d.Dx]...)
	}
	if d.Dx == 2 {
		return d.drawMap(ctx, w, format, chart.Title, axes, picked)
	}
	_, std, err := d.Models[0].Predict(ctx, d.places.X)
	if err != nil {
		return err
	}
	_, at, err := d.Models[0].Predict(ctx, picked)
	if err != nil {
		return err
	}
	candidates, chosen := of(d.places.X), of(picked)
	candidates.Name, candidates.Y = "candidates", std
	chosen.Name, chosen.Y = "chosen", at
	chart.YLabel, chart.Series = "standard deviation", []picture.Series{candidates, chosen}
	return picture.WriteCharts(w, format, chart)
}

// drawMap draws the map of the interpolation, on which the chosen places are points of their order.
func (d *designed) drawMap(ctx context.Context, w io.Writer, format, title string, axes []string, picked []float64) error {
	mean, _, err := d.Models[0].Predict(ctx, picked)
	if err != nil {
		return err
	}
	m := &picture.Map{Title: title, XLabel: axes[0], YLabel: axes[1], Label: labelsOfValues(d), ContextX: picked, Values: mean}
	for k := range 2 {
		m.Lo[k], m.Hi[k] = math.Inf(1), math.Inf(-1)
		for _, x := range [][]float64{d.all, d.X[0]} {
			for i := k; i < len(x); i += 2 {
				m.Lo[k], m.Hi[k] = min(m.Lo[k], x[i]), max(m.Hi[k], x[i])
			}
		}
		pad := 0.02 * (m.Hi[k] - m.Lo[k])
		if pad == 0 {
			pad = 0.5
		}
		m.Lo[k], m.Hi[k] = m.Lo[k]-pad, m.Hi[k]+pad
	}
	m.Columns, m.Rows = designCells, designCells
	p, err := d.Models[0].At(ctx, picture.MapPlaces(m.Lo, m.Hi, m.Columns, m.Rows))
	if err != nil {
		return err
	}
	m.Mean, m.Std = p.Mean, p.Std
	return picture.WriteMap(w, format, m)
}

// designCells is the number of cells of a side of a map.
const designCells = 140

// labelsOfValues names the values of a map, whose points are the chosen places.
func labelsOfValues(d *designed) string {
	return tabletask.Labels(d.Points, d.Observed.Columns.Y, "y", 1)[0]
}
