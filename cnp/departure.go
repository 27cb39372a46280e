package cnp

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// Departure makes a model of curves approximately equivariant. The points that carry features get further inputs, learned functions of
// where they lie,
//
//	w(h)·s·tanh(B·swish(A·x + c) + d),
//
// for a scale s of each and the density h of the context, where w(h) = h/(h + floor) is 0 without a context and 1 within it. They are at
// most s in magnitude, wherever x lies, and beyond the reach of the context nothing departs. In training they are dropped (set to 0) with
// probability Drop from each task, so that the equivariant model stays inside: it is this one, with Off set.
//
// After Ashman et al., Approximately Equivariant Neural Processes (2024), whose fixed inputs are not bounded.
type Departure struct {
	// Channels is the number of inputs.
	Channels int `json:"channels"`
	// Drop is the probability, from 0 to 1, that training drops the inputs of a task.
	Drop float64 `json:"drop,omitempty"`
	// Off drops them always: predictions are those of the equivariant model.
	Off bool `json:"off,omitempty"`
}

// Exact returns the equivariant model inside, with parameters of its own: this one without its departure. It is the model itself where
// that has none.
func (m *EquivCNP[T]) Exact() (*EquivCNP[T], error) {
	if m.outer.Departure == nil || m.outer.Departure.Off {
		return m, nil
	}
	c, d := m.outer, *m.outer.Departure
	d.Off = true
	c.Departure = &d
	out, err := newEquivCNP[T](c, m.group, rand.New(rand.NewPCG(0, 0)))
	if err != nil {
		return nil, err
	}
	from := m.State()
	for i, p := range out.State() {
		copy(p.Data, from[i].Data)
	}
	return out, nil
}

// DepartureWidth is the width of a departure's hidden layer.
const DepartureWidth = curve.DepartureWidth

// check reports what no model of that configuration can have.
func (d *Departure) check(c *Config, g group.Group) error {
	switch {
	case c.Architecture != EquivCNPCurve:
		return fmt.Errorf("departure is for models of architecture %q", EquivCNPCurve)
	case d.Channels < 1 || d.Channels > maxChannels:
		return fmt.Errorf("departure.channels = %d, need 1 to %d", d.Channels, maxChannels)
	case !(d.Drop >= 0 && d.Drop <= 1):
		return fmt.Errorf("departure.drop = %g, need 0 to 1", d.Drop)
	case c.Vectors():
		return fmt.Errorf("departure is for scalar outputs: its inputs would have to turn with vectors")
	case c.Levels > 0 && c.framed(g):
		return fmt.Errorf("departure under %s with levels: a model that sees tasks from several sides has no place for them", g.Name())
	}
	return nil
}

// departureOff reports whether the inputs are dropped always.
func (c *Config) departureOff() bool { return c.Departure != nil && c.Departure.Off }

// placesPoints reports whether predictions depend on where a task lies, other than by its group.
func (c *Config) placesPoints() bool {
	return c.CoordinateFeature || c.Departure != nil && !c.Departure.Off
}

// departureAt returns the places [n, dx] of points t, counted from origin, where task's inputs of the departure are there: nil where it has
// none, as in training, at random, some tasks do. What is dropped depends on the batch alone.
func departureAt[T Float](c *Config, b *Batch[T], task int, mode layers.Mode, t, origin []float64) []float64 {
	d := c.Departure
	if d == nil || d.Off {
		return nil
	}
	if mode == layers.Train && d.Drop > 0 {
		if rand.New(rand.NewPCG(b.seed(0), uint64(task))).Float64() < d.Drop {
			return nil
		}
	}
	out := make([]float64, len(t))
	for i, v := range t {
		out[i] = v + origin[i%len(origin)]
	}
	return out
}

// seed is a hash of the context's places and of another seed.
func (b *Batch[T]) seed(of uint64) uint64 {
	seed := of ^ 0xcbf29ce484222325 // FNV-1a
	for _, v := range b.XContext {
		seed = (seed ^ math.Float64bits(v)) * 0x100000001b3
	}
	return seed
}
