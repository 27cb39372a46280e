package cnp

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/neighbor"
)

// lattices returns the lattices of all tasks, empty ones if the model has none. In training all tasks share one, over their
// points and the margin beyond. Lattices of their own, with every point that has an influence, would take a fifth (rbf) to a half
// (matern) longer, and models that never saw them in training predict equally well with them.
func (m *EquivCNP[T]) lattices(b *Batch[T], mode layers.Mode) (*taskLattices, error) {
	l := &taskLattices{x: make([][]float64, b.B), origin: make([]float64, b.B)}
	if !m.cfg.numbered() || mode == layers.Train {
		var grid []float64
		if m.cfg.PointsPerUnit > 0 {
			var err error
			if grid, l.across, err = lattice(b, &m.cfg); err != nil {
				return nil, err
			}
		}
		for t := range l.x {
			l.x[t] = grid
		}
		return l, nil
	}
	l.density = m.cfg.PointsPerUnit
	reach := 0
	for _, c := range m.conv {
		line, err := neighbor.NewNumberedLine(l.density, m.group.Alpha(), c.Radius())
		if err != nil {
			return nil, fmt.Errorf("cnp: %w", err)
		}
		reach += line.Reach
	}
	first, n, limit := make([]int, b.B), 1, m.cfg.latticeLimit()
	for t := range l.x {
		l.origin[t] = b.origin(t)
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range b.Nt {
			if b.targetOK(t, i) {
				u := b.XTarget[t*b.Nt+i] - l.origin[t]
				lo, hi = min(lo, u), max(hi, u)
			}
		}
		if lo > hi {
			continue
		}
		if !(max(-lo, hi)*l.density < maxLatticeNumber) || !((hi-lo)*l.density < float64(limit-2*reach-4)) {
			return nil, fmt.Errorf("%w: task %d's targets lie from %g to %g, where its context begins at %g: differentiated together, they need "+
				"a lattice of more than %d points, %g per unit", ErrRange, t, lo+l.origin[t], hi+l.origin[t], l.origin[t], limit, l.density)
		}
		a, z := latticeSpan(lo, l.density, reach), latticeSpan(hi, l.density, reach)
		first[t], n = a[0], max(n, z[1]-a[0])
	}
	for t := range l.x {
		l.x[t] = make([]float64, n)
		for i := range l.x[t] {
			l.x[t][i] = float64(first[t]+i) / l.density
		}
	}
	return l, nil
}

// layout returns the lifted points of tasks lo to hi, with the targets or without, and shows encode the points of every task, counted
// from the task's origin.
func (m *EquivCNP[T]) layout(b *Batch[T], lo, hi int, grids *taskLattices, targets bool,
	encode func(t int, x []float64, origin float64)) *layers.Geometry[T] {
	var (
		points *group.Lifted
		mask   []bool // per lifted point
		blocks = []int{0}
	)
	for t := lo; t < hi; t++ {
		x, ok := m.points(b, t, grids, targets)
		l := group.LiftPoints(m.group, x, m.cfg.Lifts, m.cfg.LiftSeed)
		if points == nil {
			points = l
		} else {
			points.Append(l)
		}
		encode(t, x, grids.origin[t])
		for _, o := range ok {
			for range m.cfg.Lifts {
				mask = append(mask, o)
			}
		}
		blocks = append(blocks, points.Rows())
	}
	if !targets {
		points.Across = grids.across
	}
	if m.onLine() {
		return layers.NewLineGeometry[T](points, mask, blocks, len(grids.x[lo]), grids.density)
	}
	return layers.NewGeometry[T](points, mask, blocks, m.cfg.MaxNeighbors, m.cfg.NeighborSeed)
}

// layouts returns the geometry of tasks lo to hi, each a block of its own, for all LieConvs but the last, and for the last,
// and shows encode the points of every task that carry features from the beginning.
func (m *EquivCNP[T]) layouts(b *Batch[T], lo, hi int, grids *taskLattices, encode func(t int, x []float64, origin float64)) (all,
	last *layers.Geometry[T]) {
	all = m.layout(b, lo, hi, grids, m.cfg.Readout == ReadoutTargets, encode)
	if m.cfg.Readout != ReadoutQueries {
		return all, all
	}
	return all, m.layout(b, lo, hi, grids, true, func(int, []float64, float64) {}).Reading(all.Rows() / (hi - lo))
}

// points returns the points [n, dx] that carry task t's features, the targets last if they are among them, and which of them
// count, counted from the task's origin. Padding sits there, unseen.
func (m *EquivCNP[T]) points(b *Batch[T], t int, grids *taskLattices, targets bool) (x []float64, ok []bool) {
	dx, grid, origin := m.cfg.DimX, grids.x[t], grids.origin[t]
	add := func(p []float64, valid bool) {
		if !valid {
			p = make([]float64, dx)
		}
		x, ok = append(x, p...), append(ok, valid)
	}
	if m.cfg.PointsPerUnit > 0 {
		x = append(make([]float64, 0, len(grid)+b.Nt*dx), grid...)
		for range len(grid) / dx {
			ok = append(ok, true)
		}
	} else {
		for i := range b.Nc {
			p := t*b.Nc + i
			add(b.XContext[p*dx:(p+1)*dx], b.contextOK(t, i))
		}
	}
	if targets {
		for i := range b.Nt {
			p := t*b.Nt + i
			add(counted(b.XTarget[p*dx:(p+1)*dx], origin), b.targetOK(t, i))
		}
	}
	return x, ok
}
