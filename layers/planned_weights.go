package layers

import (
	"github.com/equivcnp/equivcnp/internal/bf16"
	"github.com/equivcnp/equivcnp/internal/bicubic"
	"github.com/equivcnp/equivcnp/internal/depthwise"
	"github.com/equivcnp/equivcnp/internal/hugepage"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/layers/internal/check"
	"github.com/equivcnp/equivcnp/layers/internal/nodal"
	"github.com/equivcnp/equivcnp/simd"
)

// Storage says which share of its convolution weights a planned layer stores, and in which form. The others are computed tile by
// tile in every call.
type Storage struct {
	// Share is the share that is stored, from 0 to 1. Tiles whose weights are stored are spread evenly among the others: while
	// one core waits for weights from memory, another is then likely to compute some.
	Share float64
	// BF16 stores weights as bfloat16, in half the memory (float32 only; float64 is stored as it is). A weight then differs by at
	// most one part in 2⁸, and by half of that on average; sums remain float32.
	BF16 bool
	// BF16Dense lets a separable convolution's dense map, and the features that go into it, be rounded to bfloat16
	// where that is faster (float32 only, bf16.HaveDots).
	BF16Dense bool
	// File, if not nil, has what Freeze wrote of a plan of the same layer; nothing is computed then, and Share and BF16
	// are the file's. What is wrong with it is the file's error, and the layer must not be used then.
	File Archive
	// Stop, if not nil, is called before every tile. Once it returns true, the remaining weights are not computed, and the layer
	// must not be used.
	Stop func() bool
}

// StorageBytes returns the memory that a layer with that many weights per pose needs to store all of them under an arrangement.
func StorageBytes[T Float](a *Arrangement[T], weights int, half bool) int64 {
	check.Given("StorageBytes", "a", a != nil)
	n := int64(a.Evaluations()) * int64(weights)
	if half && !a.Flat() && buffers.SizeOf[T]() == 4 {
		return n * 2
	}
	return n * int64(buffers.SizeOf[T]())
}

// Kept says what a planned layer stores.
type Kept struct {
	Bytes       int64   // of stored weights, and of those at nodes
	Evaluations int     // poses whose weights are computed in every call
	MulAdds     float64 // that this takes, without activations: of the WeightNet, or of interpolation where Interpolated
	// Interpolated says that weights come from the WeightNet at the nodes of a grid: under groups whose poses have two
	// coordinates, where there are many poses.
	Interpolated bool
	Rounded      Rounded
}

// Rounded says what a layer multiplies in bfloat16.
type Rounded struct {
	Weights  bool // those of the convolution that are stored
	Features bool // that stored weights are multiplied with
	Dense    bool // the dense map, and the features that go into it
}

// Or returns what at least one of two layers rounds.
func (r Rounded) Or(other Rounded) Rounded {
	return Rounded{Weights: r.Weights || other.Weights, Features: r.Features || other.Features, Dense: r.Dense || other.Dense}
}

// poseWeights holds the convolution weights of an arrangement, or the network that computes them.
type poseWeights[T Float] struct {
	net     *folded[T]
	most    int             // poses that a tile needs
	tall    int             // and rows
	window  []T             // multiplies every pose's weights; nil: nothing does
	slices  []simd.Dense[T] // the last layer, slice by slice
	mulAdds float64         // of the network, for a pose
	// what weights that are not stored are interpolated from, and those that are were; nil: the network computes them
	nodes *nodal.Table
	// table holds the stored weights, tile after tile and slice after slice, [slices, poses, width]; a pose that several tiles
	// need is stored for each. A flat arrangement is a single tile. starts has the place of each tile, or -1 if it is not stored.
	table  []T
	half   []simd.BF16
	starts []int
	dots   bool    // half holds the weights of groups of fours in the order of depthwise.Dots
	file   Archive // that they are part of, if they were read; it must stay reachable
}

// newPoseWeights computes what is to be stored. A flat arrangement always stores its few weights, in full precision.
// channelwise says that a channel has a weight of its own, as separable convolutions have.
func newPoseWeights[T Float](a *Arrangement[T], w *WeightNet[T], width int, channelwise bool, s Storage) poseWeights[T] {
	p := poseWeights[T]{net: w.fold(), mulAdds: w.MulAdds(), most: a.most, tall: a.tall, window: a.window.poses(),
		dots: channelwise && bf16.HaveDots() && width == depthwise.OrbitChannels && w.Out() > width && w.Out()%width == 0}
	if !a.Flat() {
		p.slices = p.net.columns(width)
		p.nodes = a.betweenNodes(p.net, width)
	}
	if s.File != nil {
		if p.freeze(s.File, a); s.File.Err() != nil {
			p.starts = nil // which may be of other tiles
		}
		return p
	}
	if a.Flat() {
		p.table = make([]T, a.Poses()*w.Out())
		p.net.forwardAll(p.table, a.table, a.Poses())
		scaleRows(p.table, a.window.poses(), w.Out())
		return p
	}
	total, passed := 0, 0.0
	for i := range a.tiles {
		start, size := -1, len(a.tiles[i].poses)*w.Out()
		if passed += float64(size); float64(total+size) <= s.Share*passed {
			start = total
			total += size
		}
		p.starts = append(p.starts, start)
	}
	if s.BF16 && buffers.SizeOf[T]() == 4 {
		p.half = make([]simd.BF16, total)
	} else {
		p.table = makeTable[T](total)
	}
	spaces := make([]workspace[T], workers())
	parallel.UntilWorkers(s.Stop, len(a.tiles), 1, len(spaces), func(worker, i, _ int) {
		t, ws := &a.tiles[i], &spaces[worker]
		if p.starts[i] < 0 {
			p.between(t) // now, so that calls leave no garbage
			return
		}
		lo, hi := p.starts[i], p.starts[i]+len(a.tiles[i].poses)*w.Out()
		if p.half == nil {
			p.evaluate(p.table[lo:hi], t, ws)
			return
		}
		full := buffers.Roomy(&ws.weights, hi-lo, a.most*w.Out())
		p.evaluate(full, t, ws)
		p.halve(p.half[lo:hi], any(full).([]float32), t, width)
	})
	return p
}

// halve rounds the weights of a tile to bfloat16, slice by slice.
func (p *poseWeights[T]) halve(dst []simd.BF16, w []float32, t *tile[T], width int) {
	dots := p.dotsOf(t)
	if dots == nil {
		simd.BF16FromF32(dst, w)
		return
	}
	for size := len(t.poses) * width; len(w) > 0; dst, w = dst[size:], w[size:] {
		dots.Pack(dst[:size], w[:size])
	}
}

// dotsOf returns how a tile's weights in bfloat16 are taken in pairs, or nil if they are not.
func (p *poseWeights[T]) dotsOf(t *tile[T]) *depthwise.Dots {
	if !p.dots || t.orbits == nil {
		return nil
	}
	return t.orbits.Dots()
}

// hugeTable is the size in bytes from which on a layer's weights are stored in huge pages. A single image then reads them faster.
// But the first touch of a huge page can take several times as long as that of its small pages, so the small tables of a plan for
// one completion do not use them.
const hugeTable = 32 << 20

func makeTable[T Float](n int) []T {
	if n*buffers.SizeOf[T]() >= hugeTable {
		return hugepage.Make[T](n, n)
	}
	return make([]T, n)
}

// tileWeights yields the weights of one tile, slice by slice. A slice is valid until the next one is requested.
type tileWeights[T Float] struct {
	*poseWeights[T]
	poses  int
	rows   *simd.DepthwiseRows // the tile's rows, for a depthwise convolution in float32
	orbits *depthwise.Orbits
	stored []T // all slices, if there are any in T
	half   []simd.BF16
	pairs  *depthwise.Dots // in whose order half is; slices then remain as they are, and part is the current one
	part   []simd.BF16
	// If there are none stored: [poses, hidden], the input of the network's last layer, or where the poses lie between
	// nodes; and what multiplies every pose's weights at the end.
	hidden, factors []T
	between         *bicubic.Plan
	w               *workspace[T]
}

// tile returns the weights that tile i needs.
func (p *poseWeights[T]) tile(a *Arrangement[T], i int, w *workspace[T]) tileWeights[T] {
	t := &a.tiles[i]
	v := tileWeights[T]{poseWeights: p, poses: len(t.poses), rows: t.rows, orbits: t.orbits, w: w}
	n := v.poses * p.net.out()
	switch start := p.starts[i]; {
	case start < 0:
		v.hidden, v.between, v.factors = p.hidden(t, w), p.between(t), p.factors(t, w)
	case p.half != nil:
		v.half, v.pairs = p.half[start:][:n], p.dotsOf(t)
	default:
		v.stored = p.table[start:][:n]
	}
	return v
}

// kept says what is stored.
func (p *poseWeights[T]) kept(a *Arrangement[T]) Kept {
	k := Kept{Bytes: int64(len(p.table)*buffers.SizeOf[T]()+2*len(p.half)) + p.nodes.Bytes(), Rounded: Rounded{Weights: len(p.half) > 0,
		Features: p.inPairs()}}
	for i, start := range p.starts {
		if start < 0 {
			k.Evaluations += len(a.tiles[i].poses)
		}
	}
	if k.MulAdds = float64(k.Evaluations) * p.mulAdds; p.nodes != nil {
		k.Interpolated, k.MulAdds = true, float64(k.Evaluations)*nodal.MulAdds*float64(p.net.out())
	}
	return k
}

// inPairs reports whether stored weights are multiplied in pairs with rounded features.
func (p *poseWeights[T]) inPairs() bool { return p.dots && len(p.half) > 0 }

// slice returns the weights [poses, width] of slice k, which starts at channel lo. They have just been read or computed, so they
// are in the second-level cache while the rows of the tile use them. Weights in pairs are for means alone, which finds them by itself.
func (v *tileWeights[T]) slice(k, lo, width int) []T {
	from, to := lo*v.poses, (lo+width)*v.poses
	if v.stored != nil {
		return v.stored[from:to]
	}
	if v.pairs != nil {
		v.part = v.half[from:to]
		return nil
	}
	dst := buffers.Roomy(&v.w.weights, to-from, v.most*width)
	if v.half != nil {
		simd.F32FromBF16(any(dst).([]float32), v.half[from:to])
	} else {
		v.compute(dst, v.hidden, v.between, v.factors, k, v.poses)
	}
	return dst
}

// compute sets dst [poses, width] to slice k of the weights of that many poses, given the network's hidden channels or
// where they lie between nodes.
func (p *poseWeights[T]) compute(dst, hidden []T, between *bicubic.Plan, factors []T, k, poses int) {
	if between != nil {
		p.nodes.Slice(buffers.F32(dst), between, k)
	} else {
		simd.DenseSwish(dst, hidden, &p.slices[k], poses)
	}
	scaleRows(dst, factors, p.slices[k].B.N())
}

// between returns where a tile's poses lie between the nodes, nil if weights are not interpolated.
func (p *poseWeights[T]) between(t *tile[T]) *bicubic.Plan {
	if p.nodes == nil {
		return nil
	}
	return placesOf(p.nodes, t)
}

// evaluate sets dst [slices, poses, width] to the weights of a tile.
func (p *poseWeights[T]) evaluate(dst []T, t *tile[T], w *workspace[T]) {
	hidden, between, factors, at, n := p.hidden(t, w), p.between(t), p.factors(t, w), 0, len(t.poses)
	for k := range p.slices {
		size := n * p.slices[k].B.N()
		p.compute(dst[at:at+size], hidden, between, factors, k, n)
		at += size
	}
}

// factors returns what multiplies the weights of a tile's poses; nothing without a window.
func (p *poseWeights[T]) factors(t *tile[T], w *workspace[T]) []T {
	return factorsOf(&w.factors, p.window, t.poses, p.most)
}

// hidden returns the result of the network's first two layers for a tile's poses, [poses, hidden]; nil if weights are interpolated.
func (p *poseWeights[T]) hidden(t *tile[T], w *workspace[T]) []T {
	if p.nodes != nil {
		return nil
	}
	n := p.net.net[1].B.N()
	out := buffers.Roomy(&w.hidden, len(t.poses)*n, p.most*n)
	throughLayers(out, t.table, &p.net.net[0], &p.net.net[1], buffers.Sized(&w.net, poseBlock*p.net.net[0].B.N()))
	return out
}

// workspace is the part of one goroutine.
type workspace[T Float] struct {
	weights          []T         // a slice of a tile's weights
	net              []T         // scratch for computing them
	hidden, factors  []T         // the input of the WeightNet's last layer, for the poses of a tile, and the window there
	part, sum, dense []T         // rows of a slice, and all channels before and after the dense map
	space, rows      []T         // scratch of the dense map, and rows of its results before they are sliced
	half             []simd.BF16 // rows before the dense map, rounded
	tile             tileWeights[T]
	features         []simd.BF16 // of the images of the pass, if tiles have weights in bfloat16 in pairs; of all goroutines
	_                [64]byte
}

// betweenNodes returns a network's weights at the nodes of a grid, in slices of width channels, or nil if the network
// should compute all poses.
func (a *Arrangement[T]) betweenNodes(net *folded[T], width int) *nodal.Table {
	if !nodal.Smooth[T](a.dim, a.poses) || net.in() != a.dim {
		return nil
	}
	tables := make([][]float32, len(a.tiles))
	for i := range a.tiles {
		tables[i] = buffers.F32(a.tiles[i].table)
	}
	return a.grids.FineEnough(tables, net.out(), width, func(dst, poses []float32, _ bool) {
		net.forwardAll(any(dst).([]T), any(poses).([]T), len(poses)/2)
	})
}

// isSliced reports whether the weights of tile i come slice by slice, anySliced whether those of one do, allSliced whether all do.
func (p *poseWeights[T]) isSliced(i int) bool { return p.starts[i] >= 0 || p.nodes != nil }

func (p *poseWeights[T]) anySliced() bool { return len(p.table)+len(p.half) > 0 || p.nodes != nil }

func (p *poseWeights[T]) allSliced() bool {
	for i := range p.starts {
		if !p.isSliced(i) {
			return false
		}
	}
	return true
}
