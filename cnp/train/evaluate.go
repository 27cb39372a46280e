package train

import (
	"context"
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/cnp"
	"github.com/equivcnp/equivcnp/cnp/task"
)

// Score is how well a model predicts a set of tasks.
type Score struct {
	Tasks int `json:"tasks"`
	// LogLikelihood is the mean over tasks of a task's log-likelihood per value, Std its standard deviation over tasks.
	LogLikelihood float64 `json:"log_likelihood"`
	Std           float64 `json:"std"`
	RMSE          float64 `json:"rmse"` // of the predicted means, over all values
}

// Evaluate scores a model on the first tasks of a source, batch at a time.
func Evaluate[T cnp.Float](ctx context.Context, m cnp.Model[T], src task.Source[T], seed uint64, tasks, batch int) (Score, error) {
	var sum, sum2, square float64
	values, done := 0, 0
	for step := 0; done < tasks; step++ {
		n := min(batch, tasks-done)
		b, err := src.Batch(n, seed, step)
		if err != nil {
			return Score{}, err
		}
		p, mask, err := predict(ctx, m, b)
		if err != nil {
			return Score{}, err
		}
		per := len(b.Y) / n
		for t := range n {
			at, end := t*per, (t+1)*per
			var ok []bool
			if mask != nil {
				ok = mask[at:end]
			}
			ll, count := cnp.LogLikelihood(p.Mean[at:end], p.Std[at:end], b.Y[at:end], ok)
			ll /= float64(max(1, count))
			sum, sum2, values = sum+ll, sum2+ll*ll, values+count
			for i := at; i < end; i++ {
				if mask == nil || mask[i] {
					d := float64(p.Mean[i]) - float64(b.Y[i])
					square += d * d
				}
			}
		}
		done += n
	}
	n := float64(max(1, tasks))
	mean := sum / n
	return Score{Tasks: tasks, LogLikelihood: mean, RMSE: math.Sqrt(square / float64(max(1, values))),
		Std: math.Sqrt(max(0, sum2/n-mean*mean) * n / max(1, n-1))}, nil
}

// predict returns the prediction of a batch and which of its values count, nil: all.
func predict[T cnp.Float](ctx context.Context, m cnp.Model[T], b *task.Tasks[T]) (*cnp.Prediction[T], []bool, error) {
	switch m := m.(type) {
	case cnp.Regressor[T]:
		if b.Curves != nil {
			p, err := m.Predict(ctx, b.Curves)
			return p, valueMask(b.Curves, m.Config().DimY), err
		}
	case cnp.Completer[T]:
		if b.Images != nil {
			p, err := m.Complete(ctx, b.Images)
			return p, nil, err
		}
	}
	return nil, nil, mismatch(m)
}

// mismatch is the error of curves for a model of images, or the other way round.
func mismatch[T cnp.Float](m cnp.Model[T]) error {
	return fmt.Errorf("train: these tasks are not for models of architecture %s", m.Config().Architecture)
}

// valueMask is the target mask for each of a target's dy values.
func valueMask[T cnp.Float](b *cnp.Batch[T], dy int) []bool {
	if b.TargetMask == nil {
		return nil
	}
	out := make([]bool, 0, len(b.TargetMask)*dy)
	for _, ok := range b.TargetMask {
		for range dy {
			out = append(out, ok)
		}
	}
	return out
}
