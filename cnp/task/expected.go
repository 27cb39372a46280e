package task

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/cnp"
)

// GaussianSource is a Source of Gaussian processes, whose own predictions are known.
type GaussianSource[T cnp.Float] interface {
	Source[T]
	// Gaussian reports whether the process is Gaussian: of others Predictive is an error.
	Gaussian() bool
	// Predictive returns what the values of every target are, given its task's context: their mean [B, Nt, dy], and the
	// lower triangular factor L [B, Nt, dy, dy] of their covariance L·Lᵀ, with the noise that values are seen with. It
	// is an error if the tasks are none of the source's.
	Predictive(tasks *Tasks[T]) (mean, factor []float64, err error)
}

// PosteriorSource is a Source whose targets have normal distributions for who knows what was drawn for their curve: a length, or a wave.
type PosteriorSource[T cnp.Float] interface {
	Source[T]
	// Posterior returns the tasks of Batch, with mean [B, Nt, dy] and factor [B, Nt, dy, dy] as Predictive returns them.
	Posterior(n int, seed uint64, step int) (tasks *Tasks[T], mean, factor []float64, err error)
}

// KnowsPosterior reports whether Expected takes a source.
func KnowsPosterior[T cnp.Float](src Source[T]) bool {
	if g, ok := src.(GaussianSource[T]); ok {
		return g.Gaussian()
	}
	_, ok := src.(PosteriorSource[T])
	return ok
}

// ExactSource is a Source that knows how likely its tasks are, if its process is Gaussian; see BenchmarkSource.Exact.
type ExactSource[T cnp.Float] interface {
	Source[T]
	Gaussian() bool
	Exact(tasks *Tasks[T]) (joint, diagonal []float64, err error)
}

// Expected is the Source of the same tasks, in which targets stand for all values that they could have, given the
// context, rather than for one that was drawn: every target comes 2·dy times, with the values mean ± √dy·l for every
// column l of the factor of their covariance. These have the mean and the covariance of the process, and so the mean of
// a normal log-density over them is its expected value, whatever the prediction: a training has the gradients that it
// would have on average over draws, without the noise of a draw, which is most of what a good model's gradients are. It
// is for likelihoods that are normal for each target.
//
// Of a PosteriorSource the values are those that a target could have if all that was drawn for its curve were known. Their mean over curves
// is the same, and so is what a training ends with; there is more noise in it.
type Expected[T cnp.Float] struct {
	Of Source[T] // a GaussianSource or a PosteriorSource
	Dy int       // outputs
}

// AsExpected ends the name of an Expected source, behind that of the other.
const AsExpected = ", targets as expected"

// String implements Source.
func (s Expected[T]) String() string { return s.Of.String() + AsExpected }

// Work implements Sized, if the other source does.
func (s Expected[T]) Work(n int) cnp.Work {
	sized, ok := s.Of.(Sized)
	if !ok {
		return cnp.Work{Batch: n}
	}
	w := sized.Work(n)
	w.Targets *= 2 * s.Dy
	return w
}

// Batch implements Source.
func (s Expected[T]) Batch(n int, seed uint64, step int) (*Tasks[T], error) {
	tasks, mean, factor, err := posteriorOf(s.Of, n, seed, step)
	if err != nil {
		return nil, err
	}
	return expected(tasks, s.Dy, mean, factor)
}

// posteriorOf draws a batch of a source with the mean and the factor of its targets.
func posteriorOf[T cnp.Float](src Source[T], n int, seed uint64, step int) (tasks *Tasks[T], mean, factor []float64, err error) {
	switch of := src.(type) {
	case PosteriorSource[T]:
		return of.Posterior(n, seed, step)
	case GaussianSource[T]:
		if tasks, err = of.Batch(n, seed, step); err == nil {
			mean, factor, err = of.Predictive(tasks)
		}
		return tasks, mean, factor, err
	}
	return nil, nil, nil, fmt.Errorf("task: %s has no known posterior", src)
}

// expected replaces every target by those that stand for its values.
func expected[T cnp.Float](tasks *Tasks[T], dy int, mean, factor []float64) (*Tasks[T], error) {
	c := tasks.Curves
	targets := c.B * c.Nt
	if len(tasks.Y) != targets*dy || len(mean) != len(tasks.Y) || len(factor) != dy*len(mean) || c.TargetMask != nil || tasks.Known != nil {
		return nil, fmt.Errorf("task: %d targets with %d values, need %d outputs of each", targets, len(tasks.Y), dy)
	}
	if targets == 0 {
		return tasks, nil
	}
	dx := len(c.XTarget) / targets
	copies := 2 * dy
	b := *c
	b.Nt, b.XTarget = copies*c.Nt, make([]float64, 0, copies*len(c.XTarget))
	out := &Tasks[T]{Curves: &b, Y: make([]T, 0, copies*len(tasks.Y))}
	root := math.Sqrt(float64(dy))
	for i := range targets {
		l := factor[i*dy*dy : (i+1)*dy*dy]
		for k := range copies {
			b.XTarget = append(b.XTarget, c.XTarget[i*dx:(i+1)*dx]...)
			away := root
			if k%2 == 1 {
				away = -root
			}
			for d := range dy {
				out.Y = append(out.Y, T(mean[i*dy+d]+away*l[d*dy+k/2]))
			}
		}
	}
	return out, nil
}
