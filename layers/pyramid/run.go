package pyramid

import (
	"github.com/equivcnp/equivcnp/internal/hugepage"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
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

	own     Layout[T]
	targets targetPairs[T]
	f       []T // what came in
	tape    []tapsTape[T]
	level   [][]T // the features of every level on the way down
	pre     []T
	weights []T // of the last convolution

	negative []T // rows of the background, turned

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
	r.own.Lay(p, lo, hi, from, to)
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
		r.targets.laySphere(p.kernel.taps(), x, p.finest, sphereReach(n, p.kernel.k))
	} else {
		r.targets.lay(p.kernel, x, box, p.Step)
	}
	pairs, taps := len(r.targets.index), p.kernel.taps()
	r.weights = r.take(pairs * p.read.in)
	simd.GemmPacked(r.weights, p.read.in, r.targets.basis, taps, n.taps, nil, simd.ActNone, pairs)
	out := n.conv(r, at, h, &r.targets.latticePairs, r.weights, nil, nil, nil)
	return n.meanLifts(r, out[:r.targets.queries*p.read.out])
}

// conv applies convolution i to x [points+1, in], whose last row is the background, with skip features [.., skip] of rows skipRows, -1
// for their background's, and with what its result is added to, if anything.
func (n *Planned[T]) conv(r *Run[T], i int, x []T, pairs *latticePairs, weights, skip []T, skipRows []int32,
	residual []T) []T {
	l, t := &n.convs[i], &r.tape[i]
	c, wide, q := l.in, l.in+l.skip, pairs.queries
	*t = tapsTape[T]{pairs: pairs, x: x, z: r.take((q + 1) * wide), y: r.take((q + 1) * l.out), skip: skipRows, residual: residual != nil}
	defer r.release(r.total)
	dev := r.deviations(t, c)
	inBlocks := l.skip == 0 && len(pairs.queryOrder) == 0 && pairs.plan != nil && pairs.scale == nil
	switch {
	case inBlocks: // below, each before its linear map
	case l.skip == 0 && len(pairs.queryOrder) == 0:
		forwardPairs(r, pairs, t.z[:q*c], dev, weights, c)
	default:
		mid := r.take(q * c)
		forwardPairs(r, pairs, mid, dev, weights, c)
		for k := range q {
			to := k
			if len(pairs.queryOrder) > 0 {
				to = int(pairs.queryOrder[k])
			}
			copy(t.z[to*wide:][:c], mid[k*c:(k+1)*c])
		}
	}
	clear(t.z[q*wide:][:c])
	if l.skip > 0 {
		last := len(skip)/l.skip - 1
		for k := range q + 1 {
			from := last
			if k < q && skipRows[k] >= 0 {
				from = int(skipRows[k])
			}
			copy(t.z[k*wide+c:(k+1)*wide], skip[from*l.skip:(from+1)*l.skip])
		}
	}
	act := simd.ActReLU
	if residual != nil {
		act = simd.ActNone
	}
	for lo := 0; lo <= q; lo += pyramidRows {
		hi := min(lo+pyramidRows, q+1)
		if from, to := lo, min(hi, q); inBlocks && from < to {
			simd.DepthwisePlanF32(buffers.F32(t.z[from*c:to*c]), buffers.F32(dev), buffers.F32(weights), pairs.plan, from, to, c, false)
		}
		y := t.y[lo*l.out : hi*l.out]
		simd.GemmPacked(y, l.out, t.z[lo*wide:hi*wide], wide, l.packed, l.bias, act, hi-lo)
		if residual != nil {
			simd.Add(y, y, residual[lo*l.out:hi*l.out])
			simd.ReLU(y, y)
		}
	}
	return t.y
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
	dev, background := r.take(points*c), t.x[points*c:(points+1)*c]
	if len(t.pairs.pointOrder) == 0 {
		r.differences(dev, t.x, background)
		return dev
	}
	for k, from := range t.pairs.pointOrder {
		copy(dev[k*c:(k+1)*c], t.x[int(from)*c:])
	}
	r.differences(dev, dev, background)
	return dev
}

// differences sets dst [n, c] to the rows of x less the background [c].
func (r *Run[T]) differences(dst, x, background []T) {
	c := len(background)
	r.negative = r.negative[:0]
	for range differenceRows {
		r.negative = append(r.negative, background...)
	}
	simd.Scale(r.negative, -1, r.negative)
	for lo := 0; lo < len(dst); lo += differenceRows * c {
		hi := min(lo+differenceRows*c, len(dst))
		simd.Add(dst[lo:hi], x[lo:hi], r.negative[:hi-lo])
	}
}
