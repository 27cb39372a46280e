package recipe

import (
	"context"
	"fmt"

	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/krige"
	"github.com/equivcnp/equivcnp/cnp/train"
)

// Baseline is the score of a method without training on the tasks that a trained model is scored on.
type Baseline struct {
	// Name is "context mean", a normal distribution of the values observed of a task (eval.ContextMean), or
	// "interpolation", of each curve on its own (krige.Regressor).
	Name string `json:"name"`
	train.Score
}

// The names of baselines.
const (
	contextMean   = "context mean"
	interpolation = "interpolation"
)

// Interpolation is scored where fits are a matter of seconds.
const (
	mostInterpolated       = 1024
	mostInterpolatedPoints = 256 // of a context
)

// baselines scores what the model has to beat, on held out tasks of the user's own. What suits no baseline has none.
func (p *Plan) baselines(ctx context.Context, run *train.Run[float32], t *Trained) error {
	if t.Last == nil || !p.HeldOut() {
		return nil
	}
	cfg := t.Model.Config()
	var of []Baseline
	score := func(name string, predict eval.Predictor[float32]) error {
		s, err := run.ScoreOf(ctx, predict)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && s.LogLikelihood-s.LogLikelihood == 0:
			of = append(of, Baseline{name, s})
		}
		return nil
	}
	if mean, err := eval.ContextMean[float32](&cfg); err != nil {
		return nil // probabilities are not compared with densities
	} else if err := score(contextMean, mean); err != nil {
		return err
	}
	few := p.Config.EvalTasks <= mostInterpolated && cfg.Trained.Context[1] <= mostInterpolatedPoints
	if curves, _ := setOf(p.Test); curves != nil && few {
		// Values are linear in auxiliary inputs, as without a model. Dimensions and numbers of inputs that it does not know have no such
		// baseline.
		aux := len(cfg.Auxiliary)
		if r, err := krige.NewRegressor(krige.Options{Dim: cfg.DimX + aux, Drift: aux, Sphere: cfg.OnSphere()}); err == nil {
			if err := score(interpolation, eval.Model[float32](r.Outputs(cfg.DimY))); err != nil {
				return err
			}
		}
	}
	t.Baselines = of
	t.Notes = append(t.Notes, beaten(*t.Last, of, p.Config.Steps)...)
	return nil
}

// beaten says which baselines a score does not reach.
func beaten(model train.Score, of []Baseline, steps int) (notes []string) {
	for _, b := range of {
		if model.LogLikelihood > b.LogLikelihood {
			continue
		}
		hint := fmt.Sprintf("it has learned little in %d steps", steps)
		if b.Name == interpolation {
			hint = "more steps or more tasks may help, and interpolation needs no training"
		}
		notes = append(notes, fmt.Sprintf("on the tasks held out the model's %.4f is no better than the %.4f of the %s: %s",
			model.LogLikelihood, b.LogLikelihood, b.Name, hint))
	}
	return notes
}
