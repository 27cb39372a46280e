package reproduce

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/pretrained"
	"github.com/equivcnp/equivcnp/cnp/task"
	"github.com/equivcnp/equivcnp/internal/words"
	"github.com/equivcnp/equivcnp/simd"
)

// storedWeights bounds the convolution weights that a plan keeps.
const storedWeights = 160 << 20

// comparedBatches bounds the batches whose predictions are kept and compared.
const comparedBatches = 64

// rounding is a model in float32, and rounded.
type rounding struct {
	Model
	model [2]cnp.Model[float32]
}

// roundable loads the models of images that can compute in bfloat16.
func (p *reproduction) roundable() (models []rounding, err error) {
	listed, err := p.images()
	if err != nil {
		return nil, err
	}
	for _, l := range listed {
		m, err := l.Load()
		if err != nil {
			return nil, err
		}
		rounded, err := cnp.With(m, cnp.Options{Precision: cnp.BFloat16})
		switch {
		case errors.Is(err, cnp.ErrConfig):
			p.note("%s computes in %s alone", l.Name, cnp.Float32)
		case err != nil:
			return nil, err
		default:
			models = append(models, rounding{l, [2]cnp.Model[float32]{m, rounded}})
		}
	}
	return models, nil
}

// precision measures the models of images in both precisions, on the same tasks.
func (p *reproduction) precision() error {
	models, err := p.roundable()
	if err != nil {
		return err
	}
	src := task.ImageSource[float32]{Pictures: task.TestDigits(), Rates: task.PaperRates}
	p.total = 2 * p.Tasks * len(models)
	p.printf("# What %s costs\n\n%s with seed %d: %v, in both precisions, at level %v. The log-likelihood is per "+
		"pixel, and the squared error that of the predicted means; ± is a standard error, "+
		"and the last columns are %s less %s, and the largest change of a mean. \"Computed\" says what is rounded: all that residual "+
		"blocks multiply; or what they multiply in their dense maps; or stored weights, and what these are multiplied "+
		"with; or these weights alone.\n\n"+
		"| group | model | computed | log-likelihood | squared error | change of log-likelihood | of squared error | "+
		"of a mean |\n|---|---|---|---:|---:|---:|---:|---:|\n",
		cnp.BFloat16, words.Plural(p.Tasks, "task"), p.Seed, src, simd.CurrentLevel(), cnp.BFloat16, cnp.Float32)
	file := [][]string{append(append([]string{"model", "group", "lifts", "precision", "computed"}, reportColumns...), "mean_change")}
	for _, m := range models {
		var reports [2]*eval.Report
		var computed [2]string
		furthest := 0.0
		var exact []*cnp.Prediction[float32]
		for i, precision := range []cnp.Precision{cnp.Float32, cnp.BFloat16} {
			at, predict := 0, eval.Model(m.model[i])
			watched := func(ctx context.Context, b *task.Tasks[float32]) (*cnp.Prediction[float32], error) {
				out, err := predict(ctx, b)
				switch {
				case err != nil:
					return nil, err
				case i == 0 && len(exact) < comparedBatches:
					exact = append(exact, out)
				case i == 1 && at < len(exact):
					for k, v := range out.Mean {
						furthest = max(furthest, math.Abs(float64(v-exact[at].Mean[k])))
					}
					at++
				}
				return out, nil
			}
			if reports[i], err = eval.Run(p.ctx, watched, src, p.options(p.Tasks)); err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
			if computed[i], err = p.computed(m.model[i], src, precision); err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
		}
		a, b := reports[0], reports[1]
		change := b.LogLikelihood.Mean - a.LogLikelihood.Mean
		p.printf("| %s | %s | %s | %.4f ± %.4f | %.5f | %+.5f | %+.6f | %.2g |\n", m.Title(), m.Name, computed[1],
			a.LogLikelihood.Mean, standardError(a), a.SquaredError.Mean, change,
			b.SquaredError.Mean-a.SquaredError.Mean, furthest)
		if !(change >= -pretrained.BFloat16Loss) {
			p.note("%s is not suited for %s: it loses more than %g per pixel", m.Name, cnp.BFloat16, pretrained.BFloat16Loss)
		}
		for i, precision := range []cnp.Precision{cnp.Float32, cnp.BFloat16} {
			row := append([]string{m.Name, m.Config.Group, fmt.Sprint(m.Config.Lifts), string(precision), computed[i]},
				reportCells(reports[i])...)
			file = append(file, append(row, cell(furthest*float64(i))))
		}
	}
	return p.table("precision.csv", file)
}

// computed says what a plan for the tasks' images rounds.
func (p *reproduction) computed(m cnp.Model[float32], src task.Source[float32], precision cnp.Precision) (string, error) {
	b, err := src.Batch(1, p.Seed, 0)
	if err != nil {
		return "", err
	}
	plan, err := m.Plan(p.ctx, b.Images.Shape(), cnp.PlanOptions{Memory: storedWeights, Soft: true, Precision: precision})
	if err != nil {
		return "", err
	}
	switch info := plan.Info(); {
	case precision == cnp.Float32 || info.Precision == cnp.BFloat16:
		return string(info.Precision), nil
	case info.Rounded.Dense:
		return "dense maps", nil
	case info.Rounded.Features:
		return "stored weights, features", nil
	case info.Rounded.Weights:
		return "stored weights", nil
	}
	return string(cnp.Float32), nil
}
