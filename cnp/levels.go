package cnp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/layers/pyramid"
	"github.com/equivcnp/equivcnp/simd"
)

// levelsFloor is the density floor of models with levels where the configuration names none: where the context's density falls below a
// hundredth, its signal fades over some length scales, and does not switch from one context point's value to the next one's.
const levelsFloor = 0.01

// newPyramid returns the network of a model with levels.
func newPyramid[T Float](c *Config, in int, rng *rand.Rand) *pyramid.Pyramid[T] {
	p := pyramid.Config{Axes: c.DimX, In: in, Channels: c.Channels, Reach: c.Kernel / 2, Blocks: c.Blocks,
		Lifts: c.pyramidLifts(), Step: 1 / c.PointsPerUnit}
	if c.OnSphere() {
		p.Sphere = c.SpherePoints()
	}
	return pyramid.New[T](p, rng)
}

// encoderReach is how far from the context points, in length scales, the encoding is different from that of no context, as far as numbers
// tell.
func encoderReach(floor float64) float64 { return math.Sqrt(2 * (math.Log(1/floor) + 32*math.Ln2)) }

// levelsNet is the network of a model with levels, laid out for use.
type levelsNet[T Float] struct {
	cfg       Config
	frames    *curve.Frames
	pyramid   *pyramid.Pyramid[T]
	net       *pyramid.Planned[T]
	psi       curve.Kernel
	length    float64
	floor     float64
	departure *curve.PlannedDeparture[T]
	aux       *curve.PlannedAux[T]
	head      plannedHead[T]
	pool      *sync.Pool // *levelsRun[T]
}

// levelsCache keeps the network of a model whose parameters stay as they are.
type levelsCache[T Float] struct {
	mu    sync.Mutex
	state [][]T
	net   *levelsNet[T]
}

// levelsRun is the memory of one task on its way.
type levelsRun[T Float] struct {
	place              levelsPlace
	x, targets, points []float64 // counted from the task's origin
	order              []int32   // the targets that count
	phi, h, f          []T
	lattice            layers.Lattice
	conv               layers.LatticeConv[T]
	pyramid            pyramid.Run[T]
	departure          curve.DepartureRun[T]
	aux                curve.AuxRun[T]
	head               headRun[T]
	origin             []float64
	frame              curve.FrameRun[T]
	y                  []T // a point's values, as a frame sees them
}

// levelsPlace is where a task's data and targets lie, counted from its origin.
type levelsPlace struct{ lo, hi, from, to []float64 }

// clear makes it that of no points, in dx coordinates.
func (p *levelsPlace) clear(dx int) {
	for _, v := range []*[]float64{&p.lo, &p.hi, &p.from, &p.to} {
		*v = reuse.Sized(*v, dx)
	}
	for d := range dx {
		p.lo[d], p.hi[d], p.from[d], p.to[d] = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	}
}

func grow(lo, hi, x []float64) {
	for i, v := range x {
		d := i % len(lo)
		lo[d], hi[d] = min(lo[d], v), max(hi[d], v)
	}
}

// reach widens the place of the data by what the encoder reaches.
func (p *levelsPlace) reach(by float64) {
	for d := range p.lo {
		p.lo[d] -= by
		p.hi[d] += by
	}
}

// check refuses data, of one task or of all if that is negative, that need too large a lattice.
func (p *levelsPlace) check(c *Config, task int) error {
	if c.OnSphere() {
		return nil // its size is the configuration's
	}
	rows := 1.0
	for d := range p.lo {
		rows *= max(0, (p.hi[d]-p.lo[d])*c.PointsPerUnit+1)
	}
	if !(rows <= float64(c.latticeLimit())) {
		what := "all tasks together"
		if task >= 0 {
			what = fmt.Sprintf("task %d", task)
		}
		return fmt.Errorf("%w: the context of %s needs a lattice of more than %d points, %g per unit", ErrRange, what,
			c.latticeLimit(), c.PointsPerUnit)
	}
	return nil
}

// origins sets origin [dx] to the point from which the lattices of tasks from one up to another are counted: the least
// coordinates of their contexts, or where there are several lifts the middle between those and the greatest, which
// turns with a context; 0 without one and on the sphere.
func (b *Batch[T]) origins(c *Config, origin []float64, from, to int) {
	dx := len(origin)
	if c.OnSphere() {
		clear(origin)
		return
	}
	for d := range origin {
		lo, hi := math.Inf(1), math.Inf(-1)
		for t := from; t < to; t++ {
			for i := range b.Nc {
				if b.contextOK(t, i) {
					v := b.XContext[(t*b.Nc+i)*dx+d]
					lo, hi = min(lo, v), max(hi, v)
				}
			}
		}
		switch {
		case math.IsInf(lo, 1):
			lo = 0
		case c.pyramidLifts() > 1:
			lo = lo/2 + hi/2
		}
		origin[d] = lo + b.moved
	}
}

func (n *levelsNet[T]) parts() (*plannedHead[T], *Config) { return &n.head, &n.cfg }

func (n *levelsNet[T]) anywhere() bool { return true }

// predict predicts all tasks, on several goroutines; each takes a task, or some of those that share their points. Where there are more
// goroutines than tasks, several go through the levels of one.
func (n *levelsNet[T]) predict(ctx context.Context, dst *Prediction[T], b *Batch[T]) error {
	b = b.whole(&n.cfg)
	stop := func() bool { return ctx.Err() != nil }
	return eachPiece(ctx, b, n.pool, func(run *levelsRun[T], lo, hi, share int) error {
		run.pyramid.Threads, run.pyramid.Stop = share, stop
		defer func() { run.pyramid.Stop = nil }() // the pool must not keep the caller's data alive
		return n.tasks(ctx, run, dst, b, lo, hi)
	})
}

// tasks predicts task t and those up to another, which have the same points: all that depends on these is made once.
func (n *levelsNet[T]) tasks(ctx context.Context, run *levelsRun[T], dst *Prediction[T], b *Batch[T], t, to int) error {
	dx, dy, known := n.cfg.DimX, n.cfg.DimY, n.cfg.contextValues()
	run.origin = reuse.Sized(run.origin, dx)
	b.origins(&n.cfg, run.origin, t, t+1)
	have := densitiesOf(&n.cfg, b.YContext[t*b.Nc*known:(t+1)*b.Nc*known])
	n.readTargets(run, b, t)
	if len(run.order) < b.Nt {
		dst.fill(t*b.Nt*dy, to*b.Nt*dy, 0)
	}
	if n.frames == nil {
		n.readContext(run, b, t, to, have, nil)
		run.head.x = places(n.head.waves, b, t, run.order, run.head.x)
		return n.encode(ctx, run, t, to, have, func(k int, f []T) {
			n.head.forward(dst, (t+k)*b.Nt*dy, run.order, f, run.head.x, &run.head)
		})
	}
	// Every frame has its own lattice, which moves and turns with the task.
	m, width, sum := len(run.order), n.head.frameWidth(n.frames, n.net.Out()), run.frame.Sum
	sum = reuse.Sized(sum, (to-t)*m*width)
	run.frame.Sum = sum
	clear(sum)
	own := append([]float64(nil), run.targets...)
	for l, r := range n.frames.X {
		n.readContext(run, b, t, to, have, n.frames.OfFrame(l))
		run.frame.Room = reuse.Sized(run.frame.Room, dx)
		copy(run.targets, own)
		curve.Seen(run.x, r, run.frame.Room)
		curve.Seen(run.targets, r, run.frame.Room)
		curve.FromLeast(run.x, run.targets, run.frame.Room)
		if err := n.encode(ctx, run, t, to, have, func(k int, f []T) {
			n.head.look(sum[k*m*width:(k+1)*m*width], n.frames, l, f, m, &run.head, &run.frame.Turn)
		}); err != nil {
			return err
		}
	}
	for k := range to - t {
		n.head.answer(dst, (t+k)*b.Nt*dy, run.order, n.frames, sum[k*m*width:(k+1)*m*width], &run.head)
	}
	return nil
}

// readContext sets x to the coordinates of the context of task t, counted from the origin, and phi to 1 and the powers of the values of all
// tasks up to another, behind so many densities, as an observer sees them who has been turned by r; nil turns nothing.
func (n *levelsNet[T]) readContext(run *levelsRun[T], b *Batch[T], t, to, have int, r []float64) {
	dx, dy := n.cfg.DimX, n.cfg.contextValues()
	run.x, run.phi = run.x[:0], run.phi[:0]
	run.frame.Room = reuse.Sized(run.frame.Room, dy)
	for i := range b.Nc {
		if !b.contextOK(t, i) {
			continue
		}
		at := t*b.Nc + i
		for d := range dx {
			run.x = append(run.x, b.XContext[at*dx+d]-run.origin[d])
		}
		if r == nil {
			run.phi = b.appendPhi(run.phi, at, to-t, have, dy, n.cfg.Multiplicity)
			continue
		}
		for k := at; k < at+(to-t)*b.Nc; k += b.Nc {
			run.y = append(run.y[:0], b.YContext[k*dy:(k+1)*dy]...)
			curve.Seen(run.y, r, run.frame.Room)
			if k == at {
				run.phi = curve.AppendPhi(run.phi, run.y, have, n.cfg.Multiplicity)
			} else {
				run.phi = curve.AppendPowers(run.phi, run.y, n.cfg.Multiplicity)
			}
		}
	}
}

// readTargets sets order and targets to those of task t that count.
func (n *levelsNet[T]) readTargets(run *levelsRun[T], b *Batch[T], t int) {
	dx := n.cfg.DimX
	run.order, run.targets = run.order[:0], run.targets[:0]
	for i := range b.Nt {
		if !b.targetOK(t, i) {
			continue
		}
		run.order = append(run.order, int32(i))
		for d := range dx {
			run.targets = append(run.targets, b.XTarget[(t*b.Nt+i)*dx+d]-run.origin[d])
		}
	}
	n.aux.Keep(&run.aux, b.auxOf(t, len(n.cfg.Auxiliary)), run.order)
}

// encode calls use with the features at the targets of task t and those up to another, whose context and targets have been read. It
// returns the context's error soon after that ends.
func (n *levelsNet[T]) encode(ctx context.Context, run *levelsRun[T], t, to, have int, use func(k int, f []T)) error {
	dx := n.cfg.DimX
	p := &run.place
	p.clear(dx)
	grow(p.lo, p.hi, run.x)
	grow(p.from, p.to, run.targets)
	p.reach(n.length * encoderReach(n.floor))
	if err := p.check(&n.cfg, t); err != nil {
		return err
	}
	run.pyramid.Lay(n.pyramid, p.lo, p.hi, p.from, p.to)
	if err := ctx.Err(); err != nil {
		return err
	}
	rows, signals := run.pyramid.Layout.Rows(), n.cfg.Multiplicity*n.cfg.contextValues()
	c, densities := have+(to-t)*signals, n.cfg.densities() // the densities are those of all
	width := densities + signals + n.departure.Channels()
	run.h, run.f = reuse.Sized(run.h, rows*c), reuse.Sized(run.f, rows*width)
	if lattice := run.pyramid.Layout.Lattice(run.lattice); lattice != nil {
		run.lattice = lattice
		run.conv.ForwardUntil(run.pyramid.Stop, run.h, lattice, run.x, run.phi, c, n.psi.Gamma, n.psi.Scale)
	} else {
		run.points = run.pyramid.Layout.Points(run.points[:0])
		setConv(ctx, run.h, run.points, run.x, run.phi, dx, c, n.psi)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if n.departure != nil {
		run.points = run.pyramid.Layout.Points(run.points[:0])
		n.departure.Evaluate(&run.departure, run.points, run.origin)
	}
	for k := range to - t {
		for i := range rows {
			f, h := run.f[i*width:(i+1)*width], run.h[i*c:(i+1)*c]
			curve.DivideByDensity(f, h, have, densities, have+k*signals, signals, n.floor, n.cfg.DensityCap)
			n.departure.Set(f[densities+signals:], &run.departure, i, h[:have], n.floor)
		}
		f := n.net.Forward(&run.pyramid, run.f, run.targets)
		if err := ctx.Err(); err != nil {
			return err
		}
		n.aux.Add(f, &run.aux)
		use(k, f)
	}
	return nil
}

// setConvPairs is how many pairs of points and rows setConv takes at a time, a few milliseconds, and setConvRows a multiple of the rows
// that kernels do.
const (
	setConvPairs = 1 << 22
	setConvRows  = 64
)

// setConv is simd.SetConv for a kernel, some rows at a time, until ctx ends.
func setConv[T Float](ctx context.Context, h []T, t, x []float64, phi []T, d, c int, psi curve.Kernel) {
	m, step := len(t)/d, max(1, setConvPairs*d/max(1, len(x))/setConvRows)*setConvRows
	for lo := 0; lo < m && ctx.Err() == nil; lo += step {
		hi := min(lo+step, m)
		simd.SetConv(h[lo*c:hi*c], t[lo*d:hi*d], x, phi, d, c, psi.Gamma, psi.Scale)
	}
}
