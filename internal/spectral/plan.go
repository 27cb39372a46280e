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

// Tiles is how many tiles a row has.
func (t *Tiling) Tiles() int { return t.tiles }

// Segment returns the tile of a point, and the first and last of its row's points that are in the tile, the last one exclusive.
func (t *Tiling) Segment(point int) (tile, lo, hi int) {
	row := point / t.W * t.W
	tile = (point - row) / t.width
	return tile, row + tile*t.width, row + min((tile+1)*t.width, t.W)
}

// Slabs is how many slabs that many channels have.
func Slabs(c int) int { return (c + lanes - 1) / lanes }

// Channels returns the channels of a slab, of c in all.
func Channels(slab, c int) (lo, hi int) { return slab * lanes, min((slab+1)*lanes, c) }

// taps is the height of a ball.
func (t *Tiling) taps() int { return t.up + t.down + 1 }

// Work is about what a slab of an image takes, in multiply-adds of lines.
func (t *Tiling) Work() float64 {
	transforms := 1.6 * float64(t.t.points) * 7.5 * 2 // there and back; a fifth of it are multiply-adds
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

// Size is how many numbers a plan has.
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

// Stored returns the plan that had these [Plan.Weights], which it keeps, or nil if there are too few or too many. They must begin with a line of the caches.
func Stored(t *Tiling, weights []float32, c int) *Plan {
	if len(weights) != t.Size(c) {
		return nil
	}
	return Unset(t, weights, c)
}

// Bytes is the memory that the plan occupies.
func (p *Plan) Bytes() int64 { return int64(4 * len(p.weights)) }

// block is how many rows the kernels sum at a time.
const block = 16

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
	ws.check, ws.in, ws.between, ws.back, ws.rows, ws.sums = cut(lanes), cut(points), cut(points), cut(points), cut(rows*line), cut(sums*line)
}

// roundUp returns the multiple of block that has room for n rows.
func roundUp(n int) int { return (n + block - 1) / block * block }

// Bytes is the size of the workspace.
func (ws *Workspace) Bytes() int64 { return int64(4 * cap(ws.memory)) }

// WorkspaceBytes is what a workspace needs for that many rows.
func (t *Tiling) WorkspaceBytes(results int) int64 {
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

// Lines are where the lines of a slab stand among numbers: that of a lift of a point begins at X[point*Stride + lift*Lift].
type Lines struct {
	X            []float32
	Stride, Lift int
}

// Among returns the lines of a slab of x [h, w, lifts, c].
func (t *Tiling) Among(x []float32, c, slab int) Lines { return Lines{x[slab*lanes:], t.Lifts * c, c} }

// Side returns the lines of a slab of x [slabs, h, w, 16], where the points of a slab stand side by side. Points have one lift.
func (t *Tiling) Side(x []float32, slab int) Lines {
	n := t.H * t.W * lanes
	return Lines{x[slab*n : (slab+1)*n], lanes, 0}
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
	ws.room(p.Tiling, hi-lo)
	line, rows, kernel := t.slots*lanes, roundUp(hi-lo), p.kernel()
	for lift := range p.Lifts {
		p.transformRows(ws, f, t.place, tile, lift, n, lo-p.up, hi+p.down)
		if p.Lifts == 1 {
			convolve(ws.rows, ws.rows, p.weights[slab*kernel:], p.taps(), rows, t.slots, kernelOrder{1, p.taps()}, false)
			break
		}
		for other := range p.Lifts {
			k := p.weights[((slab*p.Lifts+other)*p.Lifts+lift)*kernel:]
			convolve(ws.sums[other*rows*line:], ws.rows, k, p.taps(), rows, t.slots, kernelOrder{1, p.taps()}, lift > 0)
		}
	}
	clear(ws.check)
	for lift := range p.Lifts {
		sums := ws.rows
		if p.Lifts > 1 {
			sums = ws.sums[lift*rows*line:]
		}
		for y := lo; y < hi; y++ {
			at := y*p.W + from
			inverseGather(out.X[at*out.Stride+lift*out.Lift:], ws.between, ws.back, sums[(y-lo)*line:][:line], scale[lift*p.H*p.W+at:], ws.check, t, to-from, n, out.Stride)
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

// transformRows sets ws.rows to the transforms of rows y0 to y1 of what a tile sees of n channels of a lift of f; rows that the grid does not have, and those that
// follow in ws.rows, become zeros. Points stand at their places, given from the first of the tile's results on.
func (t *Tiling) transformRows(ws *Workspace, f Lines, place []int32, tile, lift, n, y0, y1 int) {
	from, to := t.within(tile)
	x0, x1 := max(0, from-t.left), min(t.W, to+t.right)
	start := (x0 - from + t.t.points) % t.t.points
	line := t.t.slots * lanes
	first, last := max(0, y0), min(t.H, y1)
	clear(ws.rows[:(first-y0)*line])
	clear(ws.rows[(last-y0)*line:])
	clear(ws.in)
	for y := first; y < last; y++ {
		row := f.X[(y*t.W+x0)*f.Stride+lift*f.Lift:]
		spreadForward(ws.rows[(y-y0)*line:][:line], ws.between, ws.in, row, place[start:], t.t, x1-x0, n, f.Stride)
	}
}

// findBroken sets broken for the rows of a tile of which one of n channels' results is not finite.
func (p *Plan) findBroken(out Lines, broken []atomic.Bool, n, tile, lo, hi int) {
	from, to := p.within(tile)
	for y := lo; y < hi; y++ {
		for at := y*p.W + from; at < y*p.W+to; at++ {
			for lift := range p.Lifts {
				for _, v := range out.X[at*out.Stride+lift*out.Lift:][:n] {
					if v-v != 0 {
						broken[y*p.tiles+tile].Store(true)
					}
				}
			}
		}
	}
}
