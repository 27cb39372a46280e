package cnp

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/neighbor"
)

// sampled reports whether convolutions compute features at a subsample of the points.
func (c *Config) sampled() bool { return c.SamplingFraction != 0 && c.SamplingFraction != 1 }

// blockNeighbors returns the cap of neighbourhoods in the residual blocks of an image model; 0: none.
func (c *Config) blockNeighbors() int {
	if c.BlockNeighbors > 0 {
		return c.BlockNeighbors
	}
	return c.MaxNeighbors
}

// subsample replaces geometries of so many tasks, the first that of the encoder and the others those of LieConvs: each
// LieConv but the last has as queries a share of the points that it sees, and the next one sees these alone. These are
// farthest points, task by task, so that no task changes another's. Tasks that share a lattice share its subsample.
func (m *pointsEngine[T]) subsample(geo []*layers.Geometry[T], tasks int) error {
	all, last := geo[0], len(geo)-1
	per, rows := all.Rows()/tasks, all.Rows()
	order := make([][]int32, tasks) // of every task: the rows of the first subsample; a beginning of it is the next one
	sizes := make([][]int, tasks)   // of every task: how many of them each LieConv has as queries
	for t := range tasks {
		block, n := make([]bool, rows), 0
		for i := t * per; i < (t+1)*per; i++ {
			if block[i] = all.Valid(i); block[i] {
				n++
			}
		}
		for range last - 1 {
			n = int(math.Ceil(m.cfg.SamplingFraction * float64(n)))
			sizes[t] = append(sizes[t], n)
		}
		if last == 1 {
			return nil // the one LieConv reads at the targets
		}
		if t > 0 && m.cfg.PointsPerUnit > 0 {
			for _, i := range order[0] {
				order[t] = append(order[t], i+int32(t*per))
			}
			continue
		}
		var err error
		if order[t], err = neighbor.Subsample(all.Points, block, sizes[t][0], neighbor.Farthest, m.cfg.NeighborSeed); err != nil {
			return fmt.Errorf("cnp: sampling_fraction: %w", err)
		}
	}
	var seen []bool // by the LieConv; nil: all
	for i := range last - 1 {
		queries := make([]bool, rows)
		for t := range tasks {
			for _, row := range order[t][:sizes[t][i]] {
				queries[row] = true
			}
		}
		geo[1+i] = all.Among(queries, seen)
		seen = queries
	}
	long := geo[last].Rows() / tasks
	at := make([]bool, geo[last].Rows()) // among the rows of the last LieConv
	for t := range tasks {
		copy(at[t*long:], seen[t*per:(t+1)*per])
	}
	geo[last] = geo[last].Among(nil, at)
	return nil
}
