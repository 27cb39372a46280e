package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/cli"
	"github.com/equivcnp/equivcnp/internal/words"
)

// comparedResult is a model of --compare beside the first one, which is --model.
type comparedResult struct {
	Model string `json:"model"`
	*eval.Comparison
}

// compared measures --model and what --compare names on the same tasks; nil without the latter.
func (f *evalFlags) compared(ctx context.Context, first cnp.Model[float32], src task.Source[float32], opt eval.Options,
	r *result) ([]comparedResult, error) {
	if len(f.compare) == 0 {
		return nil, nil
	}
	names, predictors := []string{f.model.path}, []eval.Predictor[float32]{eval.Model(first)}
	of := first.Config()
	for _, name := range f.compare {
		var predict eval.Predictor[float32]
		kernel, kriging := strings.CutPrefix(name, "kriging:")
		switch {
		case (kriging || name == "idw") && of.Architecture.Image():
			return nil, cli.Usagef("--compare %s: images are not scattered points", name)
		case name == "kriging":
			return nil, cli.Usagef("--compare kriging: need a kernel, as in kriging:4*matern32(2)+noise(0.09)")
		case name == "idw":
			predict = eval.IDW[float32]()
		case kriging:
			k, err := task.ParseKernel(kernel, 1)
			if err != nil {
				return nil, cli.Usage(fmt.Errorf("--compare: %w", err))
			}
			predict = eval.Kriging[float32](k)
		default:
			other := f.model
			other.path = name
			m, err := other.load(ctx)
			if err != nil {
				return nil, fmt.Errorf("--compare: %w", err)
			}
			if c := m.Config(); c.Architecture.Image() != of.Architecture.Image() || c.DimX != of.DimX || c.DimY != of.DimY {
				return nil, fmt.Errorf("--compare %s: a model of %d coordinates and %d outputs, %s has %d and %d", name, c.DimX,
					c.DimY, f.model.path, of.DimX, of.DimY)
			} else if len(c.Auxiliary) > 0 && len(c.Auxiliary) != len(of.Auxiliary) {
				return nil, fmt.Errorf("--compare %s: its auxiliary inputs are %s, those of %s %s: the tasks are read for the latter", name,
					strings.Join(c.Auxiliary, ", "), f.model.path, cmp.Or(strings.Join(of.Auxiliary, ", "), "none"))
			} else if len(c.Static) > 0 && len(c.Static) != len(of.Static) {
				return nil, fmt.Errorf("--compare %s: its static fields are %s, those of %s %s: the tasks are read for the latter", name,
					strings.Join(c.Static, ", "), f.model.path, cmp.Or(strings.Join(of.Static, ", "), "none"))
			}
			drawn := m.Config() // predicts drawn tasks as they are, as --model does
			if c, ok := m.(cnp.Regressor[float32]); ok && f.standardise && !(f.tasks.drawn() && !drawn.HasUnits()) {
				m = cnp.Standardised(c)
			}
			predict = eval.Model(m)
		}
		names, predictors = append(names, name), append(predictors, predict)
	}
	opt.Progress = nil
	scores, err := eval.Compare(ctx, predictors, src, opt)
	if err != nil {
		return nil, err
	}
	var out []comparedResult
	for k, s := range scores {
		if s.Tasks == 0 {
			return nil, fmt.Errorf("--compare: no task has a score of all models")
		}
		if s.Report.NotFinite > 0 && k > 0 {
			r.Note("%s: %s predicted as no distribution, and left out", names[k], words.Plural(s.Report.NotFinite, "value"))
		}
		out = append(out, comparedResult{names[k], s})
	}
	return out, nil
}
