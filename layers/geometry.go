package layers

import (
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/group"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/layers/internal/gridsums"
	"github.com/equivcnp/equivcnp/layers/internal/lines"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// Geometry is a set of lifted points together with the neighbourhoods that layers asked for. Layers with equal radii
// share one neighbourhood. It is safe for concurrent use.
type Geometry[T Float] struct {
	// Points are the lifted points; rows of different blocks do not see each other.
	Points *group.Lifted

	opt  neighbor.Options
	line *lines.Tasks // nil if the points are not tasks on a line
	mu   sync.Mutex
	all  []*Pairs[T]
}

// A Geometry remembers up to keepPairs neighbourhoods: as many of the latest as have keepTotal pairs together, but at least
// keepLeast. In Eval mode a model has as many neighbourhoods as different radii. In training the radii of image models change in
// every step, so old neighbourhoods are of no use.
const (
	keepLeast = 3
	keepPairs = 16
	keepTotal = 1 << 22
)

// NewGeometry wraps lifted points. mask [rows] is false at padding (nil: no padding); blocks are the row offsets of independent
// sets (nil: one set). If maxNeighbors is positive, it caps each neighbourhood by a random choice, seeded with seed.
func NewGeometry[T Float](points *group.Lifted, mask []bool, blocks []int, maxNeighbors int, seed uint64) *Geometry[T] {
	return &Geometry[T]{Points: points, opt: neighbor.Options{
		QueryMask: mask, PointMask: mask,
		QueryBlocks: blocks, PointBlocks: blocks, Apart: true,
		MaxNeighbors: maxNeighbors, Seed: seed,
	}}
}

// Reading returns the geometry in which the first n rows of every block are seen by the block's other rows and by no others, and
// see nothing themselves. So features at the first rows are read at the other rows, and reading at one place does not affect
// reading at another.
func (g *Geometry[T]) Reading(n int) *Geometry[T] {
	rows := g.Rows()
	r := &Geometry[T]{Points: g.Points, opt: g.opt}
	queries, points := make([]bool, rows), make([]bool, rows)
	blocks := g.opt.PointBlocks
	if len(blocks) == 0 {
		blocks = []int{0, rows}
	}
	for b, lo := range blocks[:len(blocks)-1] {
		for i := lo; i < blocks[b+1]; i++ {
			ok := g.opt.PointMask == nil || g.opt.PointMask[i]
			points[i], queries[i] = ok && i-lo < n, ok && i-lo >= n
		}
	}
	r.opt.QueryMask, r.opt.PointMask = queries, points
	if g.line != nil && g.line.Lattice == n {
		line := *g.line
		line.Reading = true
		r.line = &line
	}
	return r
}

// Among returns the geometry of the same rows in which only those of points are seen, and only those of queries see
// (nil: all that g has). Both marks have one entry for each row. It does not know a line (NewLineGeometry).
func (g *Geometry[T]) Among(queries, points []bool) *Geometry[T] {
	r := &Geometry[T]{Points: g.Points, opt: g.opt}
	for _, m := range []struct {
		name string
		mark []bool
		to   *[]bool
	}{{"queries", queries, &r.opt.QueryMask}, {"points", points, &r.opt.PointMask}} {
		if m.mark == nil {
			continue
		}
		check.Len("Among", m.name, len(m.mark), 1, g.Rows(), 1)
		both := slices.Clone(m.mark)
		if had := *m.to; had != nil {
			for i := range both {
				both[i] = both[i] && had[i]
			}
		}
		*m.to = both
	}
	return r
}

// Capped returns the geometry of the same rows whose neighbourhoods have at most maxNeighbors points, a random choice
// seeded with seed; 0 is no cap. It does not know a line (NewLineGeometry).
func (g *Geometry[T]) Capped(maxNeighbors int, seed uint64) *Geometry[T] {
	r := &Geometry[T]{Points: g.Points, opt: g.opt}
	r.opt.MaxNeighbors, r.opt.Seed = maxNeighbors, seed
	return r
}

// Valid reports whether row i counts, as a point that others see.
func (g *Geometry[T]) Valid(i int) bool { return g.opt.PointMask == nil || g.opt.PointMask[i] }

// Rows returns the number of lifted points.
func (g *Geometry[T]) Rows() int {
	if g == nil || g.Points == nil {
		panic("layers: nil Geometry, or one without points")
	}
	return g.Points.Rows()
}

// valid returns the number of rows that count under a mask.
func (g *Geometry[T]) valid(mask []bool) int {
	if mask == nil {
		return g.Rows()
	}
	n := 0
	for _, ok := range mask {
		if ok {
			n++
		}
	}
	return n
}

// blocks returns the number of independent sets.
func (g *Geometry[T]) blocks() int { return max(1, len(g.opt.PointBlocks)-1) }

// Pairs is a neighbourhood with its pose table rounded to T.
type Pairs[T Float] struct {
	*neighbor.Neighborhood
	Radius float64
	Table  []T // [p, e]: Poses, rounded

	// Every radius r with least < r ≤ most gives exactly these pairs.
	least, most float64

	lifts  int           // per point; 0: unknown
	place  []float64     // [rows, 2]: rows with similar places see similar points
	sorted sortedPairs   // for gradients, made on demand
	tiling [2]*tiling[T] // made on demand as well: without and with fours
	line   *lines.Rows   // nil if the points are not tasks on a line

	windows windowedPairs[T]
}

// Pairs returns the neighbourhoods of radius r, building them on the first call.
func (g *Geometry[T]) Pairs(r float64) (*Pairs[T], error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.all {
		if p.Radius == r || (p.least < r && r <= p.most) {
			return p, nil
		}
	}
	p, err := g.search(r)
	if err != nil {
		return nil, err
	}
	g.all = append(g.all, p)
	total := 0
	for i := len(g.all) - 1; i >= 0; i-- {
		total += g.all[i].Pairs()
		if len(g.all)-i > keepPairs || (total > keepTotal && len(g.all)-i > keepLeast) {
			g.all = slices.Clone(g.all[i+1:])
			break
		}
	}
	return p, nil
}

// search builds the neighbourhoods of radius r.
func (g *Geometry[T]) search(r float64) (*Pairs[T], error) {
	if g.line != nil {
		if n, rows := g.line.Pairs(r); n != nil {
			p := NewPairs[T](n)
			p.Radius, p.least, p.most, p.line = r, r, r, rows
			return p, nil
		}
	}
	n, err := g.ball(r)
	if err != nil {
		return nil, err
	}
	p := NewPairs[T](n)
	p.Radius, p.least, p.most, p.lifts, p.place = r, r, r, g.Points.K, g.places()
	return p, g.widen(p)
}

// places returns the first two coordinates of every row, of the group's coordinates followed by the orbit's.
func (g *Geometry[T]) places() []float64 {
	n := g.Rows()
	place := make([]float64, 2*n)
	for i := range n {
		ga, qa := len(g.Points.A)/n, len(g.Points.Q)/n
		for d := range min(2, ga+qa) {
			if d < ga {
				place[2*i+d] = g.Points.A[i*ga+d]
			} else {
				place[2*i+d] = g.Points.Q[i*qa+d-ga]
			}
		}
	}
	return place
}

func (g *Geometry[T]) ball(r float64) (*neighbor.Neighborhood, error) {
	opt := g.opt
	opt.Radius = r
	return neighbor.Ball(g.Points, g.Points, opt)
}

// widen finds the range of radii that give the same pairs as p: from just above the farthest pair to the nearest pair outside. On
// a pixel grid under translations there are few different distances, and a radius that moves a little in training passes none of
// them for many steps. Where there are many poses the search is not worth it.
func (g *Geometry[T]) widen(p *Pairs[T]) error {
	const (
		fewPoses = 64       // pairs per pose from which on it is worth it
		ahead    = 1.02     // how far to look for a pair outside, as a multiple of the radius
		margin   = 1 - 1e-9 // poses that were merged differ by much less
	)
	if g.opt.MaxNeighbors > 0 || p.NumPoses()*fewPoses > p.Pairs() || !(p.Radius > 0) {
		return nil
	}
	wide, err := g.ball(p.Radius * ahead)
	if err != nil {
		return err
	}
	far, near := 0.0, p.Radius*ahead
	for e := 0; e < len(wide.Poses); e += wide.PoseDim {
		switch d := g.Points.Group.Distance(wide.Poses[e : e+wide.PoseDim]); {
		case d < p.Radius*margin:
			far = max(far, d)
		case d > p.Radius/margin:
			near = min(near, d)
		default:
			return nil // on the border, where membership is decided pair by pair
		}
	}
	p.least, p.most = far/margin, near*margin
	return nil
}

// NewPairs rounds a neighbourhood's pose table to T.
func NewPairs[T Float](n *neighbor.Neighborhood) *Pairs[T] {
	check.Given("NewPairs", "n", n != nil)
	p := &Pairs[T]{Neighborhood: n, Table: make([]T, len(n.Poses))}
	for i, v := range n.Poses {
		p.Table[i] = T(v)
	}
	return p
}

// radius is the radius of a layer's balls, with the rule that moves it in training.
type radius[T Float] struct {
	R    []T     // [1], the buffer "r" of the authors' checkpoints
	Fill float64 // wanted mean size of a neighbourhood as a fraction of all points
	Rate float64 // step towards it; 0 keeps the radius
	// Window weighs neighbours; empty is WindowBox.
	Window Window
}

func (r *radius[T]) params(prefix string) Param[T] {
	return Param[T]{Name: prefix + "r", Shape: []int{}, Data: r.R, Buffer: true}
}

// Radius returns the current radius of the balls.
func (r *radius[T]) Radius() float64 { return float64(r.R[0]) }

// adapt moves the radius after a training step that used p, a neighbourhood of g.
func (r *radius[T]) adapt(g *Geometry[T], p *Pairs[T]) {
	if r.Rate != 0 {
		mean := float64(g.valid(g.opt.PointMask)) / float64(g.blocks())
		r.R[0] = T(neighbor.AdaptRadius(r.Radius(), r.Rate, r.Fill, p.Pairs()+p.Left, g.valid(g.opt.QueryMask), mean))
	}
}

// sortedPairs holds the pairs of a neighbourhood in the orders in which gradients gather.
type sortedPairs struct {
	poseOnce sync.Once
	byPose   *schedule.ByPose

	pointOnce sync.Once
	byPoint   *neighbor.Neighborhood

	tileOnce [2]sync.Once // of tilings without and with fours

	denseOnce sync.Once
	dense     bool

	planOnce             sync.Once
	plan, transposedPlan *simd.DepthwisePlan

	gridOnce sync.Once
	grid     *gridsums.Pairs // nil: no transforms
}

// windowed returns what a layer's window makes of the geometry's pairs.
func (p *Pairs[T]) windowed(l *radius[T], g *Geometry[T]) *windowed[T] {
	if l.Window.box() {
		return nil
	}
	k := &p.windows
	k.mu.Lock()
	defer k.mu.Unlock()
	r := l.Radius()
	if k.last != nil && k.window == l.Window && k.radius == r {
		return k.last
	}
	if k.distance == nil {
		k.distance = distances(g.Points.Group, p.Neighborhood)
	}
	k.window, k.radius, k.last = l.Window, r, windowsOf[T](p.Neighborhood, l.Window, r, k.distance)
	return k.last
}

// NewLineGeometry is like NewGeometry for tasks on a line, under the group T(1). Blocks have equal lengths, and each starts with the
// same ascending lattice or, if density is positive, with consecutive points of the lattice k/density, k any whole number. The
// other points of a block ascend too, with padding at the end. Searching for neighbours and differentiating LieConv then take a
// fraction of the time. If the points are not laid out in this way, it does what NewGeometry does.
func NewLineGeometry[T Float](points *group.Lifted, mask []bool, blocks []int, lattice int, density float64) *Geometry[T] {
	g := NewGeometry[T](points, mask, blocks, 0, 0)
	if !wellFormed(points) || mask != nil && len(mask) != points.Rows() || lattice < 0 {
		return g // whose Pairs says what is wrong
	}
	t, ok := points.Group.(*group.T)
	if !ok || points.Rows() != lines.BlocksEnd(blocks) || t.PointDim() != 1 || len(blocks) < 2 || blocks[1] < lattice {
		return g
	}
	l := &lines.Tasks{Lattice: lattice, Density: density, Size: blocks[1], Alpha: t.Alpha()}
	for i := range points.Rows() {
		a, _ := points.Row(i)
		l.X = append(l.X, a[0])
	}
	for b, at := range blocks[:len(blocks)-1] {
		if at != b*l.Size || blocks[b+1] != at+l.Size || (density == 0 && !slices.Equal(l.X[at:at+lattice], l.X[:lattice])) {
			return g
		}
		for i := range lattice {
			if density != 0 && l.X[at+i] != float64(l.First(b)+i)/density {
				return g
			}
		}
		n := lattice
		for n < l.Size && (mask == nil || mask[at+n]) {
			n++
		}
		for k := n; k < l.Size; k++ {
			if mask[at+k] {
				return g
			}
		}
		if mask != nil && slices.Contains(mask[at:at+lattice], false) {
			return g
		}
		if !lines.Ascends(l.X[at:at+lattice]) || !lines.Ascends(l.X[at+lattice:at+n]) {
			return g
		}
		l.Own = append(l.Own, n-lattice)
	}
	g.line = l
	return g
}
