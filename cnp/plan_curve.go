package cnp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// CurvePlan is an EquivCNP on the line, under translations and with a lattice, compiled for one interval: the neighbourhoods
// of lattice points among themselves and their convolution weights are made once, for all tasks of all calls. Only pairs with
// a target are new; their poses are all different and their weights are evaluated and used at once.
//
// It is immutable and safe for concurrent use, and keeps the parameters that the model had when it was made. Tasks of one
// call may have any number of points each (masks): what a mask excludes costs nothing. A task's prediction does not depend on the
// others of its batch: under PlacementBatch the lattice is fixed, under PlacementContext it is the task's own, and a plan's
// predictions are those of EquivCNP.Predict, bit for bit.
type CurvePlan[T Float] struct {
	shape   Shape
	lo, hi  float64
	net     *curveNet[T]
	lattice *curveLattice[T]

	levels *levelsNet[T] // of a model with levels, and nothing else but
	outer  Config        // the model's
}

// Plan compiles the model for tasks of a shape. Models with levels and those under PlacementContext take any shape of
// curves, and their tasks may lie anywhere. Under PlacementBatch the shape is an interval, which the lattice spans with
// the model's margin. Of models whose neighbourhoods are those of the tasks themselves there is no plan (ErrNoPlan).
func (m *EquivCNP[T]) Plan(ctx context.Context, s Shape, opt PlanOptions) (Plan[T], error) {
	if err := s.checkCurves(&m.cfg); err != nil {
		return nil, err
	}
	if err := opt.onlyFloat32(&m.cfg); err != nil {
		return nil, err
	}
	if s.kind != intervalShape && m.pyramid == nil && m.onLine() && !m.cfg.numbered() {
		return nil, fmt.Errorf("%w for %v: the lattice of this model needs an interval", ErrNoPlan, s)
	}
	p, err := m.PlanInterval(ctx, s.lo, s.hi)
	if err != nil {
		return nil, err
	}
	p.shape = s
	return p, nil
}

// Shape is that of the tasks that the plan is for.
func (p *CurvePlan[T]) Shape() Shape { return p.shape }

// Info describes the plan.
func (p *CurvePlan[T]) Info() PlanInfo { return PlanInfo{Precision: Float32} }

// NewPrediction returns a prediction with room for a batch.
func (p *CurvePlan[T]) NewPrediction(tasks Tasks[T]) *Prediction[T] {
	head, cfg := p.head()
	return head.newPrediction(valuesOf[T](tasks, cfg.DimY, 0))
}

// PlanInterval is Plan for tasks whose points lie in [lo, hi].
func (m *EquivCNP[T]) PlanInterval(ctx context.Context, lo, hi float64) (*CurvePlan[T], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if math.IsNaN(lo-lo) || math.IsNaN(hi-hi) { // of infinities, too
		return nil, fmt.Errorf("%w: the interval from %g to %g", ErrValue, lo, hi)
	}
	if lo > hi {
		return nil, fmt.Errorf("%w: the interval from %g to %g", ErrRange, lo, hi)
	}
	if m.pyramid != nil {
		return &CurvePlan[T]{shape: Interval(lo, hi), lo: lo, hi: hi, levels: m.compileLevels(), outer: m.outer}, nil
	}
	if !m.onLine() {
		return nil, fmt.Errorf("%w: %w: plans for curves are for models under T(1) with a lattice; this one is under %s, with %g "+
			"points per unit, %d lifts and at most %d neighbours (0: all)", ErrConfig, ErrNoPlan, m.group.Name(), m.cfg.PointsPerUnit,
			m.cfg.Lifts, m.cfg.MaxNeighbors)
	}
	var grid []float64
	if !m.cfg.numbered() {
		var err error
		if grid, _, err = lattice(&Batch[T]{B: 1, Nt: 2, XTarget: []float64{lo, hi}}, &m.cfg); err != nil {
			return nil, err
		}
	}
	net := m.compile()
	l, err := net.newLattice(grid)
	if err != nil {
		return nil, err
	}
	return &CurvePlan[T]{shape: Interval(lo, hi), lo: lo, hi: hi, net: net, lattice: l}, nil
}

// Predict sets dst to mean and standard deviation [B, Nt, dy] at the targets; masked targets get zeros. dst.Mean and
// dst.Std must have B·Nt·dy elements; dst.Params may be nil where parameters beside them are not wanted. Points outside
// the plan's interval are an OutsideError; what they do not concern is predicted. Once ctx is done Predict returns its
// error, and dst may be written in part.
func (p *CurvePlan[T]) Predict(ctx context.Context, dst *Prediction[T], tasks Tasks[T]) error {
	head, cfg := p.head()
	dy := cfg.DimY
	b, err := batchOf[T](p.shape, tasks)
	if err != nil {
		return err
	}
	b, err = placed(&p.outer, b)
	if err != nil {
		return err
	}
	if err := b.check(cfg.widths()); err != nil {
		return err
	}
	b = b.joined(cfg)
	if err := dst.checkRoom("the batch", head.likelihood, b.B*b.Nt*dy); err != nil {
		return err
	}
	dst.Likelihood = head.likelihood
	if len(dst.Mean) == 0 { // however many tasks there are
		return ctx.Err()
	}
	counts := func(i int) bool { return b.targetOK(i/dy/b.Nt, i/dy%b.Nt) }
	if p.levels != nil || p.net.cfg.numbered() {
		if p.levels != nil {
			err = p.levels.predict(ctx, dst, b)
		} else {
			err = p.net.predict(ctx, dst, b, p.lattice)
		}
		if err == nil {
			err = dst.finite(counts)
		}
		return err
	}
	inside, out := b.outside(1, fmt.Sprintf("the plan's interval, %g to %g", p.lo, p.hi), func(_ int, x []float64) bool {
		return x[0] >= p.lo && x[0] <= p.hi
	})
	if err = p.net.predict(ctx, dst, inside, p.lattice); err == nil {
		err = dst.finite(counts)
	}
	if err != nil || out == nil {
		return err
	}
	dst.mark(b, inside, dy)
	return out
}

// head is the model's, with its configuration.
func (p *CurvePlan[T]) head() (*plannedHead[T], *Config) {
	if p.levels != nil {
		return &p.levels.head, &p.levels.cfg
	}
	return &p.net.head, &p.net.cfg
}

// onLine reports whether the model's tasks live on a line with a lattice, under translations.
func (m *EquivCNP[T]) onLine() bool {
	g, ok := m.group.(*group.T)
	return ok && m.pyramid == nil && g.PointDim() == 1 && m.cfg.PointsPerUnit > 0 && m.cfg.Lifts == 1 && m.cfg.MaxNeighbors == 0 &&
		!slices.ContainsFunc(m.conv, func(l *layers.LieConv[T]) bool { return math.IsNaN(l.Radius()) })
}

// curveNet is the model's network, folded and packed.
type curveNet[T Float] struct {
	cfg          Config
	alpha        float64
	psi, readout kernel
	pre          *layers.PlannedLinear[T]
	conv         []*layers.PlannedLieConv[T]
	radius       []float64 // of each layer
	aux          *plannedAux[T]
	head         plannedHead[T]

	pool *sync.Pool // *curveRun[T]
}

// kernel is a layers.RBF's function, scale·exp(-gamma·d²).
type kernel struct{ gamma, scale float64 }

func newKernel[T Float](k *layers.RBF[T]) kernel {
	l := k.Length()
	return kernel{1 / (2 * l * l), k.Scale()}
}

func (m *EquivCNP[T]) compile() *curveNet[T] {
	n := &curveNet[T]{cfg: m.cfg, alpha: m.group.Alpha(), psi: newKernel(m.encoder.psi), readout: newKernel(m.readout),
		pre: m.pre.Plan(), aux: m.aux.plan(), head: m.head.plan(), pool: &sync.Pool{}}
	for _, l := range m.conv {
		n.conv = append(n.conv, l.Compile(m.group.Alpha()))
		n.radius = append(n.radius, l.Radius())
	}
	return n
}

// curveLattice is a lattice with the neighbourhoods of its points among themselves and their weights.
type curveLattice[T Float] struct {
	grid    []float64               // under PlacementBatch
	radii   []float64               // the distinct ones
	at      []int                   // layer → its radius in radii
	ends    []int                   // of each layer: how many points at both ends of a span of lattice points it need not compute
	lines   []*neighbor.Line        // of each radius; under PlacementContext they are numbered, and each task lays its own part
	reach   int                     // sum of the layers' reaches
	weights []layers.LineWeights[T] // of each layer: those of its line's poses
}

// newLattice evaluates a lattice, under PlacementContext that of all tasks.
func (n *curveNet[T]) newLattice(grid []float64) (*curveLattice[T], error) {
	l := &curveLattice[T]{grid: grid}
	for k, r := range n.radius {
		at := slices.Index(l.radii, r)
		if at < 0 {
			at = len(l.radii)
			line := neighbor.NewLine(grid, n.alpha, r)
			if n.cfg.numbered() {
				var err error
				if line, err = neighbor.NewNumberedLine(n.cfg.PointsPerUnit, n.alpha, r); err != nil {
					return nil, fmt.Errorf("cnp: %w", err)
				}
			}
			if line.Pairs > neighbor.DefaultMaxPairs {
				return nil, fmt.Errorf("cnp: %w: %d among the lattice's %d points", neighbor.ErrTooManyPairs, line.Pairs, len(grid))
			}
			l.radii, l.lines = append(l.radii, r), append(l.lines, line)
		}
		l.at = append(l.at, at)
		l.reach += l.lines[at].Reach
		l.ends = append(l.ends, l.reach)
		poses := make([]T, len(l.lines[at].Poses))
		for i, p := range l.lines[at].Poses {
			poses[i] = T(p)
		}
		l.weights = append(l.weights, n.conv[k].Weights(poses))
	}
	if n.cfg.numbered() && 2*l.reach+4 > n.cfg.latticeLimit() {
		return nil, fmt.Errorf("cnp: %w: a target depends on %d lattice points, at most %d are allowed", neighbor.ErrTooManyPairs,
			2*l.reach+4,
			n.cfg.latticeLimit())
	}
	return l, nil
}

// curveRun is the memory of one goroutine, or of one task on its way through the layers.
type curveRun[T Float] struct {
	order          []int32   // the targets that count, ascending
	targets        []float64 // their coordinates, counted from the task's origin, as all are
	spans          [][2]int  // numbers of lattice points
	lines          []*neighbor.Line
	chunks         []layers.LineChunk
	points         []float64 // lattice and targets
	x              []float64 // of the context points that count
	phi, h         []T
	features, next []T
	read           []T // what the head reads
	aux            auxRun[T]
	head           headRun[T]
	rows           []neighbor.LineRow
	pairs          []layers.LinePairs[T] // of each radius
	scratch        []layers.LineScratch[T]
}

// predict is predictTasks for what lies within reach of the lattices.
func (n *curveNet[T]) predict(ctx context.Context, dst *Prediction[T], b *Batch[T], l *curveLattice[T]) error {
	if !n.cfg.numbered() {
		return n.predictTasks(ctx, dst, b, l)
	}
	task, origin := -1, 0.0
	where := fmt.Sprintf("the %g units around the beginning of their contexts", maxLatticeNumber/n.cfg.PointsPerUnit)
	inside, out := b.outside(1, where, func(t int, x []float64) bool {
		if t != task {
			task, origin = t, b.origin(t)
		}
		return math.Abs(x[0]-origin)*n.cfg.PointsPerUnit < maxLatticeNumber
	})
	if err := n.predictTasks(ctx, dst, inside, l); err != nil || out == nil {
		return err
	}
	dst.mark(b, inside, n.cfg.DimY)
	return out
}

// predictTasks predicts all tasks, on several goroutines: each takes a task, and where there are fewer tasks than
// threads, several share the rows of one.
func (n *curveNet[T]) predictTasks(ctx context.Context, dst *Prediction[T], b *Batch[T], l *curveLattice[T]) error {
	return eachPiece(ctx, b, n.pool, func(run *curveRun[T], t, to, share int) error { return n.tasks(ctx, run, dst, b, t, to, l, share) })
}

// pieceLattice and pieceTargets are up to how many lattice points and targets a task under PlacementContext is computed for at a time:
// its targets may lie anywhere, and memory should not grow with them.
const (
	pieceLattice = 1 << 14
	pieceTargets = 1 << 14
)

// tasks predicts task t and those up to another, which have the same points: all that depends on these is made once.
func (n *curveNet[T]) tasks(ctx context.Context, run *curveRun[T], dst *Prediction[T], b *Batch[T], t, end int,
	l *curveLattice[T], threads int) error {
	dy := n.cfg.DimY
	origin := 0.0
	if n.cfg.numbered() {
		origin = b.origin(t)
	}
	run.sortTargets(b, t, origin)
	if len(run.order) < b.Nt {
		dst.fill(t*b.Nt*dy, end*b.Nt*dy, 0)
	}
	n.readContext(run, b, t, end, origin)
	if !n.cfg.numbered() {
		return n.piece(ctx, run, dst, b, t, end, l, l.grid, l.lines, 0, len(run.order), 0, threads)
	}
	for len(run.lines) < len(l.lines) {
		run.lines = append(run.lines, &neighbor.Line{})
	}
	for from := 0; from < len(run.order); {
		to := run.span(from, n.cfg.PointsPerUnit, l.reach)
		for k, line := range l.lines {
			run.lines[k].Lay(line, run.spans...)
		}
		if err := n.piece(ctx, run, dst, b, t, end, l, run.lines[0].Points(), run.lines[:len(l.lines)], from, to, origin,
			threads); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// span sets spans to the lattice points that the targets from one on have to do with, and returns up to which target they go.
func (r *curveRun[T]) span(from int, density float64, reach int) (to int) {
	r.spans = r.spans[:0]
	points := 0
	for to = from; to < min(len(r.targets), from+pieceTargets); to++ {
		s := latticeSpan(r.targets[to], density, reach)
		if n := len(r.spans); n > 0 && s[0] <= r.spans[n-1][1] {
			if points += s[1] - r.spans[n-1][1]; points > pieceLattice {
				break
			}
			r.spans[n-1][1] = s[1]
			continue
		}
		if points += s[1] - s[0]; points > pieceLattice && to > from {
			break
		}
		r.spans = append(r.spans, s)
	}
	return to
}

// inner returns chunks of the lattice points but those at both ends of every span: what a layer gives there has no influence on any target.
func (r *curveRun[T]) inner(ends int) []layers.LineChunk {
	r.chunks = r.chunks[:0]
	first := 0
	for _, s := range r.spans {
		n := s[1] - s[0]
		for lo := first + ends; lo < first+n-ends; lo += chunkRows {
			r.chunks = append(r.chunks, layers.LineChunk{Lo: lo, Hi: min(lo+chunkRows, first+n-ends)})
		}
		first += n
	}
	return r.chunks
}

// piece predicts the targets of a task from one up to another, over a lattice.
func (n *curveNet[T]) piece(ctx context.Context, run *curveRun[T], dst *Prediction[T], b *Batch[T], t, end int,
	l *curveLattice[T], grid []float64,
	lines []*neighbor.Line, from, to int, origin float64, threads int) error {
	order, targets := run.order[from:to], run.targets[from:to]
	run.points = append(run.points[:0], grid...)
	if n.cfg.Readout != ReadoutRBF {
		run.points = append(run.points, targets...)
	}
	encoded := len(run.points)
	if n.cfg.Readout == ReadoutQueries {
		encoded = len(grid)
	}
	known := n.cfg.contextValues()
	signals, have := n.cfg.Multiplicity*known, densitiesOf(&n.cfg, b.YContext[t*b.Nc*known:(t+1)*b.Nc*known])
	c := have + (end-t)*signals // the densities are those of all
	run.h = reuse.Sized(run.h, encoded*c)
	simd.SetConv(run.h, run.points[:encoded], run.x, run.phi, 1, c, n.psi.gamma, n.psi.scale)
	if err := n.arrange(run, l, lines, len(grid)); err != nil {
		return err
	}
	for len(run.scratch) < threads {
		run.scratch = append(run.scratch, layers.LineScratch[T]{})
	}
	n.aux.targets(&run.aux, b, t, order)
	run.head.x = places(n.head.waves, b, t, order, run.head.x)
	for k := range end - t {
		n.encode(run, encoded, c, have, have+k*signals, origin)
		if err := n.decode(ctx, run, l, grid, targets, threads); err != nil {
			return err
		}
		n.aux.add(run.read, &run.aux)
		n.head.forward(dst, (t+k)*b.Nt*n.cfg.DimY, order, run.read, run.head.x, &run.head)
	}
	return nil
}

// decode sets read to the last features at the targets, given the first features of all points.
func (n *curveNet[T]) decode(ctx context.Context, run *curveRun[T], l *curveLattice[T], grid, targets []float64, threads int) error {
	rows, queries := len(run.points), n.cfg.Readout == ReadoutQueries
	for k, conv := range n.conv {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := &run.pairs[l.at[k]]
		run.next = reuse.Sized(run.next, rows*conv.Out)
		// Only the targets are read; as queries, they have features nowhere else.
		chunks, last := p.Chunks, k == len(n.conv)-1 && n.cfg.Readout != ReadoutRBF
		at, _ := slices.BinarySearchFunc(chunks, len(grid), func(c layers.LineChunk, row int) int { return cmp.Compare(c.Lo, row) })
		if last {
			chunks = chunks[at:]
		} else if queries {
			chunks = chunks[:at]
			if n.cfg.numbered() {
				chunks = run.inner(l.ends[k])
			}
		}
		parallel.ForWorkers(len(chunks), 1, threads, func(worker, c, _ int) {
			conv.Forward(run.next, run.features[:rows*conv.In], p, chunks[c], l.weights[k], &run.scratch[worker])
		})
		run.features, run.next = run.next, run.features
	}

	// Read the features at the targets: there they are, or by the second kernel.
	c, m := n.conv[len(n.conv)-1].Out, len(targets)
	f := run.features
	if n.cfg.Readout == ReadoutRBF {
		run.next = reuse.Sized(run.next, m*c)
		simd.SetConv(run.next, targets, grid, f[:rows*c], 1, c, n.readout.gamma, n.readout.scale)
		f = run.next
	} else {
		f = f[len(grid)*c : rows*c]
	}
	run.read = f[:m*c]
	return nil
}

// sortTargets sets order and targets to the targets of task t that count, ascending.
func (r *curveRun[T]) sortTargets(b *Batch[T], t int, origin float64) {
	r.order = r.order[:0]
	for i := range b.Nt {
		if b.targetOK(t, i) {
			r.order = append(r.order, int32(i))
		}
	}
	x := b.XTarget[t*b.Nt : (t+1)*b.Nt]
	slices.SortStableFunc(r.order, func(i, j int32) int { return cmp.Compare(x[i], x[j]) })
	r.targets = r.targets[:0]
	for _, i := range r.order {
		r.targets = append(r.targets, x[i]-origin)
	}
}

// readContext sets x to the context's coordinates, and phi to densities and the powers of the values of task t and
// those up to another, which share them.
func (n *curveNet[T]) readContext(run *curveRun[T], b *Batch[T], t, end int, origin float64) {
	dy := n.cfg.contextValues()
	have := densitiesOf(&n.cfg, b.YContext[t*b.Nc*dy:(t+1)*b.Nc*dy])
	run.x, run.phi = run.x[:0], run.phi[:0]
	for i := range b.Nc {
		if !b.contextOK(t, i) {
			continue
		}
		at := t*b.Nc + i
		run.x, run.phi = append(run.x, b.XContext[at]-origin), b.appendPhi(run.phi, at, end-t, have, dy, n.cfg.Multiplicity)
	}
}

// encode sets the first rows of features [points, channels] to the pointwise layer's output for the functional embedding of the
// context, h [rows, c], with so many densities, and the signals from one channel on; see setConv.
func (n *curveNet[T]) encode(run *curveRun[T], rows, c, have, from int, origin float64) {
	signals, densities, floor := n.cfg.Multiplicity*n.cfg.contextValues(), n.cfg.densities(), cmp.Or(n.cfg.DensityFloor, densityFloor)
	width := densities + signals
	if n.cfg.CoordinateFeature {
		width++
	}
	run.next = reuse.Sized(run.next, rows*width)
	for i := range rows {
		row := run.next[i*width : (i+1)*width]
		if n.cfg.CoordinateFeature {
			row[0] = T(run.points[i] + origin)
			row = row[1:]
		}
		divideByDensity(row, run.h[i*c:(i+1)*c], have, densities, from, signals, floor, n.cfg.DensityCap)
	}
	run.features = reuse.Sized(run.features, len(run.points)*n.conv[0].In)
	f := run.features[:rows*n.conv[0].In]
	n.pre.Forward(f, run.next, rows)
	simd.Sigmoid(f, f)
}

// Rows of a chunk of pairs: their new poses' weights, 16 each in the paper's models, fill an eighth of a megabyte, and the
// sums of outer products as much.
const (
	chunkPoses = 1 << 11
	chunkRows  = 64
)

// arrange lists the neighbours of every row, for every radius: g lattice points first, then targets. Where targets are queries, only
// the last layer has rows for them, and no others.
func (n *curveNet[T]) arrange(run *curveRun[T], l *curveLattice[T], lines []*neighbor.Line, g int) error {
	for len(run.pairs) < len(l.radii) {
		run.pairs = append(run.pairs, layers.LinePairs[T]{})
	}
	points, targets := run.points, run.points[g:]
	for k, r := range l.radii {
		see := neighbor.LineSight{Lattice: true, Own: true}
		if n.cfg.Readout == ReadoutQueries {
			see = neighbor.LineSight{Lattice: slices.Contains(l.at[:len(l.at)-1], k)}
		}
		p, line, pairs := &run.pairs[k], lines[k], 0
		run.rows, pairs, _ = line.Rows(run.rows[:0], targets, see)
		if pairs > neighbor.DefaultMaxPairs {
			return fmt.Errorf("cnp: %w: radius %g gives %d among %d lattice points and %d targets, at most %d are allowed",
				neighbor.ErrTooManyPairs, r, pairs, g, len(targets), neighbor.DefaultMaxPairs)
		}
		p.Offsets, p.Index, p.Pose, p.Own, p.Chunks = append(p.Offsets[:0], 0), p.Index[:0], p.Pose[:0], p.Own[:0], p.Chunks[:0]
		p.Shared = len(line.Poses)
		chunk := layers.LineChunk{}
		flush := func(row int) {
			chunk.Hi, chunk.Last = row, len(p.Own)
			if chunk.Lo < chunk.Hi {
				p.Chunks = append(p.Chunks, chunk)
			}
			chunk = layers.LineChunk{Lo: row, First: len(p.Own)}
		}
		for i, row := range run.rows {
			if i == g { // no chunk has rows of both kinds
				flush(g)
			}
			if i < g && !see.Lattice {
				p.Offsets = append(p.Offsets, 0)
				continue
			}
			x := points[i]
			for side, first := range [2]int{0, g} {
				near := row[side]
				if side == 1 || i >= g { // poses of a chunk's own follow the shared ones
					near.Pose += int32(p.Shared - chunk.First)
					for _, y := range points[first+int(near.Point):][:near.N] {
						p.Own = append(p.Own, T(x-y))
					}
				}
				for j := range near.N {
					p.Index, p.Pose = append(p.Index, int32(first)+near.Point+j), append(p.Pose, near.Pose+j)
				}
			}
			p.Offsets = append(p.Offsets, len(p.Index))
			if i+1-chunk.Lo >= chunkRows || len(p.Own)-chunk.First >= chunkPoses {
				flush(i + 1)
			}
		}
		flush(len(points))
	}
	return nil
}

// curveCache keeps the compiled network, and the lattices of recent calls, of a model whose parameters stay as they are.
type curveCache[T Float] struct {
	mu       sync.Mutex
	state    [][]T
	net      *curveNet[T]
	lattices []*curveLattice[T] // newest last
}

// get returns the network under the model's current parameters, and the lattice.
func (c *curveCache[T]) get(m *EquivCNP[T], grid []float64) (*curveNet[T], *curveLattice[T], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state := m.State(); c.net == nil || !sameState(c.state, state) {
		c.state, c.lattices = copyState(state), nil
		c.net = m.compile()
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
