package tabletask

import (
	"context"
	"fmt"
	"time"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/predict"
)

// PredictOptions say how a task is predicted.
type PredictOptions struct {
	// Standardise brings the data into the model's range, and the prediction back.
	Standardise bool
	// NoCheck leaves out the prediction of parts of the context from the rest.
	NoCheck bool
	// Sample says what is drawn, besides; nil is nothing.
	Sample *cnp.SampleOptions
	// Quantiles are those of the output of that name.
	Quantiles []float64
}

// Prediction is the prediction of a task.
type Prediction struct {
	predict.Result
	predict.Notes
	// Check says whether the model suits the data, nil if nothing was held out.
	Check *predict.Checked
	// LogLikelihood is the mean log density of the targets' values, nil if the table has none.
	LogLikelihood *float64
	// Model is the model as it was used: with units where the data were standardised.
	Model cnp.Regressor[float32]
	Time  time.Duration
}

// Predict predicts the task, which Fit made for the configuration of that model.
func (t *Task) Predict(ctx context.Context, model cnp.Regressor[float32], opt PredictOptions) (*Prediction, error) {
	cfg, b := model.Config(), t.Batch
	p := &Prediction{Model: model}
	p.Caution(cnp.Notes(&cfg, b)...)
	p.Doubts(model, b)
	if b.Nc == 0 {
		p.Caution("there are no context points: this is what the model expects without any data")
	}
	p.Incomplete(t.Incomplete, t.Points.Name)
	seen, err := p.units(&cfg, b, opt.Standardise)
	if err != nil {
		return nil, err
	}
	need, err := cnp.EstimateModel(model, seen.Work(t.Dx))
	if opt.Sample != nil {
		need.Features += predict.SamplesNeed(opt.Sample.Samples, b.B, b.Nc, b.Nt, t.Dy)
	}
	if err == nil {
		err = need.Check(cnp.MemoryLimit())
	}
	if err != nil {
		return nil, err
	}
	if !opt.NoCheck {
		if p.Check, err = p.Notes.Check(ctx, p.Model, b); err != nil {
			return nil, err
		}
	}
	defer p.Sifting(model)()
	start := time.Now()
	p.Prediction, err = p.Model.Predict(ctx, b)
	if opt.Sample != nil && p.Prediction != nil {
		var failed error
		if p.Samples, failed = cnp.SampleCurves(ctx, p.Model, b, *opt.Sample); p.Samples == nil {
			err = failed
		} else if failed != nil && err == nil { // a sample has to reach from one target to another, too
			p.Caution(fmt.Sprintf("samples: %v: none there (NaN)", failed))
		}
		p.Drawn = opt.Sample.Samples
	}
	p.Time = time.Since(start)
	if p.Counts, err = p.Answered(p.Prediction, err, b.Nt, t.Dy); err != nil {
		return nil, err
	}
	if err := p.Prediction.Check(func(i int) bool { return p.Counts == nil || p.Counts[i] }); err != nil {
		return nil, err
	}
	p.Quantiles = opt.Quantiles
	p.score(t)
	return p, nil
}

// units gives the model units where the data are standardised, and returns the batch as the model sees it.
func (p *Prediction) units(cfg *cnp.Config, b *cnp.Batch[float32], standardise bool) (*cnp.Batch[float32], error) {
	if err := predict.CheckUnits(cfg, standardise); err != nil {
		return b, err
	}
	if !standardise {
		return b, cnp.CheckDensity(cfg, b, false)
	}
	seen, windows, err := cnp.Seen(cfg, b)
	if err != nil {
		return nil, err
	}
	if windows == 0 {
		p.Thinned(b.Nc, seen.Nc)
	}
	p.Model = cnp.Standardised(p.Model)
	p.Standardised(cnp.OtherScale(cfg, b), 1)
	return seen, nil
}

// score takes the log density of the values that the table of targets has.
func (p *Prediction) score(t *Task) {
	y := t.Asked.Y
	if len(y) != t.Batch.Nt*t.Dy {
		return
	}
	known := make([]bool, len(y))
	for i, v := range y {
		known[i] = v == v && (p.Counts == nil || p.Counts[i])
	}
	if sum, n := p.Prediction.LogDensity(Single(y), known); n > 0 {
		v := sum / float64(n)
		p.LogLikelihood = &v
	}
}

// leastKnots and mostKnots bound what Knots returns; usualKnots is for a model that does not know how many context points
// it was trained on.
const leastKnots, usualKnots, mostKnots = 8, 32, 200

// Knots returns how many targets to draw for a sample that is a function: as many as, with the context, the model saw in
// training. An interpolation draws all targets at once, for which Knots returns 0.
func Knots(cfg *cnp.Config, context int) int {
	if cfg.Architecture == krige.Architecture {
		return 0
	}
	if t := cfg.Trained; t != nil && t.Context[1] > 0 {
		return min(max(t.Context[1]-context, leastKnots), mostKnots)
	}
	return usualKnots
}
