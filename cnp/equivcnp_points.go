package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/neighbor"
)

// pointsEngine is the paper's network: a pointwise layer, and LieConvs over the lifted points of every task, wherever
// they lie.
type pointsEngine[T Float] struct {
	*curveParts[T]
	pre  *layers.Linear[T]
	conv []*layers.LieConv[T]
	// readout reads the lattice's features at the targets under ReadoutRBF. The authors' checkpoints hold one that their
	// model never uses.
	readout *layers.RBF[T]
}

// newPointsEngine draws the parameters of a model whose other parts are these.
func newPointsEngine[T Float](parts *curveParts[T], rng *rand.Rand) (*pointsEngine[T], error) {
	c := &parts.cfg
	m := &pointsEngine[T]{curveParts: parts, readout: layers.NewRBF[T](curve.PsiScale, curve.PsiLength),
		pre: layers.NewLinear[T](parts.encoder.Channels(), c.Channels[0], rng)}
	r, err := referenceRadius(*c, m.group, c.Fill)
	if err != nil {
		return nil, err
	}
	for i := range len(c.Channels) - 1 {
		m.conv = append(m.conv, layers.NewLieConv[T](c.Channels[i], c.Channels[i+1], layers.LieConvConfig{
			PoseDim: group.PoseDim(m.group), Hidden: c.Hidden, Mid: c.Mid, BatchNorm: !c.NoBatchNorm,
			Radius: r, Fill: c.Fill, Rate: c.RadiusRate, Window: c.Window,
		}, rng))
	}
	return m, nil
}

func (m *pointsEngine[T]) params() []layers.Param[T] {
	ps := m.pre.Params("prelinear.0.module.")
	for i, l := range m.conv {
		ps = append(ps, l.Params(fmt.Sprintf("conv.%d.", 2*i))...)
	}
	rho := m.readout.Params("psi_rho.")
	for i := range rho {
		rho[i].Unused = m.cfg.Readout != ReadoutRBF
	}
	return append(ps, rho...)
}

func (m *pointsEngine[T]) predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	return m.forward(ctx, b, m)
}

func (m *pointsEngine[T]) differentiate(ctx context.Context, b *Batch[T], mode layers.Mode) (*Pass[T], error) {
	return m.record(ctx, b, mode, m)
}

// elsewhere is nil: compile says why there is no plan.
func (m *pointsEngine[T]) elsewhere(Shape) error { return nil }

func (m *pointsEngine[T]) compile(float64, float64) (curveProgram[T], error) {
	return nil, fmt.Errorf("%w: %w: plans for curves are for models under T(1) with a lattice; this one is under %s, with %g "+
		"points per unit, %d lifts, at most %d neighbours (0: all) and a sampling fraction of %g (0: 1)", ErrConfig, ErrNoPlan,
		m.group.Name(), m.cfg.PointsPerUnit, m.cfg.Lifts, m.cfg.MaxNeighbors, m.cfg.SamplingFraction)
}

// surroundings finds out who is near whom among lifted points: a block of them for each task, of which a mask says which count, and so
// many lattice points of that density come first.
type surroundings[T Float] interface {
	near(points *group.Lifted, mask []bool, blocks []int, lattice int, density float64) *layers.Geometry[T]
}

func (m *pointsEngine[T]) near(points *group.Lifted, mask []bool, blocks []int, _ int, _ float64) *layers.Geometry[T] {
	return layers.NewGeometry[T](points, mask, blocks, m.cfg.MaxNeighbors, m.cfg.NeighborSeed)
}

// lattices returns the lattices of all tasks, empty ones if the model has none. In training all tasks share one, over their
// points and the margin beyond. Lattices of their own, with every point that has an influence, would take a fifth (rbf) to a half
// (matern) longer, and models that never saw them in training predict equally well with them.
func (m *pointsEngine[T]) lattices(b *Batch[T], mode layers.Mode) (*taskLattices, error) {
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
			return nil, fmt.Errorf("%w: task %d's targets lie from %g to %g, where its context begins at %g: "+
				"differentiated together, they need "+
				"a lattice of more than %d points, %g per unit", ErrRange, t, lo+l.origin[t], hi+l.origin[t], l.origin[t], limit, l.density)
		}
		a, z := curve.Span(lo, l.density, reach), curve.Span(hi, l.density, reach)
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
func (m *pointsEngine[T]) layout(in surroundings[T], b *Batch[T], lo, hi int, grids *taskLattices, targets bool,
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
	return in.near(points, mask, blocks, len(grids.x[lo]), grids.density)
}

// layouts returns geometries of tasks lo to hi, each task a block of its own: that of the points that carry features from
// the beginning, which encode is shown task by task, and that of every LieConv. All have the same rows, but that of the last
// LieConv may have further ones at the end of every block.
func (m *pointsEngine[T]) layouts(in surroundings[T], b *Batch[T], lo, hi int, grids *taskLattices,
	encode func(t int, x []float64, origin float64)) ([]*layers.Geometry[T], error) {
	all := m.layout(in, b, lo, hi, grids, m.cfg.Readout == ReadoutTargets, encode)
	out := make([]*layers.Geometry[T], 1+len(m.conv))
	for i := range out {
		out[i] = all
	}
	if m.cfg.Readout != ReadoutQueries {
		return out, nil
	}
	last := len(out) - 1
	out[last] = m.layout(in, b, lo, hi, grids, true, func(int, []float64, float64) {}).Reading(all.Rows() / (hi - lo))
	if !m.cfg.sampled() {
		return out, nil
	}
	return out, m.subsample(out, hi-lo)
}

// points returns the points [n, dx] that carry task t's features, the targets last if they are among them, and which of them
// count, counted from the task's origin. Padding sits there, unseen.
func (m *pointsEngine[T]) points(b *Batch[T], t int, grids *taskLattices, targets bool) (x []float64, ok []bool) {
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
			add(curve.Counted(b.XTarget[p*dx:(p+1)*dx], origin), b.targetOK(t, i))
		}
	}
	return x, ok
}
