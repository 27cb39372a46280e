package cnp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/cnp/internal/curve"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// curveNet is the model's network, folded and packed.
type curveNet[T Float] struct {
	cfg          Config
	alpha        float64
	psi, readout curve.Kernel
	pre          *layers.PlannedLinear[T]
	conv         []*layers.PlannedLieConv[T]
	radius       []float64 // of each layer
	departure    *curve.PlannedDeparture[T]
	aux          *curve.PlannedAux[T]
	head         plannedHead[T]

	pool *sync.Pool // *curveRun[T]
}

// Rows of a chunk of pairs: their new poses' weights, 16 each in the paper's models, fill an eighth of a megabyte, and the
// sums of outer products as much.
const (
	chunkPoses = 1 << 11
	chunkRows  = 64
)

// pieceLattice and pieceTargets are up to how many lattice points and targets a task under PlacementContext is computed for at a time:
// its targets may lie anywhere, and memory should not grow with them.
const (
	pieceLattice = 1 << 14
	pieceTargets = 1 << 14
)

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
	departure      curve.DepartureRun[T]
	aux            curve.AuxRun[T]
	head           headRun[T]
	rows           []neighbor.LineRow
	pairs          []layers.LinePairs[T] // of each radius
	scratch        []layers.LineScratch[T]
}

// curveCache keeps the compiled network, and the lattices of recent calls, of a model whose parameters stay as they are.
type curveCache[T Float] struct {
	mu       sync.Mutex
	state    [][]T
	net      *curveNet[T]
	lattices []*curveLattice[T] // newest last
}

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
	simd.SetConv(run.h, run.points[:encoded], run.x, run.phi, 1, c, n.psi.Gamma, n.psi.Scale)
	if err := n.arrange(run, l, lines, len(grid)); err != nil {
		return err
	}
	for len(run.scratch) < threads {
		run.scratch = append(run.scratch, layers.LineScratch[T]{})
	}
	n.aux.Keep(&run.aux, b.auxOf(t, len(n.cfg.Auxiliary)), order)
	run.head.x = places(n.head.waves, b, t, order, run.head.x)
	for k := range end - t {
		n.encode(run, encoded, c, have, have+k*signals, origin)
		if err := n.decode(ctx, run, l, grid, targets, threads); err != nil {
			return err
		}
		n.aux.Add(run.read, &run.aux)
		n.head.forward(dst, (t+k)*b.Nt*n.cfg.DimY, order, run.read, run.head.x, &run.head)
	}
	return nil
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
	signals, densities, floor := n.cfg.Multiplicity*n.cfg.contextValues(), n.cfg.densities(), cmp.Or(n.cfg.DensityFloor, curve.DensityFloor)
	width := densities + signals + n.departure.Channels()
	if n.cfg.CoordinateFeature {
		width++
	}
	n.departure.Evaluate(&run.departure, run.points[:rows], []float64{origin})
	run.next = reuse.Sized(run.next, rows*width)
	for i := range rows {
		row := run.next[i*width : (i+1)*width]
		if n.cfg.CoordinateFeature {
			row[0] = T(run.points[i] + origin)
			row = row[1:]
		}
		h := run.h[i*c : (i+1)*c]
		curve.DivideByDensity(row, h, have, densities, from, signals, floor, n.cfg.DensityCap)
		n.departure.Set(row[densities+signals:], &run.departure, i, h[:have], floor)
	}
	run.features = reuse.Sized(run.features, len(run.points)*n.conv[0].In)
	f := run.features[:rows*n.conv[0].In]
	n.pre.Forward(f, run.next, rows)
	simd.Sigmoid(f, f)
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
		simd.SetConv(run.next, targets, grid, f[:rows*c], 1, c, n.readout.Gamma, n.readout.Scale)
		f = run.next
	} else {
		f = f[len(grid)*c : rows*c]
	}
	run.read = f[:m*c]
	return nil
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

// span sets spans to the lattice points that the targets from one on have to do with, and returns up to which target they go.
func (r *curveRun[T]) span(from int, density float64, reach int) (to int) {
	r.spans = r.spans[:0]
	points := 0
	for to = from; to < min(len(r.targets), from+pieceTargets); to++ {
		s := curve.Span(r.targets[to], density, reach)
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
