package cnp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
)

// lineEngine is a pointsEngine whose tasks live on a line with a lattice, under translations: neighbourhoods follow from
// the order of points, and all poses among lattice points are known in advance (curveNet).
type lineEngine[T Float] struct {
	*pointsEngine[T]
	cache curveCache[T]
}

// lies reports whether the model's tasks live on a line with a lattice, under translations.
func (m *pointsEngine[T]) lies() bool {
	g, ok := m.group.(*group.T)
	return ok && g.PointDim() == 1 && m.cfg.PointsPerUnit > 0 && m.cfg.Lifts == 1 && m.cfg.MaxNeighbors == 0 && !m.cfg.sampled()
}

// known reports whether the radii, which are parameters, are numbers. Otherwise the engine is its pointsEngine.
func (m *lineEngine[T]) known() bool {
	return !slices.ContainsFunc(m.conv, func(l *layers.LieConv[T]) bool { return math.IsNaN(l.Radius()) })
}

func (m *lineEngine[T]) predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	if !m.known() {
		return m.pointsEngine.predict(ctx, b)
	}
	var grid []float64
	if !m.cfg.numbered() { // under it, lattices are the tasks' own
		var err error
		if grid, _, err = lattice(b, &m.cfg); err != nil {
			return nil, err
		}
	}
	net, l, err := m.cache.get(m, grid)
	if err != nil {
		return nil, err
	}
	out := m.head.newPrediction(b.B * b.Nt * m.cfg.DimY)
	if err := net.predict(ctx, out, b, l); err != nil && !errors.As(err, new(*OutsideError)) {
		return nil, err
	} else {
		return out, err
	}
}

// differentiate sorts the targets, so that neighbours in the line are neighbours in memory.
func (m *lineEngine[T]) differentiate(ctx context.Context, b *Batch[T], mode layers.Mode) (*Pass[T], error) {
	if !m.known() {
		return m.pointsEngine.differentiate(ctx, b, mode)
	}
	if b.B*b.Nt > 0 {
		if sorted, order := b.byTarget(); !slices.Equal(sorted.XTarget, b.XTarget) {
			p, err := m.record(ctx, sorted, mode, m)
			if err != nil {
				return nil, err
			}
			return p.reordered(order, b.valueMask(m.cfg.DimY), m.cfg.DimY), nil
		}
	}
	return m.record(ctx, b, mode, m)
}

func (m *lineEngine[T]) near(points *group.Lifted, mask []bool, blocks []int, lattice int, density float64) *layers.Geometry[T] {
	return layers.NewLineGeometry[T](points, mask, blocks, lattice, density)
}

// elsewhere refuses all but intervals where the lattice is that of the plan.
func (m *lineEngine[T]) elsewhere(s Shape) error {
	if s.kind != intervalShape && m.known() && !m.cfg.numbered() {
		return fmt.Errorf("%w for %v: the lattice of this model needs an interval", ErrNoPlan, s)
	}
	return nil
}

func (m *lineEngine[T]) compile(lo, hi float64) (curveProgram[T], error) {
	if !m.known() {
		return m.pointsEngine.compile(lo, hi)
	}
	var grid []float64
	if !m.cfg.numbered() {
		var err error
		if grid, _, err = lattice(&Batch[T]{B: 1, Nt: 2, XTarget: []float64{lo, hi}}, &m.cfg); err != nil {
			return nil, err
		}
	}
	net := m.net()
	l, err := net.newLattice(grid)
	if err != nil {
		return nil, err
	}
	return &lineProgram[T]{net, l}, nil
}

// lineProgram is a network with its lattice.
type lineProgram[T Float] struct {
	net     *curveNet[T]
	lattice *curveLattice[T]
}

func (p *lineProgram[T]) parts() (*plannedHead[T], *Config) { return &p.net.head, &p.net.cfg }

func (p *lineProgram[T]) anywhere() bool { return p.net.cfg.numbered() }

func (p *lineProgram[T]) predict(ctx context.Context, dst *Prediction[T], b *Batch[T]) error {
	return p.net.predict(ctx, dst, b, p.lattice)
}

// net packs the network.
func (m *lineEngine[T]) net() *curveNet[T] {
	n := &curveNet[T]{cfg: m.cfg, alpha: m.group.Alpha(), psi: curve.NewKernel(m.encoder.Psi), readout: curve.NewKernel(m.readout),
		pre: m.pre.Plan(), departure: m.encoder.Departure.Plan(m.cfg.departureOff()), aux: m.aux.Plan(), head: m.head.plan(),
		pool: &sync.Pool{}}
	for _, l := range m.conv {
		n.conv = append(n.conv, l.Compile(m.group.Alpha()))
		n.radius = append(n.radius, l.Radius())
	}
	return n
}

// get returns the network under the model's current parameters, and the lattice.
func (c *curveCache[T]) get(m *lineEngine[T], grid []float64) (*curveNet[T], *curveLattice[T], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state := m.state(m); c.net == nil || !sameState(c.state, state) {
		c.state, c.lattices = copyState(state), nil
		c.net = m.net()
	}
	i := slices.IndexFunc(c.lattices, func(l *curveLattice[T]) bool { return slices.Equal(l.grid, grid) })
	if i >= 0 {
		l := c.lattices[i]
		c.lattices = append(slices.Delete(c.lattices, i, i+1), l)
		return c.net, l, nil
	}
	l, err := c.net.newLattice(grid)
	if err != nil {
		return nil, nil, err
	}
	if len(c.lattices) == keepPlans {
		c.lattices = slices.Delete(c.lattices, 0, 1)
	}
	c.lattices = append(c.lattices, l)
	return c.net, l, nil
}
