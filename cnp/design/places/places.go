// Package places chooses among the rows of a table where to measure next: by what joint samples of the candidates and of the
// targets say of both, from an interpolation of the data or from a model (package design).
package places

import (
	"context"
	"fmt"
	"slices"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/design"
	"github.com/equivcnp/equivcnp/cnp/interpolate"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Most bounds candidates and targets together, of whose covariance all numbers are kept.
const Most = 8192

// Options say what is chosen.
type Options struct {
	// Number is the number of places that are chosen, Goal what measuring there is to lower.
	Number int
	Goal   design.Goal
	// Samples is the number of joint samples that the places are compared by, Seed theirs.
	Samples int
	Seed    uint64
	// Noise is the standard deviation of a new measurement; 0 is what the data say. Less than a hundred-thousandth of the values' deviation
	// counts as that.
	Noise float64
	// Model predicts the places by the chain rule, Name names it in errors; nil is the interpolation of the data.
	Model cnp.Regressor[float32]
	Name  string
}

// Choosing is the data, with the candidates and what is chosen of them.
type Choosing struct {
	*interpolate.Interpolation
	Columns tabletask.Columns
	Sites   *table.Table
	Places  *task.Rows // of the candidates
	// All are the coordinates of candidates and targets.
	All    []float64
	Chosen []design.Choice
}

// Read reads the data, the targets, which are the candidates if input names none, and the table of the candidates.
func Read(input tabletask.Options, candidates string, sphere bool) (*Choosing, error) {
	if input.Targets == "" {
		input.Targets = candidates
	}
	in, err := interpolate.Read(&input, sphere)
	if err != nil {
		return nil, err
	}
	if in.Dy != 1 {
		return nil, settings.Errorf("%s has %s: name the one that is measured with {Y}", in.Points.Name, words.Plural(in.Dy, "output"))
	}
	d := &Choosing{Interpolation: in, Columns: input.Columns}
	if d.Sites, err = input.ReadTable(candidates, input.Stdin); err != nil {
		return nil, err
	}
	opt := task.CSVOptions{X: input.X, Y: input.Y, Dx: in.Dx, Dy: in.Dy, Aux: in.Auxiliary(), AuxKnown: true, Degrees: sphere}
	if err := tabletask.SameClocks(d.Sites, opt, in.Points, in.Observed.Columns.X); err != nil {
		return nil, err
	}
	if d.Places, err = tabletask.RowsOf(d.Sites, opt, true); err != nil {
		return nil, err
	}
	if err := tabletask.CheckAuxiliary(d.Sites, d.Places, nil); err != nil {
		return nil, err
	}
	if n := d.Sites.Rows() + in.Targets.Rows(); n > Most {
		return nil, fmt.Errorf("%s and the targets have %d rows, need at most %d", d.Sites.Name, n, Most)
	}
	for _, t := range []*table.Table{d.Sites, in.Targets} {
		if t.Rows() == 0 {
			return nil, fmt.Errorf("%s has no rows: need at least one candidate, and one target", t.Name)
		}
	}
	d.All = slices.Concat(d.Places.X, in.Asked.X)
	return d, nil
}

// Choose chooses the places, after Fit.
func (d *Choosing) Choose(ctx context.Context, o Options) error {
	belief, err := d.believe(ctx, o)
	if err != nil {
		return err
	}
	if d.Chosen, err = belief.Choose(o.Number, o.Goal); err != nil {
		return settings.Hintf("{Number}: %w", err)
	}
	return nil
}

// believe samples candidates and targets jointly.
func (d *Choosing) believe(ctx context.Context, o Options) (*design.Belief, error) {
	var samples [][]float64
	var err error
	noise := o.Noise * o.Noise
	candidates, targets := d.Inputs(d.Places.X, d.Places.Aux), d.Inputs(d.Asked.X, d.Asked.Aux)
	if o.Model != nil {
		samples, err = d.byModel(ctx, o)
	} else {
		if slices.Equal(candidates, targets) { // without targets of its own: a function has the same values there
			samples, err = d.Models[0].Functions(ctx, candidates, o.Samples, o.Seed)
			for s, row := range samples {
				samples[s] = slices.Concat(row, row)
			}
		} else {
			samples, err = d.Models[0].Functions(ctx, slices.Concat(candidates, targets), o.Samples, o.Seed)
		}
		if noise == 0 && err == nil {
			noise, err = d.ownNoise(ctx, candidates, samples)
		}
	}
	if err != nil {
		return nil, err
	}
	known := d.Y[0]
	if o.Model == nil {
		_, known = d.Kept(0)
	}
	if len(known) == 0 { // what a model expects without data
		known = slices.Concat(samples...)
	}
	least := 1e-4 // of the values' variance
	if o.Noise > 0 {
		least = 1e-10 // below, rounding of the covariance decides
	}
	noise = max(noise, least*variance(known))
	if noise == 0 { // equal values
		noise = 1e-12
	}
	return design.FromSamples(samples, d.Sites.Rows(), noise)
}

// byModel samples by the chain rule.
func (d *Choosing) byModel(ctx context.Context, o Options) ([][]float64, error) {
	c := o.Model.Config()
	if c.DimX != d.Dx || c.DimY != 1 || len(c.Auxiliary) > 0 || len(c.Static) > 0 || d.Da() > 0 {
		return nil, fmt.Errorf("%s: design takes models of one output without auxiliary inputs, and of %s like the table", o.Name,
			words.Plural(d.Dx, "input"))
	}
	if err := tabletask.CheckSingle(d.Points, d.Observed); err != nil {
		return nil, err
	}
	b := &cnp.Batch[float32]{B: 1, Nc: len(d.Y[0]), Nt: len(d.All) / d.Dx, XContext: d.X[0], XTarget: d.All}
	for _, v := range d.Y[0] {
		b.YContext = append(b.YContext, float32(v))
	}
	opt := cnp.SampleOptions{Chain: cnp.Chain{Seed: o.Seed}, Samples: o.Samples, Function: true}
	drawn, err := cnp.SampleCurves(ctx, cnp.Standardised(o.Model), b, opt)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, o.Samples)
	for s := range out {
		for _, v := range drawn[s*b.Nt : (s+1)*b.Nt] {
			out[s] = append(out[s], float64(v))
		}
	}
	return out, nil
}

// ownNoise is the variance of the interpolation's new values beyond that of its function, in the median over the candidates.
func (d *Choosing) ownNoise(ctx context.Context, candidates []float64, samples [][]float64) (float64, error) {
	_, std, err := d.Models[0].Predict(ctx, candidates)
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

// Picked are the coordinates of the chosen places [n, Dx].
func (d *Choosing) Picked() (x []float64) {
	for _, c := range d.Chosen {
		x = append(x, d.Places.X[c.Candidate*d.Dx:(c.Candidate+1)*d.Dx]...)
	}
	return x
}

// Table returns the chosen candidates in order, with their auxiliary inputs, their rows, from 1, their gains, and how much all up to them
// gain.
func (d *Choosing) Table() *table.Table {
	x, _ := d.Task.Chosen(&d.Columns)
	var order, rows, gain, total []float64
	sum := 0.0
	for i, c := range d.Chosen {
		sum += c.Gain
		order, rows = append(order, float64(i+1)), append(rows, float64(c.Candidate+1))
		gain, total = append(gain, c.Gain), append(total, sum)
	}
	picked := make([]int, len(d.Chosen))
	for i, c := range d.Chosen {
		picked[i] = c.Candidate
	}
	aux := d.Places.Columns.Aux
	x = slices.Concat(x, tabletask.Labels(d.Sites, aux, "aux", len(aux)))
	out := d.Sites.Only(slices.Concat(d.Places.Columns.X, aux), slices.Clone(x)).Rearranged(picked)
	out.Header = x
	for k, c := range d.Observed.Columns.X {
		out.InheritUnit(k, d.Points, c)
	}
	return out.With(table.Column{Name: "order", Values: order}, table.Column{Name: "row", Values: rows},
		table.Column{Name: "gain", Values: gain}, table.Column{Name: "total_gain", Values: total})
}
