package pyramid

import (
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/layers/internal/reduce"
	"github.com/equivcnp/equivcnp/simd"
)

// Tape holds what a Pyramid's Backward needs of the forward pass of several tasks.
type Tape[T layers.Float] struct {
	net   *Planned[T]
	runs  []*Run[T] // nil after Backward, and another one computes them again
	again func()
}

// pyramidLayouts keeps the layouts of recent steps of training: there are few, as they are made for boxes of rounded sizes.
type pyramidLayouts[T layers.Float] struct {
	mu   sync.Mutex
	keys [][4 * maxAxes]int
	all  []*Layout[T]
}

// keepLayouts is how many layouts a pyramid keeps, and layoutPairs how many pairs these may have together, of some 30 bytes each.
const (
	keepLayouts = 32
	layoutPairs = 24 << 20
)

// keep adds a layout, and drops those that were used longest ago.
func (c *pyramidLayouts[T]) keep(key [4 * maxAxes]int, y *Layout[T]) {
	c.keys, c.all = append(c.keys, key), append(c.all, y)
	pairs, first := 0, len(c.all)
	for first > 0 && (first == len(c.all) || len(c.all)-first < keepLayouts && pairs+c.all[first-1].pairs <= layoutPairs) {
		first--
		pairs += c.all[first].pairs
	}
	c.keys, c.all = slices.Delete(c.keys, 0, first), slices.Delete(c.all, 0, first)
}

// LayoutFor returns a layout for all tasks of a batch, ready for gradients; see Layout.Lay.
func (p *Pyramid[T]) LayoutFor(lo, hi, from, to []float64) *Layout[T] {
	if p.kernel.sphere > 0 {
		return p.sphereLayout()
	}
	d := p.kernel.d
	y := &Layout[T]{}
	y.boxes(p, lo, hi, from, to, true)
	enc, dec := y.nextEnc, y.nextDec
	var key [4 * maxAxes]int
	for a := range d {
		key[a], key[maxAxes+a] = enc[0].lo[a], enc[0].n[a]
		if len(dec) > 0 {
			key[2*maxAxes+a], key[3*maxAxes+a] = dec[0].lo[a], dec[0].n[a]
		}
	}
	c := &p.layouts
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, k := range c.keys {
		if k == key { // the last one is the one that was used last
			found := c.all[i]
			c.keys, c.all = append(slices.Delete(c.keys, i, i+1), key), append(slices.Delete(c.all, i, i+1), found)
			return found
		}
	}
	y.layBoxes(p, nil)
	one, two := p.kernel.taps(), p.kernel.taps()*pow(2, d)
	for _, l := range []struct {
		pairs []latticePairs
		poses int
	}{{y.same, one}, {y.sameDec, one}, {y.down, one}, {y.up, two}} {
		for i := range l.pairs {
			y.pairs += len(l.pairs[i].index)
		}
		parallel.For(len(l.pairs), 1, func(i, _ int) { prepare[T](&l.pairs[i], l.poses) })
	}
	c.keep(key, y)
	return y
}

// ForwardTape is like Planned.Forward for several tasks: task gives the layout of each, which LayoutFor made, its features and its
// targets, and done takes the results, both on several goroutines.
func (p *Pyramid[T]) ForwardTape(tasks int, task func(t int) (y *Layout[T], f []T, x []float64),
	done func(t int, features []T)) *Tape[T] {
	tape := &Tape[T]{net: p.Compile()}
	run := func(done func(int, []T)) {
		tape.runs = make([]*Run[T], tasks)
		parallel.For(tasks, 1, func(t, _ int) {
			r, _ := p.runs.Get().(*Run[T])
			if r == nil {
				r = &Run[T]{}
			}
			y, f, x := task(t)
			tape.runs[t], r.Layout = r, y
			done(t, tape.net.Forward(r, f, x))
		})
	}
	run(done)
	tape.again = func() { run(func(int, []T) {}) }
	return tape
}

// pyramidGrads are the sums of gradients of some tasks.
type pyramidGrads[T layers.Float] struct {
	pre     []T
	preBias []float64
	weights [][]T // of each convolution: [poses, in], or of the last one [taps, in]
	linear  [][]T
	bias    [][]float64
}

func (n *Planned[T]) newGrads() *pyramidGrads[T] {
	g := &pyramidGrads[T]{pre: make([]T, n.p.pre.In*len(n.bias)), preBias: make([]float64, len(n.bias))}
	for i := range n.convs {
		l := &n.convs[i]
		size := len(l.weights)
		if l.means {
			size = 0
		} else if size == 0 {
			size = n.p.kernel.taps() * l.in
		}
		g.weights, g.linear = append(g.weights, make([]T, size)), append(g.linear, make([]T, l.out*(l.in+l.skip)))
		g.bias = append(g.bias, make([]float64, l.out))
	}
	return g
}

// gradParts is how many sums of gradients there are: tasks are shared among them, whatever the number of goroutines. It is
// the most goroutines that the backward pass of a batch keeps busy.
const gradParts = 16

// Backward adds the parameters' gradients to g, given those to the features of task t, dout(t) [targets, Out], and hands the gradients
// to the features that came in to done, task after task.
func (t *Tape[T]) Backward(dout func(t int) []T, g *layers.Grads[T], done func(t int, df []T)) {
	if t.runs == nil {
		t.again()
	}
	tasks := len(t.runs)
	step := (tasks + gradParts - 1) / gradParts
	parts := make([]*pyramidGrads[T], (tasks+step-1)/max(1, step))
	dfs := make([][]T, tasks)
	back := t.net.packBack()
	parallel.For(len(parts), 1, func(k, _ int) {
		parts[k] = t.net.newGrads()
		for i := k * step; i < min((k+1)*step, tasks); i++ {
			dfs[i] = t.net.backward(t.runs[i], back, dout(i), parts[k])
		}
	})
	for i := range dfs {
		done(i, dfs[i])
	}
	t.net.addGrads(parts, g)
	for _, r := range t.runs {
		t.net.p.runs.Put(r)
	}
	t.runs = nil
}

// packBack lays out the linear maps for gradients to what they are applied to; the first is that of what comes in.
func (n *Planned[T]) packBack() []*simd.Packed[T] {
	back := []*simd.Packed[T]{simd.Pack(copied(n.p.pre.Weight, n.p.copies.weight), n.p.pre.In, len(n.bias), n.p.pre.In)}
	for _, c := range n.p.convs() {
		l := c.conv.linear
		back = append(back, simd.Pack(copied(l.Weight, c.conv.copies.weight), l.In, c.conv.out, l.In))
	}
	return back
}

// addGrads adds the parts, in their order, to the parameters' gradients.
func (n *Planned[T]) addGrads(parts []*pyramidGrads[T], g *layers.Grads[T]) {
	add := func(dst, src []T, at []int32) {
		switch {
		case dst == nil:
		case at != nil:
			addCopies(dst, src, at)
		default:
			simd.Add(dst, dst, src)
		}
	}
	addBias := func(dst []T, src []float64, at []int32) {
		if at != nil {
			addCopies(dst, src, at)
		} else {
			reduce.AddTo(dst, src)
		}
	}
	convs := n.p.convs()
	for _, p := range parts {
		add(g.Of(n.p.pre.Weight), p.pre, n.p.copies.weight)
		addBias(g.Of(n.p.pre.Bias), p.preBias, n.p.copies.bias)
	}
	parallel.For(len(convs), 1, func(i, _ int) {
		l, c := &n.convs[i], convs[i].conv
		own := g.Of(c.taps) // nil for means
		taps := own
		if c.tapCopies != nil {
			taps = make([]T, len(c.tapCopies))
		}
		for _, p := range parts {
			add(g.Of(c.linear.Weight), p.linear[i], c.copies.weight)
			addBias(g.Of(c.linear.Bias), p.bias[i], c.copies.bias)
			switch {
			case own == nil:
			case l.weights == nil:
				simd.Add(taps, taps, p.weights[i])
			default:
				for q, pose := range l.poses {
					simd.Axpy(taps[pose.tap*l.in:(pose.tap+1)*l.in], T(pose.factor), p.weights[i][q*l.in:(q+1)*l.in])
				}
			}
		}
		if own != nil {
			addCopies(own, taps, c.tapCopies)
		}
	})
}

// backward adds the gradients of one task to g, and returns that to the features that came in.
func (n *Planned[T]) backward(r *Run[T], back []*simd.Packed[T], dout []T, g *pyramidGrads[T]) []T {
	y, p, levels := r.Layout, n.p, n.p.levels()
	zero := func(x []T) []T {
		d := r.take(len(x))
		clear(d)
		return d
	}
	at := len(n.convs) - 1
	last := &r.tape[at]
	prepareTargets(&r.targets)
	dy := r.take(len(last.y))
	n.meanLiftsBack(dy, dout)
	clear(dy[len(dout)*p.lifts:])
	dh := r.take(len(last.x))
	n.convBack(r, at, back[at+1], dy, dh, false, nil, g)
	blocks := func() {
		for range p.blocks {
			at -= 2
			taken := r.total
			dmid := r.take(len(r.tape[at].y))
			n.convBack(r, at+1, back[at+2], dh, dmid, false, nil, g)
			n.convBack(r, at, back[at+1], dmid, dh, true, nil, g) // dh is now the gradient that goes past both
			r.release(taken)
		}
	}
	dlevel := make([][]T, levels)
	for l := range levels - 1 {
		blocks()
		at--
		dlevel[l] = zero(r.level[l])
		dx := r.take(len(r.tape[at].x))
		n.convBack(r, at, back[at+1], dh, dx, false, dlevel[l], g)
		dh = dx
	}
	for l := levels - 1; l >= 0; l-- {
		if l < levels-1 {
			at--
			n.convBack(r, at, back[at+1], dh, dlevel[l], true, nil, g)
			dh = dlevel[l]
		}
		blocks()
	}
	rows, in, out := y.Rows(), p.pre.In, len(n.bias)
	simd.ReLUGrad(dh, dh, r.pre)
	reduce.Columns(g.preBias, dh)
	simd.GemmTN(g.pre, in, dh, out, r.f, in, 1, 1, out, in, rows+1)
	df := r.take((rows + 1) * in)
	simd.GemmPacked(df, in, dh, out, back[0], nil, simd.ActNone, rows+1)
	return df[:rows*in]
}

// convBack takes the gradient dy to the result of convolution i, which it overwrites by that to the result before ReLU,
// to what the convolution had been given: it sets dx [points+1, in], or adds to it, and adds to dskip [.., skip].
func (n *Planned[T]) convBack(r *Run[T], i int, back *simd.Packed[T], dy, dx []T, add bool, dskip []T, g *pyramidGrads[T]) {
	l, t := &n.convs[i], &r.tape[i]
	c, wide, q, points := l.in, l.in+l.skip, t.pairs.queries, t.pairs.points
	defer r.release(r.total)
	dz := r.take((q + 1) * wide)
	for lo := 0; lo <= q; lo += pyramidRows {
		hi := min(lo+pyramidRows, q+1)
		d := dy[lo*l.out : hi*l.out]
		simd.ReLUGrad(d, d, t.y[lo*l.out:hi*l.out])
		reduce.Columns(g.bias[i], d)
		simd.GemmTN(g.linear[i], wide, d, l.out, t.z[lo*wide:hi*wide], wide, 1, 1, l.out, wide, hi-lo)
		simd.GemmPacked(dz[lo*wide:hi*wide], wide, d, l.out, back, nil, simd.ActNone, hi-lo)
	}
	dmid := dz[:q*c]
	if l.skip > 0 || len(t.pairs.queryOrder) > 0 {
		dmid = r.take(q * c)
		for k := range q {
			from := k
			if len(t.pairs.queryOrder) > 0 {
				from = int(t.pairs.queryOrder[k])
			}
			copy(dmid[k*c:(k+1)*c], dz[from*wide:][:c])
		}
	}
	if l.skip > 0 {
		last := len(dskip)/l.skip - 1
		for k := range q + 1 {
			to := last
			if k < q && t.skip[k] >= 0 {
				to = int(t.skip[k])
			}
			row := dskip[to*l.skip : (to+1)*l.skip]
			simd.Add(row, row, dz[k*wide+c:(k+1)*wide])
		}
	}
	if q == 0 || points == 0 {
		if !add {
			clear(dx)
		}
		return
	}
	background, sum := dx[points*c:(points+1)*c], make([]float64, c)
	if !add {
		clear(background)
	}
	switch ordered := len(t.pairs.pointOrder) > 0; {
	case i == len(n.convs)-1: // whose points have their order, and whose dx is set
		n.targetsBack(r, dx[:points*c], dmid, g.weights[i])
		reduce.Columns(sum, dx[:points*c])
	case ordered || t.pairs.plan == nil:
		ddev := r.take(points * c)
		dmid = ofSums(r, t.pairs, dmid, c)
		pointsBack(t.pairs, ddev, dmid, l.weights, c, 0, points)
		n.weightsBack(r, i, dmid, g)
		reduce.Columns(sum, ddev)
		if !ordered {
			addOrCopy(dx[:points*c], ddev, add)
		}
		for k, to := range t.pairs.pointOrder {
			addOrCopy(dx[int(to)*c:(int(to)+1)*c], ddev[k*c:(k+1)*c], add)
		}
	default:
		dmid = ofSums(r, t.pairs, dmid, c)
		part := r.take(min(points, pyramidRows) * c)
		for lo := 0; lo < points; lo += pyramidRows {
			hi := min(lo+pyramidRows, points)
			ddev := part[:(hi-lo)*c]
			pointsBack(t.pairs, ddev, dmid, l.weights, c, lo, hi)
			reduce.Columns(sum, ddev)
			addOrCopy(dx[lo*c:hi*c], ddev, add)
		}
		n.weightsBack(r, i, dmid, g)
	}
	for j, v := range sum {
		background[j] -= T(v)
	}
}

// weightsBack adds the gradient to the weights of convolution i, given that to its sums.
func (n *Planned[T]) weightsBack(r *Run[T], i int, dsums []T, g *pyramidGrads[T]) {
	if dw, t := g.weights[i], &r.tape[i]; len(dw) > 0 { // else they are not wanted
		weightsBack(t.pairs, dw, dsums, r.deviations(t, n.convs[i].in), n.convs[i].in)
	}
}

// addOrCopy adds x to dst, or copies it there.
func addOrCopy[T layers.Float](dst, x []T, add bool) {
	if add {
		simd.Add(dst, dst, x)
	} else {
		copy(dst, x)
	}
}

// prepareTargets makes what the gradients of targets need.
func prepareTargets[T layers.Float](p *targetPairs[T]) { prepare[T](&p.latticePairs, 0) }

// targetsBack sets ddev to the gradient to what the targets read and adds that to the taps to dtaps [taps, in].
func (n *Planned[T]) targetsBack(r *Run[T], ddev, dout, dtaps []T) {
	p, c := &r.targets, n.p.read.in
	pairs, taps := len(p.index), n.p.kernel.taps()
	simd.Depthwise(ddev, dout, r.weights, p.back.Offsets, p.back.Index, p.back.Pose, c, false)
	query, one := make([]int32, pairs), make([]int, pairs+1)
	for i := range p.queries {
		for k := p.offsets[i]; k < p.offsets[i+1]; k++ {
			query[k], one[k+1] = int32(i), k+1
		}
	}
	dw := r.take(pairs * c)
	simd.Depthwise(dw, dout, r.deviations(&r.tape[len(n.convs)-1], c), one, query, p.index, c, false)
	simd.GemmTN(dtaps, c, p.basis, taps, dw, c, 1, 1, taps, c, pairs)
}
