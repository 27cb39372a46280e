package cnp

import (
	"context"
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers"
)

// keepPlans bounds the shapes whose plans a model remembers for Complete.
const keepPlans = 4

// implicitMemory bounds such a plan and its calls, in bytes: who asks for one completion does not expect it to take a gigabyte.
const implicitMemory = 160 << 20

// implicitPlan returns the options of plans that a model makes for itself.
func implicitPlan(algorithm layers.Algorithm, precision Precision) PlanOptions {
	return PlanOptions{Memory: implicitMemory, Soft: true, Algorithm: algorithm, Precision: precision}
}

// planCache holds the plans, of type P, of the recent shapes. A plan is made once, however many calls wait for it.
type planCache[T Float, P any] struct {
	mu      sync.Mutex
	entries []*planEntry[T, P] // newest last
}

type planEntry[T Float, P any] struct {
	shape Shape
	opt   PlanOptions
	lock  chan struct{} // holds one token, which whoever looks at plan and state takes
	plan  P
	// state is what the parameters were when the plan was made, nil where there is none: they are live, and training changes them.
	state [][]T
}

// get returns the plan for a shape and options under a model's current parameters, which make makes where there is none.
func (c *planCache[T, P]) get(ctx context.Context, state []layers.Param[T], s Shape, opt PlanOptions, make func() (P, error)) (P, error) {
	e := c.entry(s, opt)
	var none P
	select {
	case e.lock <- struct{}{}:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	defer func() { <-e.lock }()
	if e.state != nil && sameState(e.state, state) {
		return e.plan, nil
	}
	e.plan, e.state = none, nil // its memory is free before the next one is made
	p, err := make()
	if err != nil {
		return none, err
	}
	e.plan, e.state = p, copyState(state)
	return p, nil
}

// entry returns the place of a shape and options, the newest from now on.
func (c *planCache[T, P]) entry(s Shape, opt PlanOptions) *planEntry[T, P] {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &planEntry[T, P]{shape: s, opt: opt, lock: make(chan struct{}, 1)}
	if i := slices.IndexFunc(c.entries, func(e *planEntry[T, P]) bool { return e.shape == s && e.opt == opt }); i >= 0 {
		e = c.entries[i]
		c.entries = slices.Delete(c.entries, i, i+1)
	} else if len(c.entries) == keepPlans {
		c.entries = slices.Delete(c.entries, 0, 1)
	}
	c.entries = append(c.entries, e)
	return e
}

// copyState returns the parameters as they are now.
func copyState[T Float](state []layers.Param[T]) [][]T {
	out := make([][]T, 0, len(state))
	for _, p := range state {
		out = append(out, slices.Clone(p.Data))
	}
	return out
}

// sameState reports whether the parameters still are what they were.
func sameState[T Float](was [][]T, now []layers.Param[T]) bool {
	if len(was) != len(now) {
		return false
	}
	for i, p := range now {
		if !slices.Equal(was[i], p.Data) {
			return false
		}
	}
	return true
}

// workers returns the number of goroutines that a call uses.
func workers() int { return parallel.Workers() }
