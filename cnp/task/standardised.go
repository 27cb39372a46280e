package task

import (
	"fmt"

	"github.com/equivcnp/equivcnp/cnp"
)

// Standardised is a Source of curves in the units of a model, by cnp.StandardiseTasks: what training on data of other units sees. What it
// draws is the other Source's.
type Standardised[T cnp.Float] struct {
	Source[T]
	Config cnp.Config
}

// Batch implements Source.
func (s Standardised[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	b, err := s.Source.Batch(n, seed, step)
	if err != nil {
		return nil, err
	}
	if b.Curves == nil {
		return nil, fmt.Errorf("task: %v are no curves", s.Source)
	}
	curves, y, err := cnp.StandardiseTasks(&s.Config, b.Curves, b.Y)
	if err != nil {
		return nil, err
	}
	return &Tasks[T]{Curves: curves, Y: y, Known: b.Known}, nil
}

// Work implements Sized.
func (s Standardised[T]) Work(n int) cnp.Work {
	sized, ok := s.Source.(Sized)
	if !ok {
		return cnp.Work{Batch: n}
	}
	w := sized.Work(n)
	if t := s.Config.Trained; t != nil && t.Units != nil && len(t.Units.X) > 0 {
		w.Span *= t.Units.X[0].Factor // all coordinates have the same
	}
	return w
}
