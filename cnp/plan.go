package cnp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"

	"github.com/equivcnp/equivcnp/cnp/internal/perlift"
	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/cpu"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/neighbor"
)

// checkPlan refuses a geometry and options of which there is no plan, and sets options that are left to choose.
func checkPlan(g Geometry, opt *PlanOptions) error {
	if len(g.Points)%2 != 0 || len(g.Targets)%2 != 0 || len(g.Points) == 0 {
		return fmt.Errorf("%w: %d coordinates of points, %d of targets: need pairs, and at least one point",
			ErrShape, len(g.Points), len(g.Targets))
	}
	if max := 2 * maxPixels; len(g.Points) > max || len(g.Targets) > max-len(g.Points) {
		return fmt.Errorf("%w: %d points and targets, need at most %d", ErrRange, (len(g.Points)+len(g.Targets))/2, max/2)
	}
	for name, x := range map[string][]float64{"points": g.Points, "targets": g.Targets} {
		for i, v := range x {
			if math.IsNaN(v - v) {
				return fmt.Errorf("%w: %s[%d, %d] = %v", ErrValue, name, i/2, i%2, v)
			}
		}
	}
	if g.H|g.W != 0 && (g.H < 1 || g.W < 1 || g.H > maxPixels/g.W || g.H*g.W != len(g.Points)/2) {
		return fmt.Errorf("%w: the geometry has %d points, and a grid of %d x %d", ErrShape, len(g.Points)/2, g.H, g.W)
	}
	if err := g.Interleaved.check(len(g.Points)/2, len(g.Targets)/2); err != nil {
		return err
	}
	if err := opt.Precision.check(); err != nil {
		return err
	}
	if !slices.Contains(layers.Algorithms, opt.Algorithm) {
		return fmt.Errorf("%w: algorithm %q is not one of %q", ErrConfig, opt.Algorithm, layers.Algorithms)
	}
	if opt.Concurrency < 0 || opt.Concurrency > maxConcurrency {
		return fmt.Errorf("%w: concurrency = %d, need 0 to %d", ErrConfig, opt.Concurrency, maxConcurrency)
	}
	opt.Soft = opt.Soft || opt.Memory <= 0
	if opt.Memory == 0 {
		opt.Memory = min(defaultMemory, cpu.Memory()/4)
	}
	return nil
}

// makePlan is Plan without files.
func (m *ImageEquivCNP[T]) makePlan(ctx context.Context, g Geometry, opt PlanOptions) (*imagePlan[T], error) {
	if err := checkPlan(g, &opt); err != nil {
		return nil, err
	}
	points := group.LiftPoints(m.group, g.Points, m.cfg.Lifts, m.cfg.LiftSeed)
	points.Across = g.across()
	queries, all := points, g.Points
	if len(g.Targets) > 0 {
		all = append(append([]float64(nil), g.Points...), g.Targets...)
		queries = group.LiftPoints(m.group, all, m.cfg.Lifts, m.cfg.LiftSeed)
	}
	p := m.newPlan(g)
	if err := p.compile(ctx, m, queries, points, perlift.Repeat(all, 2, m.cfg.Lifts), opt); err != nil {
		return nil, err
	}
	return p, nil
}

// newPlan returns a plan that is not compiled.
func (m *ImageEquivCNP[T]) newPlan(g Geometry) *imagePlan[T] {
	n, targets, k := len(g.Points)/2, len(g.Targets)/2, m.cfg.Lifts
	return &imagePlan[T]{cfg: m.cfg, shape: g.image(), apart: g.Interleaved, n: n, m: targets, k: k, rows: (n + targets) * k}
}

// ball says which neighbourhoods a convolution has: those of a radius, of at most so many points (0: all).
type ball struct {
	radius float64
	most   int
}

// compare orders balls by radius.
func (b ball) compare(o ball) int {
	return cmp.Or(cmp.Compare(b.radius, o.radius), cmp.Compare(b.most, o.most))
}

// psiBall returns that of the embedding.
func (m *ImageEquivCNP[T]) psiBall() ball { return ball{m.psi.Radius(), m.cfg.MaxNeighbors} }

// blockBalls returns those of the residual layers' convolutions.
func (m *ImageEquivCNP[T]) blockBalls() (balls []ball) {
	for _, block := range m.blocks {
		for _, conv := range block.Conv {
			balls = append(balls, ball{conv.Depthwise.Radius(), m.cfg.blockNeighbors()})
		}
	}
	return balls
}

// balls returns those of all convolutions, each once: first the largest without a cap, of which the others are parts.
func (m *ImageEquivCNP[T]) balls() []ball {
	all := append(m.blockBalls(), m.psiBall())
	slices.SortFunc(all, func(a, b ball) int {
		return cmp.Or(cmp.Compare(min(a.most, 1), min(b.most, 1)), b.compare(a))
	})
	return slices.Compact(all)
}

// compile makes the plan; x [rows, 2] are the positions of the queries.
func (p *imagePlan[T]) compile(ctx context.Context, m *ImageEquivCNP[T], queries, points *group.Lifted, x []float64,
	opt PlanOptions) error {
	// One neighbourhood for each radius, the smaller ones cut out of the largest. The residual layers, almost all of the work,
	// decide the order of rows.
	blocks := m.blockBalls()
	stop := func() bool { return ctx.Err() != nil }
	limit := opt.Memory
	if opt.Soft {
		limit = MemoryLimit()
	}
	if arranged := m.arrangeGrid(queries, points, blocks, opt); arranged != nil {
		return p.assemble(ctx, m, arranged, opt, nil)
	}
	near, flat := map[ball]*neighbor.Neighborhood{}, true
	balls := m.balls()
	for _, r := range balls {
		if err := ctx.Err(); err != nil {
			return err
		}
		if whole := near[balls[0]]; whole != nil && r.most == 0 {
			if near[r] = whole.ShrinkUntil(stop, queries, points, r.radius); near[r] == nil {
				return ctx.Err()
			}
		} else {
			n, err := neighbor.Ball(queries, points, neighbor.Options{Radius: r.radius, MaxBytes: limit, Stop: stop,
				MaxNeighbors: r.most, Seed: m.cfg.NeighborSeed})
			switch {
			case errors.Is(err, neighbor.ErrStopped):
				return ctx.Err()
			case errors.Is(err, neighbor.ErrTooManyPairs):
				return fmt.Errorf("%w: %v", ErrMemory, err)
			case err != nil:
				return err
			}
			near[r] = n
			if need := 2 * n.Bytes(); !opt.Soft && need > opt.Memory { // beside its arrangement
				return fmt.Errorf("%w: neighbourhoods take %v while they are arranged, the limit is %v", ErrMemory, Bytes(need),
					Bytes(opt.Memory))
			}
			if !opt.Soft {
				runtime.GC() // what the search left would come on top of what follows
			}
		}
		flat = flat && layers.Flat(near[r])
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	order := layers.Order(near[blocks[0]], x, p.k, flat, stop)
	if err := ctx.Err(); err != nil {
		return err
	}
	arranged, err := m.arrange(near, order, flat, blocks, stop, opt)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if order != nil {
		p.rank = make([]int32, len(order))
		for i, from := range order {
			p.rank[from] = int32(i)
		}
	}
	return p.assemble(ctx, m, arranged, opt, nil)
}

// windowing returns the window of balls of radius r, nil where it is a box.
func (m *ImageEquivCNP[T]) windowing(r float64) *layers.Windowing {
	if m.cfg.Window == "" || m.cfg.Window == layers.WindowBox {
		return nil
	}
	return &layers.Windowing{Window: m.cfg.Window, Group: m.group, Radius: r}
}

// algorithmOf returns the algorithm for neighbourhoods; depthwise are those of separable convolutions.
func algorithmOf(r ball, depthwise []ball, opt PlanOptions) layers.Algorithm {
	switch {
	case slices.Contains(depthwise, r):
		return opt.Algorithm
	case opt.Algorithm == layers.Direct:
		return layers.NoDepthwise
	}
	return layers.TransformsOnly
}

// arrangeGrid is arrange, and the search before it, where all neighbourhoods follow from the grid that the points stand
// on. Otherwise it returns nil.
func (m *ImageEquivCNP[T]) arrangeGrid(queries, points *group.Lifted, depthwise []ball,
	opt PlanOptions) map[ball]*layers.Arrangement[T] {
	if queries != points || m.cfg.MaxNeighbors > 0 || m.cfg.blockNeighbors() > 0 {
		return nil
	}
	arranged := map[ball]*layers.Arrangement[T]{}
	for _, r := range m.balls() {
		if m.windowing(r.radius) != nil {
			return nil
		}
		if arranged[r] = layers.ArrangeGrid[T](points, r.radius, algorithmOf(r, depthwise, opt)); arranged[r] == nil {
			return nil
		}
	}
	return arranged
}

// arrange arranges neighbourhoods; depthwise are those of separable convolutions. Where memory is limited, it goes
// from one to the next and lets go of what it has arranged, since a neighbourhood is as large as its arrangement.
func (m *ImageEquivCNP[T]) arrange(near map[ball]*neighbor.Neighborhood, order []int32, flat bool, depthwise []ball, stop func() bool,
	opt PlanOptions) (map[ball]*layers.Arrangement[T], error) {
	distinct := slices.SortedFunc(maps.Keys(near), func(a, b ball) int { return b.compare(a) })
	made := make([]*layers.Arrangement[T], len(distinct))
	one := func(i, _ int) {
		r := distinct[i]
		made[i] = layers.Arrange[T](near[r], order, flat, algorithmOf(r, depthwise, opt), m.windowing(r.radius), stop)
	}
	if opt.Soft {
		parallel.For(len(distinct), 1, one)
	} else {
		live := int64(0)
		for _, n := range near {
			live += n.Bytes()
		}
		for i, r := range distinct {
			if need := live + near[r].Bytes(); need > opt.Memory {
				return nil, fmt.Errorf("%w: neighbourhoods take %v while they are arranged, the limit is %v", ErrMemory,
					Bytes(need), Bytes(opt.Memory))
			}
			runtime.GC()
			one(i, i+1)
			if stop() {
				return nil, nil
			}
			live += made[i].Bytes() - near[r].Bytes()
			delete(near, r)
		}
		runtime.GC()
	}
	if !flat && !stop() {
		layers.Agree(made)
	}
	arranged := map[ball]*layers.Arrangement[T]{}
	for i, r := range distinct {
		arranged[r] = made[i]
	}
	return arranged, nil
}
