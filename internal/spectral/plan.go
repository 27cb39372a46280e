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

// taps is the height of a ball.
func (t *Tiling) taps() int { return t.up + t.down + 1 }

// Work is about what a slab of an image takes, in multiply-adds of lines.
func (t *Tiling) Work() float64 {
	transforms := 1.6 * float64(t.t.points) * 7.5 * 2 // there and back; a fifth of it are multiply-adds
	sums := 1.2 * float64(t.t.slots*t.taps())
	return float64(t.H*t.tiles) * (transforms + sums)
}

// Plan is a convolution over a grid with its weights. It is only read, by any number of goroutines.
type Plan struct {
	*Tiling
	c       int
	weights []float32 // [slabs, slots, taps, lanes]
}

// line is a line of the caches.
type line [lanes]float32

// New returns the convolution with weights w [poses, c].
func New(t *Tiling, w []float32, c int) *Plan {
	p := &Plan{Tiling: t, c: c, weights: aligned(Slabs(c) * t.t.slots * t.taps() * lanes)}
	var ws Workspace
	ws.room(t, 1)
	slots, taps := t.t.slots, t.taps()
	for slab := range Slabs(c) {
		lo := slab * lanes
		n := min(lanes, c-lo)
		for tap := range taps {
			clear(ws.in)
			for _, s := range t.Steps {
				if s.DY == tap-t.up {
					at := (t.t.points - s.DX) % t.t.points // the result at 0 takes the feature at DX
					copy(ws.in[t.t.place[at]/4:][:n], w[int(s.Pose)*c+lo:])
				}
			}
			rows := ws.rows[:slots*lanes]
			forward(rows, ws.between, ws.in, t.t)
			for s, part := range t.t.parts {
				to, factor := (*line)(p.weights[((slab*slots+s)*taps+tap)*lanes:]), part.weight(t.t.points)
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
	return p
}

// Weights are the plan's numbers, for [Stored]. They must not be changed.
func (p *Plan) Weights() []float32 { return p.weights }

// Stored returns the plan that had these [Plan.Weights], which it keeps, or nil if there are too few or too many. They must begin with a line of the caches.
func Stored(t *Tiling, weights []float32, c int) *Plan {
	if len(weights) != Slabs(c)*t.t.slots*t.taps()*lanes {
		return nil
	}
	return &Plan{Tiling: t, c: c, weights: weights}
}

// Bytes is the memory that the plan occupies.
func (p *Plan) Bytes() int64 { return int64(4 * len(p.weights)) }

// block is how many rows the kernels sum at a time.
const block = 16

// Workspace is the scratch memory of one goroutine.
type Workspace struct {
	memory            []float32
	rows              []float32 // the slots of a band's rows
	in, between, back []float32 // the points of a row: read, on their way, and results
	check             []float32 // a line
}

// room makes room for the results of that many rows.
func (ws *Workspace) room(t *Tiling, results int) {
	rows := ((results+block-1)/block*block + t.taps() - 1) * t.t.slots * lanes
	points := t.t.points * lanes
	if n := rows + 3*points + lanes; len(ws.memory) < n {
		ws.memory = aligned(n)
	}
	m := ws.memory
	cut := func(n int) (part []float32) {
		part, m = m[:n:n], m[n:]
		return part
	}
	ws.check, ws.in, ws.between, ws.back, ws.rows = cut(lanes), cut(points), cut(points), cut(points), cut(rows)
}

// Bytes is the size of the workspace.
func (ws *Workspace) Bytes() int64 { return int64(4 * cap(ws.memory)) }

// WorkspaceBytes is what a workspace needs for that many rows.
func (t *Tiling) WorkspaceBytes(results int) int64 {
	return int64(4 * lanes * (((results+block-1)/block*block+t.taps()-1)*t.t.slots + 3*t.t.points + 1))
}

// aligned returns zeros that begin with a line of the caches.
func aligned(n int) []float32 {
	x := make([]float32, n+lanes)
	skip := int(-uintptr(unsafe.Pointer(&x[0])) % (4 * lanes) / 4)
	return x[skip : skip+n : skip+n]
}

// Band computes rows lo to hi of the grid within a tile, for the channels of a slab: out [h, w, c] gets the sums over all neighbours of weight
// times feature, for f [h, w, c], each sum times its point's number in scale [h, w]. Of each row of which a result is not finite it sets
// broken [h, tiles]; broken may be shared.
func (p *Plan) Band(ws *Workspace, out, f, scale []float32, broken []atomic.Bool, slab, tile, lo, hi int) {
	t, first, channel := p.t, lo-p.up, slab*lanes
	n := min(lanes, p.c-channel)
	from := tile * p.width
	to := min(from+p.width, p.W)
	if from >= to || lo >= hi {
		return
	}
	ws.room(p.Tiling, hi-lo)
	// The points that are read, and where the first of them stands.
	x0, x1 := max(0, from-p.left), min(p.W, to+p.right)
	start := (x0 - from + t.points) % t.points
	y0, y1 := max(0, first), min(p.H, hi+p.down)
	line := t.slots * lanes
	clear(ws.rows[:(y0-first)*line])
	clear(ws.rows[(y1-first)*line:])
	clear(ws.in)
	for y := y0; y < y1; y++ {
		row := f[(y*p.W+x0)*p.c+channel:]
		spreadForward(ws.rows[(y-first)*line:][:line], ws.between, ws.in, row, t, start, x1-x0, n, p.c)
	}
	size := t.slots * p.taps() * lanes
	convolve(ws.rows, p.weights[slab*size:(slab+1)*size], p.taps(), (hi-lo+block-1)/block*block, t.slots)
	clear(ws.check)
	for y := lo; y < hi; y++ {
		at := y*p.W + from
		inverseGather(out[at*p.c+channel:], ws.between, ws.back, ws.rows[(y-lo)*line:][:line], scale[at:], ws.check, t, to-from, n, p.c)
	}
	for _, v := range ws.check {
		if v != 0 {
			p.findBroken(out, broken, channel, n, tile, from, to, lo, hi)
			return
		}
	}
}

// findBroken sets broken for the rows of a tile of which a result is not finite.
func (p *Plan) findBroken(out []float32, broken []atomic.Bool, channel, n, tile, from, to, lo, hi int) {
	for y := lo; y < hi; y++ {
		for at := y*p.W + from; at < y*p.W+to; at++ {
			for _, v := range out[at*p.c+channel:][:n] {
				if v-v != 0 {
					broken[y*p.tiles+tile].Store(true)
				}
			}
		}
	}
}
