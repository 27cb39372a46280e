package cnp

import (
	"github.com/equivcnp/equivcnp/cnp/internal/curve"
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

// DepartureWidth is the width of a departure's hidden layer.
const DepartureWidth = curve.DepartureWidth

// departureOff reports whether the inputs are dropped always.
func (c *Config) departureOff() bool { return c.Departure != nil && c.Departure.Off }

// placesPoints reports whether predictions depend on where a task lies, other than by its group.
func (c *Config) placesPoints() bool {
	return c.CoordinateFeature || c.Departure != nil && !c.Departure.Off
}
