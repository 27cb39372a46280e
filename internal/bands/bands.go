// Package bands computes the residual blocks of a network over a grid in bfloat16: depthwise convolutions and dense
// maps, both as products of tiles.
//
// # Planes
//
// The features of a channel are a plane: columns of four pixels, in each of which rows of four pixels follow each
// other, with rows and columns of zeros around them. So 16 blocks of four rows are a tile [16, 32] of any eight rows:
// the rows of a tile overlap in memory, and nothing is copied.
//
// # Bands
//
// A result (oy, ox) of a block of 4 x 4 is the sum over pixels (ky, kx) of weight(ky-oy, kx-ox) times pixel. For eight
// rows of four pixels that is a product of a tile of pixels and of a tile of weights, of which only those within the
// window are there: a band. Bands are made of compact strips in every call.
//
// # Numbers
//
// Features, weights, and sums on their way into the dense map are bfloat16. Products are exact, and sums float32: of
// every 32 products, those of even and of odd places are summed by themselves, and their sum is added; numbers below
// 2^-126 count as 0. Biases, and factors of the sums, are float32. A sum takes in the zeros of its blocks beside the
// pixels that it sees, so that a feature which is not finite reaches pixels up to ten further away than its window
// does.
package bands

import (
	"context"
	"unsafe"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/spectral"
)

const (
	// side is that of a block of results, and lanes are the numbers of one; a tile has as many blocks.
	side, lanes = 4, side * side
	// pixelRows is how many rows of pixels a product takes.
	pixelRows = 8
	// tile is how many bfloat16 numbers a tile holds.
	tile = 512
	// Group divides the number of channels.
	Group = 32
	// most bounds places within a plane and within rows of features, which kernels count in bytes by 32 bits.
	most = 1 << 28
)

// shape says how the features of a grid lie in memory.
type shape struct {
	*spectral.Grid
	top, left, right int     // rows and columns of zeros
	columns          int     // of four pixels, by fours
	blocks           int     // of four rows in a column, an even number
	tiles            int     // of 16 blocks in a column
	pitch            int     // of a column, in rows
	groups           int     // of eight rows that a block sees
	list             []int32 // of each band the offsets of pixels and strips, in bytes
	plane, strip     int     // numbers of a plane and of a strip
	strips           int     // numbers of all strips of a channel
}

// band is a tile of weights: of pixels in column j as seen from that of the results, from row 8·group - top on.
type band struct{ j, group int }

func up(n, of int) int { return (n + of - 1) / of * of }

// newShape returns the shape of a grid whose points have one lift.
func newShape(g *spectral.Grid) *shape {
	top, bottom, left, right := 0, 0, 0, 0
	for _, s := range g.Steps {
		top, bottom, left, right = max(top, -s.DY), max(bottom, s.DY), max(left, -s.DX), max(right, s.DX)
	}
	s := &shape{Grid: g, top: top, left: up(left, side) / side, right: up(right, side) / side, columns: up(up(g.W, side)/side, 4),
		blocks: up(g.H, 2*side) / side, pitch: up(g.H+max(top, bottom), pixelRows), groups: up(top+bottom+side, pixelRows) / pixelRows}
	s.tiles = up(s.blocks, lanes) / lanes
	// A tile may lie beyond the last column's end, as far as its rows and the band's reach.
	s.plane = up(side*((s.left+s.columns+s.right)*s.pitch+lanes*side+pixelRows*s.groups+2*pixelRows), 32)
	s.strip = 8 * (pixelRows*s.groups + side)
	s.strips = s.strip * (s.left + s.right + 1)
	used := map[band]bool{}
	for _, st := range g.Steps {
		for ox := range side {
			for oy := range side {
				used[band{floor(st.DX+ox, side), (st.DY + oy + top) / pixelRows}] = true
			}
		}
	}
	for j := -s.left; j <= s.right; j++ {
		for group := range s.groups {
			if used[band{j, group}] {
				s.list = append(s.list, int32(2*side*((s.left+j)*s.pitch+pixelRows*group)), int32(2*((j+s.left)*s.strip+8*pixelRows*group)))
			}
		}
	}
	return s
}

func floor(x, n int) int { return (x - (x%n+n)%n) / n }

// place is where a row of four pixels of a column begins in a plane.
func (s *shape) place(column, y int) int { return ((s.left+column)*s.pitch + s.top + y) * side }

// bands is how many there are.
func (s *shape) bands() int { return len(s.list) / 2 }

// Layer is a depthwise convolution with weights [poses, c], a factor of its sums at each point, and a dense map [c, c],
// whose row o has the weights of result o.
type Layer struct{ Weights, Dense, Bias []float32 }

// Network is residual blocks of two layers each, in the form in which they are computed. It is only read, by any number of goroutines.
type Network struct {
	*shape
	c      int
	scale  []float32 // [columns, blocks, 16]
	masks  []uint32  // [columns, blocks/2]: which positions are pixels
	index  []int32   // of the positions of a block, where its rows of float32 features begin
	layers []layer   // the first has the map alone, which is the identity
}

type layer struct {
	strips []uint16  // [c, columns, strip]
	dense  []uint16  // [c/32, c/32, 2, 16, 32]
	bias   []float32 // [c, 16]
}

// New returns the network of layers with c channels over a grid; scale [H, W] is what sums are multiplied by. It
// returns nil for a grid of lifts, one that is too large, or other channels than multiples of Group.
func New(g *spectral.Grid, scale []float32, c int, layers []Layer) *Network {
	if g.Lifts != 1 || c%Group != 0 || c == 0 || len(layers)%2 != 0 || g.H*g.W*c > most*2 {
		return nil
	}
	s := newShape(g)
	if s.plane > most || side*g.W*c > most || s.strips > most {
		return nil
	}
	n := &Network{shape: s, c: c, scale: make([]float32, s.columns*s.blocks*lanes), masks: make([]uint32, s.columns*s.blocks/2),
		index: make([]int32, lanes)}
	for y := range g.H {
		for x := range g.W {
			block := x/side*s.blocks + y/side
			at := y%side*side + x%side
			n.scale[block*lanes+at] = scale[y*g.W+x]
			n.masks[block/2] |= 1 << (block%2*lanes + at)
		}
	}
	for i := range n.index {
		n.index[i] = int32((i/side*g.W + i%side) * c)
	}
	identity := make([]float32, c*c)
	for i := range c {
		identity[i*c+i] = 1
	}
	n.layers = append(n.layers, layer{dense: n.packDense(identity), bias: make([]float32, c*lanes)})
	for _, l := range layers {
		made := layer{strips: aligned[uint16](c * s.strips), dense: n.packDense(l.Dense), bias: aligned[float32](c * lanes)}
		for _, st := range g.Steps {
			for j := -s.left; j <= s.right; j++ {
				if e := st.DX - side*j + side - 1; e >= 0 && e < 2*side-1 {
					at := (j+s.left)*s.strip + (st.DY+s.top+side-1)*8 + e
					for i := range c {
						made.strips[i*s.strips+at] = round(l.Weights[int(st.Pose)*c+i])
					}
				}
			}
		}
		for i := range made.bias {
			made.bias[i] = l.Bias[i/lanes]
		}
		n.layers = append(n.layers, made)
	}
	return n
}

// packDense packs a dense map.
func (n *Network) packDense(w []float32) []uint16 {
	packed, c := aligned[uint16](n.c*n.c), n.c
	for o := range c {
		for k := range c {
			packed[(o/Group*(c/Group)+k/Group)*2*tile+o%Group/lanes*tile+o%lanes*Group+k%Group] = round(w[o*c+k])
		}
	}
	return packed
}

// aligned returns n numbers that begin with a line of the caches.
func aligned[T uint16 | float32](n int) []T {
	const line = 64
	size := int(unsafe.Sizeof(T(0)))
	x := make([]T, n+line/size)
	skip := int(-uintptr(unsafe.Pointer(&x[0]))%line) / size
	return x[skip : skip+n : skip+n]
}

// Bytes is the memory of the network.
func (n *Network) Bytes() int64 {
	bytes := 4 * (len(n.scale) + len(n.masks))
	for _, l := range n.layers {
		bytes += 2*(len(l.strips)+len(l.dense)) + 4*len(l.bias)
	}
	return int64(bytes)
}

// Numbers returns the number of features that an image has.
func (n *Network) Numbers() int { return n.H * n.W * n.c }

// together is how many images go through a layer at the same time: enough to keep the goroutines busy.
func (n *Network) together(images, workers int) int { return max(1, min(images, 4*workers/n.c)) }

// pairs is how many numbers the sums of an image take. Blocks lie a line further apart than they need, so that they do
// not share sets of the caches.
func (n *Network) pairs() int { return n.columns * n.blocks * n.blockPairs() }

func (n *Network) blockPairs() int { return (n.c/2 + 1) * Group }

// WorkspaceBytes returns what a call takes for that many images.
func (n *Network) WorkspaceBytes(images, workers int) int64 {
	own := 2*n.bands()*tile + 4*(2*n.sums()+2*tile)
	return int64(n.together(images, workers))*2*int64(2*n.c*n.plane+n.pairs()) + int64(workers*own)
}

// sums is how many sums a channel has, with those that are not of the grid.
func (n *Network) sums() int { return n.tiles * n.columns * lanes * lanes }

// Workspace is the memory of a call.
type Workspace struct {
	n      *Network
	planes [2][]uint16 // [images, c, plane]
	pairs  []uint16    // [images, columns, blocks, c/2+1, 16, 2]
	own    []own

	// The call that is on its way, and what goroutines run, bound once: handing them over allocates nothing.
	h                       []float32
	layer, images           int
	ctx                     context.Context
	enter, convolve, mapped func(worker, unit, _ int)
}

// own is the memory of a goroutine.
type own struct {
	tiles         []uint16
	sums, scratch []float32
	_             [64]byte
}

// Bytes is the size of the workspace.
func (w *Workspace) Bytes() int64 {
	bytes := 2 * (cap(w.planes[0]) + cap(w.planes[1]) + cap(w.pairs))
	for _, o := range w.own {
		bytes += 2*cap(o.tiles) + 4*(cap(o.sums)+cap(o.scratch))
	}
	return int64(bytes)
}

// room prepares the workspace for calls of a network.
func (w *Workspace) room(n *Network, images, workers int) {
	if w.n != n {
		*w = Workspace{n: n}
		w.enter, w.convolve, w.mapped = w.enterColumn, w.convolvePair, w.mapColumn
	}
	for len(w.own) < workers {
		w.own = append(w.own, own{tiles: aligned[uint16](n.bands() * tile), sums: aligned[float32](2 * n.sums()),
			scratch: aligned[float32](2 * tile)})
	}
	if len(w.pairs) < images*n.pairs() {
		w.pairs = aligned[uint16](images * n.pairs())
		for i := range w.planes {
			w.planes[i] = aligned[uint16](images * n.c * n.plane) // zeros around the grid stay
		}
	}
}

// Forward computes the blocks for features h [images, H, W, c], in place: of each block's two layers, the first is
// ReLU(map(convolution)), and the second ReLU(features + map(convolution)) where features are what the block began
// with. Once ctx is done it returns its error, and h may be anything.
func (n *Network) Forward(ctx context.Context, h []float32, images int, w *Workspace) error {
	workers, size := parallel.Workers(), n.H*n.W*n.c
	group := n.together(images, workers)
	w.room(n, group, workers)
	defer func() { w.h, w.ctx = nil, nil }()
	for lo := 0; lo < images; lo += group {
		w.images = min(group, images-lo)
		w.h, w.ctx = h[lo*size:(lo+w.images)*size], ctx
		for w.layer = range n.layers {
			if w.layer == 0 {
				parallel.ForWorkers(w.images*n.columns, 1, workers, w.enter)
			} else {
				parallel.ForWorkers(w.images*n.c/2, 1, workers, w.convolve)
			}
			parallel.ForWorkers(w.images*n.columns, 1, workers, w.mapped)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// enterColumn rounds a column of an image's features.
func (w *Workspace) enterColumn(_, unit, _ int) {
	n := w.n
	image, column := unit/n.columns, unit%n.columns
	pairs := w.pairs[image*n.pairs()+column*n.blocks*n.blockPairs():]
	for y := range n.H {
		for x := column * side; x < min(column*side+side, n.W); x++ {
			spread(pairs[y/side*n.blockPairs()+(y%side*side+x%side)*2:], w.h[((image*n.H+y)*n.W+x)*n.c:][:n.c])
		}
	}
}

// convolvePair computes the depthwise convolution of two channels of an image.
func (w *Workspace) convolvePair(worker, unit, _ int) {
	if w.ctx.Err() != nil {
		return
	}
	n, o := w.n, &w.own[worker]
	image, c := unit/(n.c/2), unit%(n.c/2)*2
	from := w.planes[(w.layer-1)%2][image*n.c*n.plane:]
	for half := range 2 {
		expand(o.tiles, w.n.layers[w.layer].strips[(c+half)*n.strips:][:n.strips], n.list)
		for t := range n.tiles {
			sums(o.sums[half*n.sums()+t*n.columns*lanes*lanes:], from[(c+half)*n.plane+t*lanes*side*side:], o.tiles, n.list,
				n.columns, 2*side*n.pitch)
		}
	}
	pairs := w.pairs[image*n.pairs():]
	for column := range n.columns {
		for t := range n.tiles {
			block, at := column*n.blocks+t*lanes, (t*n.columns+column)*lanes*lanes
			pair(pairs[block*n.blockPairs()+c/2*Group:], o.sums[at:], o.sums[n.sums()+at:], n.scale[block*lanes:],
				2*n.blockPairs(), min(lanes, n.blocks-t*lanes))
		}
	}
}

// mapColumn computes the dense map of a column of an image, which ends the layer.
func (w *Workspace) mapColumn(worker, unit, _ int) {
	if w.ctx.Err() != nil {
		return
	}
	n := w.n
	image, column := unit/n.columns, unit%n.columns
	m := mapping{dst: w.planes[w.layer%2][image*n.c*n.plane+n.place(column, 0):], plane: n.plane,
		x:     w.pairs[image*n.pairs()+column*n.blocks*n.blockPairs():],
		pitch: n.blockPairs(), layer: &n.layers[w.layer], masks: n.masks[column*n.blocks/2:], blocks: n.blocks, groups: n.c / Group,
		scratch: w.own[worker].scratch, index: n.index, step: side * n.W * n.c}
	if w.layer > 0 {
		m.mode |= modeReLU
	}
	if w.layer > 0 && w.layer%2 == 0 {
		m.mode |= modeAdd
	}
	if w.layer == len(n.layers)-1 {
		m.mode |= modeRows
		if column*side >= n.W {
			return // columns come by fours, and this one has no pixels
		}
		m.rows = w.h[image*n.H*n.W*n.c+column*side*n.c:]
	}
	m.run()
}

// mapping is the dense map of the blocks of a column: dst [groups·32, plane], or rows, get bias + dense·x.
type mapping struct {
	dst          []uint16 // where the column's pixels begin; with modeAdd, what is added to
	plane        int      // from channel to channel
	x            []uint16 // [blocks, pitch]
	pitch        int
	layer        *layer
	masks        []uint32 // of two blocks each
	scratch      []float32
	blocks       int
	groups, mode int
	rows         []float32 // with modeRows, where the column's first pixel's features begin
	index        []int32   // of the positions of a block
	step         int       // from block to block
}
