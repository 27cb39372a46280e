package cnp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

// levelsFloor is the density floor of models with levels where the configuration names none: where the context's density falls below a
// hundredth, its signal fades over some length scales, and does not switch from one context point's value to the next one's.
const levelsFloor = 0.01

// newPyramid returns the network of a model with levels.
func newPyramid[T Float](c *Config, in int, rng *rand.Rand) *layers.Pyramid[T] {
	p := layers.PyramidConfig{Axes: c.DimX, In: in, Channels: c.Channels, Reach: c.Kernel / 2, Blocks: c.Blocks,
		Lifts: c.pyramidLifts(), Step: 1 / c.PointsPerUnit}
	if c.OnSphere() {
		p.Sphere = c.SpherePoints()
	}
	return layers.NewPyramid[T](p, rng)
}

// framed reports whether a model with levels sees a task from every lift with a pyramid of its own: of SE(2)'s quarter
// and half turns features of one pyramid know scalars alone.
func (c *Config) framed(g group.Group) bool {
	switch g.(type) {
	case *group.SE2:
		return c.Vectors()
	case *group.SE3:
		return true
	}
	return false
}

// pyramidLifts is how many lifts a pyramid itself has.
func (c *Config) pyramidLifts() int {
	if !c.OnSphere() && (c.Vectors() || c.DimX == 3) {
		return 1
	}
	return max(1, c.Lifts)
}

// maxLevels bounds Config.Levels.
const maxLevels = 16

// validateLevels reports what makes no model with levels.
func (c *Config) validateLevels(g group.Group) error {
	_, translations := g.(*group.T)
	_, motions := g.(*group.SE2)
	switch {
	case c.Levels > maxLevels || c.Levels != len(c.Channels):
		return fmt.Errorf("levels = %d, channels = %v: need at most %d, and a width for each", c.Levels, c.Channels, maxLevels)
	case c.framed(g) && (c.Lifts < 1 || c.Lifts > maxFrames):
		return fmt.Errorf("levels under %s take 1 to %d lifts, these are %d", g.Name(), maxFrames, c.Lifts)
	case !c.OnSphere() && !c.framed(g) && !(translations && c.DimX <= 3 && c.Lifts == 1) && !(motions && (c.Lifts == 2 || c.Lifts == 4)):
		return fmt.Errorf("levels are for groups T(1), T(2) and T(3) with one lift, for SE(2) with 2 or 4 lifts, of vectors with any number of them, for SE(3), and for placement %q; "+
			"this is %s with %d", PlacementSphere, g.Name(), c.Lifts)
	case c.Kernel%2 != 1 || c.Kernel < 3 || c.Kernel > 31:
		return fmt.Errorf("kernel = %d, need an odd width from 3 to 31", c.Kernel)
	case c.Blocks > 16:
		return fmt.Errorf("blocks = %d, need at most 16 on every level", c.Blocks)
	case c.PointsPerUnit == 0 || c.Placement == PlacementBatch || c.Readout != ReadoutQueries || !c.FixedStep || c.MaxNeighbors != 0 ||
		c.CoordinateFeature || c.RadiusRate != 0:
		return fmt.Errorf("levels need points_per_unit, placement %q, readout %q and fixed_step, and no max_neighbors, coordinate_feature or radius_rate",
			PlacementContext, ReadoutQueries)
	case c.Multiplicity < 1:
		return fmt.Errorf("multiplicity = %d, need at least 1", c.Multiplicity)
	}
	return nil
}

// maxFrames bounds the lifts of a model with levels, each of which takes as long as a model with one.
const maxFrames = 256

// encoderReach is how far from the context points, in length scales, the encoding is different from that of no context, as far as numbers
// tell.
func encoderReach(floor float64) float64 { return math.Sqrt(2 * (math.Log(1/floor) + 32*math.Ln2)) }

// levelsNet is the network of a model with levels, laid out for use.
type levelsNet[T Float] struct {
	cfg     Config
	frames  *frames
	pyramid *layers.Pyramid[T]
	net     *layers.PlannedPyramid[T]
	psi     kernel
	length  float64
	floor   float64
	aux     *plannedAux[T]
	head    plannedHead[T]
	pool    *sync.Pool // *levelsRun[T]
}

func (m *EquivCNP[T]) compileLevels() *levelsNet[T] {
	return &levelsNet[T]{cfg: m.cfg, frames: m.frames, pyramid: m.pyramid, net: m.pyramid.Compile(),
		psi: newKernel(m.encoder.psi), length: m.encoder.psi.Length(),
		floor: m.encoder.floor, aux: m.aux.plan(), head: m.head.plan(), pool: &sync.Pool{}}
}

// levelsCache keeps the network of a model whose parameters stay as they are.
type levelsCache[T Float] struct {
	mu    sync.Mutex
	state [][]T
	net   *levelsNet[T]
}

func (c *levelsCache[T]) get(m *EquivCNP[T]) *levelsNet[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state := m.State(); c.net == nil || !sameState(c.state, state) {
		c.state, c.net = copyState(state), m.compileLevels()
	}
	return c.net
}

// levelsRun is the memory of one task on its way.
type levelsRun[T Float] struct {
	place              levelsPlace
	x, targets, points []float64 // counted from the task's origin
	order              []int32   // the targets that count
	phi, h, f          []T
	lattice            layers.Lattice
	conv               layers.LatticeConv[T]
	pyramid            layers.PyramidRun[T]
	aux                auxRun[T]
	head               headRun[T]
	origin             []float64
	frame              frameRun[T]
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

// predict predicts all tasks, on several goroutines; each takes a task, or some of those that share their points.
func (n *levelsNet[T]) predict(ctx context.Context, dst *Prediction[T], b *Batch[T]) error {
	b = b.whole(&n.cfg)
	return eachPiece(ctx, b, n.pool, func(run *levelsRun[T], lo, hi, _ int) error { return n.tasks(run, dst, b, lo, hi) })
}

// tasks predicts task t and those up to another, which have the same points: all that depends on these is made once.
func (n *levelsNet[T]) tasks(run *levelsRun[T], dst *Prediction[T], b *Batch[T], t, to int) error {
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
		return n.encode(run, t, to, have, func(k int, f []T) {
			n.head.forward(dst, (t+k)*b.Nt*dy, run.order, f, run.head.x, &run.head)
		})
	}
	// Every frame has its own lattice, which moves and turns with the task.
	m, width, sum := len(run.order), n.head.frameWidth(n.frames, n.net.Out()), run.frame.sum
	sum = reuse.Sized(sum, (to-t)*m*width)
	run.frame.sum = sum
	clear(sum)
	own := append([]float64(nil), run.targets...)
	for l, r := range n.frames.x {
		n.readContext(run, b, t, to, have, n.frames.ofFrame(l))
		run.frame.room = reuse.Sized(run.frame.room, dx)
		copy(run.targets, own)
		seen(run.x, r, run.frame.room)
		seen(run.targets, r, run.frame.room)
		fromLeast(run.x, run.targets, run.frame.room)
		if err := n.encode(run, t, to, have, func(k int, f []T) {
			n.head.look(sum[k*m*width:(k+1)*m*width], n.frames, l, f, m, &run.head, &run.frame.turn)
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
	run.frame.room = reuse.Sized(run.frame.room, dy)
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
			seen(run.y, r, run.frame.room)
			if k == at {
				run.phi = appendPhi(run.phi, run.y, have, n.cfg.Multiplicity)
			} else {
				run.phi = appendPowers(run.phi, run.y, n.cfg.Multiplicity)
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
	n.aux.targets(&run.aux, b, t, run.order)
}

// encode calls use with the features at the targets of task t and those up to another, whose context and targets have been read.
func (n *levelsNet[T]) encode(run *levelsRun[T], t, to, have int, use func(k int, f []T)) error {
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
	rows, signals := run.pyramid.Layout.Rows(), n.cfg.Multiplicity*n.cfg.contextValues()
	c, densities := have+(to-t)*signals, n.cfg.densities() // the densities are those of all
	width := densities + signals
	run.h, run.f = reuse.Sized(run.h, rows*c), reuse.Sized(run.f, rows*width)
	if lattice := run.pyramid.Layout.Lattice(run.lattice); lattice != nil {
		run.lattice = lattice
		run.conv.Forward(run.h, lattice, run.x, run.phi, c, n.psi.gamma, n.psi.scale)
	} else {
		run.points = run.pyramid.Layout.Points(run.points[:0])
		simd.SetConv(run.h, run.points, run.x, run.phi, dx, c, n.psi.gamma, n.psi.scale)
	}
	for k := range to - t {
		for i := range rows {
			divideByDensity(run.f[i*width:(i+1)*width], run.h[i*c:(i+1)*c], have, densities, have+k*signals, signals, n.floor,
				n.cfg.DensityCap)
		}
		f := n.net.Forward(&run.pyramid, run.f, run.targets)
		n.aux.add(f, &run.aux)
		use(k, f)
	}
	return nil
}

// differentiateLevels is Differentiate for a model with levels and a batch that has been checked. In training all tasks share a lattice, of
// every frame its own: then they share its layout, too.
func (m *EquivCNP[T]) differentiateLevels(ctx context.Context, b *Batch[T], mode layers.Mode) (*Pass[T], error) {
	dx, dy, known := m.cfg.DimX, m.cfg.DimY, m.cfg.contextValues()
	pass := newPass(&m.head.family, b.B*b.Nt*dy, b.B, b.valueMask(dy))
	if b.B == 0 {
		return pass, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	type task struct { // as a frame sees it
		x, targets []float64 // counted from the origin
		y          []T
		order      []int
		place      *levelsPlace
		layout     *layers.PyramidLayout[T]
		encoding   *setConvTape[T]
	}
	frames := m.framesOf(b, mode)
	each := frames.count()
	tasks, origin, room := make([]task, b.B*each), make([]float64, dx), make([]float64, max(dx, known))
	reach := m.encoder.psi.Length() * encoderReach(m.encoder.floor)
	b.origins(&m.cfg, origin, 0, b.B)
	for t := range b.B {
		if mode != layers.Train {
			b.origins(&m.cfg, origin, t, t+1)
		}
		var own task
		var x []float64
		x, own.y = b.context(t, dx, known)
		for i, v := range x {
			own.x = append(own.x, v-origin[i%dx])
		}
		for i := range b.Nt {
			if b.targetOK(t, i) {
				own.order = append(own.order, i)
				for d := range dx {
					own.targets = append(own.targets, b.XTarget[(t*b.Nt+i)*dx+d]-origin[d])
				}
			}
		}
		for l := range each {
			k := &tasks[t*each+l]
			if *k = own; frames == nil {
				continue
			}
			k.x, k.targets, k.y = slices.Clone(own.x), slices.Clone(own.targets), slices.Clone(own.y)
			seen(k.x, frames.x[l], room[:dx])
			seen(k.targets, frames.x[l], room[:dx])
			if r := frames.ofFrame(l); r != nil {
				seen(k.y, r, room[:known])
			}
			if mode != layers.Train {
				fromLeast(k.x, k.targets, room[:dx])
			}
		}
	}
	// Where they lie: in training, all of a frame together.
	shared := make([]*layers.PyramidLayout[T], each)
	for l := range each {
		var all levelsPlace
		all.clear(dx)
		for t := range b.B {
			k := &tasks[t*each+l]
			k.place = &all
			if mode != layers.Train {
				k.place = &levelsPlace{}
				k.place.clear(dx)
			}
			grow(k.place.lo, k.place.hi, k.x)
			grow(k.place.from, k.place.to, k.targets)
			if mode == layers.Train {
				continue
			}
			k.place.reach(reach)
			if err := k.place.check(&m.cfg, t); err != nil {
				return nil, err
			}
			k.layout = m.pyramid.LayoutFor(k.place.lo, k.place.hi, k.place.from, k.place.to)
		}
		if mode == layers.Train {
			all.reach(reach)
			if err := all.check(&m.cfg, -1); err != nil {
				return nil, err
			}
			shared[l] = m.pyramid.LayoutFor(all.lo, all.hi, all.from, all.to)
			for t := range b.B {
				tasks[t*each+l].layout = shared[l]
			}
		}
	}
	c := m.head.in()
	features := make([]T, len(tasks)*b.Nt*c)
	tape := m.pyramid.ForwardTape(len(tasks), func(t int) (*layers.PyramidLayout[T], []T, []float64) {
		k := &tasks[t]
		if k.encoding == nil {
			if lattice := k.layout.Lattice(nil); lattice != nil {
				k.encoding = m.encoder.recordOn(lattice, nil, k.x, k.y, 0)
			} else {
				k.encoding = m.encoder.record(k.layout.Points(nil), k.x, k.y, 0)
			}
		}
		return k.layout, k.encoding.out, k.targets
	}, func(t int, f []T) {
		for i, at := range tasks[t].order {
			copy(features[(t*b.Nt+at)*c:][:c], f[i*c:(i+1)*c])
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var with *auxTape[T]
	if m.aux != nil {
		var aux []T
		for t := range b.B {
			for range each {
				aux = b.auxTargets(aux, t, m.aux.inputs(), 1)
			}
		}
		features, with = m.aux.record(features, aux)
	}
	var head *headTape[T]
	if frames == nil {
		var x []float64
		for t := range b.B {
			x = append(x, places(m.head.waves, b, t, nil, nil)...)
		}
		head = m.head.record(pass, 0, features, b.B*b.Nt, x)
	} else {
		head = m.head.recordFrames(pass, frames, features, b.B, b.Nt)
	}
	for t := range b.B {
		clearMasked(pass.Prediction, b, t, dy)
	}
	pass.stages = func(show func(string, []T) bool) {
		ok := true
		for t := 0; ok && t < len(tasks); t++ {
			ok = show("psi", tasks[t].encoding.out)
		}
		_ = ok && show("pyramid", features) && show("mean_linear", pass.Mean) && show("var_linear", pass.Std)
	}
	pass.back = func(d outGrad[T], g *layers.Grads[T]) {
		var dfeatures []T
		if frames == nil {
			dfeatures = m.head.backward(d, 0, head, g)
		} else {
			dfeatures = m.head.backwardFrames(d, frames, head, b.B, b.Nt, g)
		}
		dfeatures = m.aux.backward(dfeatures, with, g)
		tape.Backward(func(t int) []T {
			k := &tasks[t]
			if len(k.order) == b.Nt {
				return dfeatures[t*b.Nt*c : (t+1)*b.Nt*c]
			}
			out := make([]T, 0, len(k.order)*c)
			for _, at := range k.order {
				out = append(out, dfeatures[(t*b.Nt+at)*c:][:c]...)
			}
			return out
		}, g, func(t int, df []T) { m.encoder.backward(df, tasks[t].encoding, g) })
	}
	return pass, nil
}

// estimateLevels says how many numbers the features of a model with levels take at a time, for tasks over a span, and its parameters.
func (c *Config) estimateLevels(w Work) (features, parameters float64) {
	if c.OnSphere() {
		return c.estimateSphere(w)
	}
	reach := 2 * encoderReach(cmp.Or(c.DensityFloor, levelsFloor)) * cmp.Or(c.EncoderLength, psiLength)
	span := w.Span
	if c.Lifts > 1 || c.LiftSamples == SamplesRandom { // of a turned square
		span *= math.Sqrt(float64(c.DimX))
	}
	points, taps := c.PointsPerUnit*(span+reach)+1, math.Pow(float64(c.Kernel), float64(c.DimX))
	last := float64(c.densities() + c.Multiplicity*c.contextValues())
	for l, width := range c.Channels {
		v := float64(width * c.pyramidLifts())
		rows := math.Pow(points/float64(int(1)<<l)+float64(8*c.Kernel*(c.Blocks+1)), float64(c.DimX))
		rows = min(rows, float64(c.latticeLimit()))
		// On each way, convolutions with what they are given, what they sum up and what they give.
		features += 2 * rows * v * float64(4+6*c.Blocks)
		features += 2 * rows * 3 * taps / 2 * float64(1+c.Blocks) // their pairs
		parameters += float64(4*c.Blocks+3)*(v*v+v*taps) + last*v
		last = v
	}
	return features + float64(w.Targets)*taps*(last+taps), parameters
}
