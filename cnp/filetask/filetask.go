// Package filetask predicts the tasks of files of tensors, curves or images, as package tabletask does those of tables.
package filetask

import (
	"context"
	"fmt"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/predict"
	"github.com/equivcnp/equivcnp/cnp/taskfile"
	"github.com/equivcnp/equivcnp/internal/words"
)

// Options say how the tasks of a file are predicted.
type Options struct {
	// Name names the file in errors.
	Name string
	// Standardise brings curves into the model's range, and the prediction back.
	Standardise bool
	// NoCheck leaves out the prediction of parts of the contexts of curves from the rest.
	NoCheck bool
	// Sample says how samples are drawn of so many tasks, of which the largest has that many context points; nil is none.
	Sample    func(tasks, context int) cnp.SampleOptions
	Quantiles []float64
	// Outputs are the names of the tensors; nil is all but the covariance of a task, which Covariance adds.
	Outputs    []string
	Covariance bool
	// Plan says how images are run, Batch how many at a time; 0 is all.
	Plan  cnp.PlanOptions
	Batch int
	// ImageNotes are notes about a model of images.
	ImageNotes []string
}

// Prediction is the prediction of the tasks of a file.
type Prediction struct {
	predict.Notes
	Tensors []predict.Tensor
	// Tasks, Context and Targets are how many there are, of points those that count. Shape is that of the mean.
	Tasks, Context, Targets int
	Shape                   []int
	// LogLikelihood is the mean log density of the Values values that count and are known, of the tensor Of; nil without any.
	LogLikelihood *float64
	Values        int
	Of            string
	// Check says whether the model suits the data, nil if nothing was held out.
	Check *predict.Checked
	Time  time.Duration
}

// job is a file of tasks, ready to run.
type job struct {
	*predict.Prepared
	*Options
	out   *Prediction
	truth []float32 // nil without
	of    string
}

// Predict predicts the tasks of a file.
func Predict(ctx context.Context, model cnp.Model[float32], in *taskfile.File, o *Options) (*Prediction, error) {
	if model == nil {
		return nil, fmt.Errorf("%w: no model", cnp.ErrConfig)
	}
	out := &Prediction{}
	j := &job{Options: o, out: out, of: "y_target"}
	if err := j.prepare(model, in); err != nil {
		return nil, err
	}
	sifted := out.Sifting(model)
	start := time.Now()
	res, err := j.Run(ctx)
	sifted()
	out.Time = time.Since(start)
	out.Caution(j.Cautions...)
	out.Thinned(j.Given, j.Seen)
	if !o.NoCheck && res != nil {
		var failed error
		if out.Check, failed = out.Judge(ctx, j.Prepared.Check); failed != nil {
			return nil, failed
		}
	}
	if err = out.Reached(res, err); err == nil {
		err = res.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	out.Standardised(j.Scaled, j.Tasks)
	out.Tasks, out.Context, out.Targets, out.Shape = j.Tasks, j.Context, j.Targets, j.Shape
	if err := j.score(res); err != nil {
		return nil, err
	}
	if extra := in.Unused(); len(extra) > 0 {
		out.Note("tensors that this model does not read: %q", extra)
	}
	if out.Tensors, err = res.Tensors(o.Outputs...); err != nil || !o.Covariance {
		return out, err
	}
	more, err := res.Tensors("covariance")
	out.Tensors = append(out.Tensors, more...)
	return out, err
}

// prepare prepares the tasks of the file for a model.
func (j *job) prepare(model cnp.Model[float32], in *taskfile.File) (err error) {
	cfg := model.Config()
	options := predict.Options{Raw: !j.Standardise, Quantiles: j.Quantiles, Plan: j.Plan, Batch: j.Batch}
	sample := func(tasks, context int) {
		if j.Options.Sample != nil {
			draw := j.Options.Sample(tasks, context)
			options.Sample = &draw
		}
	}
	if cfg.Architecture.Image() {
		c, err := in.Images(cfg.DimY)
		if err != nil {
			return err
		}
		im := &c.Batch
		j.truth, j.of = c.Answer()
		if c.Missing > 0 {
			j.out.Note("%s missing: not observed, whatever the mask says", words.Plural(c.Missing, "pixel"))
		}
		if c.Levels > 0 {
			j.out.Note("integers are levels of %d: 0 to 1, and so are the outputs", c.Levels)
		}
		options.Raw = false
		sample(im.B, observed(im)/max(1, im.B))
		if j.Prepared, err = predict.PrepareImages(model, im, options); err != nil {
			return fmt.Errorf("%s: %w", j.Name, err)
		}
		j.divided()
		for _, note := range j.ImageNotes {
			j.out.Note("%s", note)
		}
		return nil
	}
	c, err := in.Curves(&cfg)
	if err == nil {
		err = predict.CheckUnits(&cfg, j.Standardise)
	}
	if err != nil {
		return err
	}
	j.truth = c.Truth
	sample(c.Batch.B, c.Batch.Nc)
	if j.Prepared, err = predict.PrepareCurves(model, &c.Batch, options); err != nil {
		return fmt.Errorf("%s: %w", j.Name, err)
	}
	j.out.Doubts(model, &c.Batch)
	return nil
}

// observed is how many pixels of images are observed.
func observed(im *cnp.Images[float32]) (n int) {
	for _, m := range im.Mask {
		if m {
			n++
		}
	}
	return n
}

// divided notes that images are divided.
func (j *job) divided() {
	if j.Parts < 2 {
		return
	}
	limit := j.Plan.Memory
	if j.Plan.Soft {
		limit = cnp.MemoryLimit()
	}
	j.out.Divided(j.Parts, limit)
}

// score takes the log density of the true values that count and are known.
func (j *job) score(res *predict.Result) error {
	if j.truth == nil {
		return nil
	}
	known := make([]bool, len(j.truth))
	for i, v := range j.truth {
		known[i] = res.Counted(i) && v == v
	}
	channels := 1 // those of a curve's target lie together, those of a pixel apart
	if len(j.Shape) == 3 {
		channels = max(1, j.Shape[2])
	}
	if err := cnp.CheckSupport(res.Prediction.Distribution(), j.of, j.truth, known, channels); err != nil {
		return fmt.Errorf("%s: %w", j.Name, err)
	}
	if sum, n := res.Prediction.LogDensities(j.Tasks, j.truth, known); n > 0 {
		v := sum / float64(n)
		j.out.LogLikelihood, j.out.Values, j.out.Of = &v, n, j.of
	}
	return nil
}

// Widths returns how many coordinates, auxiliary inputs and outputs the curves of a file have, 0 where it has none.
func Widths(in *taskfile.File) (dx, da, dy int) {
	for _, t := range in.Tensors() {
		switch n := len(t.Shape); {
		case n != 3:
		case t.Name == "x_context":
			dx = t.Shape[2]
		case t.Name == "aux_context":
			da = t.Shape[2]
		case t.Name == "y_context":
			dy = t.Shape[2]
		}
	}
	return dx, da, dy
}
