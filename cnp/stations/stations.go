// Package stations predicts at more places than fit into memory, from one context. It reads the places piece by piece and
// writes their predictions in the same order. A journal beside the output lets an interrupted run resume.
package stations

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/settings"
	"github.com/equivcnp/equivcnp/cnp/table"
	"github.com/equivcnp/equivcnp/cnp/tabletask"
	"github.com/equivcnp/equivcnp/internal/shards"
	"github.com/equivcnp/equivcnp/internal/tables"
)

// Options say what is predicted, and where it is written.
type Options struct {
	// Options name the table of the context and the file of the targets, which is CSV or TSV text of any length, compressed
	// or not.
	tabletask.Options
	// Out is the output, .csv or .tsv. While it is not complete, it is called .partial, and .progress beside it is the
	// journal.
	Out string
	// Rows is the number of targets that are predicted at a time; 0 is 65,536.
	Rows int
	// Outputs are the columns; none is mean and standard deviation.
	Outputs   []string
	Quantiles []float64
	// Standardise brings the data into the model's range, and the prediction back.
	Standardise bool
	// NoCheck leaves out the prediction of parts of the context from the rest.
	NoCheck bool
	// Settings tell this work from other work beside the options: how the model was read, for example.
	Settings []any
}

// Report says what a run did.
type Report struct {
	predict.Notes
	// ContextPoints is the size of the context, 0 if all targets were predicted before.
	ContextPoints int
	Targets       int
	Kept          int // targets predicted by an earlier process
	// Check says whether the model suits the context, nil if it was not checked.
	Check *predict.Checked
	Time  time.Duration
}

// ErrInterrupted is returned where the context ended; the same call resumes.
var ErrInterrupted = errors.New("interrupted: the same command resumes")

// Suits refuses a model whose prediction of a target depends on the other targets.
func Suits(cfg *cnp.Config) error {
	if cfg.PointsPerUnit > 0 && cfg.Placement != cnp.PlacementContext {
		return errors.New("the model lays a lattice over all targets, so that each changes the others' predictions: " +
			"regress takes them together")
	}
	return nil
}

// Run predicts at all targets. The model must predict each target independently of the others ([Suits]).
func Run(ctx context.Context, model cnp.Regressor[float32], opt Options) (*Report, error) {
	if model == nil {
		return nil, fmt.Errorf("%w: no model", cnp.ErrConfig)
	}
	if opt.Rows == 0 {
		opt.Rows = 1 << 16
	}
	if opt.Rows < 1 || opt.Rows > tabletask.MaxPoints {
		return nil, settings.Errorf("{Rows} %d: need 1 to %d", opt.Rows, tabletask.MaxPoints)
	}
	cfg := model.Config()
	if err := predict.CheckUnits(&cfg, opt.Standardise); err != nil {
		return nil, err
	}
	var doubts *krige.Doubts
	if interpolation, ok := model.(*krige.Regressor); ok { // all pieces have one context
		model, doubts = interpolation.Keeping(), interpolation.Doubts()
	}
	if opt.Standardise {
		model = cnp.Standardised(model)
	}
	points, err := opt.ReadTable(opt.CSV, nil)
	if err != nil {
		return nil, err
	}
	in, err := openTargets(&opt)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	work, err := opt.work()
	if err != nil {
		return nil, err
	}
	out, err := openOutput(opt.Out, work)
	if err != nil {
		return nil, settings.Hintf("{Out}: %w", err)
	}
	defer out.close()
	if err := in.begin(out.at.In); err != nil {
		return nil, err
	}
	r := &run{Options: opt, model: model, cfg: cfg, points: points, in: in, out: out, doubts: doubts}
	r.report.Kept = out.at.Rows
	start := time.Now()
	for ended := false; !ended; {
		if ended, err = r.piece(ctx); err != nil {
			return nil, err
		}
	}
	if r.report.Targets = out.at.Rows; r.report.Targets == 0 {
		r.report.Caution(opt.Targets + " has no rows: there is nothing to predict")
	}
	if doubts != nil {
		r.report.Caution(doubts.Texts()...)
	}
	err = out.finish(opt.Out)
	r.report.Time = time.Since(start)
	return &r.report, err
}

// run is a run of Run.
type run struct {
	Options
	model   cnp.Regressor[float32]
	cfg     cnp.Config
	points  *table.Table
	in      *targets
	out     *output
	checked bool
	sifted  bool          // outliers were noted
	doubts  *krige.Doubts // nil where the model was trained
	report  Report
}

// piece predicts the next targets, and reports whether they are the last.
func (r *run) piece(ctx context.Context) (ended bool, err error) {
	text, ended, err := r.in.next(r.Rows)
	if err != nil {
		return false, err
	}
	done := r.out.at.Rows
	if text == nil && done > 0 {
		return true, nil
	}
	text = append(bytes.Clone(r.in.header), text...)
	name := r.Targets
	if done > 0 {
		name = fmt.Sprintf("%s after row %d", name, done)
	}
	targets, err := r.Decode(text, name)
	if err != nil {
		return false, err
	}
	if targets.Rows() == 0 && done > 0 {
		return true, nil
	}
	if err := tabletask.NotEmpty(targets); err != nil {
		return false, err
	}
	t := &tabletask.Task{Points: r.points, Targets: targets}
	if err := t.Fit(&r.Options.Options, &r.cfg); err != nil {
		return false, err
	}
	if err := cnp.CheckDensity(&r.cfg, t.Batch, r.Standardise); err != nil {
		return false, err
	}
	result, err := r.predict(ctx, t)
	if errors.Is(err, context.Canceled) {
		err = ErrInterrupted
	}
	if err != nil {
		return false, err
	}
	written, err := t.Table(&r.Columns, result, r.Outputs)
	if err != nil {
		return false, err
	}
	var b bytes.Buffer
	if err := tables.Write(&b, r.Out, written, written.First(r.cfg.DimX)); err != nil {
		return false, err
	}
	body := b.Bytes()
	if done > 0 { // the header stands at the beginning
		_, body, _ = bytes.Cut(body, []byte("\n"))
	}
	return ended, r.out.add(body, r.in.at, targets.Rows())
}

// predict predicts a piece; the first one checks the model.
func (r *run) predict(ctx context.Context, t *tabletask.Task) (*predict.Result, error) {
	if r.report.ContextPoints == 0 && t.Batch.Nc > 0 {
		for _, note := range t.Points.Remarks(t.Observed.Columns) {
			r.report.Note("%s", note)
		}
	}
	if r.report.ContextPoints = t.Batch.Nc; !r.checked && !r.NoCheck {
		var err error
		if r.report.Check, err = r.report.Notes.Check(ctx, r.model, t.Batch); err != nil {
			return nil, err
		}
		if r.checked = true; r.report.Check == nil { // there is nothing to check, of no piece
			r.report.Check = &predict.Checked{}
		}
	}
	if !r.sifted { // all pieces have one context
		r.sifted = true
		defer r.report.Sifting(r.model)()
	}
	if r.doubts != nil {
		r.doubts.Add(t.Batch)
	}
	p, err := r.model.Predict(ctx, t.Batch)
	counts, err := r.report.Answered(p, err, t.Batch.Nt, r.cfg.DimY)
	if err == nil {
		err = p.Check(func(i int) bool { return counts == nil || counts[i] })
	}
	return &predict.Result{Prediction: p, Counts: counts, Quantiles: r.Quantiles}, err
}

// work tells this prediction from others.
func (o *Options) work() (string, error) {
	c := &o.Columns
	all := append([]any{}, o.Settings...)
	all = append(all, o.Standardise, o.Quantiles, o.Outputs, c.X, c.Y, c.Task, c.Decimal, c.Dates, filepath.Ext(o.Out), c.Aux,
		c.StaticFields)
	if len(c.Aux) > 0 {
		all = append(all, "auxiliary inputs are written")
	}
	context, sheet := tables.SheetOf(o.CSV)
	static, fields := tables.SheetOf(c.Static)
	if len(c.Missing) > 0 {
		all = append(all, "missing", c.Missing)
	}
	if sheet+fields != "" {
		all = append(all, sheet, fields)
	}
	return shards.Work(all, context, o.Targets, static)
}
