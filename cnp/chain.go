package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/cnp/chain"
)

// A model predicts each target as if the others were not there. The chain rule makes a joint distribution of that: a target is predicted
// given the context and the targets before it, as if those had been observed (Bruinsma et al., "Autoregressive Conditional Neural
// Processes", ICLR 2023). SampleCurves and SampleImages draw from it, JointCurves and JointImages say how likely given values are under it.
// They need nothing of a model but predictions.

// Order says in which order the chain rule goes through targets. A model's joint distribution depends on it, that of a process does not.
type Order = chain.Order

// The orders.
const (
	OrderRandom      = chain.OrderRandom
	OrderGiven       = chain.OrderGiven
	OrderLeftToRight = chain.OrderLeftToRight
	OrderSpread      = chain.OrderSpread
)

// Orders lists their names, in the order of documentation.
var Orders = chain.Orders

// Chain says how the chain rule goes through the targets of a task.
type Chain = chain.Chain

// SampleOptions say what is drawn.
type SampleOptions = chain.SampleOptions

// checkSamples refuses what cannot be drawn; values is the number of values of a sample.
func checkSamples(o *SampleOptions, tasks, values int) error {
	if o.Samples >= 1 {
		n, ok := product(o.Samples, values)
		if !ok {
			return fmt.Errorf("%w: %d samples of %d values have more than can be counted", ErrShape, o.Samples, values)
		}
		if need, limit := whole(number*float64(n)), MemoryLimit(); need > limit {
			return fmt.Errorf("%w: %d samples of %d values take %v, the limit is %v", ErrMemory, o.Samples, values,
				Bytes(need), Bytes(limit))
		}
	}
	return o.Check(tasks)
}

// Joint holds what the chain rule says of given values.
type Joint[T Float] struct {
	// Prediction is that of each target, given the context and the targets before it; where a target does not count,
	// zeros. It is laid out as a model's own.
	Prediction[T]
	// LogDensity [B, Nt], of images [B, H·W], is that of each target's values under it; their sum is the joint one.
	// What does not count is 0.
	LogDensity []float64
	values     []int // of each target, how many count
}

func newJoint[T Float](values, targets int) *Joint[T] {
	return &Joint[T]{Prediction: *newPrediction[T](Normal, values), LogDensity: make([]float64, targets), values: make([]int, targets)}
}

// Task returns the joint log-density of the values of task t, one of so many, and how many values those are.
func (j *Joint[T]) Task(t, tasks int) (sum float64, values int) {
	n := len(j.LogDensity) / max(1, tasks)
	for i := t * n; i < (t+1)*n; i++ {
		sum, values = sum+j.LogDensity[i], values+j.values[i]
	}
	return sum, values
}

// logDensity returns that of y under the distribution of value i.
func (p *Prediction[T]) logDensity(i int, y T) float64 { return p.LogDensityAt(i, float64(y)) }

// draw returns a value from the distribution of value i.
func (p *Prediction[T]) draw(i int, rng *rand.Rand) T { return T(p.SampleAt(i, rng)) }

// logDensityOfTarget returns that of the values y of a target, from value i on, and how many of them count: NaN is none.
func (p *Prediction[T]) logDensityOfTarget(i int, y []T) (sum float64, n int) {
	known := make([]bool, len(y))
	for d, v := range y {
		if known[d] = v == v; known[d] {
			n++
		}
	}
	if l, ok := p.Likelihood.(TargetLikelihood); ok {
		return p.logDensityOf(l, i, y, known), n
	}
	for d, v := range y {
		if known[d] {
			sum += p.logDensity(i+d, v)
		}
	}
	return sum, n
}

// drawTarget draws the values of a target, from value i on.
func (p *Prediction[T]) drawTarget(to []T, i int, rng *rand.Rand) {
	if l, ok := p.Likelihood.(TargetLikelihood); ok {
		values := make([]float64, len(to))
		l.SampleOf(values, rng, p.paramsOf(l, i))
		for d, v := range values {
			to[d] = T(v)
		}
		return
	}
	for d := range to {
		to[d] = p.draw(i+d, rng)
	}
}

// usable reports an error where the distribution of value i is none.
func (p *Prediction[T]) usable(i int, where func() string) error {
	if m, s := float64(p.Mean[i]), float64(p.Std[i]); !(s > 0) || math.IsInf(s, 0) || math.IsNaN(m-m) {
		return fmt.Errorf("%w: the model predicts %v ± %v for %s: its parameters or the data are beyond what it can compute with",
			ErrValue, m, s, where())
	}
	return nil
}

// quiet returns a context under which predictions do not report progress: the chain does.
func quiet(ctx context.Context) context.Context { return WithProgress(ctx, func(int, int) {}) }
