package task

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/cnp"
)

// Tasks is a batch of tasks with their answers: curves or images, so exactly one of Curves and Images is set.
type Tasks[T cnp.Float] struct {
	Curves *cnp.Batch[T]
	Images *cnp.Images[T]
	// Y holds the true values, laid out as a prediction's mean is: [B, Nt, dy] or [B, C, H, W].
	Y []T
	// Known says which of these values are known, of targets that are no padding: the others are never read. Nil: all.
	Known []bool
}

// Counts says which values of Y count: those that are known, of targets that are no padding; nil: all.
func (t *Tasks[T]) Counts() []bool {
	c := t.Curves
	if c == nil || c.TargetMask == nil || c.B*c.Nt == 0 {
		return t.Known
	}
	out := make([]bool, len(t.Y))
	for i := range out {
		out[i] = c.TargetMask[i/(len(out)/(c.B*c.Nt))] && (t.Known == nil || t.Known[i])
	}
	return out
}

// Source draws the batches that a model is trained or tested on. A batch is a function of the arguments of Batch alone, so
// a run that was interrupted continues with the very tasks that it would have seen, and nothing about the source needs to
// be saved.
type Source[T cnp.Float] interface {
	// Batch returns n tasks, the step-th batch of that seed. It is safe for concurrent use. Nobody else may keep or change
	// what it returned.
	Batch(n int, seed uint64, step int) (*Tasks[T], error)
	// String names the source and everything that its batches depend on. A run is continued only on a source of the same
	// name.
	String() string
}

// StepRand is the generator that a Source draws one batch from: a ChaCha8 stream per (seed, step), unrelated to that of any
// other pair.
func StepRand(seed uint64, step int) *rand.Rand {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(int64(step)))
	copy(key[16:], "equivcnp tasks")
	return rand.New(rand.NewChaCha8(key))
}

// CurveSource is the Source of curves of a random process; Name is that of the process.
type CurveSource[T cnp.Float] struct {
	Name   string
	Curves Curves
}

// Batch implements Source.
func (s CurveSource[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	b, y, err := Draw[T](s.Curves, n, StepRand(seed, step))
	if err != nil {
		return nil, err
	}
	return &Tasks[T]{Curves: b, Y: y}, nil
}

// Gaussian reports whether the curves are of a Gaussian process.
func (s CurveSource[T]) Gaussian() bool { return s.Curves.Process == nil }

// Predictive implements GaussianSource.
func (s CurveSource[T]) Predictive(tasks *Tasks[T]) (mean, factor []float64, err error) {
	b := tasks.Curves
	if !s.Gaussian() {
		return nil, nil, fmt.Errorf("task: %s is no Gaussian process", s.Name)
	}
	if b == nil || len(b.XContext) != b.B*b.Nc || len(b.YContext) != b.B*b.Nc || len(b.XTarget) != b.B*b.Nt || len(tasks.Y) != b.B*b.Nt ||
		b.ContextMask != nil && len(b.ContextMask) != b.B*b.Nc {
		return nil, nil, fmt.Errorf("task: these are no curves")
	}
	mean, factor = make([]float64, len(tasks.Y)), make([]float64, len(tasks.Y))
	err = eachTask(b.B, func(t int) error {
		var x, y []float64
		for i := t * b.Nc; i < (t+1)*b.Nc; i++ {
			if b.ContextMask == nil || b.ContextMask[i] {
				x, y = append(x, b.XContext[i]), append(y, float64(b.YContext[i]))
			}
		}
		m, std, err := s.Curves.GP.Predict(b.XTarget[t*b.Nt:(t+1)*b.Nt], x, y)
		copy(mean[t*b.Nt:], m)
		copy(factor[t*b.Nt:], std)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return mean, factor, nil
}

// String implements Source.
func (s CurveSource[T]) String() string {
	c := s.Curves
	place := "uniform"
	if c.Even {
		place = "even"
	}
	jitter := ""
	if c.Process == nil {
		jitter = fmt.Sprintf(" with jitter %g", c.GP.Jitter)
	}
	return fmt.Sprintf("%s curves%s, %d %s targets on [%g, %g], %d to %d of them context",
		s.Name, jitter, c.Targets, place, c.Lo, c.Hi, c.MinContext, c.MaxContext)
}
