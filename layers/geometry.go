package layers

import (
	"sync"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/neighbor"
)

// Geometry is a set of lifted points together with the neighbourhoods that layers asked for. Layers with equal radii
// share one neighbourhood. It is safe for concurrent use.
type Geometry[T Float] struct {
	// Points are the lifted points; rows of different blocks do not see each other.
	Points *group.Lifted

	opt neighbor.Options
	mu  sync.Mutex
	all []*Pairs[T]
}

// keepPairs bounds the neighbourhoods that a Geometry remembers. In Eval mode a model has as many as distinct radii; in
// training each step makes a new geometry anyway.
const keepPairs = 16

// NewGeometry wraps lifted points. mask [rows] is false at padding (nil: no padding); blocks are the row offsets of
// independent sets (nil: one set). maxNeighbors > 0 caps each neighbourhood by a choice seeded with seed.
func NewGeometry[T Float](points *group.Lifted, mask []bool, blocks []int, maxNeighbors int, seed uint64) *Geometry[T] {
	return &Geometry[T]{Points: points, opt: neighbor.Options{
		QueryMask: mask, PointMask: mask,
		QueryBlocks: blocks, PointBlocks: blocks,
		MaxNeighbors: maxNeighbors, Seed: seed,
	}}
}

// Rows is the number of lifted points.
func (g *Geometry[T]) Rows() int { return g.Points.Rows() }

// valid is the number of rows that are not padding.
func (g *Geometry[T]) valid() int {
	if g.opt.PointMask == nil {
		return g.Rows()
	}
	n := 0
	for _, ok := range g.opt.PointMask {
		if ok {
			n++
		}
	}
	return n
}

// blocks is the number of independent sets.
func (g *Geometry[T]) blocks() int { return max(1, len(g.opt.PointBlocks)-1) }

// Pairs is a neighbourhood with its pose table rounded to T.
type Pairs[T Float] struct {
	*neighbor.Neighborhood
	Radius float64
	Table  []T // [p, e]: Poses, rounded

	sorted sortedPairs // for gradients, made on demand
}

// Pairs returns the neighbourhoods of radius r, building them on the first call.
func (g *Geometry[T]) Pairs(r float64) (*Pairs[T], error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.all {
		if p.Radius == r {
			return p, nil
		}
	}
	opt := g.opt
	opt.Radius = r
	n, err := neighbor.Ball(g.Points, g.Points, opt)
	if err != nil {
		return nil, err
	}
	p := NewPairs[T](n)
	p.Radius = r
	if len(g.all) == keepPairs {
		g.all = g.all[1:]
	}
	g.all = append(g.all, p)
	return p, nil
}

// NewPairs rounds a neighbourhood's pose table to T.
func NewPairs[T Float](n *neighbor.Neighborhood) *Pairs[T] {
	p := &Pairs[T]{Neighborhood: n, Table: make([]T, len(n.Poses))}
	for i, v := range n.Poses {
		p.Table[i] = T(v)
	}
	return p
}

// radius is a ball's radius with the rule that moves it in training.
type radius[T Float] struct {
	R    []T     // [1], the buffer "r" of the authors' checkpoints
	Fill float64 // wanted mean size of a neighbourhood as a fraction of all points
	Rate float64 // step towards it; 0 keeps the radius
}

func (r *radius[T]) params(prefix string) Param[T] {
	return Param[T]{Name: prefix + "r", Shape: []int{}, Data: r.R, Buffer: true}
}

// Radius is the ball's current radius.
func (r *radius[T]) Radius() float64 { return float64(r.R[0]) }

// adapt moves the radius after a training step in which p, of that geometry, was used.
func (r *radius[T]) adapt(g *Geometry[T], p *Pairs[T]) {
	if n := g.valid(); r.Rate != 0 && n > 0 {
		mean := float64(n) / float64(g.blocks())
		r.R[0] = T(neighbor.AdaptRadius(r.Radius(), r.Rate, r.Fill, p.Pairs(), n, mean))
	}
}
