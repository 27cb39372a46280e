package cnp

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/cnp/internal/axis"
)

// lattice returns the points [n, dx] of the lattice that a curve model under PlacementBatch uses for all context points and
// targets of the batch. Along each coordinate it reaches from margin below the least to margin above the greatest, with
// floor(density·length) points, at least one; under FixedStep with as many points as needed, 1/density apart. A batch without
// points has no lattice. across is how many points a row of the lattice has.
func lattice[T Float](b *Batch[T], c *Config) (points []float64, across int, err error) {
	dx, density, margin, limit := c.DimX, c.PointsPerUnit, c.Margin, c.latticeLimit()
	lo, hi := make([]float64, dx), make([]float64, dx)
	for d := range dx {
		lo[d], hi[d] = math.Inf(1), math.Inf(-1)
	}
	grow := func(x []float64, n int, ok func(t, i int) bool) {
		for p := range b.B * n {
			if ok(p/n, p%n) {
				for d, v := range x[p*dx : (p+1)*dx] {
					lo[d], hi[d] = min(lo[d], v), max(hi[d], v)
				}
			}
		}
	}
	grow(b.XContext, b.Nc, b.contextOK)
	grow(b.XTarget, b.Nt, b.targetOK)
	if lo[0] > hi[0] {
		return nil, 0, nil
	}
	axes, total := make([][]float64, dx), 1.0
	for d := range axes {
		l, h := lo[d]-margin, hi[d]+margin
		n := max(1, math.Floor(density*(h-l)))
		if c.FixedStep {
			n = math.Ceil(density*(h-l)) + 1
		}
		if total *= n; !(total <= float64(limit)) {
			return nil, 0, fmt.Errorf("%w: the points span %g to %g in coordinate %d, a lattice of %g points per unit "+
				"would have more than %d points", ErrRange, lo[d], hi[d], d, density, limit)
		}
		axes[d] = make([]float64, int(n))
		if !c.FixedStep {
			axis.Even(axes[d], l, h)
			continue
		}
		for i := range axes[d] {
			axes[d][i] = l + float64(i)/density
		}
	}
	out := make([]float64, 0, int(total)*dx)
	for i := range int(total) {
		at, x := i, make([]float64, dx)
		for d := dx - 1; d >= 0; d-- { // the last coordinate runs fastest
			x[d] = axes[d][at%len(axes[d])]
			at /= len(axes[d])
		}
		out = append(out, x...)
	}
	return out, len(axes[dx-1]), nil
}

// taskLattices are the lattices [n, dx] of the tasks of a batch, equally long, in coordinates relative to each task's origin.
type taskLattices struct {
	x       [][]float64
	origin  []float64
	across  int     // points in a row of each
	density float64 // of points that are whole numbers over density; 0: all lattices are one
}

// maxLatticeNumber bounds the distance of a target from the origin of its task's lattice, in steps. At that distance its position
// between two lattice points is still known to a millionth of a step.
const maxLatticeNumber = 1 << 32

// origin returns the coordinate that the lattice of task t is relative to under PlacementContext: the least of its context, 0 without
// one.
func (b *Batch[T]) origin(t int) float64 {
	least := math.Inf(1)
	for i := range b.Nc {
		if b.contextOK(t, i) {
			least = min(least, b.XContext[t*b.Nc+i])
		}
	}
	if math.IsInf(least, 1) {
		least = 0
	}
	return least + b.moved
}
