package spectral

import "sync/atomic"

// correlateRows bounds how many rows of the gradient are correlated at a time, so that memory does not grow with an
// image's height. Bits depend on it.
const correlateRows = 64

// Correlate adds to dw [poses, c] the gradient to the weights, for the channels of a slab and a tile: of each step the
// sum over all points of the neighbour's feature, f [h, w, lifts, c], times the gradient to the point's sum, d [h, w,
// lifts, c].
func (t *Tiling) Correlate(ws *Workspace, dw, d, f []float32, c, slab, tile int) {
	line, slots, taps := t.t.slots*lanes, t.t.slots, roundUp(t.taps())
	x0, x1 := t.within(tile)
	if x0 >= x1 {
		return
	}
	rows := min(t.H, correlateRows)
	ws.cut(t, taps+rows-1, taps+t.Lifts*rows)
	sums, kernels := ws.sums[:taps*line], ws.sums[taps*line:]
	n := min(lanes, c-slab*lanes)
	gradients, features := t.Among(d, c, slab), t.Among(f, c, slab)
	for lo := 0; lo < t.H; lo += rows {
		hi := min(lo+rows, t.H)
		clear(ws.in)
		for to := range t.Lifts {
			for y := lo; y < hi; y++ {
				row := gradients.from(y*t.W+x0, to)
				spreadForward(kernels[(to*rows+y-lo)*line:][:line], ws.between, ws.in, row, t.t.place, t.t, x1-x0, n, gradients.Stride)
			}
		}
		for from := range t.Lifts {
			t.transformRows(ws, ws.rows, features, t.t.backwards, tile, from, n, lo-t.up, hi+t.down)
			for to := range t.Lifts {
				convolve(sums, ws.rows, kernels[to*rows*line:], hi-lo, taps, slots, kernelOrder{slots, 1}, false)
				t.addWeights(ws, dw, sums, c, slab, to, from)
			}
		}
	}
}

// Once reports whether Gradients can be used: rows are neither cut nor have several lifts, and are few.
func (t *Tiling) Once() bool { return t.tiles == 1 && t.Lifts == 1 && t.H <= correlateRows }

// Gradients does for a slab what two calls do, with the same bits: Band of p, which has the steps back, for all rows of
// d with scales of 1, and Correlate of there, the tiling of the steps there, with the same c channels. It transforms d
// once. Both tilings have to be such that Once.
func (p *Plan) Gradients(ws *Workspace, df, dw, d, f, ones []float32, broken []atomic.Bool, there *Tiling, slab int) {
	t, line, taps, rows := p.t, p.t.slots*lanes, p.taps(), roundUp(p.H)
	ws.cut(p.Tiling, rows+taps-1+roundUp(taps)+p.H-1, roundUp(taps))
	n := min(lanes, p.c-slab*lanes)
	gradients, features, results := p.Among(d, p.c, slab), p.Among(f, p.c, slab), p.Among(df, p.c, slab)
	dRows, fRows := ws.rows[:(rows+taps-1)*line], ws.rows[(rows+taps-1)*line:]
	p.transformRows(ws, dRows, gradients, t.place, 0, 0, n, -p.up, p.H+p.down)
	there.transformRows(ws, fRows, features, t.backwards, 0, 0, n, -there.up, p.H+there.down)
	convolve(ws.sums, fRows, dRows[p.up*line:], p.H, roundUp(taps), t.slots, kernelOrder{t.slots, 1}, false)
	there.addWeights(ws, dw, ws.sums, p.c, slab, 0, 0)
	clear(ws.check)
	convolve(dRows, dRows, p.weights[slab*p.kernel():], taps, rows, t.slots, kernelOrder{1, taps}, false)
	for y := range p.H {
		inverseGather(results.from(y*p.W, 0), ws.between, ws.back, dRows[y*line:][:line], ones[y*p.W:], ws.check, t, p.W, n, results.Stride)
	}
	for _, v := range ws.check {
		if v != 0 {
			p.findBroken(results, broken, n, 0, 0, p.H)
			return
		}
	}
}

// addWeights adds to dw what sums of products, tap by tap, say about the weights of the steps from lift to lift.
func (t *Tiling) addWeights(ws *Workspace, dw, sums []float32, c, slab, to, from int) {
	line, one, steps := t.t.slots*lanes, [1]float32{1}, t.Steps
	lo, hi := Channels(slab, c)
	for tap := range t.taps() {
		row := sums[tap*line:][:line]
		t.t.join(row)
		inverseGather(ws.check, ws.between, ws.back, row, one[:], ws.check, t.t, 0, hi-lo, 0)
		for ; len(steps) > 0 && steps[0].DY == tap-t.up; steps = steps[1:] {
			if s := steps[0]; s.To == to && s.From == from {
				at := (t.t.points - s.DX) % t.t.points
				sum := dw[int(s.Pose)*c+lo : int(s.Pose)*c+hi]
				for l, v := range ws.back[t.t.place[at]/4:][:hi-lo] {
					sum[l] += v
				}
			}
		}
	}
}

// join turns sums of products of slots, p·a, q·b and (p+q)·(a+b), into the slots of which the way back makes the
// products' sum; see inverseGeneric.
func (t *transform) join(row []float32) {
	for s, part := range t.parts {
		factor := part.weight(t.points)
		switch part.kind {
		case alone:
			for l := range lanes {
				row[s*lanes+l] *= factor
			}
		case realPart:
			re, im, both := (*line)(row[s*lanes:]), (*line)(row[(s+1)*lanes:]), (*line)(row[(s+2)*lanes:])
			for l := range lanes {
				pa, qb, all := re[l], im[l], both[l]
				re[l], im[l], both[l] = factor*(all-pa-qb), factor*(pa-qb), 0
			}
		}
	}
}
