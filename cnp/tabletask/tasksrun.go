package tabletask

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
)

// TasksRun says how the tasks of a table are predicted.
type TasksRun struct {
	// Name names the table in errors.
	Name string
	// Standardise brings the data into the model's range, and the prediction back.
	Standardise bool
	// NoCheck leaves out the prediction of parts of the contexts from the rest.
	NoCheck bool
	// Alone interpolates every task by itself where there is no model, instead of with what all tasks have in common.
	Alone bool
	// Samples is the number of samples that are drawn of each task, Sample says how: it is asked for so many tasks, of which the largest
	// has that many context points.
	Samples int
	Sample  func(tasks, context int) cnp.SampleOptions
	// Quantiles are those of the output of that name, Outputs the names of what the table gets; nil is what a table has.
	Quantiles []float64
	Outputs   []string
}

// TasksPrediction is the prediction of the tasks of a table.
type TasksPrediction struct {
	predict.Notes
	// Table has a row for each place: the task, the inputs, and from column First on the predictions of Dy outputs. X are
	// the columns of the coordinates, Inputs their names.
	Table     *table.Table
	X         []int
	Inputs    []string
	First, Dy int
	// Rows are, of each task, its rows of the table.
	Rows [][]int
	// Context is the number of context points, over all tasks.
	Context int
	// LogLikelihood is the mean log density of the Values values that are known at the places and were no part of a
	// context; nil without any. Of are their names.
	LogLikelihood *float64
	Values        int
	Of            string
	// Check says whether the model suits the data, nil if nothing was held out.
	Check *predict.Checked
	Time  time.Duration
}

// Beside are the columns of Table with the auxiliary inputs.
func (p *TasksPrediction) Beside() (columns []int) {
	for c := slices.Max(p.X) + 1; c < p.First; c++ {
		columns = append(columns, c)
	}
	return columns
}

// tasksRun is a table on its way to its predictions.
type tasksRun struct {
	*Tasks
	*TasksRun
	out     *TasksPrediction
	model   cnp.Regressor[float32]
	cfg     cnp.Config
	all     *cnp.Prediction[float32] // of all rows of the output
	counts  []bool                   // which of its values have a prediction
	samples []float32
	scaled  int           // tasks that were standardised
	thinned bool          // it was said that a context is dense
	doubts  *krige.Doubts // nil where the model was trained
}

// Predict predicts the tasks, which TasksOf read for the configuration of that model.
func (t *Tasks) Predict(ctx context.Context, model cnp.Regressor[float32], opt *TasksRun) (*TasksPrediction, error) {
	run := &tasksRun{Tasks: t, TasksRun: opt, out: &TasksPrediction{}, model: model, cfg: model.Config()}
	cfg, out := &run.cfg, run.out
	if err := predict.CheckUnits(cfg, opt.Standardise); err != nil {
		return nil, err
	}
	if err := run.empty(); err != nil {
		return nil, err
	}
	if err := run.learn(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", opt.Name, err)
	}
	judged := run.model
	if opt.Standardise {
		judged = cnp.Standardised(run.model)
	}
	out.Incomplete(t.incomplete, t.in.Name)
	for _, said := range t.said {
		out.Note("%s", said)
	}
	var err error
	if !opt.NoCheck {
		if out.Check, err = out.Notes.Check(ctx, judged, t.contexts(mostChecked, cfg.DimX, cfg.DimY, len(cfg.Auxiliary))...); err != nil {
			return nil, err
		}
	}
	sifted := out.Sifting(run.model)
	if err := run.predict(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", opt.Name, err)
	}
	sifted()
	if run.doubts != nil {
		out.Caution(run.doubts.Texts()...)
	}
	out.Standardised(run.scaled, t.rows.Tasks)
	if err := run.write(); err != nil {
		return nil, err
	}
	run.describe()
	return out, nil
}

// learn lets an interpolation know what the tasks have in common, where that helps.
func (t *tasksRun) learn(ctx context.Context) error {
	alone, ok := t.model.(*krige.Regressor)
	if !ok || t.Alone {
		return nil
	}
	learned, shared, gain, err := alone.Learn(ctx, t.contexts(mostLearned, t.cfg.DimX, t.cfg.DimY, len(t.cfg.Auxiliary))...)
	if err != nil {
		return err
	}
	if t.model = learned; shared > 0 {
		t.out.Note("tasks share the parameters of the covariance: by the contexts a gain of %.3f nats a value", gain)
	}
	return nil
}

// empty refuses tables without columns, and notes those without rows.
func (t *tasksRun) empty() error {
	for _, table := range []*table.Table{t.in, t.places} {
		if err := NotEmpty(table); err != nil {
			return err
		}
		if table.Rows() == 0 {
			t.out.Caution(nothing(table))
			break
		}
	}
	return nil
}

// predict predicts all tasks.
func (t *tasksRun) predict(ctx context.Context) (err error) {
	n := len(t.Tasks.out) * t.cfg.DimY
	if t.all, err = cnp.NewPrediction[float32](&t.cfg, n); err != nil {
		return err
	}
	if t.Samples > 0 {
		t.samples = make([]float32, t.Samples*n)
	}
	t.counts = slices.Repeat([]bool{true}, n)
	if r, ok := t.model.(*krige.Regressor); ok {
		t.doubts = r.Doubts()
	}
	start := time.Now()
	for _, p := range t.pieces(&t.cfg, t.Samples > 0) {
		if err := t.piece(ctx, p); err != nil {
			return err
		}
	}
	t.out.Time = time.Since(start)
	return t.all.Check(func(i int) bool { return t.counts[i] })
}

// piece predicts some of the tasks, or some targets of one.
func (t *tasksRun) piece(ctx context.Context, p piece) error {
	dy := t.cfg.DimY
	b, rows := t.batch(p, t.cfg.DimX, dy, len(t.cfg.Auxiliary))
	if len(b.XTarget) == 0 {
		return nil
	}
	opt := predict.Options{Raw: !t.Standardise}
	if t.Samples > 0 {
		draw := t.Sample(b.B, b.Nc)
		opt.Sample = &draw
	}
	prepared, err := predict.PrepareCurves(t.model, b, opt)
	if err != nil {
		return err
	}
	if t.doubts != nil {
		t.doubts.Add(b)
	}
	for _, caution := range prepared.Cautions {
		if !slices.Contains(t.out.Cautions, settings.Text(caution)) && len(t.out.Cautions) < mostCautions {
			t.out.Caution(caution)
		}
	}
	t.scaled += prepared.Scaled
	if !t.thinned {
		t.out.Thinned(prepared.Given, prepared.Seen)
		t.thinned = prepared.Seen < prepared.Given
	}
	res, err := prepared.Run(ctx)
	if err = t.out.Reached(res, err); err != nil {
		return err
	}
	for at, row := range rows {
		if row < 0 {
			continue
		}
		copyValues(t.all, row*dy, res.Prediction, at*dy, dy)
		for d := range dy {
			t.counts[row*dy+d] = res.Counted(at*dy + d)
			for s := range t.Samples {
				t.samples[(s*len(t.Tasks.out)+row)*dy+d] = res.Samples[(s*len(rows)+at)*dy+d]
			}
		}
	}
	return nil
}

// write makes the table of the predictions.
func (t *tasksRun) write() (err error) {
	out, dx, dy := t.out, t.cfg.DimX, t.cfg.DimY
	base, names := t.base(), ValueNames{}
	if t.in.Header != nil {
		names.Names = Labels(t.in, t.rows.Columns.Y, "y", dy)
	}
	if t.in.Units != nil {
		for _, c := range t.rows.Columns.Y {
			names.Units = append(names.Units, t.in.Units[c])
		}
	}
	res := &predict.Result{Prediction: t.all, Shape: []int{1, len(t.Tasks.out), dy}, Counts: t.counts, Samples: t.samples,
		Drawn: t.Samples, Quantiles: t.Quantiles}
	if out.Table, err = Predicted(base, res, t.Outputs, dy, names); err != nil {
		return err
	}
	out.Rows, out.First, out.Dy = t.targets, base.Cols, dy
	for k := range dx {
		out.X = append(out.X, base.Cols-dx-len(t.cfg.Auxiliary)+k)
		out.Inputs = append(out.Inputs, out.Table.Header[out.X[k]])
	}
	return nil
}

// describe says what was predicted.
func (t *tasksRun) describe() {
	for _, extra := range []struct {
		table   *table.Table
		columns table.Columns
	}{{t.in, t.rows.Columns}, {t.places, t.at.Columns}} {
		if extra.table == t.places && t.places == t.in {
			break
		}
		names := slices.DeleteFunc(extra.table.Extra(extra.columns), func(name string) bool {
			return name == "context" || t.rows.TaskColumn >= 0 && t.in.Header != nil && name == t.in.Header[t.rows.TaskColumn]
		})
		if len(names) > 0 {
			t.out.Note("columns of %s that are not read: %s", extra.table.Name, strings.Join(names, ", "))
		}
		for _, note := range extra.table.Remarks(extra.columns) {
			t.out.Note("%s", note)
		}
	}
	for _, rows := range t.context {
		t.out.Context += len(rows)
	}
	dy := t.cfg.DimY
	if t.out.LogLikelihood, t.out.Values = t.scored(t.all, t.counts, dy); t.out.LogLikelihood != nil {
		t.out.Of = strings.Join(Labels(t.places, t.at.Columns.Y, "y", dy), ", ")
	}
}

// mostCautions bounds what is said of a table's tasks.
const mostCautions = 20

// copyValues copies n values of a prediction to another, with their parameters.
func copyValues(to *cnp.Prediction[float32], at int, from *cnp.Prediction[float32], first, n int) {
	copy(to.Mean[at:at+n], from.Mean[first:first+n])
	copy(to.Std[at:at+n], from.Std[first:first+n])
	if from.Params != nil {
		k := from.Likelihood.Outputs()
		copy(to.Params[at*k:(at+n)*k], from.Params[first*k:(first+n)*k])
	}
}

// scored is the mean log-density of the values that are known at the places, and were no part of a context, and their
// number; nil without any.
func (t *Tasks) scored(p *cnp.Prediction[float32], counts []bool, dy int) (mean *float64, n int) {
	if len(t.at.Columns.Y) != dy {
		return nil, 0
	}
	sum := 0.0
	for _, rows := range t.targets {
		if len(rows) == 0 {
			continue
		}
		own := &cnp.Prediction[float32]{Mean: make([]float32, len(rows)*dy), Std: make([]float32, len(rows)*dy),
			Likelihood: p.Likelihood}
		if p.Params != nil {
			own.Params = make([]float32, len(rows)*dy*p.Likelihood.Outputs())
		}
		y, known := make([]float32, len(rows)*dy), make([]bool, len(rows)*dy)
		for i, row := range rows {
			copyValues(own, i*dy, p, row*dy, dy)
			place := t.out[row].place
			for d := range dy {
				v := t.at.Y[place*dy+d]
				y[i*dy+d] = float32(v)
				observed := t.places == t.in && (t.rows.Context == nil || t.rows.Context[place])
				known[i*dy+d] = v == v && counts[row*dy+d] && !observed
			}
		}
		s, k := own.LogDensity(y, known)
		sum, n = sum+s, n+k
	}
	if n == 0 {
		return nil, 0
	}
	v := sum / float64(n)
	return &v, n
}
