// Package pyramid holds an equivariant U-Net on lattices whose steps double from level to level, in the plane, in space and on the
// sphere.
//
//	New Pyramid ForwardTape Tape   the network, its parameters, and what a gradient needs
//	Compile Planned Run            inference: a task's way through all levels, on one goroutine
//	Layout                         where the lattices of a task lie
//
// pairs.go says who sees whom on lattices, sphere.go on the sphere; run.go goes through the levels, grad.go back, and lifts.go
// keeps features for several angles.
package pyramid

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/layers/internal/initial"
)

// Pyramid is an equivariant U-Net on lattices whose steps double from level to level, under translations: LieConvs from each lattice to
// the next coarser one and back, with residual blocks on every level and the features of the way down beside those of the way up. So
// the finest level sees far, and most of that is computed where points are few.
//
// All convolutions are depthwise LieConvs under WindowSmooth, followed by a linear map; a weight function has a tap at
// every point of the lattice within reach, and is 1 from one lattice to another. They act on what features differ from
// the background, those that a lattice without any data has, and are sums over lattices without end: beyond the reach
// of the data features are the background, exactly, and need not be computed.
//
// A shift by a step of the coarsest lattice changes nothing; neither does any other one where each task has a lattice of its own that
// moves with it.
//
// In the plane a pyramid may have lifts, too: then it is equivariant under turns (lifts.go).
type Pyramid[T layers.Float] struct {
	kernel latticeKernel
	blocks int
	lifts  int
	// Step is that of the finest lattice.
	Step float64 // but on the sphere

	pre    *layers.Linear[T]    // features in → the finest level's
	copies linearCopies         // of pre's parameters
	enc    [][]*residualTaps[T] // of each level
	// What takes level l to l+1, and what takes both to l again.
	down  []*tapsConv[T]
	merge []*tapsConv[T]
	dec   [][]*residualTaps[T] // of each level but the coarsest
	read  *tapsConv[T]

	layouts pyramidLayouts[T]
	runs    sync.Pool // *Run[T]

	// On the sphere, made on demand: the layout of all tasks, and its finest lattice.
	sphereOnce sync.Once
	sphere     *Layout[T]
	finest     *sphereLattice
}

// Config are the sizes of a Pyramid.
type Config struct {
	Axes int // coordinates of a point
	// In is the number of features that come in, Channels their number on every level, from the finest one on.
	In       int
	Channels []int
	// Reach is the number of steps of the finer lattice a convolution sees to each side, Blocks the number of residual
	// blocks of a level on each way.
	Reach, Blocks int
	Step          float64 // of the finest lattice, in units of the coordinates
	// Lifts are the angles that features are kept for, each with so many Channels: 2 or 4 in the plane, 0 or 1 for none but translations.
	Lifts int
	// Sphere, if positive, is the number of points of the finest lattice on the unit sphere, in three Axes; each coarser one has a quarter
	// of them. Step then has no meaning.
	Sphere int
}

// maxBlocks bounds the residual blocks of a level.
const maxBlocks = 1 << 10

// New returns a pyramid. It panics on sizes that make none.
func New[T layers.Float](c Config, rng *rand.Rand) *Pyramid[T] {
	const fn = "pyramid.New"
	check.Size(fn, "Axes", c.Axes)
	if c.Axes > maxAxes {
		panic(fmt.Sprintf("layers: %s: Axes = %d, need at most %d", fn, c.Axes, maxAxes))
	}
	if c.Sphere < 0 || c.Sphere > 0 && c.Axes != 3 {
		panic(fmt.Sprintf("layers: %s: Sphere = %d with Axes = %d, need at least 0, and three Axes", fn, c.Sphere, c.Axes))
	}
	check.Size(fn, "Sphere", max(1, c.Sphere))
	if !(c.Step > 0 && c.Step <= math.MaxFloat64) && c.Sphere == 0 {
		panic(fmt.Sprintf("layers: %s: Step = %g, need a positive number", fn, c.Step))
	}
	check.Size(fn, "In", c.In)
	check.Size(fn, "Reach", c.Reach)
	check.Size(fn, "levels", len(c.Channels))
	if c.Blocks < 0 || c.Blocks > maxBlocks {
		panic(fmt.Sprintf("layers: %s: Blocks = %d, need 0 to %d", fn, c.Blocks, maxBlocks))
	}
	for _, v := range c.Channels {
		check.Size(fn, "Channels", v)
		taps := []int{v}
		for range c.Axes {
			taps = append(taps, 2*c.Reach+1)
		}
		check.Weights(fn, taps...)
	}
	check.Rand(fn, rng)
	lifts := max(1, c.Lifts)
	if lifts > 1 && (c.Axes != 2 || lifts != 2 && lifts != 4) {
		panic(fmt.Sprintf("layers: %s: Lifts = %d with %d axes, need 2 or 4 with 2", fn, lifts, c.Axes))
	}
	p := &Pyramid[T]{kernel: latticeKernel{c.Axes, c.Reach, c.Sphere}, blocks: c.Blocks, lifts: lifts, Step: c.Step}
	p.pre, p.copies = newLinearReLU[T](c.In, c.Channels[0], rng), copiesOfAll(lifts, c.In, c.Channels[0])
	residuals := func(channels int) []*residualTaps[T] {
		all := []*residualTaps[T]{}
		for range c.Blocks {
			all = append(all, &residualTaps[T]{newTapsConv[T](p.kernel, lifts, channels, channels, 1, rng),
				newTapsConv[T](p.kernel, lifts, channels, channels, 0.4, rng)})
		}
		return all
	}
	for l, width := range c.Channels {
		p.enc = append(p.enc, residuals(width))
		if l+1 < len(c.Channels) {
			next := c.Channels[l+1]
			p.down = append(p.down, newMeans[T](lifts, width, next, 0, rng))
			p.merge = append(p.merge, newMeans[T](lifts, next, width, width, rng))
			p.dec = append(p.dec, residuals(width))
		}
	}
	p.read = newTapsConv[T](p.kernel, lifts, c.Channels[0], c.Channels[0], 1, rng)
	return p
}

// newLinearReLU is NewLinear for a ReLU behind it, which keeps the size of features.
func newLinearReLU[T layers.Float](in, out int, rng *rand.Rand) *layers.Linear[T] {
	l := layers.NewLinear[T](in, out, rng)
	initial.Uniform(l.Weight, math.Sqrt(6/float64(in)), rng)
	return l
}

// tapsConv is a depthwise convolution by taps, whose result, beside skip features of the same rows, goes through a linear map.
type tapsConv[T layers.Float] struct {
	in, skip, out int // of all lifts
	taps          []T // [taps, in / lifts]; nil: they are 1
	linear        *layers.Linear[T]

	tapCopies []int32
	copies    linearCopies // of linear's parameters
}

// residualTaps is ReLU(f + conv(ReLU(conv(f)))).
type residualTaps[T layers.Float] [2]*tapsConv[T]

// newTapsConv draws taps so that features keep their size; gain multiplies that of the linear map's weights. Each lift has in features,
// and gets out.
func newTapsConv[T layers.Float](n latticeKernel, lifts, in, out int, gain float64, rng *rand.Rand) *tapsConv[T] {
	c := newMeans[T](lifts, in, out, 0, rng)
	c.taps, c.tapCopies = make([]T, n.taps()*in), n.turned(lifts, in)
	initial.Uniform(c.taps, math.Sqrt(3/n.gain()), rng)
	for i := range c.linear.Weight {
		c.linear.Weight[i] *= T(gain)
	}
	return c
}

// newMeans returns the convolution between two lattices, which takes the window's mean: no weights that are learned, since what the coarser
// lattice cannot hold must not come in, and what the finer one gets must not depend on where its points lie between the coarser one's. With
// learned weights a trained model's predictions change 2.7 times as much as it moves against its lattices, and are no better.
func newMeans[T layers.Float](lifts, in, out, skip int, rng *rand.Rand) *tapsConv[T] {
	return &tapsConv[T]{in: lifts * in, skip: lifts * skip, out: lifts * out, linear: newLinearReLU[T](lifts*(in+skip), out, rng),
		copies: copiesByAngle(lifts, in, skip, out)}
}

func (c *tapsConv[T]) params(prefix string) []layers.Param[T] {
	if c.taps == nil {
		return c.linear.Params(prefix + "linear.")
	}
	in := c.in * c.linear.Out / c.out // of one lift
	return append([]layers.Param[T]{{Name: prefix + "taps", Shape: []int{len(c.taps) / in, in}, Data: c.taps}},
		c.linear.Params(prefix+"linear.")...)
}

// Params lists the pyramid's state.
func (p *Pyramid[T]) Params(prefix string) []layers.Param[T] {
	ps := p.pre.Params(prefix + "pre.")
	for _, c := range p.convs() {
		ps = append(ps, c.conv.params(prefix+c.name+".")...)
	}
	return ps
}

// namedConv is one of the pyramid's convolutions; stride is that of its points.
type namedConv[T layers.Float] struct {
	name   string
	stride int
	conv   *tapsConv[T]
}

// convs lists all convolutions, in the order in which features pass through them.
func (p *Pyramid[T]) convs() []namedConv[T] {
	var all []namedConv[T]
	blocks := func(name string, l int, blocks []*residualTaps[T]) {
		for i, b := range blocks {
			for k, c := range b {
				all = append(all, namedConv[T]{fmt.Sprintf("%s.%d.block.%d.conv.%d", name, l, i, k), 1, c})
			}
		}
	}
	for l := range p.enc {
		blocks("enc", l, p.enc[l])
		if l < len(p.down) {
			all = append(all, namedConv[T]{fmt.Sprintf("down.%d", l), 1, p.down[l]})
		}
	}
	for l := len(p.dec) - 1; l >= 0; l-- {
		all = append(all, namedConv[T]{fmt.Sprintf("up.%d", l), 2, p.merge[l]})
		blocks("dec", l, p.dec[l])
	}
	return append(all, namedConv[T]{"read", 1, p.read})
}

// levels returns the number of lattices.
func (p *Pyramid[T]) levels() int { return len(p.enc) }

// Layout holds the parts of the lattices that a pyramid computes for a task, and the neighbours of their points.
type Layout[T layers.Float] struct {
	p        *Pyramid[T]
	enc, dec []latticeBox // of each level, and of each but the coarsest
	same     []latticePairs
	sameDec  []latticePairs
	down, up []latticePairs
	skip     [][]int32 // of each row of dec: its row in enc, or -1
	pairs    int       // of all convolutions, if LayoutFor made it

	nextEnc, nextDec, known []latticeBox // scratch
}

// Lay lays out the pyramid for data whose features differ from the background between lo and hi, along each coordinate,
// and targets between from and to; all are counted from the lattices' common point. lo above hi are no data, from above
// to no targets. Memory is used again, and what is laid out for the same parts of the lattices stays.
func (y *Layout[T]) Lay(p *Pyramid[T], lo, hi, from, to []float64) {
	if p.kernel.sphere > 0 {
		panic("layers: Layout.Lay: the lattices on the sphere have one layout, that of LayoutFor")
	}
	y.lay(p, lo, hi, from, to, nil)
}

// lay is Lay until stop, which may be nil, says true.
func (y *Layout[T]) lay(p *Pyramid[T], lo, hi, from, to []float64, stop func() bool) {
	y.boxes(p, lo, hi, from, to, false)
	if y.p != p || !slices.Equal(y.enc, y.nextEnc) || !slices.Equal(y.dec, y.nextDec) {
		y.layBoxes(p, stop)
		if stopped(stop) {
			y.p = nil // so that nobody takes it for complete
		}
	}
}

// stopped reports whether stop, which may be nil, says so.
func stopped(stop func() bool) bool { return stop != nil && stop() }

// limitRows is beyond what any layout has rows along an axis.
const limitRows = 1 << 30

// roundedParts is into how many parts an extent is divided at most by the multiples that it is rounded to: few layouts
// serve all tasks then, and points that nobody needs are some per cent along each axis. Multiples of the coarsest
// lattice's step cost 1.4 times the time of a training step in the plane.
const roundedParts = 16

// leastRounded is the least multiple.
const leastRounded = 4

// boxes sets nextEnc and nextDec to the parts of the lattices. If rounded, those of the data and of the targets begin
// and end at multiples of some points of the finest lattice.
func (y *Layout[T]) boxes(p *Pyramid[T], lo, hi, from, to []float64, rounded bool) {
	enc, dec := y.nextEnc[:0], y.nextDec[:0]
	d, k, levels := p.kernel.d, p.kernel.k, p.levels()
	check.Len("Layout", "lo", len(lo), d)
	check.Len("Layout", "hi", len(hi), d)
	check.Len("Layout", "from", len(from), d)
	check.Len("Layout", "to", len(to), d)
	grow := 2 * k * p.blocks // by how much the blocks of a level carry features on
	whole := func(b *latticeBox, a int, lo, hi float64) {
		round := 1
		if rounded {
			for round = leastRounded; float64(2*round*roundedParts) <= hi-lo; round *= 2 {
			}
		}
		b.span(a, int(math.Floor(lo/float64(round)))*round, int(math.Ceil((hi+1)/float64(round)))*round)
	}
	var b latticeBox
	for a := range d {
		if lo[a] <= hi[a] {
			if !(hi[a]-lo[a] < limitRows*p.Step && math.Abs(lo[a]) < 1<<53*p.Step) {
				panic(fmt.Sprintf("layers: Layout: data from %g to %g along coordinate %d, with %g between points", lo[a],
					hi[a], a, p.Step))
			}
			whole(&b, a, math.Ceil(lo[a]/p.Step), math.Floor(hi[a]/p.Step))
		}
	}
	b = b.grown(grow, d)
	for l := range levels {
		enc = append(enc, b)
		if l+1 < levels {
			b = b.coarser(k, d).grown(grow, d)
		}
	}
	// Where features of the way back differ from the background.
	y.known = reuse.Sized(y.known, levels)
	known := y.known
	known[levels-1] = enc[levels-1]
	for l := levels - 2; l >= 0; l-- {
		known[l] = known[l+1].finer(k, d).joined(enc[l], d).grown(grow, d)
	}
	// Where they are needed.
	var need latticeBox
	for a := range d {
		first, last := max(math.Ceil(from[a]/p.Step)-float64(k+1), -limitRows), min(math.Floor(to[a]/p.Step)+float64(k+1), limitRows)
		if first <= last {
			whole(&need, a, first, last)
		}
	}
	for l := range levels - 1 {
		need = need.grown(grow, d).within(known[l], d)
		if need.rows(d) == 0 {
			need = latticeBox{}
		}
		dec = append(dec, need)
		need = need.coarser(k, d)
	}
	y.nextEnc, y.nextDec = enc, dec
}

// layBoxes lays out nextEnc and nextDec, or some of it if stop, which may be nil, says true.
func (y *Layout[T]) layBoxes(p *Pyramid[T], stop func() bool) {
	levels := p.levels()
	y.p = p
	y.enc, y.nextEnc = y.nextEnc, y.enc
	y.dec, y.nextDec = y.nextDec, y.dec
	enc, dec := y.enc, y.dec
	resizePairs(&y.same, levels)
	resizePairs(&y.sameDec, levels-1)
	resizePairs(&y.down, levels-1)
	resizePairs(&y.up, levels-1)
	for len(y.skip) < levels-1 {
		y.skip = append(y.skip, nil)
	}
	var number [maxAxes]int
	for l := range levels {
		if p.blocks > 0 {
			y.same[l].lay(p.kernel, enc[l], enc[l], 1, 1, stop)
		}
		if l == levels-1 {
			break
		}
		y.down[l].lay(p.kernel, enc[l+1], enc[l], 2, 1, stop)
		if p.blocks > 0 {
			y.sameDec[l].lay(p.kernel, dec[l], dec[l], 1, 1, stop)
		}
		coarse := enc[l+1]
		if l+1 < levels-1 {
			coarse = dec[l+1]
		}
		y.up[l].lay(p.kernel, dec[l], coarse, 1, 2, stop)
		y.skip[l] = y.skip[l][:0]
		for i := range dec[l].rows(p.kernel.d) {
			dec[l].at(&number, i, p.kernel.d)
			y.skip[l] = append(y.skip[l], int32(enc[l].row(&number, p.kernel.d)))
		}
	}
}

func resizePairs(p *[]latticePairs, n int) {
	for len(*p) < n {
		*p = append(*p, latticePairs{})
	}
	*p = (*p)[:n]
}

// Rows returns the number of points that features come in on.
func (y *Layout[T]) Rows() int { return y.enc[0].rows(y.p.kernel.d) }

// All returns the number of points of all levels, on both ways.
func (y *Layout[T]) All() int {
	n := 0
	for _, boxes := range [2][]latticeBox{y.enc, y.dec} {
		for i := range boxes {
			n += boxes[i].rows(y.p.kernel.d)
		}
	}
	return n
}

// Lattice returns the points that features come in on, where they are a lattice of several axes, else nil. The
// memory of dst is reused.
func (y *Layout[T]) Lattice(dst layers.Lattice) layers.Lattice {
	d := y.p.kernel.d
	if d == 1 || y.p.kernel.sphere > 0 {
		return nil
	}
	for len(dst) < d {
		dst = append(dst, nil)
	}
	dst = dst[:d]
	for a := range dst {
		dst[a] = dst[a][:0]
		for k := range max(0, y.enc[0].n[a]) {
			dst[a] = append(dst[a], float64(y.enc[0].lo[a]+k)*y.p.Step)
		}
	}
	return dst
}

// Points appends the coordinates of the points that features come in on.
func (y *Layout[T]) Points(dst []float64) []float64 {
	var number [maxAxes]int
	d := y.p.kernel.d
	if y.p.kernel.sphere > 0 {
		return append(dst, y.p.finest.x...)
	}
	for i := range y.Rows() {
		y.enc[0].at(&number, i, d)
		for _, k := range number[:d] {
			dst = append(dst, float64(k)*y.p.Step)
		}
	}
	return dst
}
