package eval

import (
	"context"
	"math"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// Paired is a mean of differences over tasks, and its standard error: much smaller than that of either mean where tasks
// are more or less difficult for all.
type Paired struct {
	Mean  float64 `json:"mean"`
	Error float64 `json:"error"`
}

// Comparison holds what one of several predictors scores, and by how much that is more than the first one's on the same tasks.
type Comparison struct {
	Report        *Report `json:"report"`
	LogLikelihood Paired  `json:"log_likelihood_difference"`
	SquaredError  Paired  `json:"squared_error_difference"`
	Tasks         int     `json:"tasks"` // that all predictors gave a score
}

// Compare measures predictors on the same tasks of a source. Scores are per value, as Run's are.
func Compare[T cnp.Float](ctx context.Context, predictors []Predictor[T], src task.Source[T], opt Options) ([]*Comparison, error) {
	n := len(predictors)
	meters, pairs := make([]Meter, n), make([]struct{ ll, sq, ll2, sq2 float64 }, n)
	both := 0
	err := Tasks(ctx, src, opt, func(b *task.Tasks[T], count int) error {
		tasks := Count(b)
		per, counts := len(b.Y)/tasks, b.Counts()
		scores := make([][]*Report, n)
		for k, predict := range predictors {
			p, err := predict.checked(ctx, b)
			if err != nil {
				return err
			}
			if err := supported(b, p, count); err != nil {
				return err
			}
			AddBatch(&meters[k], b, p, count)
			for i := range count {
				var m Meter
				AddTask(&m, p.Task(i, tasks), b.Y[i*per:(i+1)*per], ofTask(counts, i, per))
				scores[k] = append(scores[k], m.Report())
			}
		}
		for i := range count {
			scored := true
			for k := range predictors {
				scored = scored && scores[k][i].Tasks == 1
			}
			if !scored {
				continue
			}
			both++
			for k := range predictors {
				ll, sq := scores[k][i].LogLikelihood.Mean-scores[0][i].LogLikelihood.Mean,
					scores[k][i].SquaredError.Mean-scores[0][i].SquaredError.Mean
				pairs[k].ll, pairs[k].sq = pairs[k].ll+ll, pairs[k].sq+sq
				pairs[k].ll2, pairs[k].sq2 = pairs[k].ll2+ll*ll, pairs[k].sq2+sq*sq
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]*Comparison, n)
	for k := range out {
		paired := func(sum, squares float64) Paired {
			s := stat(sum, squares, both)
			return Paired{s.Mean, s.Std / math.Sqrt(float64(max(1, both)))}
		}
		out[k] = &Comparison{meters[k].Report(), paired(pairs[k].ll, pairs[k].ll2), paired(pairs[k].sq, pairs[k].sq2), both}
	}
	return out, nil
}
