package pyramid

import (
	"github.com/equivcnp/equivcnp/internal/hugepage"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/simd"
)

// Planned is a Pyramid whose weights are laid out for use: immutable, and safe for concurrent use.
type Planned[T layers.Float] struct {
	p     *Pyramid[T]
	pre   *simd.Packed[T]
	bias  []T
	convs []plannedTaps[T]
	taps  *simd.Packed[T] // of the last convolution, [taps, in]
}

// plannedTaps is a tapsConv with the window.
type plannedTaps[T layers.Float] struct {
	in, skip, out int
	means         bool // the weights are not learned
	poses         []poseTap
	weights       []T // [poses, in]; those of targets follow from their places
	packed        *simd.Packed[T]
	bias          []T
}

// Compile lays out the pyramid's weights. Later changes of its parameters do not reach the result.
func (p *Pyramid[T]) Compile() *Planned[T] {
	bias := append([]T(nil), copied(p.pre.Bias, p.copies.bias)...)
	n := &Planned[T]{p: p, pre: simd.PackTransposed(copied(p.pre.Weight, p.copies.weight), p.pre.In, p.pre.In, len(bias)),
		bias: bias}
	poses := map[int][]poseTap{1: p.kernel.poses(1), 2: p.kernel.poses(2)}
	for _, c := range p.convs() {
		l, weight := c.conv.linear, copied(c.conv.linear.Weight, c.conv.copies.weight)
		t := plannedTaps[T]{in: c.conv.in, skip: c.conv.skip, out: c.conv.out, poses: poses[c.stride],
			packed: simd.PackTransposed(weight, l.In, l.In, c.conv.out), bias: append([]T(nil), copied(l.Bias, c.conv.copies.bias)...)}
		taps := copied(c.conv.taps, c.conv.tapCopies)
		if c.conv != p.read {
			t.weights, t.means = make([]T, len(t.poses)*t.in), c.conv.taps == nil
			for q, pose := range t.poses {
				row := t.weights[q*t.in : (q+1)*t.in]
				if !t.means {
					simd.Scale(row, T(pose.factor), taps[pose.tap*t.in:(pose.tap+1)*t.in])
					continue
				}
				for ch := range row {
					row[ch] = T(pose.factor)
				}
			}
		}
		n.convs = append(n.convs, t)
	}
	n.taps = simd.Pack(copied(p.read.taps, p.read.tapCopies), p.read.in, p.kernel.taps(), p.read.in)
	return n
}

// Out returns the number of features at a target.
func (n *Planned[T]) Out() int { return n.p.read.linear.Out }

// Run is one task's way through a pyramid: its layout, its features, and what a backward pass needs of them. Its memory is used
// again by the next task.
type Run[T layers.Float] struct {
	Layout *Layout[T]
	// Threads is how many goroutines go through the rows of a large level together in Planned.Forward; 0 is one. Results do not
	// depend on it.
	Threads int
	// Stop, if not nil, is called now and then, by several goroutines at a time. Once it returns true, as it must from then on, what Lay
	// and Planned.Forward give must not be used.
	Stop func() bool

	own     Layout[T]
	targets targetPairs[T]
	f       []T // what came in
	tape    []tapsTape[T]
	level   [][]T // the features of every level on the way down
	pre     []T
	weights []T // of the last convolution

	negative []T // rows of the background, turned
	pass     convPass[T]

	arena []T
	used  int // of the arena
	total int // of all that is taken, and
	most  int // has been at a time
}

// tapsTape is a convolution's part.
type tapsTape[T layers.Float] struct {
	pairs    *latticePairs
	x        []T // [points+1, in]: features, the background's last
	z        []T // [queries+1, in+skip]: what the linear map is applied to
	y        []T // [queries+1, out]
	skip     []int32
	residual bool
}

// take returns room for n numbers, which may be anything.
func (r *Run[T]) take(n int) []T {
	r.total += n
	r.most = max(r.most, r.total)
	if r.used+n > len(r.arena) {
		r.arena, r.used = room[T](max(n, 2*len(r.arena))), 0
	}
	r.used += n
	return r.arena[r.used-n : r.used : r.used]
}

// release frees all that was taken since total was this: memory that the caches still hold, for what is taken next.
func (r *Run[T]) release(total int) {
	// If there is a new arena since, all of it goes.
	r.used, r.total = max(0, r.used-(r.total-total)), total
}

// room is memory for so many numbers, on huge pages: a run goes through all of it, forth and back.
func room[T layers.Float](n int) []T { return hugepage.Make[T](n, n) }

// reset makes all memory free again.
func (r *Run[T]) reset() {
	if r.most > len(r.arena) {
		r.arena = room[T](r.most + r.most/8)
	}
	r.used, r.total, r.most = 0, 0, 0
}

// Lay lays out a task; see Layout.
func (r *Run[T]) Lay(p *Pyramid[T], lo, hi, from, to []float64) {
	if p.kernel.sphere > 0 {
		r.Layout = p.sphereLayout()
		return
	}
	r.own.lay(p, lo, hi, from, to, r.Stop)
	r.Layout = &r.own
}

// Forward returns the features [targets, Out] at targets x [targets, axes], for features f [Layout.Rows, in] at the
// layout's points, those of no data being 0. They are good until the run's next Forward.
func (n *Planned[T]) Forward(r *Run[T], f []T, x []float64) []T {
	y, p, levels := r.Layout, n.p, n.p.levels()
	rows, in := y.Rows(), p.pre.In
	check.Len("Planned", "f", len(f), rows, in)
	r.reset()
	for len(r.tape) < len(n.convs) {
		r.tape = append(r.tape, tapsTape[T]{})
	}
	for len(r.level) < levels {
		r.level = append(r.level, nil)
	}
	r.f = r.take((rows + 1) * in)
	copy(r.f, f)
	clear(r.f[rows*in:])
	width := len(n.bias)
	h := r.take((rows + 1) * width)
	simd.GemmPacked(h, width, r.f, in, n.pre, n.bias, simd.ActReLU, rows+1)
	r.pre = h
	at := 0
	blocks := func(pairs []latticePairs, l int) {
		for range p.blocks {
			before := h
			h = n.conv(r, at, h, &pairs[l], n.convs[at].weights, nil, nil, nil)
			h = n.conv(r, at+1, h, &pairs[l], n.convs[at+1].weights, nil, nil, before)
			at += 2
		}
	}
	for l := range levels {
		blocks(y.same, l)
		r.level[l] = h
		if l+1 < levels {
			h = n.conv(r, at, h, &y.down[l], n.convs[at].weights, nil, nil, nil)
			at++
		}
	}
	box := y.enc[0]
	for l := levels - 2; l >= 0; l-- {
		h = n.conv(r, at, h, &y.up[l], n.convs[at].weights, r.level[l], y.skip[l], nil)
		at++
		blocks(y.sameDec, l)
		box = y.dec[l]
	}
	if n := p.kernel.sphere; n > 0 {
		r.targets.laySphere(p.kernel.taps(), x, p.finest, sphereReach(n, p.kernel.k), r.Stop)
	} else {
		r.targets.lay(p.kernel, x, box, p.Step, r.Stop)
	}
	if stopped(r.Stop) {
		return nil
	}
	n.weigh(r)
	out := n.conv(r, at, h, &r.targets.latticePairs, r.weights, nil, nil, nil)
	if stopped(r.Stop) {
		return nil
	}
	return n.meanLifts(r, out[:r.targets.queries*p.read.out])
}

// weigh sets the weights of the last convolution: those of every pair of a target with a point.
func (n *Planned[T]) weigh(r *Run[T]) {
	pairs, taps, in := len(r.targets.index), n.p.kernel.taps(), n.p.read.in
	r.weights = r.take(pairs * in)
	for lo := 0; lo < pairs && !stopped(r.Stop); lo += weighedPairs {
		hi := min(lo+weighedPairs, pairs)
		simd.GemmPacked(r.weights[lo*in:hi*in], in, r.targets.basis[lo*taps:hi*taps], taps, n.taps, nil, simd.ActNone, hi-lo)
	}
}

// conv applies convolution i to x [points+1, in], whose last row is the background, with skip features [.., skip] of rows skipRows, -1
// for their background's, and with what its result is added to, if anything.
func (n *Planned[T]) conv(r *Run[T], i int, x []T, pairs *latticePairs, weights, skip []T, skipRows []int32,
	residual []T) []T {
	if stopped(r.Stop) {
		return x // as all that follow do, too
	}
	l, t := &n.convs[i], &r.tape[i]
	c, wide, q := l.in, l.in+l.skip, pairs.queries
	*t = tapsTape[T]{pairs: pairs, x: x, z: r.take((q + 1) * wide), y: r.take((q + 1) * l.out), skip: skipRows, residual: residual != nil}
	defer r.release(r.total)
	p := &r.pass
	p.run, p.conv, p.tape, p.weights, p.skip, p.residual = r, l, t, weights, skip, residual
	p.dev, p.mid, p.sums = r.take(pairs.points*c), nil, nil
	if p.apart = l.skip > 0 || len(pairs.queryOrder) > 0; p.apart {
		p.mid = r.take(q * c)
	}
	if pairs.parts > 0 {
		p.sums = r.take(pairs.rows() * c)
	}
	p.act = simd.ActReLU
	if residual != nil {
		p.act = simd.ActNone
	}
	r.turn(x[pairs.points*c : (pairs.points+1)*c])
	clear(t.z[q*wide:][:c])
	p.compute()
	return t.y
}

// convPass is a convolution under way.
type convPass[T layers.Float] struct {
	run            *Run[T]
	conv           *plannedTaps[T]
	tape           *tapsTape[T]
	weights        []T
	skip, residual []T
	act            simd.Activation
	dev            []T  // [points, in]
	sums           []T  // of parts of queries
	apart          bool // sums go to z by way of mid [queries, in]
	mid            []T

	deviate, sum, finish, both func(worker, lo, hi int) // the methods, so that no call allocates
}

// The rows of a convolution are divided among goroutines from so many multiplications on, some 50 µs: waking a helper takes a few, and
// waiting for one that was preempted more. Each takes sharedRows rows or more at a time, whole groups of a plan.
const (
	sharedWork = 1 << 20
	sharedRows = 64
	// mostRows is how many rows are taken at most before Stop is asked again, weighedPairs how many pairs of targets: milliseconds.
	mostRows     = 1 << 12
	weighedPairs = 1 << 14
)

// compute goes through the rows. Sums need the deviations of all points, and where queries have an order of their own, the linear map
// needs all sums.
func (p *convPass[T]) compute() {
	l, pairs, threads := p.conv, p.tape.pairs, p.run.Threads
	q, ordered := pairs.queries, len(pairs.queryOrder) > 0
	if threads > 1 && pairs.offsets[pairs.rows()]*l.in+q*(l.in+l.skip)*l.out < sharedWork {
		threads = 1
	}
	if p.both == nil {
		p.deviate, p.sum, p.finish, p.both = p.deviateRows, p.sumRows, p.finishRows, p.bothRows
	}
	if threads <= 1 {
		parallel.ForWorkers(pairs.points, mostRows, 1, p.deviate)
		inBlocks := !p.apart && pairs.plan != nil && pairs.scale == nil // each block's sums before its linear map
		if !inBlocks {
			parallel.ForWorkers(q, mostRows, 1, p.sum)
		}
		for lo := 0; lo <= q; lo += pyramidRows {
			if hi := min(lo+pyramidRows, q+1); inBlocks {
				p.bothRows(0, lo, hi)
			} else {
				p.finishRows(0, lo, hi)
			}
		}
		return
	}
	grain := func(n int) int { return min(mostRows, max(1, (n/(3*threads)+sharedRows-1)/sharedRows)*sharedRows) }
	parallel.ForWorkers(pairs.points, grain(pairs.points), threads, p.deviate)
	if !ordered {
		parallel.ForWorkers(q+1, grain(q+1), threads, p.both)
		return
	}
	parallel.ForWorkers(q, grain(q), threads, p.sum)
	parallel.ForWorkers(q+1, grain(q+1), threads, p.finish)
}

func (p *convPass[T]) deviateRows(_, lo, hi int) {
	if stopped(p.run.Stop) {
		return
	}
	p.run.deviationRows(p.tape, p.dev, p.conv.in, lo, hi)
}

// sumRows sets rows lo to hi of z, or where those have another order the rows of z that they belong to, to the sums.
func (p *convPass[T]) sumRows(_, lo, hi int) {
	if stopped(p.run.Stop) {
		return
	}
	t, c, wide := p.tape, p.conv.in, p.conv.in+p.conv.skip
	pairs, dst := t.pairs, t.z
	if p.apart {
		dst = p.mid
	}
	forwardPairs(pairs, dst[lo*c:hi*c], p.dev, p.weights, p.sums, c, lo, hi)
	if !p.apart {
		return
	}
	for k := lo; k < hi; k++ {
		to := k
		if len(pairs.queryOrder) > 0 {
			to = int(pairs.queryOrder[k])
		}
		copy(t.z[to*wide:][:c], p.mid[k*c:(k+1)*c])
	}
}

// finishRows sets rows lo to hi of z to the skip features, where there are any, and those of y to the result.
func (p *convPass[T]) finishRows(_, lo, hi int) {
	if stopped(p.run.Stop) {
		return
	}
	l, t := p.conv, p.tape
	c, wide, q := l.in, l.in+l.skip, t.pairs.queries
	if l.skip > 0 {
		last := len(p.skip)/l.skip - 1
		for k := lo; k < hi; k++ {
			from := last
			if k < q && t.skip[k] >= 0 {
				from = int(t.skip[k])
			}
			copy(t.z[k*wide+c:(k+1)*wide], p.skip[from*l.skip:(from+1)*l.skip])
		}
	}
	y := t.y[lo*l.out : hi*l.out]
	simd.GemmPacked(y, l.out, t.z[lo*wide:hi*wide], wide, l.packed, l.bias, p.act, hi-lo)
	if t.residual {
		simd.Add(y, y, p.residual[lo*l.out:hi*l.out])
		simd.ReLU(y, y)
	}
}

// bothRows does all that follows the deviations, for rows lo to hi, of which the last one may be the background's.
func (p *convPass[T]) bothRows(_, lo, hi int) {
	if to := min(hi, p.tape.pairs.queries); lo < to {
		p.sumRows(0, lo, to)
	}
	p.finishRows(0, lo, hi)
}

// pyramidRows is how many rows pass at a time, while they are in the caches, through all that follows each other row by
// row. It is a multiple of the rows of a plan's groups, of those that columnSums adds up at a time, and of those that
// GemmTN multiplies at a time, so that sums keep their order.
const pyramidRows = 256

// differenceRows is how many rows differences takes at a time.
const differenceRows = 32

// deviations returns what the features [points, c] that a convolution was given differ by from the background, in the
// order of the pairs. They are not kept for the way back: to write them into memory that is in no cache takes longer
// than to compute them again.
func (r *Run[T]) deviations(t *tapsTape[T], c int) []T {
	points := t.pairs.points
	dev := r.take(points * c)
	r.turn(t.x[points*c : (points+1)*c])
	r.deviationRows(t, dev, c, 0, points)
	return dev
}

// turn sets rows of the background, turned.
func (r *Run[T]) turn(background []T) {
	r.negative = r.negative[:0]
	for range differenceRows {
		r.negative = append(r.negative, background...)
	}
	simd.Scale(r.negative, -1, r.negative)
}

// deviationRows sets rows lo to hi of dev, after turn.
func (r *Run[T]) deviationRows(t *tapsTape[T], dev []T, c, lo, hi int) {
	dst, x := dev[lo*c:hi*c], t.x[lo*c:hi*c]
	if order := t.pairs.pointOrder; len(order) > 0 {
		x = dst
		for k, from := range order[lo:hi] {
			copy(dst[k*c:(k+1)*c], t.x[int(from)*c:])
		}
	}
	for lo := 0; lo < len(dst); lo += differenceRows * c {
		hi := min(lo+differenceRows*c, len(dst))
		simd.Add(dst[lo:hi], x[lo:hi], r.negative[:hi-lo])
	}
}
