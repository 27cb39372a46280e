package pyramid

import (
	"math"

	"github.com/equivcnp/equivcnp/layers"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// maxAxes is the greatest number of coordinates of a pyramid's lattices.
const maxAxes = 3

// latticeBox is a part of a lattice of points that are numbered along every axis: n[a] of them from lo[a] on.
type latticeBox struct{ lo, n [maxAxes]int }

// rows returns the number of points of a box of d axes.
func (b *latticeBox) rows(d int) int {
	n := 1
	for _, k := range b.n[:d] {
		n *= max(0, k)
	}
	return n
}

// hi is one more than the last number along an axis.
func (b *latticeBox) hi(a int) int { return b.lo[a] + b.n[a] }

// at sets number to the numbers of a row; the last axis runs fastest.
func (b *latticeBox) at(number *[maxAxes]int, row, d int) {
	for a := d - 1; a >= 0; a-- {
		number[a] = b.lo[a] + row%b.n[a]
		row /= b.n[a]
	}
}

// row returns the row of a point of these numbers, -1 outside.
func (b *latticeBox) row(number *[maxAxes]int, d int) int {
	row := 0
	for a := range d {
		k := number[a] - b.lo[a]
		if k < 0 || k >= b.n[a] {
			return -1
		}
		row = row*b.n[a] + k
	}
	return row
}

// grown returns the box with so many points more at both ends of every axis; an empty one stays empty.
func (b latticeBox) grown(by, d int) latticeBox {
	for a := range d {
		if b.n[a] > 0 {
			b.lo[a] -= by
			b.n[a] += 2 * by
		}
	}
	return b
}

// span sets an axis to the numbers from lo up to, not including, hi.
func (b *latticeBox) span(a, lo, hi int) { b.lo[a], b.n[a] = lo, max(0, hi-lo) }

// coarser returns the box of the points with twice the step that have one of b's within reach of their own steps.
func (b latticeBox) coarser(reach, d int) latticeBox {
	for a := range d {
		if b.n[a] > 0 {
			b.span(a, ceilHalf(b.lo[a]-reach), floorHalf(b.hi(a)-1+reach)+1)
		}
	}
	return b
}

// finer returns the box of the points with half the step that have one of b's within reach of their own steps.
func (b latticeBox) finer(reach, d int) latticeBox {
	for a := range d {
		if b.n[a] > 0 {
			b.span(a, 2*b.lo[a]-reach, 2*(b.hi(a)-1)+reach+1)
		}
	}
	return b
}

func floorHalf(k int) int { return k >> 1 }
func ceilHalf(k int) int  { return -(-k >> 1) }

// joined returns the least box that holds both.
func (b latticeBox) joined(o latticeBox, d int) latticeBox {
	if b.rows(d) == 0 {
		return o
	}
	if o.rows(d) > 0 {
		for a := range d {
			b.span(a, min(b.lo[a], o.lo[a]), max(b.hi(a), o.hi(a)))
		}
	}
	return b
}

// within is what both boxes have.
func (b latticeBox) within(o latticeBox, d int) latticeBox {
	for a := range d {
		b.span(a, max(b.lo[a], o.lo[a]), min(b.hi(a), o.hi(a)))
	}
	return b
}

// latticeKernel is what the convolutions of a pyramid have in common: a reach of k steps, in d coordinates. A weight function has a tap at
// every point of the finer lattice up to k steps away along each axis; between them it is interpolated, and it has WindowSmooth, of
// radius k+1.
//
// On the sphere, where it is the number of points of the finest lattice, the taps stand at several distances; see sphereTaps.
type latticeKernel struct{ d, k, sphere int }

// taps returns the number of taps.
func (n latticeKernel) taps() int {
	if n.sphere > 0 {
		return 2 * n.k
	}
	return pow(2*n.k+1, n.d)
}

// poseTap is what the weights of a pose are: a tap times a factor.
type poseTap struct {
	tap    int
	factor float64
}

// poses returns those of a convolution between lattices of which the points' has stride times the step.
func (n latticeKernel) poses(stride int) []poseTap {
	if n.sphere > 0 {
		return spherePoseTaps(n.taps())
	}
	var all []poseTap
	for q, f := range n.factors(stride) {
		all = append(all, poseTap{q % n.taps(), f})
	}
	return all
}

// gain returns the sum of the squares of the shares that taps have in the weights of a convolution.
func (n latticeKernel) gain() (sum float64) {
	shares := []float64(nil)
	if n.sphere > 0 {
		shares = sphereShares(n.taps())
	} else {
		shares = n.factors(1)
	}
	for _, f := range shares {
		sum += f * f
	}
	return sum
}

func pow(base, n int) int {
	p := 1
	for range n {
		p *= base
	}
	return p
}

// window returns that of a point so many steps away along each axis.
func (n latticeKernel) window(offset []float64) float64 {
	sum := 0.0
	for _, v := range offset {
		sum += v * v
	}
	return layers.WindowSmooth.At(math.Sqrt(sum) / float64(n.k+1))
}

// factors returns what the taps are multiplied by on lattices of which the points' has stride times the step, for each of the
// [stride]^d places that a query can have between points: the window over the sum of the windows of all points. Taps without a
// point have 0.
func (n latticeKernel) factors(stride int) []float64 {
	width, phases := 2*n.k+1, pow(stride, n.d)
	f := make([]float64, phases*n.taps())
	offset := make([]float64, n.d)
	for phase := range phases {
		part, sum := f[phase*n.taps():(phase+1)*n.taps()], 0.0
		for tap := range part {
			there, rest, at := true, tap, phase
			for a := n.d - 1; a >= 0; a-- {
				k := rest%width - n.k // the query's place less the point's, in steps
				there = there && (at%stride-k)%stride == 0
				offset[a] = float64(k)
				rest, at = rest/width, at/stride
			}
			if there {
				part[tap] = n.window(offset)
			}
			sum += part[tap]
		}
		for tap := range part {
			part[tap] /= sum
		}
	}
	return f
}

// latticePairs are the pairs of a convolution between two lattices, or from a lattice to any targets. A pair's pose says the query's place
// between the points, and the tap. The rows of the finer lattice go place by place, as the points of each see the same taps;
// order has the number of each such row in its box, nil where they are as they lie.
type latticePairs struct {
	queries, points int
	offsets         []int
	index, pose     []int32
	queryOrder      []int32
	pointOrder      []int32
	// On the sphere: a query's sums of each of so many parts (0: there is one), one after the other, and what each is multiplied by.
	parts int
	scale []float64

	// For gradients: the pairs listed by point, and plans in float32.
	back          *neighbor.Neighborhood
	plan, reverse *simd.DepthwisePlan
	byPose        [][2][]int32 // queries and points of each pose, in float64
}

// phaseOrder appends the rows of a box place by place: first those with even numbers along all axes.
func phaseOrder(dst []int32, b *latticeBox, d int) []int32 {
	var number [maxAxes]int
	rows := b.rows(d)
	for phase := range 1 << d {
		for row := range rows {
			b.at(&number, row, d)
			at := 0
			for _, k := range number[:d] {
				at = 2*at + k&1
			}
			if at == phase {
				dst = append(dst, int32(row))
			}
		}
	}
	return dst
}

// askedRows is after how many rows of pairs stop is asked.
const askedRows = 1 << 10

// lay sets p to the pairs of queries with points, given the strides of both: their steps over the finer one. Memory is used again. Once
// stop, which may be nil, says true, rows are missing.
func (p *latticePairs) lay(n latticeKernel, queries, points latticeBox, queryStride, pointStride int, stop func() bool) {
	d, width, taps := n.d, 2*n.k+1, n.taps()
	p.queries, p.points = queries.rows(d), points.rows(d)
	p.offsets, p.index, p.pose = append(p.offsets[:0], 0), p.index[:0], p.pose[:0]
	p.queryOrder, p.pointOrder = p.queryOrder[:0], p.pointOrder[:0]
	p.back, p.plan, p.reverse, p.byPose = nil, nil, nil, nil
	var place []int32 // of points
	switch {
	case pointStride > 1:
		p.queryOrder = phaseOrder(p.queryOrder, &queries, d)
	case queryStride > 1:
		p.pointOrder = phaseOrder(p.pointOrder, &points, d)
		place = make([]int32, p.points)
		for to, from := range p.pointOrder {
			place[from] = int32(to)
		}
	}
	var number, at [maxAxes]int
	var from, to [maxAxes]int // of the points that a query sees, along each axis
	for i := range p.queries {
		if i%askedRows == 0 && stopped(stop) {
			return
		}
		row := i
		if pointStride > 1 {
			row = int(p.queryOrder[i])
		}
		queries.at(&number, row, d)
		phase, empty := 0, false
		for a := range d {
			x := number[a] * queryStride
			from[a] = max(points.lo[a], -floorDiv(-(x-n.k), pointStride))
			to[a] = min(points.hi(a), floorDiv(x+n.k, pointStride)+1)
			phase = phase*pointStride + ((x%pointStride)+pointStride)%pointStride
			empty = empty || from[a] >= to[a]
		}
		for at = from; !empty; {
			tap, in := 0, 0.0
			for a := range d {
				k := number[a]*queryStride - at[a]*pointStride
				tap, in = tap*width+k+n.k, in+float64(k*k)
			}
			if in < float64((n.k+1)*(n.k+1)) {
				j := points.row(&at, d)
				if place != nil {
					j = int(place[j])
				}
				p.index, p.pose = append(p.index, int32(j)), append(p.pose, int32(phase*taps+tap))
			}
			a := d - 1
			for ; a >= 0; a-- {
				if at[a]++; at[a] < to[a] {
					break
				}
				at[a] = from[a]
			}
			if a < 0 {
				break
			}
		}
		p.offsets = append(p.offsets, len(p.index))
	}
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// prepare makes what gradients need, for so many poses.
func prepare[T layers.Float](p *latticePairs, poses int) {
	if p.offsets == nil {
		return // a level without blocks
	}
	p.back = (&neighbor.Neighborhood{Queries: p.rows(), Points: p.points, Offsets: p.offsets, Index: p.index, Pose: p.pose}).Transpose()
	if poses == 0 {
		return // as many as pairs
	}
	if buffers.SizeOf[T]() == 4 && p.points > 0 && p.queries > 0 {
		p.plan = simd.NewDepthwisePlan(p.offsets, p.index, p.pose, p.points, poses)
		p.reverse = simd.NewDepthwisePlan(p.back.Offsets, p.back.Index, p.back.Pose, p.rows(), poses)
		p.back, p.index, p.pose = nil, nil, nil // layouts are kept, and plans are all that is read of them
		return
	}
	p.byPose = make([][2][]int32, poses)
	for i := range p.rows() {
		for k := p.offsets[i]; k < p.offsets[i+1]; k++ {
			q := &p.byPose[p.pose[k]]
			q[0], q[1] = append(q[0], int32(i)), append(q[1], p.index[k])
		}
	}
}

// rows returns the number of sums: one of every query, or as many as there are parts.
func (p *latticePairs) rows() int { return len(p.offsets) - 1 }

// forwardPairs sets dst [hi-lo, c] to the sums of w[pose] ⊙ f[index] of queries lo to hi. Where those have parts, sums is
// room for the parts of all queries.
func forwardPairs[T layers.Float](p *latticePairs, dst, f, w, sums []T, c, lo, hi int) {
	parts := max(1, p.parts)
	a, z := lo*parts, hi*parts
	if p.parts == 0 {
		sums = dst
	} else {
		sums = sums[a*c : z*c]
	}
	if p.plan != nil {
		simd.DepthwisePlanF32(buffers.F32(sums), buffers.F32(f), buffers.F32(w), p.plan, a, z, c, false)
	} else {
		first, last := p.offsets[a]-p.offsets[0], p.offsets[z]-p.offsets[0]
		simd.Depthwise(sums, f, w, p.offsets[a:z+1], p.index[first:last], p.pose[first:last], c, false)
	}
	if p.scale == nil {
		return
	}
	for i, v := range p.scale[a:z] {
		row := sums[i*c : (i+1)*c]
		switch {
		case p.parts == 0:
			simd.Scale(row, T(v), row)
		case i%p.parts == 0:
			simd.Scale(dst[i/p.parts*c:][:c], T(v), row)
		default:
			simd.Axpy(dst[i/p.parts*c:][:c], T(v), row)
		}
	}
}

// ofSums returns the gradient to all sums, given that to the queries' dout [queries, c].
func ofSums[T layers.Float](r *Run[T], p *latticePairs, dout []T, c int) []T {
	if p.scale == nil {
		return dout
	}
	out, parts := r.take(p.rows()*c), max(1, p.parts)
	for i, v := range p.scale {
		simd.Scale(out[i*c:(i+1)*c], T(v), dout[i/parts*c:][:c])
	}
	return out
}

// pointsBack sets df [hi-lo, c] to the gradient to rows lo to hi of f, given that to all sums; without a plan these must be all.
func pointsBack[T layers.Float](p *latticePairs, df, dsums, w []T, c, lo, hi int) {
	if p.plan != nil {
		simd.DepthwisePlanF32(buffers.F32(df), buffers.F32(dsums), buffers.F32(w), p.reverse, lo, hi, c, false)
		return
	}
	simd.Depthwise(df, dsums, w, p.back.Offsets, p.back.Index, p.back.Pose, c, false)
}

// weightsBack adds the gradient to the weights to dw [poses, c].
func weightsBack[T layers.Float](p *latticePairs, dw, dsums, f []T, c int) {
	if p.plan != nil {
		simd.DepthwisePlanGradWF32(buffers.F32(dw), buffers.F32(dsums), buffers.F32(f), p.plan, 0, p.rows(), 0, c, c, false)
		return
	}
	sum := make([]T, c)
	for q, pairs := range p.byPose {
		if n := len(pairs[0]); n > 0 {
			simd.Depthwise(sum, dsums, f, []int{0, n}, pairs[0], pairs[1], c, false)
			simd.Add(dw[q*c:(q+1)*c], dw[q*c:(q+1)*c], sum)
		}
	}
}

// targetPairs are the pairs of any targets with a lattice's points: each has a pose of its own, whose weights are the taps interpolated.
type targetPairs[T layers.Float] struct {
	latticePairs
	basis    []T       // [pairs, taps]
	distance []float64 // scratch
}

// lay sets p to the pairs of targets x [n, d], counted from the lattice's point 0, with the points of a box, step apart. Once stop, which
// may be nil, says true, targets are missing.
func (p *targetPairs[T]) lay(n latticeKernel, x []float64, points latticeBox, step float64, stop func() bool) {
	d, width, radius := n.d, 2*n.k+1, float64(n.k+1)
	p.queries, p.points = len(x)/d, points.rows(d)
	p.offsets, p.index, p.pose, p.basis = append(p.offsets[:0], 0), p.index[:0], p.pose[:0], p.basis[:0]
	p.back = nil
	var offset [maxAxes]float64
	var first, at [maxAxes]int
	for i := range p.queries {
		if i%askedRows == 0 && stopped(stop) {
			return
		}
		near := p.points > 0
		for a := range d {
			u := x[i*d+a] / step
			near = near && u > float64(points.lo[a])-radius && u < float64(points.hi(a)-1)+radius
			if near {
				first[a] = int(math.Floor(u)) - n.k
			}
		}
		start, sum := len(p.index), 0.0
		for m := 0; near && m < pow(width+1, d); m++ { // all points within radius, whether the box has them or not
			rest, r := m, 0.0
			for a := d - 1; a >= 0; a-- {
				at[a] = first[a] + rest%(width+1)
				rest /= width + 1
				offset[a] = x[i*d+a]/step - float64(at[a])
				r += offset[a] * offset[a]
			}
			v := layers.WindowSmooth.At(math.Sqrt(r) / radius)
			sum += v
			j := points.row(&at, d)
			if v == 0 || j < 0 {
				continue
			}
			p.pose, p.index = append(p.pose, int32(len(p.index))), append(p.index, int32(j))
			row := len(p.basis)
			for range n.taps() {
				p.basis = append(p.basis, 0)
			}
			interpolate(n, p.basis[row:], offset[:d], v)
		}
		for k := start * n.taps(); k < len(p.basis); k++ {
			p.basis[k] /= T(sum)
		}
		p.offsets = append(p.offsets, len(p.index))
	}
}

// interpolate sets row [taps], which is 0, to the taps' shares in the weight at an offset, times v: along each axis those of the two
// taps beside it, which go over into each other with slopes of 0.
func interpolate[T layers.Float](n latticeKernel, row []T, offset []float64, v float64) {
	width := 2*n.k + 1
	for corner := range 1 << n.d {
		tap, share, there := 0, v, true
		for a, x := range offset {
			base := math.Floor(x)
			u, k := x-base, int(base)+n.k
			if corner>>a&1 == 1 {
				u, k = 1-u, k+1
			}
			there = there && k >= 0 && k < width
			tap, share = tap*width+k, share*(1-u*u*(3-2*u))
		}
		if there {
			row[tap] += T(share)
		}
	}
}
