package cnp

import (
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/layers"
)

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
