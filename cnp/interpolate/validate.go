package interpolate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Validation is a cross-validation: what each row of the context is predicted as by a model that was fitted to the rows of the other folds.
type Validation struct {
	Column  string                `json:"column,omitempty"` // whose groups were left out, "" where blocks were
	Folds   int                   `json:"folds"`
	Outputs map[string]*Validated `json:"outputs"`

	in     *Interpolation
	names  []string
	rows   []int     // of the table, those with all auxiliary inputs and a value
	fold   []int     // of each of these, from 0
	column int       // of the groups, -1 of blocks
	levels []float64 // of the quantiles

	outliers [][]int // by output, rows of the table
}

// Validated is the cross-validation of one output.
type Validated struct {
	Values          int   `json:"values"`
	Model           Score `json:"model"`
	Constant        Score `json:"constant"`          // mean and deviation of the values of the other folds
	InverseDistance Score `json:"inverse_distances"` // to rows of the other folds
	// LeaveOneOut is the log density of the check that leaves single values out (krige.Report), and Worse by how much that of Model is
	// less; nil where the table has one value, or equal ones.
	LeaveOneOut *float64 `json:"leave_one_out,omitempty"`
	Worse       *float64 `json:"worse,omitempty"`

	mean, std []float64   // of each row
	quantiles [][]float64 // of each one that was asked for, and row
}

// Score says how good predictions are. Log densities are those of krige.Report: means in nats, of values over their deviation in the table;
// errors are predicted means less values. A log density of minus infinity, that of a value that was said to be impossible, is null in JSON.
type Score struct {
	LogDensity, RMSE, MAE, MeanError, Coverage50, Coverage95 float64
}

// MarshalJSON implements json.Marshaler.
func (s Score) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		LogDensity words.Number `json:"log_density"`
		RMSE       words.Number `json:"rmse"`
		MAE        words.Number `json:"mae"`
		MeanError  words.Number `json:"mean_error"`
		Coverage50 words.Number `json:"coverage_50"`
		Coverage95 words.Number `json:"coverage_95"`
	}{words.Number(s.LogDensity), words.Number(s.RMSE), words.Number(s.MAE), words.Number(s.MeanError), words.Number(s.Coverage50),
		words.Number(s.Coverage95)})
}

// Validate predicts each row of the context from those of other folds, after Fit: every fold is a fit of its own, with the same options,
// and folds are fitted side by side. quantiles are those that Table has beside mean and deviation. progress, if it is not nil, hears how
// many fits of how many are done, one call at a time.
func (in *Interpolation) Validate(ctx context.Context, opt Options, f Folds, quantiles []float64, progress func(done, total int)) (
	*Validation, error) {
	own, values, err := in.options(opt)
	if err != nil {
		return nil, err
	}
	v := &Validation{Column: f.Column, Outputs: map[string]*Validated{}, in: in, names: in.Names(), levels: quantiles}
	da := in.Da()
	for row := range in.Points.Rows() {
		if in.Observed.Known(row) > 0 && !slices.ContainsFunc(in.Observed.Aux[row*da:(row+1)*da], math.IsNaN) {
			v.rows = append(v.rows, row)
		}
	}
	if v.fold, v.Folds, v.column, err = in.folds(f, v.rows, opt.DifferentUnits); err != nil {
		return nil, err
	}
	reports := in.Reports()
	for _, name := range v.names {
		v.outliers = append(v.outliers, reports[name].Outliers)
		one := &Validated{mean: make([]float64, len(v.rows)), std: make([]float64, len(v.rows))}
		for range quantiles {
			one.quantiles = append(one.quantiles, make([]float64, len(v.rows)))
		}
		v.Outputs[name] = one
	}
	total := v.Folds * in.Dy
	parts, errs := make([]part, total), make([]error, total)
	var mutex sync.Mutex
	done := 0
	parallel.Until(func() bool { return ctx.Err() != nil }, total, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			opt := own
			opt.Values = values[i%in.Dy]
			parts[i], errs[i] = v.leaveOut(ctx, i/in.Dy, i%in.Dy, opt)
			mutex.Lock()
			if done++; progress != nil {
				progress(done, total)
			}
			mutex.Unlock()
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	for c, name := range v.names {
		v.Outputs[name].add(parts, c, in.Dy, in.Models[c])
	}
	return v, nil
}

// part is what one fold says of one output: sums over its values, of the model, a constant and inverse distances.
type part struct {
	values int
	sums   [3]Score
}

// leaveOut predicts output c of the rows of a fold from the others.
func (v *Validation) leaveOut(ctx context.Context, fold, c int, opt krige.Options) (p part, err error) {
	in := v.in
	dx, da := in.Dx, in.Da()
	var known, asked, aux, askedAux, y, truth []float64
	var at []int
	for i, row := range v.rows {
		x, z, value := in.Observed.X[row*dx:(row+1)*dx], in.Observed.Aux[row*da:(row+1)*da], in.Observed.Y[row*in.Dy+c]
		switch {
		case v.fold[i] == fold:
			if slices.Contains(v.outliers[c], row) { // predictions are of values that are none
				value = math.NaN()
			}
			at, asked, askedAux, truth = append(at, i), append(asked, x...), append(askedAux, z...), append(truth, value)
		case value == value:
			known, aux, y = append(known, x...), append(aux, z...), append(y, value)
		}
	}
	if len(y) == 0 {
		return p, fmt.Errorf("%s: %s has values in %s only: nothing is left to predict it from", in.Points.Name, v.names[c], v.called(fold))
	}
	m, err := krige.Fit(ctx, in.Inputs(known, aux), y, opt)
	if err != nil {
		return p, fmt.Errorf("%s: %s without %s: %w", in.Points.Name, v.names[c], v.called(fold), err)
	}
	targets := in.Inputs(asked, askedAux)
	predicted, err := m.At(ctx, targets)
	if err != nil {
		return p, err
	}
	constant, distances, err := m.Simple(targets)
	if err != nil {
		return p, err
	}
	out := v.Outputs[v.names[c]]
	for k, i := range at {
		out.mean[i], out.std[i] = predicted.Mean[k], predicted.Std[k]
	}
	for q, level := range v.levels {
		for k, value := range predicted.Quantile(level) {
			out.quantiles[q][at[k]] = value
		}
	}
	for k, prediction := range []*krige.Prediction{predicted, constant, distances} {
		p.values = p.sums[k].sum(prediction, truth)
	}
	return p, nil
}

// called names a fold.
func (v *Validation) called(fold int) string {
	if v.column >= 0 {
		return fmt.Sprintf("the group %.40q of %s", v.in.Points.Cell(v.rows[slices.Index(v.fold, fold)], v.column), v.Column)
	}
	return fmt.Sprintf("block %d", fold+1)
}

// sum sets a score to sums over values, of which NaN is a missing one, and returns how many there are.
func (s *Score) sum(p *krige.Prediction, y []float64) (n int) {
	mean, n := p.LogDensity(y)
	if n > 0 {
		s.LogDensity = mean * float64(n)
	}
	within := func(half float64) (count float64) {
		lo, hi := p.Quantile(0.5-half), p.Quantile(0.5+half)
		for i, v := range y {
			if v >= lo[i] && v <= hi[i] {
				count++
			}
		}
		return count
	}
	s.Coverage50, s.Coverage95 = within(0.25), within(0.475)
	for i, v := range y {
		if e := p.Mean[i] - v; e == e {
			s.RMSE, s.MAE, s.MeanError = s.RMSE+e*e, s.MAE+math.Abs(e), s.MeanError+e
		}
	}
	return n
}

// add adds up output c of so many. m is the model of all rows.
func (o *Validated) add(parts []part, c, outputs int, m *krige.Model) {
	scores := [3]*Score{&o.Model, &o.Constant, &o.InverseDistance}
	for i := c; i < len(parts); i += outputs {
		o.Values += parts[i].values
		for k, s := range scores {
			p := &parts[i].sums[k]
			s.LogDensity, s.RMSE, s.MAE, s.MeanError = s.LogDensity+p.LogDensity, s.RMSE+p.RMSE, s.MAE+p.MAE, s.MeanError+p.MeanError
			s.Coverage50, s.Coverage95 = s.Coverage50+p.Coverage50, s.Coverage95+p.Coverage95
		}
	}
	n := float64(o.Values)
	for _, s := range scores {
		s.LogDensity, s.RMSE, s.MAE, s.MeanError = m.OverDeviation(s.LogDensity/n), math.Sqrt(s.RMSE/n), s.MAE/n, s.MeanError/n
		s.Coverage50, s.Coverage95 = s.Coverage50/n, s.Coverage95/n
	}
	if r := m.Report(); r.Values > 0 {
		o.LeaveOneOut = &r.LogDensity
		if worse := r.LogDensity - o.Model.LogDensity; !math.IsInf(worse, 0) {
			o.Worse = &worse
		}
	}
}

// What says what was left out together.
func (v *Validation) What() string {
	sizes := make([]int, v.Folds)
	for _, k := range v.fold {
		sizes[k]++
	}
	least, most := slices.Min(sizes), slices.Max(sizes)
	size := words.Plural(most, "row")
	if least < most {
		size = fmt.Sprintf("%d to %s", least, size)
	}
	if v.column >= 0 {
		return fmt.Sprintf("%s of %s, of %s", words.Plural(v.Folds, "group"), v.Column, size)
	}
	kind := "compact blocks"
	if v.in.Dx == 1 {
		kind = "runs"
	}
	return fmt.Sprintf("%d %s of neighbouring rows, of %s", v.Folds, kind, size)
}

// Lines say for each output how good the predictions are, and how much worse than the check that leaves single values out says.
func (v *Validation) Lines() (lines []string) {
	for _, name := range v.names {
		o := v.Outputs[name]
		m, c, d := o.Model, o.Constant, o.InverseDistance
		lines = append(lines,
			fmt.Sprintf("%s: each of %d values predicted from other folds: log density %s, a constant's %s, inverse distances' %s; "+
				"%.0f %% lie in 50 %% intervals, %.0f %% in 95 %% ones", name, o.Values, nats(m.LogDensity), nats(c.LogDensity),
				nats(d.LogDensity), 100*m.Coverage50, 100*m.Coverage95),
			fmt.Sprintf("%s: RMSE %.4g, a constant's %.4g, inverse distances' %.4g; MAE %.4g, %.4g, %.4g; mean error %+.3g, %+.3g, %+.3g",
				name, m.RMSE, c.RMSE, d.RMSE, m.MAE, c.MAE, d.MAE, m.MeanError, c.MeanError, d.MeanError))
		switch w := o.Worse; {
		case w == nil:
		case *w >= 0:
			lines = append(lines, fmt.Sprintf("%s: %.3f nats a value worse than the check, which leaves single values out (%s)", name, *w,
				nats(*o.LeaveOneOut)))
		default:
			lines = append(lines, fmt.Sprintf("%s: %.3f nats a value better than the check, which leaves single values out (%s)", name, -*w,
				nats(*o.LeaveOneOut)))
		}
	}
	return lines
}

// nats writes a log density; one below -1000 says no more than that some value was all but impossible.
func nats(v float64) string {
	if !(v >= -1000) {
		return "below -1000"
	}
	return fmt.Sprintf("%.3f", v)
}

// Table returns the rows with their coordinates and auxiliary inputs, the column of groups if there is one, the fold from 1 and, for every
// output, the value, mean, standard deviation and quantiles that the other folds predict. Columns are called as in Interpolation.Table.
func (v *Validation) Table(c *tabletask.Columns) *table.Table {
	in := v.in
	names, outputs := in.Chosen(c)
	columns, aux := slices.Clone(in.Observed.Columns.X), in.Observed.Columns.Aux
	columns, names = append(columns, aux...), slices.Concat(names, tabletask.Labels(in.Points, aux, "aux", len(aux)))
	if v.column >= 0 && !slices.Contains(columns, v.column) {
		columns, names = append(columns, v.column), append(names, v.Column)
	}
	places := in.Points.Only(columns, names).Rearranged(v.rows)
	var added []table.Column
	if !slices.ContainsFunc(places.Header, func(name string) bool { return strings.EqualFold(name, "fold") }) {
		fold := make([]float64, len(v.rows))
		for i, k := range v.fold {
			fold[i] = float64(k + 1)
		}
		added = append(added, table.Column{Name: "fold", Values: fold})
	}
	kinds := slices.Concat([]string{"", "mean", "std"}, tabletask.QuantileKinds(v.levels))
	for k, kind := range kinds {
		for c, name := range v.names {
			o := v.Outputs[name]
			column := table.Column{Name: kind}
			switch {
			case kind == "":
				column.Name = name
			case outputs != nil:
				column.Name = name + "_" + kind
			case in.Dy > 1:
				column.Name = tabletask.Names(kind, in.Dy)[c]
			}
			switch k {
			case 0:
				for _, row := range v.rows {
					column.Values = append(column.Values, in.Observed.Y[row*in.Dy+c])
				}
			case 1:
				column.Values = o.mean
			case 2:
				column.Values = o.std
			default:
				column.Values = o.quantiles[k-3]
			}
			if in.Points.Units != nil {
				column.Unit = in.Points.Units[in.Observed.Columns.Y[c]]
			}
			added = append(added, column)
		}
	}
	return places.With(added...)
}
