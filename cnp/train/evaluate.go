package train

import (
	"context"
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/eval"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// Score says how well a model predicts a set of tasks.
type Score struct {
	Tasks int `json:"tasks"`
	// LogLikelihood is the mean over tasks of a task's log-likelihood per value, Std its standard deviation over tasks.
	LogLikelihood float64 `json:"log_likelihood"`
	Std           float64 `json:"std"`
	RMSE          float64 `json:"rmse"` // of the predicted means, over all values
	// Source names the tasks, where they are not drawn like those of training.
	Source string `json:"source,omitempty"`
}

// Evaluate scores a model on the first tasks of a source, batch at a time: package eval's measures, of which a log
// takes three. Tasks of a model with units (cnp.Trained.Units) are in those of the data, and so is the score. A
// prediction that is no distribution makes the log-likelihood NaN.
func Evaluate[T cnp.Float](ctx context.Context, m cnp.Model[T], src task.Source[T], seed uint64, tasks, batch int) (Score, error) {
	if tasks == 0 {
		return Score{}, nil
	}
	if m == nil {
		return Score{}, fmt.Errorf("%w: no model", cnp.ErrConfig)
	}
	c := m.Config()
	if reg, ok := m.(cnp.Regressor[T]); ok && c.HasUnits() {
		m = cnp.Standardised(reg)
	}
	return scoreOf(ctx, eval.Model(m), src, seed, tasks, batch)
}

// scoreOf is Evaluate for a predictor of tasks as they are.
func scoreOf[T cnp.Float](ctx context.Context, p eval.Predictor[T], src task.Source[T], seed uint64, tasks, batch int) (Score, error) {
	if tasks == 0 {
		return Score{}, nil
	}
	r, err := eval.Run(ctx, p, src, eval.Options{Tasks: tasks, Batch: batch, Seed: seed})
	if err != nil {
		return Score{}, err
	}
	s := Score{Tasks: tasks, LogLikelihood: r.LogLikelihood.Mean, Std: r.LogLikelihood.Std, RMSE: r.RMSE}
	if r.NotFinite > 0 {
		s.LogLikelihood = math.NaN()
	}
	return s, nil
}

// mismatch is the error of curves for a model of images, or the other way round.
func mismatch[T cnp.Float](m cnp.Model[T]) error {
	return fmt.Errorf("train: these tasks are not for models of architecture %s", m.Config().Architecture)
}
