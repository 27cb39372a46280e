package cnp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// A model predicts well from contexts that lie about as densely as those of its training. Denser ones it has never seen, and its
// predictions from them are far off and sure of it. Standardise therefore thins them: the context is divided into cells as long as
// trained points are apart in the densest trained context, and the points of a cell become one, at their mean place with their mean
// values. That loses little, since a model that was trained on so many points predicts what lies between them; and it takes noise
// away. A model whose training had no noise of its own (Trained.Noise, which the loss assumed, is above 0) takes values for exact:
// of a cell it gets the point nearest to a random place in it, since the mean of a cell in which values jump is no value of the
// process.
//
// Cells begin at the least coordinates of the context, so that a context that moves has a result that moves. Turned
// contexts have other cells.

// maxThinned bounds the coordinates that cells are made for.
const maxThinned = 3

// cell returns the side of the cells for a context of n points at coordinates x; 0: it is not too dense. factor is what
// coordinates are multiplied with before the model sees them.
func (c *Config) cell(n int, factor float64) float64 {
	t := c.Trained
	if t == nil || !(t.Span > 0) || t.Context[1] < 1 || c.DimX > maxThinned || n <= t.densest() {
		return 0
	}
	span, dx := t.Span, float64(c.DimX)
	if c.OnSphere() {
		dx = 2
		if c.Degrees() {
			span *= math.Pi / 180
		}
	}
	return span / math.Pow(float64(t.densest()), 1/dx) / factor
}

// densest is how many points a context as long as the trained ones may have: as many as the largest of training, or,
// where training saw few, four times as many, up to fewest. Shipped models predict best from about so many:
// rbf-equivcnp, trained on up to 49 points, from 100, and bench2-eq, trained on up to 153, from 200.
func (t *Trained) densest() int { return max(t.Context[1], min(4*t.Context[1], fewest)) }

const fewest = 100

// mostDense is how many times as dense as Trained.densest allows a context may be that is not thinned. Shipped models are
// off by two deviations and more beyond it, and sure of it: rbf-equivcnp by 12 at 10 times.
const mostDense = 4

// CheckDensity refuses contexts that are far denser than those of training, and that nothing thins: because the caller passes them as
// they are, or because Standardise cannot: the model has more than three coordinates, or does not know how long trained contexts were.
// Predictions from them are far off, and sure of it. The error wraps ErrRange.
func CheckDensity[T Float](c *Config, b *Batch[T], standardise bool) error {
	return instance[func(*Config, *Batch[T], bool) error](&checkDensityInstances)(c, b, standardise)
}

var checkDensityInstances = instances{checkDensity[float32], checkDensity[float64]}

func checkDensity[T Float](c *Config, b *Batch[T], standardise bool) error {
	switch {
	case c == nil:
		return errNoConfig
	case b == nil:
		return fmt.Errorf("%w: the batch is nil", ErrShape)
	}
	t := c.Trained
	if t == nil || t.Context[1] < 1 || b.Nc <= mostDense*t.densest() {
		return nil
	}
	if standardise && t.Span > 0 && c.DimX <= maxThinned {
		return nil
	}
	for task := range b.B {
		if n := b.crowd(c, task); n > float64(mostDense*t.densest()) {
			how := "it cannot be thinned"
			if !standardise {
				how = "it is not thinned where data are not standardised"
			}
			return fmt.Errorf("%w: the context of task %d is as dense as one of %.0f points, the model was trained on %d to %d, and %s: "+
				"give it at most %d", ErrRange, task, n, t.Context[0], t.Context[1], how, mostDense*t.densest())
		}
	}
	return nil
}

// crowd returns how many points the context of a task would have if it were as long as the trained ones, and as dense as it is.
func (b *Batch[T]) crowd(c *Config, task int) float64 {
	points := b.points(task)
	n := float64(len(points))
	if !(c.Trained.Span > 0) || c.OnSphere() {
		return n
	}
	for d := range c.DimX {
		var m moments
		for _, p := range points {
			m.add(b.XContext[p*c.DimX+d])
		}
		if length := m.max - m.min; length > c.Trained.Span {
			n *= c.Trained.Span / length
		}
	}
	return n
}

// thin returns a batch whose contexts are no denser than those of training, and how many tasks were denser. It returns
// the batch itself where none was.
func thin[T Float](c *Config, b *Batch[T]) (*Batch[T], int) {
	if c.Trained == nil || b.Nc <= c.Trained.densest() || b.joint > 0 || b.twins > 1 {
		return b, 0
	}
	var all []cells[T]
	dense, most := 0, 0
	for t := range b.B {
		var one cells[T]
		points := b.points(t)
		factor := c.intoRange(b.wideContext(t, c.DimX, c.DimY)).X[0].Factor
		if side := c.cell(len(points), factor); side > 0 {
			one = gather(c, b, points, side)
			dense++
		} else {
			one = gather(c, b, points, 0)
		}
		all, most = append(all, one), max(most, len(one.x)/c.DimX)
	}
	if dense == 0 {
		return b, 0
	}
	out, dx, dy, da := *b, c.DimX, c.DimY, len(c.Auxiliary)
	out.Nc = most
	out.XContext, out.YContext, out.AuxContext = make([]float64, b.B*most*dx), make([]T, b.B*most*dy), make([]T, b.B*most*da)
	out.ContextMask = make([]bool, b.B*most)
	for t, one := range all {
		copy(out.XContext[t*most*dx:], one.x)
		copy(out.YContext[t*most*dy:], one.y)
		copy(out.AuxContext[t*most*da:], one.aux)
		for i := range len(one.x) / dx {
			out.ContextMask[t*most+i] = true
		}
	}
	return &out, dense
}

// points lists the context points of task t that count.
func (b *Batch[T]) points(t int) (out []int) {
	for i := range b.Nc {
		if b.contextOK(t, i) {
			out = append(out, t*b.Nc+i)
		}
	}
	return out
}

// cells are context points, each the mean of those of a cell.
type cells[T Float] struct {
	x      []float64
	y, aux []T
}

// gather makes the cells of points of a task, with that side; 0 leaves the points as they are.
func gather[T Float](c *Config, b *Batch[T], points []int, side float64) cells[T] {
	if side == 0 {
		return alone(c, b, points)
	}
	g := newGathering(c, b, points, side)
	if c.Trained.Noise > 0 {
		return alone(c, b, g.kept())
	}
	return g.means()
}

// alone makes a cell of every point.
func alone[T Float](c *Config, b *Batch[T], points []int) (out cells[T]) {
	dx, dy, da := c.DimX, c.DimY, len(c.Auxiliary)
	for _, p := range points {
		out.x = append(out.x, b.XContext[p*dx:(p+1)*dx]...)
		out.y, out.aux = append(out.y, b.YContext[p*dy:(p+1)*dy]...), append(out.aux, b.AuxContext[p*da:(p+1)*da]...)
	}
	return out
}

// gathering is the points of a task in their cells.
type gathering[T Float] struct {
	c      *Config
	b      *Batch[T]
	points []int
	side   float64
	least  []float64                 // where cells begin
	index  map[[maxThinned]int64]int // cell → its number
	cellOf []int                     // number of each point's cell
	// mean and counts of each cell: of the coordinates, values and auxiliary inputs that are known, one after the other.
	mean, counts []float64
}

// place is where a point lies: on the sphere cells are cubes in space, and places are vectors.
func (g *gathering[T]) place(p int) []float64 {
	if g.c.OnSphere() && g.c.Degrees() {
		u := UnitVector(g.b.XContext[p*g.c.DimX], g.b.XContext[p*g.c.DimX+1])
		return u[:]
	}
	return g.b.XContext[p*g.c.DimX : (p+1)*g.c.DimX]
}

// width is how many numbers a cell has.
func (g *gathering[T]) width() int { return len(g.least) + g.c.DimY + len(g.c.Auxiliary) }

func newGathering[T Float](c *Config, b *Batch[T], points []int, side float64) *gathering[T] {
	g := &gathering[T]{c: c, b: b, points: points, side: side, index: map[[maxThinned]int64]int{}, cellOf: make([]int, len(points))}
	g.least = slices.Clone(g.place(points[0]))
	for _, p := range points {
		for d, v := range g.place(p) {
			g.least[d] = min(g.least[d], v)
		}
	}
	if c.OnSphere() {
		g.least = []float64{-1, -1, -1}
	}
	for i, p := range points {
		g.cellOf[i] = g.add(p)
	}
	return g
}

// add adds a point to its cell, and returns the cell's number.
func (g *gathering[T]) add(p int) int {
	var key [maxThinned]int64
	x, width, dy, da := g.place(p), g.width(), g.c.DimY, len(g.c.Auxiliary)
	for d, v := range x {
		key[d] = int64((v - g.least[d]) / g.side)
	}
	k, ok := g.index[key]
	if !ok {
		k = len(g.index)
		g.index[key] = k
		g.mean, g.counts = append(g.mean, make([]float64, width)...), append(g.counts, make([]float64, width)...)
	}
	mean, count := g.mean[k*width:(k+1)*width], g.counts[k*width:(k+1)*width]
	one := func(at int, v float64) {
		if v == v { // it was observed
			count[at]++
			mean[at] += (v - mean[at]) / count[at] // the mean so far, which cannot overflow
		}
	}
	for d, v := range x {
		one(d, v)
	}
	for d, v := range g.b.YContext[p*dy : (p+1)*dy] {
		one(len(x)+d, float64(v))
	}
	for d, v := range g.b.AuxContext[p*da : (p+1)*da] {
		one(len(x)+dy+d, float64(v))
	}
	return k
}

// kept returns of every cell the point nearest to a random place in it.
func (g *gathering[T]) kept() (kept []int) {
	spots := make([][maxThinned]float64, len(g.index))
	for key, k := range g.index {
		spots[k] = spot(key)
		for d := range g.least {
			spots[k][d] = g.least[d] + (float64(key[d])+spots[k][d])*g.side
		}
	}
	for _, i := range nearest(g.cellOf, len(g.index), func(i, k int) (dist2 float64) {
		for d, v := range g.place(g.points[i]) {
			dist2 += (v - spots[k][d]) * (v - spots[k][d])
		}
		return dist2
	}) {
		kept = append(kept, g.points[i])
	}
	return kept
}

// means returns every cell's mean place and values.
func (g *gathering[T]) means() (out cells[T]) {
	width, dx := g.width(), len(g.least)
	for k := range len(g.index) {
		mean := g.mean[k*width : (k+1)*width]
		for at, n := range g.counts[k*width : (k+1)*width] {
			if n == 0 {
				mean[at] = math.NaN()
			}
		}
		out.x = append(out.x, backFromCell(g.c, mean[:dx])...)
		for at, v := range mean[dx:] {
			if at < g.c.DimY {
				out.y = append(out.y, T(v))
			} else {
				out.aux = append(out.aux, T(v))
			}
		}
	}
	return out
}

// spot returns a place within a cell, as a share of its side. It is random, and the same for the same cell: points
// nearest to the middles of cells would lie on a grid, which no training had.
func spot(key [maxThinned]int64) (at [maxThinned]float64) {
	rng := rand.New(rand.NewPCG(uint64(key[0])^uint64(key[1])<<32, uint64(key[2])))
	for d := range at {
		at[d] = rng.Float64()
	}
	return at
}

// nearest returns for each of n cells the element with the least distance to its spot, the first of several.
func nearest(cellOf []int, n int, dist2 func(i, cell int) float64) []int {
	best, least := make([]int, n), make([]float64, n)
	for k := range least {
		least[k] = math.Inf(1)
	}
	for i, k := range cellOf {
		if d := dist2(i, k); d < least[k] {
			best[k], least[k] = i, d
		}
	}
	return best
}

// backFromCell returns the coordinates of a mean place.
func backFromCell(c *Config, x []float64) []float64 {
	if !c.OnSphere() {
		return x
	}
	norm := math.Sqrt(x[0]*x[0] + x[1]*x[1] + x[2]*x[2])
	u := [3]float64{x[0] / norm, x[1] / norm, x[2] / norm} // a cell is shorter than the radius: the mean is not the centre
	if !c.Degrees() {
		return u[:]
	}
	latitude, longitude := LatLon(u)
	return []float64{latitude, longitude}
}
