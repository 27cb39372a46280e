package cnp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/simd"
)

func sqrt[T Float](x T) T { return T(math.Sqrt(float64(x))) }

// EquivCNP is the paper's model for continuous inputs (Algorithm 1): a set convolution of the context onto a lattice and
// (ReadoutTargets) the targets, a pointwise layer, LieConvs with ReLU, and mean and variance read at the targets.
type EquivCNP[T Float] struct {
	cfg   Config // of the network; on the sphere its points are unit vectors, whatever the model's
	outer Config // the model's
	group group.Group

	encoder setConv[T]
	pre     *layers.Linear[T]
	conv    []*layers.LieConv[T]
	// readout reads the lattice's features at the targets under ReadoutRBF. The authors' checkpoints hold one that their
	// model never uses.
	readout *layers.RBF[T]
	aux     *auxNet[T] // of the targets' auxiliary inputs
	head    head[T]

	// pyramid is the network of a model with levels, instead of pre and conv, and frames are the sides that it sees a task from; nil:
	// from one.
	pyramid *layers.Pyramid[T]
	frames  *frames

	cache  curveCache[T]
	levels levelsCache[T]
}

func newEquivCNP[T Float](c Config, g group.Group, rng *rand.Rand) (*EquivCNP[T], error) {
	outer := c
	if c.OnSphere() {
		c.DimX = 3
	}
	m := &EquivCNP[T]{cfg: c, outer: outer, group: g,
		encoder: setConv[T]{psi: layers.NewRBF[T](psiScale, cmp.Or(c.EncoderLength, psiLength)), dx: c.DimX, dy: c.contextValues(),
			degree: c.Multiplicity, coordinates: c.CoordinateFeature, each: c.ChannelDensity,
			floor: cmp.Or(c.DensityFloor, densityFloor), cap: c.DensityCap},
		readout: layers.NewRBF[T](psiScale, psiLength),
	}
	if c.Levels > 0 {
		m.encoder.floor = cmp.Or(c.DensityFloor, levelsFloor)
		m.pyramid = newPyramid[T](&c, m.encoder.channels(), rng)
		if c.framed(g) {
			m.frames = newFrames(&c, g)
		}
		m.head = newHead[T](c.Channels[0], c, rng)
		m.aux = newAuxNet[T](c.Channels[0], &c, rng)
		return m, nil
	}
	if !group.IsIsometric(g) {
		m.encoder.metric = g
	}
	m.pre = layers.NewLinear[T](m.encoder.channels(), c.Channels[0], rng)
	r, err := referenceRadius(c, g, c.Fill)
	if err != nil {
		return nil, err
	}
	for i := range len(c.Channels) - 1 {
		m.conv = append(m.conv, layers.NewLieConv[T](c.Channels[i], c.Channels[i+1], layers.LieConvConfig{
			PoseDim: group.PoseDim(g), Hidden: c.Hidden, Mid: c.Mid, BatchNorm: !c.NoBatchNorm,
			Radius: r, Fill: c.Fill, Rate: c.RadiusRate, Window: c.Window,
		}, rng))
	}
	last := c.Channels[len(c.Channels)-1]
	m.head = newHead[T](last, c, rng)
	m.aux = newAuxNet[T](last, &c, rng)
	return m, nil
}

// Config returns the model's configuration.
func (m *EquivCNP[T]) Config() Config { return m.outer }

// State lists the parameters under the authors' names.
func (m *EquivCNP[T]) State() []layers.Param[T] {
	ps := m.encoder.psi.Params("psi.")
	if m.pyramid != nil {
		return append(append(ps, m.pyramid.Params("pyramid.")...), append(m.aux.params(), m.head.params()...)...)
	}
	ps = append(ps, m.pre.Params("prelinear.0.module.")...)
	for i, l := range m.conv {
		ps = append(ps, l.Params(fmt.Sprintf("conv.%d.", 2*i))...)
	}
	rho := m.readout.Params("psi_rho.")
	for i := range rho {
		rho[i].Unused = m.cfg.Readout != ReadoutRBF
	}
	return append(append(append(ps, rho...), m.aux.params()...), m.head.params()...)
}

// Predict returns mean and standard deviation at the targets. Of an OutsideError it returns both, the error and the prediction of all
// else.
func (m *EquivCNP[T]) Predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	b, err := placed(&m.outer, b)
	if err != nil {
		return nil, err
	}
	return predictNear(b, &m.cfg, func(b *Batch[T]) (*Prediction[T], error) { return m.predict(ctx, b) })
}

// predict is Predict where the points lie near each other, or have lattices of their own.
func (m *EquivCNP[T]) predict(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	if err := b.check(m.cfg.widths()); err != nil {
		return nil, err
	}
	b = b.joined(&m.cfg)
	if b.B*b.Nt == 0 { // however many tasks there are
		return m.head.newPrediction(0), ctx.Err()
	}
	if m.pyramid != nil {
		out := m.head.newPrediction(b.B * b.Nt * m.cfg.DimY)
		if err := m.levels.get(m).predict(ctx, out, b); err != nil {
			return nil, err
		}
		return out, nil
	}
	if !m.onLine() {
		return m.forward(ctx, b)
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

// taskChunk is the number of tasks whose points share one neighbourhood structure at a time. Tasks do not see each
// other: the chunk changes memory, not results.
const taskChunk = 16

// forward is Predict layer by layer, for points in any space.
func (m *EquivCNP[T]) forward(ctx context.Context, b *Batch[T]) (*Prediction[T], error) {
	b = b.whole(&m.cfg)
	out := m.head.newPrediction(b.B * b.Nt * m.cfg.DimY)
	grids, err := m.lattices(b, layers.Eval)
	if err != nil {
		return nil, err
	}
	report, steps := progress(ctx), len(m.conv)+1
	total := (b.B + taskChunk - 1) / taskChunk * steps
	for lo := 0; lo < b.B; lo += taskChunk {
		done := lo / taskChunk * steps
		step := func(i int) error {
			report(done+i, total)
			return ctx.Err()
		}
		if err := m.forwardTasks(out, b, lo, min(lo+taskChunk, b.B), grids, step); err != nil {
			return nil, err
		}
	}
	report(total, total)
	return out, nil
}

// forwardTasks predicts tasks lo to hi.
func (m *EquivCNP[T]) forwardTasks(out *Prediction[T], b *Batch[T], lo, hi int, grids *taskLattices, step func(int) error) error {
	dx, dy, lifts := m.cfg.DimX, m.cfg.DimY, m.cfg.Lifts

	// Encoder: features on each task's points.
	var features []T
	g, last := m.layouts(b, lo, hi, grids, func(t int, x []float64, origin float64) {
		cx, cy := b.context(t, dx, m.encoder.dy)
		features = append(features, m.encoder.encode(x, counted(cx, origin), cy, origin)...)
	})
	points := g.Points
	if err := step(0); err != nil {
		return err
	}

	// Decoder: a pointwise layer, then LieConvs over the lifted points.
	var h []T
	if turns := m.turns(points); turns != nil {
		h = make([]T, points.Rows()*m.pre.Out)
		m.pre.Forward(h, m.liftFeatures(features, turns), points.Rows(), simd.ActSigmoid)
	} else {
		h = make([]T, points.N*m.pre.Out)
		m.pre.Forward(h, features, points.N, simd.ActSigmoid)
		h = repeatRows(h, m.pre.Out, lifts)
	}
	for i, l := range m.conv {
		if i == len(m.conv)-1 && last != g {
			h = resizeBlocks(h, hi-lo, last.Rows()*l.In)
			g, points = last, last.Points
		}
		y := make([]T, points.Rows()*l.Out)
		if err := l.Forward(y, h, g, 1); err != nil {
			return err
		}
		simd.ReLU(y, y)
		h = y
		if err := step(i + 1); err != nil {
			return err
		}
	}
	c, aux, run := m.head.in(), m.aux.plan(), auxRun[T]{}
	with := func(f []T, t, times int) []T { // the targets' auxiliary inputs
		if aux != nil {
			run.given = b.auxTargets(run.given[:0], t, aux.inputs, times)
			aux.add(f, &run)
		}
		return f
	}
	if turns := m.turns(points); turns != nil {
		per, read := points.Rows()/(hi-lo), b.Nt*lifts
		for t := lo; t < hi; t++ {
			from, to := (t-lo+1)*per-read, (t-lo+1)*per
			m.head.forwardLifts(out, t*b.Nt*dy, with(h[from*c:to*c], t, lifts), b.Nt, lifts, m.cfg.Fields(), turns[from:to])
			clearMasked(out, b, t, dy)
		}
		return nil
	}
	h = meanRows(h, c, lifts)

	// Read the features at the targets: there they are, or by the second kernel.
	perTask := len(h) / c / (hi - lo)
	for t := lo; t < hi; t++ {
		f := h[(t-lo)*perTask*c:][:perTask*c]
		if m.cfg.Readout == ReadoutRBF {
			read := make([]T, b.Nt*c)
			m.readout.Forward(read, b.targets(t, dx), grids.x[t], f, dx, c)
			f = read
		} else {
			f = f[(perTask-b.Nt)*c:]
		}
		at := t * b.Nt * dy
		m.head.forward(out, at, with(f, t, 1), b.Nt, places(m.head.waves, b, t, nil, nil))
		clearMasked(out, b, t, dy)
	}
	return nil
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

// clearMasked zeroes the prediction at padded targets of task t.
func clearMasked[T Float](p *Prediction[T], b *Batch[T], t, dy int) {
	for i := range b.Nt {
		if !b.targetOK(t, i) {
			at := (t*b.Nt + i) * dy
			p.fill(at, at+dy, 0)
		}
	}
}

// resizeBlocks returns x, n blocks of equal length, as blocks of size/n elements: the first of each, and zeros behind them where
// there are more.
func resizeBlocks[T Float](x []T, n, size int) []T {
	from, to := len(x)/n, size/n
	out := make([]T, size)
	for i := range n {
		copy(out[i*to:(i+1)*to], x[i*from:(i+1)*from])
	}
	return out
}

// repeatRows gives each of the k lifts of a point the point's features; x is [n, c].
func repeatRows[T Float](x []T, c, k int) []T {
	if k == 1 {
		return x
	}
	out := make([]T, 0, len(x)*k)
	for i := 0; i < len(x); i += c {
		for range k {
			out = append(out, x[i:i+c]...)
		}
	}
	return out
}

// meanRows averages the features of a point's k lifts; x is [n·k, c].
func meanRows[T Float](x []T, c, k int) []T {
	if k == 1 {
		return x
	}
	out := make([]T, len(x)/k)
	for i := range len(out) / c {
		row := out[i*c : (i+1)*c]
		for l := range k {
			simd.Add(row, row, x[(i*k+l)*c:][:c])
		}
		simd.Scale(row, 1/T(k), row)
	}
	return out
}
