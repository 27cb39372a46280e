package cnp

import (
	"context"
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers"
)

// keepPlans bounds the pixel grids whose plans a model remembers for Complete.
const keepPlans = 4

// implicitMemory bounds such a plan and its calls, in bytes: who asks for one completion does not expect it to take a gigabyte.
const implicitMemory = 160 << 20

// planCache holds the plans of the recent grids. A plan is made once, however many calls wait for it.
type planCache[T Float] struct {
	mu      sync.Mutex
	entries []*planEntry[T] // newest last
}

type planEntry[T Float] struct {
	h, w      int
	algorithm layers.Algorithm
	precision Precision
	lock      chan struct{} // holds one token, which whoever looks at plan and state takes
	plan      *ImagePlan[T]
	// state is what the parameters were when the plan was made: they are live, and training changes them.
	state [][]T
}

// get returns the plan for h x w images under the model's current parameters.
func (c *planCache[T]) get(ctx context.Context, m *ImageEquivCNP[T], h, w int, algorithm layers.Algorithm, precision Precision) (*ImagePlan[T], error) {
	e := c.entry(h, w, algorithm, precision)
	select {
	case e.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-e.lock }()
	state := m.State()
	if e.plan != nil && sameState(e.state, state) {
		return e.plan, nil
	}
	e.plan = nil // its memory is free before the next one is made
	g, err := m.Geometry(h, w, 1)
	if err != nil {
		return nil, err
	}
	p, err := m.Plan(ctx, g, PlanOptions{Memory: implicitMemory, Soft: true, Algorithm: algorithm, Precision: precision})
	if err != nil {
		return nil, err
	}
	e.plan, e.state = p, copyState(state)
	return p, nil
}

// entry returns the place of a grid, an algorithm and a precision, the newest from now on.
func (c *planCache[T]) entry(h, w int, algorithm layers.Algorithm, precision Precision) *planEntry[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &planEntry[T]{h: h, w: w, algorithm: algorithm, precision: precision, lock: make(chan struct{}, 1)}
	if i := slices.IndexFunc(c.entries, func(e *planEntry[T]) bool {
		return e.h == h && e.w == w && e.algorithm == algorithm && e.precision == precision
	}); i >= 0 {
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
	var out [][]T
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

// workers is the number of goroutines that a call uses.
func workers() int { return parallel.Workers() }
