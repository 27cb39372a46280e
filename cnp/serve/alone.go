package serve

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/cnp"
)

// Some outputs need more of a model than mean and standard deviation. A job that asks for one is computed alone.

// maxSamples bounds the samples of a request.
const maxSamples = 1024

// alone is what a job wants beyond mean and standard deviation.
type alone struct {
	draw  *cnp.SampleOptions // nil: no samples
	joint bool               // covariances
	// What came of it.
	samples []float32 // [S, values]
}

// askAlone notes what a request wants beyond mean and standard deviation, nil for nothing. Samples are wanted where the output is named, or the parameter samples
// says how many.
func askAlone(r *request, m *model) (*alone, error) {
	a := &alone{}
	n, asked, err := r.params.whole("samples", 0, maxSamples)
	if err != nil {
		return nil, err
	}
	for _, w := range r.outputs {
		switch w.name {
		case "samples":
			if asked = true; n == 0 {
				n = 1
			}
		case "covariance", "cov_factor", "cov_diag":
			a.joint = true
		}
	}
	if !asked || n == 0 {
		if a.joint {
			return a, nil
		}
		return nil, nil
	}
	opt := &cnp.SampleOptions{Samples: n}
	seed, _, err := r.params.number("seed", 0, 1<<53)
	if err != nil {
		return nil, err
	}
	opt.Seed = uint64(seed)
	if opt.Block, _, err = r.params.whole("block", 0, maxBatchTasks); err != nil {
		return nil, err
	}
	if opt.Growth, _, err = r.params.number("growth", 0, 1000); err != nil {
		return nil, err
	}
	if opt.Knots, _, err = r.params.whole("knots", 0, maxBatchTasks); err != nil {
		return nil, err
	}
	if opt.Function, err = r.params.flag("function", false); err != nil {
		return nil, err
	}
	if order, ok := r.params["order"].(string); ok {
		opt.Order = cnp.Order(order)
	}
	a.draw = opt
	return a, nil
}

// compute predicts the one job, and draws its samples.
func (a *alone) compute(ctx context.Context, j *job) error {
	m := j.model
	var p *cnp.Prediction[float32]
	var err error
	switch {
	case j.values == 0:
		p = &cnp.Prediction[float32]{}
	case j.images != nil:
		p, err = m.completer.Complete(ctx, j.images)
	default:
		p, err = m.regressor.Predict(ctx, j.curves)
	}
	var outside *cnp.OutsideError
	if err != nil && !(p != nil && errors.As(err, &outside)) {
		return err
	}
	if outside != nil {
		j.note = j.outside(outside, 0).Error()
	}
	if j.undo != nil {
		j.undo(p)
	}
	j.prediction = p
	if a.draw == nil {
		return nil
	}
	if _, joint := p.Likelihood.(cnp.JointLikelihood); joint {
		a.samples = make([]float32, a.draw.Samples*j.values)
		per := j.values / max(1, j.tasks)
		for t := range j.tasks {
			task := p.Task(t, j.tasks)
			var mask []bool
			if j.curves != nil && j.curves.TargetMask != nil {
				for i := range per {
					mask = append(mask, j.curves.TargetMask[t*j.targets+i/m.cfg.DimY])
				}
			}
			rng := rand.New(rand.NewPCG(a.draw.Seed, 0))
			for s := range a.draw.Samples {
				dst := a.samples[s*j.values+t*per:][:per]
				if !a.draw.Function || !task.SampleFunction(dst, rng, mask) {
					task.Sample(dst, rng, mask)
				}
			}
		}
		return nil
	}
	if j.images != nil {
		a.samples, err = cnp.SampleImages(ctx, m.completer, j.images, *a.draw)
	} else {
		var of cnp.CurvePredictor[float32] = m.regressor
		if j.undo != nil {
			of = cnp.Standardised(m.regressor)
		}
		a.samples, err = cnp.SampleCurves(ctx, of, j.given, *a.draw)
	}
	if errors.As(err, &outside) { // which the note has said
		err = nil
	}
	return err
}

// covariance is that of every task [B, n, n].
func (j *job) covariance() []float32 {
	var out []float32
	for t := range j.tasks {
		for _, v := range j.prediction.Task(t, j.tasks).Covariance() {
			out = append(out, float32(v))
		}
	}
	return out
}

// factors are those of every task: [B, n, rank] and [B, n].
func (j *job) factors() (factor, diag []float32) {
	for t := range j.tasks {
		f, d, _ := j.prediction.Task(t, j.tasks).Factors()
		for _, v := range f {
			factor = append(factor, float32(v))
		}
		for _, v := range d {
			diag = append(diag, float32(v))
		}
	}
	return factor, diag
}
