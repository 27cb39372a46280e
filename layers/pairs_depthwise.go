package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/internal/spectral"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/gridsums"
	"github.com/equivcnp/equivcnp/layers/internal/nodal"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// The depthwise convolution and its gradients over a whole neighbourhood, for training. In float32, where few poses stand for
// many pairs, all three go by transforms along the rows of a grid, if there is one and balls are large, or use a plan
// (simd.DepthwisePlan). Otherwise they go through tiles of rows, and through the pairs by pose.
//
// A plan gains speed from successive rows that see the same poses at successive points. The lifts of one point do not, but
// neighbouring points of a grid in the same lift do. So where points have several lifts, the plans' rows and points are sorted by
// lift.

// planRows is how many rows of a plan a goroutine takes at a time.
const planRows = 64

// planChannels is how many channels of the weights' gradient a goroutine computes at a time with a plan.
const planChannels = 32

// plans returns the plans of the neighbourhood and of the transposed one, or nil if no plan should be used.
func (p *Pairs[T]) plans() (plan, transposed *simd.DepthwisePlan) {
	if buffers.SizeOf[T]() != 4 || !Flat(p.Neighborhood) {
		return nil, nil
	}
	s := &p.sorted
	s.planOnce.Do(func() {
		parallel.For(2, 1, func(k, _ int) {
			if k == 0 {
				s.plan = p.newPlan(p.Neighborhood)
			} else {
				s.transposedPlan = p.newPlan(p.transposed())
			}
		})
	})
	return s.plan, s.transposedPlan
}

// newPlan returns the plan of n, which has as many rows as points, sorted by lift.
func (p *Pairs[T]) newPlan(n *neighbor.Neighborhood) *simd.DepthwisePlan {
	r := &schedule.Rows{Offsets: n.Offsets, Index: n.Index, Pose: n.Pose}
	if p.lifts > 1 {
		r = r.Reorder(schedule.ByLift(n.Queries, p.lifts), nil)
	}
	return simd.NewDepthwisePlan(r.Offsets, r.Index, r.Pose, n.Queries, n.NumPoses())
}

// byLift returns the position of a row when rows are sorted by lift.
func (p *Pairs[T]) byLift(row int) int { return row%p.lifts*(p.Queries/p.lifts) + row/p.lifts }

// liftsApart returns x [batch, rows, c] with rows sorted by lift, from rent, or x itself where points have one lift.
// giveBackLifts takes the result back.
func (p *Pairs[T]) liftsApart(x []T, batch, c int) []T {
	if p.lifts <= 1 {
		return x
	}
	y := buffers.Rent[T](len(x))
	p.eachLift(batch, func(row, at int) { copy(y[at*c:(at+1)*c], x[row*c:(row+1)*c]) })
	return y
}

// giveBackLifts gives back what liftsApart rented.
func (p *Pairs[T]) giveBackLifts(y []T) {
	if p.lifts > 1 {
		buffers.GiveBack(y)
	}
}

// eachLift calls f for the rows of all images, with their positions when rows are sorted by lift.
func (p *Pairs[T]) eachLift(batch int, f func(row, at int)) {
	parallel.For(batch*p.Queries, rowGrain, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			f(row, row-row%p.Queries+p.byLift(row%p.Queries))
		}
	})
}

// poseSource computes the convolution weights of poses, numbered as in poseTable; a WeightNetTape implements it.
type poseSource[T Float] interface {
	poseSlices[T]
	Weights() []T                                     // all, [poses, c]
	Backward(dpose, dw []T, g *Grads[T])              // see WeightNetTape
	backwardFrom(from weightGradient[T], g *Grads[T]) // likewise
}

// poseTable returns the table of poses by which convolve and convolveBack of c channels number them, and how many pairs
// each has. A pose may be there several times.
func (p *Pairs[T]) poseTable(c int) (table []T, count []int32) {
	if p.tiled() {
		t := p.tiles(c)
		return t.table, t.count
	}
	return p.Table, p.Count
}

// convolve sets dst [batch, rows, c] to the mean, over the pairs of every row, of w[pose] ⊙ f[index], for f [batch, rows, c]. If
// it packs f, it returns the packed form, from rent, for convolveBack. Under a window,
// whose poses are in the table's order and whose factors w.Weights has already, it is the window's mean.
func (p *Pairs[T]) convolve(dst, f []T, w poseSource[T], win *windowed[T], batch, c int) (packed []T) {
	if grid := p.transforms(); grid != nil {
		scale := grid.Scale(buffers.F32(win.rows()))
		ok := gridsums.Sums(grid.There, buffers.F32(dst), buffers.F32(f), buffers.F32(w.Weights()), scale, batch, c)
		if win != nil {
			buffers.GiveBack(scale)
		}
		if ok {
			return nil
		}
	}
	defer win.scaleImages(dst, batch, c)
	if plan, _ := p.plans(); plan != nil {
		p.byPlan(plan, dst, f, w.Weights(), batch, c, true)
		return nil
	}
	packed = p.packed(f, batch, c)
	convolveTiles(&p.tiles(c).query, dst, f, packed, w, win.poses(), batch, c, p.tileWidth(c))
	return packed
}

// convolveBack computes, from the gradient dout [batch, rows, c] to the result of convolve, the gradient to the features, df,
// unless that is nil, and the gradient to the weights, which it passes on to the parameters of their network. packed is the
// result of convolve, or nil.
func (p *Pairs[T]) convolveBack(df, dout, f, packed []T, w poseSource[T], win *windowed[T], batch, c int, g *Grads[T]) {
	d := buffers.Rent[T](len(dout))
	p.divide(d, dout, batch, c, win)
	p.sumsBack(df, d, f, packed, w, win, batch, c, g)
	buffers.GiveBack(d)
}

// sumsBack is convolveBack from d, the gradient to the sums over neighbours, which divide makes of dout.
func (p *Pairs[T]) sumsBack(df, d, f, packed []T, w poseSource[T], win *windowed[T], batch, c int, g *Grads[T]) {
	if batch == 0 {
		return // sums over no image would be left as they are rented
	}
	if !p.tiled() {
		var dw []T
		done := df == nil
		if grid := p.transforms(); grid != nil {
			var sums []float32
			if done {
				sums = gridsums.Weights(grid.There, buffers.F32(d), buffers.F32(f), p.NumPoses(), batch, c)
			} else {
				sums, done = grid.Gradients(buffers.F32(df), buffers.F32(d), buffers.F32(f), buffers.F32(w.Weights()),
					p.NumPoses(), batch, c)
			}
			if sums != nil {
				dw = any(sums).([]T)
			}
		}
		if !done {
			_, back := p.plans()
			p.byPlan(back, df, d, w.Weights(), batch, c, false)
		}
		if dw == nil {
			dw = p.planWeights(d, f, batch, c)
		}
		w.Backward(nil, dw, g)
		buffers.GiveBack(dw)
		return
	}
	dpacked := p.packed(d, batch, c)
	defer buffers.GiveBack(dpacked)
	if df != nil {
		convolveTiles(&p.tiles(c).point, df, d, dpacked, w, win.poses(), batch, c, p.tileWidth(c))
	}
	if buffers.SizeOf[T]() == 4 {
		if packed == nil {
			packed = p.packed(f, batch, c)
			defer buffers.GiveBack(packed)
		}
		if t := p.tiles(c); t.fours {
			w.backwardFrom(&fourParts[T]{t, dpacked, packed, batch, c}, g)
		} else {
			w.backwardFrom(&poseParts[T]{t.poses, dpacked, packed, batch, c}, g)
		}
		return
	}
	dw := p.poseGradient(batch, c, func(dw []T, b int, offsets []int, query, point []int32) {
		size := p.Queries * c
		simd.Depthwise(dw, d[b*size:(b+1)*size], f[b*size:(b+1)*size], offsets, query, point, c, false)
	})
	w.Backward(nil, dw, g)
	buffers.GiveBack(dw)
}

// byPlan sets dst [batch, rows, c] to the sums or means, over the pairs of every row, of w[pose] ⊙ src[index]. T must be float32.
func (p *Pairs[T]) byPlan(plan *simd.DepthwisePlan, dst, src, w []T, batch, c int, mean bool) {
	x, y := p.liftsApart(src, batch, c), dst
	if p.lifts > 1 {
		y = buffers.Rent[T](len(dst))
	}
	out, in, weights := any(y).([]float32), any(x).([]float32), any(w).([]float32)
	rows := plan.Rows()
	steps := (rows + planRows - 1) / planRows
	parallel.For(batch*steps, 1, func(k, _ int) {
		b, lo := k/steps, k%steps*planRows
		hi := min(lo+planRows, rows)
		image := in[b*rows*c : (b+1)*rows*c]
		simd.DepthwisePlanF32(out[(b*rows+lo)*c:(b*rows+hi)*c], image, weights, plan, lo, hi, c, mean)
	})
	if p.lifts > 1 {
		p.eachLift(batch, func(row, at int) { copy(dst[row*c:(row+1)*c], y[at*c:(at+1)*c]) })
	}
	p.giveBackLifts(x)
	p.giveBackLifts(y)
}

// planWeights returns the gradient [poses, c] to the weights, summed over the batch, computed from d, the gradient to
// the sums, with the plan. The result is from rent.
func (p *Pairs[T]) planWeights(d, f []T, batch, c int) []T {
	plan, _ := p.plans()
	// Every image and slice of channels has sums of its own, which are added in the order of the images.
	rows, poses := p.Queries, p.NumPoses()
	f, d = p.liftsApart(f, batch, c), p.liftsApart(d, batch, c)
	defer p.giveBackLifts(f)
	defer p.giveBackLifts(d)
	x, y := any(f).([]float32), any(d).([]float32)
	parts := buffers.Rent[float32](batch * poses * c)
	shares := (c + planChannels - 1) / planChannels
	parallel.For(batch*shares, 1, func(k, _ int) {
		b, from := k/shares, k%shares*planChannels
		to := min(from+planChannels, c)
		part := parts[b*poses*c : (b+1)*poses*c]
		for q := range poses {
			clear(part[q*c+from : q*c+to])
		}
		simd.DepthwisePlanGradWF32(part, y[b*rows*c:(b+1)*rows*c], x[b*rows*c:(b+1)*rows*c], plan, 0, rows, from, to, c, false)
	})
	sum := buffers.Rent[float32](poses * c)
	copy(sum, parts[:poses*c])
	for b := 1; b < batch; b++ {
		simd.AddF32(sum, sum, parts[b*poses*c:(b+1)*poses*c])
	}
	buffers.GiveBack(parts)
	return any(sum).([]T)
}

// transforms returns how convolutions go by transforms, or nil if they should not.
func (p *Pairs[T]) transforms() *gridsums.Pairs {
	if buffers.SizeOf[T]() != 4 || p.line != nil || !Flat(p.Neighborhood) {
		return nil
	}
	s := &p.sorted
	s.gridOnce.Do(func() {
		if !spectral.Fast() || p.Queries != p.Points {
			return
		}
		grid := spectral.FindLifted(p.Offsets, p.Index, p.Pose, p.Across, max(1, p.lifts))
		if grid == nil {
			return
		}
		if t := grid.Tiling(); t != nil && t.Work() < pairWork*float64(p.Pairs()) {
			s.grid = gridsums.New(p.Offsets, t)
		}
	})
	return s.grid
}

// betweenNodes returns the network at the nodes of a grid, or nil if it should compute all poses.
func (p *Pairs[T]) betweenNodes(w *WeightNet[T]) *nodeWeights[T] {
	if !nodal.Smooth[T](p.PoseDim, p.NumPoses()) || w.Norm != [3]*BatchNorm[T]{} || !p.tiled() {
		return nil
	}
	c := w.Out()
	t := p.tiles(c)
	n := &nodeWeights[T]{tiling: t}
	n.Table = t.grids.FineEnough([][]float32{buffers.F32(t.table)}, c, p.tileWidth(c), func(dst, poses []float32, keep bool) {
		if !keep {
			w.Forward(any(dst).([]T), any(poses).([]T), len(poses)/2)
			return
		}
		if n.tape != nil {
			n.tape.drop()
		}
		n.tape = w.ForwardTape(any(poses).([]T), len(poses)/2, nil, 1, Eval)
		copy(dst, buffers.F32(n.tape.Weights()))
	})
	if n.Table == nil {
		return nil
	}
	return n
}
