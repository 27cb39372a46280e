package spectral

import (
	"sync/atomic"
	"unsafe"
)

// Tiling says how the rows of a grid are transformed.
type Tiling struct {
	*Grid
	t     *transform
	tiles int // along a row
	width int // of a tile's results
}

// Tiling returns the cheapest way to transform the rows of a grid, or nil if its steps reach too far.
func (g *Grid) Tiling() *Tiling {
	var best *Tiling
	for _, t := range transforms {
		c := &Tiling{Grid: g, t: t, tiles: 1, width: g.W}
		if g.W+max(g.left, g.right) > t.points {
			// The ends of a tile's points see each other's neighbours, and are left out.
			most := t.points - g.left - g.right
			if most < 1 {
				continue
			}
			c.tiles = (g.W + most - 1) / most
			c.width = (g.W + c.tiles - 1) / c.tiles
		}
		if best == nil || c.Work() < best.Work() {
			best = c
		}
	}
	return best
}

// Tiles returns the number of tiles that a row has.
func (t *Tiling) Tiles() int { return t.tiles }

// Segment returns the tile of a point, and the first and last of its row's points that are in the tile, the last one exclusive.
func (t *Tiling) Segment(point int) (tile, lo, hi int) {
	row := point / t.W * t.W
	tile = (point - row) / t.width
	return tile, row + tile*t.width, row + min((tile+1)*t.width, t.W)
}

// Slabs returns the number of slabs of that many channels.
func Slabs(c int) int { return (c + lanes - 1) / lanes }

// Channels returns the channels of a slab, of c in all.
func Channels(slab, c int) (lo, hi int) { return slab * lanes, min((slab+1)*lanes, c) }

// taps is the height of a ball.
func (t *Tiling) taps() int { return t.up + t.down + 1 }

// Work is about what a slab of an image takes, in multiply-adds of lines.
func (t *Tiling) Work() float64 {
	transforms := 1.6 * float64(t.t.points) * (5 + float64(t.t.odd)/2) * 2 // there and back; a fifth of it are multiply-adds
	sums := 1.2 * float64(t.t.slots*t.taps()*t.Lifts)
	return float64(t.H*t.tiles*t.Lifts) * (transforms + sums)
}

// Plan is a convolution over a grid with its weights. It is only read, by any number of goroutines.
type Plan struct {
	*Tiling
	c       int
	weights []float32 // [slabs, to, from, slots, taps, lanes], where to and from are lifts
}

// line is a line of the caches.
type line [lanes]float32

// New returns the convolution with weights w [poses, c].
func New(t *Tiling, w []float32, c int) *Plan {
	p := Unset(t, aligned(t.Size(c)), c)
	var ws Workspace
	for slab := range Slabs(c) {
		p.Set(&ws, w, slab)
	}
	return p
}

// Size returns the length of a plan.
func (t *Tiling) Size(c int) int { return Slabs(c) * t.Lifts * t.Lifts * t.kernel() }

// kernel is how many numbers a plan has of a slab and two lifts.
func (t *Tiling) kernel() int { return t.t.slots * t.taps() * lanes }

// Unset returns a plan whose weights are not known. It keeps them in memory, which has its size.
func Unset(t *Tiling, memory []float32, c int) *Plan { return &Plan{Tiling: t, c: c, weights: memory} }

// Set sets the weights of a slab, given w [poses, c].
func (p *Plan) Set(ws *Workspace, w []float32, slab int) {
	ws.room(p.Tiling, 1)
	t, slots, taps, lo := p.t, p.t.slots, p.taps(), slab*lanes
	n := min(lanes, p.c-lo)
	for pair := range p.Lifts * p.Lifts {
		kernel := p.weights[(slab*p.Lifts*p.Lifts+pair)*p.kernel():]
		steps := p.Steps
		for tap := range taps {
			clear(ws.in)
			for ; len(steps) > 0 && steps[0].DY == tap-p.up; steps = steps[1:] {
				if s := steps[0]; s.To*p.Lifts+s.From == pair {
					at := (t.points - s.DX) % t.points // the result at 0 takes the feature at DX
					copy(ws.in[t.place[at]/4:][:n], w[int(s.Pose)*p.c+lo:])
				}
			}
			rows := ws.rows[:slots*lanes]
			forward(rows, ws.between, ws.in, t)
			for s, part := range t.parts {
				to, factor := (*line)(kernel[(s*taps+tap)*lanes:]), part.weight(t.points)
				at := func(slot int) *line { return (*line)(rows[slot*lanes:]) }
				switch part.kind { // c + di is the transform
				case alone:
					for l, c := range at(s) {
						to[l] = factor * c
					}
				case realPart:
					for l, c := range at(s) {
						to[l] = factor * (at(s + 1)[l] - c)
					}
				case imaginaryPart:
					for l, both := range at(s + 1) {
						to[l] = -factor * both
					}
				case bothParts:
					for l, c := range at(s - 2) {
						to[l] = factor * c
					}
				}
			}
		}
	}
}

// Weights are the plan's numbers, for [Stored]. They must not be changed.
func (p *Plan) Weights() []float32 { return p.weights }

// Stored returns the plan that had these [Plan.Weights], which it keeps, or nil if there are too few or too many. They
// must begin with a line of the caches.
func Stored(t *Tiling, weights []float32, c int) *Plan {
	if len(weights) != t.Size(c) {
		return nil
	}
	return Unset(t, weights, c)
}

// Bytes is the memory that the plan occupies.
func (p *Plan) Bytes() int64 { return int64(4 * len(p.weights)) }

// block is how many rows the kernels sum at least at a time.
const block = 8

// Workspace is the scratch memory of one goroutine.
type Workspace struct {
	memory            []float32
	rows              []float32 // the slots of a band's rows
	sums              []float32 // of their sums, lift by lift; nil if these take the place of rows
	in, between, back []float32 // the points of a row: read, on their way, and results
	check             []float32 // a line
}

// room makes room for the results of that many rows.
func (ws *Workspace) room(t *Tiling, results int) {
	sums := 0
	if t.Lifts > 1 {
		sums = t.Lifts * roundUp(results)
	}
	ws.cut(t, roundUp(results)+t.taps()-1, sums)
}

// cut makes room for that many rows, and rows of sums.
func (ws *Workspace) cut(t *Tiling, rows, sums int) {
	line, points := t.t.slots*lanes, t.t.points*lanes
	if n := (rows+sums)*line + 3*points + lanes; len(ws.memory) < n {
		ws.memory = aligned(n)
	}
	m := ws.memory
	cut := func(n int) (part []float32) {
		part, m = m[:n:n], m[n:]
		return part
	}
	ws.check, ws.in, ws.between, ws.back, ws.rows, ws.sums = cut(lanes), cut(points), cut(points), cut(points), cut(rows*line),
		cut(sums*line)
}

// roundUp returns the multiple of block that has room for n rows.
func roundUp(n int) int { return (n + block - 1) / block * block }

// Bytes is the size of the workspace.
func (ws *Workspace) Bytes() int64 { return int64(4 * cap(ws.memory)) }

// paceBytes bounds the rows that a band transforms before it goes on to the next, so that they stay in the second-level cache.
const paceBytes = 3 << 18

// pace is how many rows a band of that many computes at a time: where points have several lifts, all. The next ones
// have transforms in common with them. No bits depend on it.
func (t *Tiling) pace(rows int) int {
	if t.Lifts > 1 {
		return rows
	}
	most := block
	for t.workspaceBytes(most+block) <= paceBytes {
		most += block
	}
	return min(rows, most)
}

// WorkspaceBytes returns what a workspace needs for bands of that many rows.
func (t *Tiling) WorkspaceBytes(results int) int64 { return t.workspaceBytes(t.pace(results)) }

// workspaceBytes is what a workspace needs for that many rows at a time.
func (t *Tiling) workspaceBytes(results int) int64 {
	rows := roundUp(results) + t.taps() - 1
	if t.Lifts > 1 {
		rows += t.Lifts * roundUp(results)
	}
	return int64(4 * lanes * (rows*t.t.slots + 3*t.t.points + 1))
}

// aligned returns zeros that begin with a line of the caches.
func aligned(n int) []float32 {
	x := make([]float32, n+lanes)
	skip := int(-uintptr(unsafe.Pointer(&x[0])) % (4 * lanes) / 4)
	return x[skip : skip+n : skip+n]
}

// Lines locate the lines of a slab among numbers: that of a lift of a point begins at X[(point-First)*Stride + lift*Lift].
type Lines struct {
	X                   []float32
	First, Stride, Lift int
}

// from returns the lines from that of a lift of a point on.
func (l *Lines) from(point, lift int) []float32 { return l.X[(point-l.First)*l.Stride+lift*l.Lift:] }

// Among returns the lines of a slab of x [h, w, lifts, c].
func (t *Tiling) Among(x []float32, c, slab int) Lines {
	return Lines{x[slab*lanes:], 0, t.Lifts * c, c}
}

// Side returns the lines of a slab of x [slabs, points, 16], where points, of one lift, stand side by side from the first on that x has.
func Side(x []float32, slab, first, points int) Lines {
	n := points * lanes
	return Lines{x[slab*n : (slab+1)*n], first, lanes, 0}
}

// linesPiece is how many lines a kernel copies or adds at a time, as assembly cannot be interrupted.
const linesPiece = 1 << 12

// CopyLines sets n lines of 16 numbers of dst, dstStride numbers apart, to those of src, srcStride apart. It panics if either is too short.
func CopyLines(dst []float32, dstStride int, src []float32, srcStride, n int) {
	moveLines(dst, dstStride, src, srcStride, n, false)
}

// AddLinesReLU sets n lines of dst to max(0, dst + src), NaN for NaN. Other arguments are as in CopyLines.
func AddLinesReLU(dst []float32, dstStride int, src []float32, srcStride, n int) {
	moveLines(dst, dstStride, src, srcStride, n, true)
}

func moveLines(dst []float32, dstStride int, src []float32, srcStride, n int, add bool) {
	for ; n > 0; n -= linesPiece {
		m := min(n, linesPiece)
		_, _ = dst[(m-1)*dstStride+lanes-1], src[(m-1)*srcStride+lanes-1]
		lines(dst, dstStride, src, srcStride, m, add)
		if m < n {
			dst, src = dst[m*dstStride:], src[m*srcStride:]
		}
	}
}

// Band computes rows lo to hi of the grid within a tile, for the channels of a slab: out gets the sums over all neighbours of weight
// times feature, for f, each sum times its number in scale [lifts, h, w]. Of each row of which a result is not finite it sets
// broken [h, tiles]; broken may be shared.
func (p *Plan) Band(ws *Workspace, out, f Lines, scale []float32, broken []atomic.Bool, slab, tile, lo, hi int) {
	t := p.t
	n := min(lanes, p.c-slab*lanes)
	from, to := p.within(tile)
	if from >= to || lo >= hi {
		return
	}
	step := p.pace(hi - lo)
	ws.room(p.Tiling, step)
	line, kernel, shared := t.slots*lanes, p.kernel(), p.taps()-1
	clear(ws.check)
	for y0 := lo; y0 < hi; y0 += step {
		y1 := min(y0+step, hi)
		rows := roundUp(y1 - y0)
		for lift := range p.Lifts {
			if p.Lifts == 1 && y0 > lo { // sums have taken the place of rows, but not of those that they share with the next
				copy(ws.rows, ws.rows[step*line:(step+shared)*line])
				p.transformRows(ws, ws.rows[shared*line:], f, t.place, tile, lift, n, y0+p.down, y1+p.down)
			} else {
				p.transformRows(ws, ws.rows, f, t.place, tile, lift, n, y0-p.up, y1+p.down)
			}
			if p.Lifts == 1 {
				convolve(ws.rows, ws.rows, p.weights[slab*kernel:], p.taps(), rows, t.slots, kernelOrder{1, p.taps()}, false)
				break
			}
			for other := range p.Lifts {
				k := p.weights[((slab*p.Lifts+other)*p.Lifts+lift)*kernel:]
				convolve(ws.sums[other*rows*line:], ws.rows, k, p.taps(), rows, t.slots, kernelOrder{1, p.taps()}, lift > 0)
			}
		}
		for lift := range p.Lifts {
			sums := ws.rows
			if p.Lifts > 1 {
				sums = ws.sums[lift*rows*line:]
			}
			for y := y0; y < y1; y++ {
				at := y*p.W + from
				inverseGather(out.from(at, lift), ws.between, ws.back, sums[(y-y0)*line:][:line], scale[lift*p.H*p.W+at:],
					ws.check, t, to-from, n, out.Stride)
			}
		}
	}
	for _, v := range ws.check {
		if v != 0 {
			p.findBroken(out, broken, n, tile, lo, hi)
			return
		}
	}
}

// within returns the points of a row that are a tile's results.
func (t *Tiling) within(tile int) (from, to int) {
	return tile * t.width, min((tile+1)*t.width, t.W)
}

// Sees returns the points x0 to x1 of a row that a tile's results depend on, and how many rows above and below.
func (t *Tiling) Sees(tile int) (x0, x1, up, down int) {
	from, to := t.within(tile)
	return max(0, from-t.left), min(t.W, to+t.right), t.up, t.down
}

// transformRows sets dst to the transforms of rows y0 to y1 of what a tile sees of n channels of a lift of f; rows that
// the grid does not have, and those that follow in dst, become zeros. Points stand at their places, given from the
// first of the tile's results on.
func (t *Tiling) transformRows(ws *Workspace, dst []float32, f Lines, place []int32, tile, lift, n, y0, y1 int) {
	from, _ := t.within(tile)
	x0, x1, _, _ := t.Sees(tile)
	start := (x0 - from + t.t.points) % t.t.points
	line := t.t.slots * lanes
	first := max(0, y0)
	last := max(first, min(t.H, y1))
	clear(dst[:(first-y0)*line])
	clear(dst[(last-y0)*line:])
	clear(ws.in)
	for y := first; y < last; y++ {
		spreadForward(dst[(y-y0)*line:][:line], ws.between, ws.in, f.from(y*t.W+x0, lift), place[start:], t.t, x1-x0, n, f.Stride)
	}
}

// findBroken sets broken for the rows of a tile of which one of n channels' results is not finite.
func (p *Plan) findBroken(out Lines, broken []atomic.Bool, n, tile, lo, hi int) {
	from, to := p.within(tile)
	for y := lo; y < hi; y++ {
		for at := y*p.W + from; at < y*p.W+to; at++ {
			for lift := range p.Lifts {
				for _, v := range out.from(at, lift)[:n] {
					if v-v != 0 {
						broken[y*p.tiles+tile].Store(true)
					}
				}
			}
		}
	}
}
