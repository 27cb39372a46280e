package layers

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/equivcnp/equivcnp/internal/frozen"
	"github.com/equivcnp/equivcnp/internal/hugepage"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/internal/spectral"
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
	// where that is faster (float32 only, simd.HaveDots).
	BF16Dense bool
	// File, if not nil, has what Freeze wrote of a plan of the same layer; nothing is computed then, and Share and BF16
	// are the file's. What is wrong with it is the file's error, and the layer must not be used then.
	File *frozen.File
	// Stop, if not nil, is called before every tile. Once it returns true, the remaining weights are not computed, and the layer
	// must not be used.
	Stop func() bool
}

// StorageBytes is the memory that a layer with that many weights per pose needs to store all of them under an arrangement.
func StorageBytes[T Float](a *Arrangement[T], weights int, bf16 bool) int64 {
	checkGiven("StorageBytes", "a", a != nil)
	n := int64(a.Evaluations()) * int64(weights)
	if bf16 && !a.Flat() && sizeof[T]() == 4 {
		return n * 2
	}
	return n * int64(sizeof[T]())
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

// Or says what one of two layers rounds.
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
	nodes *nodeTable
	// table holds the stored weights, tile after tile and slice after slice, [slices, poses, width]; a pose that several tiles
	// need is stored for each. A flat arrangement is a single tile. starts has the place of each tile, or -1 if it is not stored.
	table  []T
	half   []simd.BF16
	starts []int
	dots   bool         // half holds the weights of groups of fours in the order of simd.DepthwiseDots
	file   *frozen.File // that they are part of, if they were read; it must stay reachable
}

// newPoseWeights computes what is to be stored. A flat arrangement always stores its few weights, in full precision.
// depthwise says that a channel has a weight of its own, as separable convolutions have.
func newPoseWeights[T Float](a *Arrangement[T], w *WeightNet[T], width int, depthwise bool, s Storage) poseWeights[T] {
	p := poseWeights[T]{net: w.fold(), mulAdds: w.MulAdds(), most: a.most, tall: a.tall, window: a.window.poses(),
		dots: depthwise && simd.HaveDots() && width == simd.OrbitChannels && w.Out() > width && w.Out()%width == 0}
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
	if s.BF16 && sizeof[T]() == 4 {
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
		full := roomy(&ws.weights, hi-lo, a.most*w.Out())
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
func (p *poseWeights[T]) dotsOf(t *tile[T]) *simd.DepthwiseDots {
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
	if n*sizeof[T]() >= hugeTable {
		return hugepage.Make[T](n, n)
	}
	return make([]T, n)
}

// tileWeights yields the weights of one tile, slice by slice. A slice is valid until the next one is requested.
type tileWeights[T Float] struct {
	*poseWeights[T]
	poses  int
	rows   *simd.DepthwiseRows // the tile's rows, for a depthwise convolution in float32
	orbits *simd.DepthwiseOrbits
	stored []T // all slices, if there are any in T
	half   []simd.BF16
	pairs  *simd.DepthwiseDots // in whose order half is; slices then remain as they are, and part is the current one
	part   []simd.BF16
	// If there are none stored: [poses, hidden], the input of the network's last layer, or where the poses lie between
	// nodes; and what multiplies every pose's weights at the end.
	hidden, factors []T
	between         *simd.BicubicPlan
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
	k := Kept{Bytes: int64(len(p.table)*sizeof[T]()+2*len(p.half)) + p.nodes.bytes(), Rounded: Rounded{Weights: len(p.half) > 0,
		Features: p.inPairs()}}
	for i, start := range p.starts {
		if start < 0 {
			k.Evaluations += len(a.tiles[i].poses)
		}
	}
	if k.MulAdds = float64(k.Evaluations) * p.mulAdds; p.nodes != nil {
		k.Interpolated, k.MulAdds = true, float64(k.Evaluations)*nodeMulAdds*float64(p.net.out())
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
	dst := roomy(&v.w.weights, to-from, v.most*width)
	if v.half != nil {
		simd.F32FromBF16(any(dst).([]float32), v.half[from:to])
	} else {
		v.compute(dst, v.hidden, v.between, v.factors, k, v.poses)
	}
	return dst
}

// compute sets dst [poses, width] to slice k of the weights of that many poses, given the network's hidden channels or
// where they lie between nodes.
func (p *poseWeights[T]) compute(dst, hidden []T, between *simd.BicubicPlan, factors []T, k, poses int) {
	if between != nil {
		p.nodes.slice(f32(dst), between, k)
	} else {
		simd.DenseSwish(dst, hidden, &p.slices[k], poses)
	}
	scaleRows(dst, factors, p.slices[k].B.N())
}

// between returns where a tile's poses lie between the nodes, nil if weights are not interpolated.
func (p *poseWeights[T]) between(t *tile[T]) *simd.BicubicPlan {
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
	out := roomy(&w.hidden, len(t.poses)*n, p.most*n)
	throughLayers(out, t.table, &p.net.net[0], &p.net.net[1], sized(&w.net, poseBlock*p.net.net[0].B.N()))
	return out
}

// poseBlock is how many poses pass through two layers of a WeightNet at a time, so that the intermediate results stay in the
// first-level cache.
const poseBlock = 42

// throughLayers sets dst [poses, out] to the result of two layers for poses. between is scratch for poseBlock results of the
// first layer.
func throughLayers[T Float](dst, poses []T, first, second *simd.Dense[T], between []T) {
	e, mid, out := first.B.K(), first.B.N(), second.B.N()
	for lo, n := 0, len(poses)/e; lo < n; lo += poseBlock {
		m := min(poseBlock, n-lo)
		simd.DenseSwish(between[:m*mid], poses[lo*e:(lo+m)*e], first, m)
		simd.DenseSwish(dst[lo*out:(lo+m)*out], between[:m*mid], second, m)
	}
}

// copyRows copies rows of c elements, dstride and sstride apart.
func copyRows[T Float](dst []T, dstride int, src []T, sstride, c, rows int) {
	switch c { // a call for each row would cost more than the row
	case sliceWidth:
		for i := range rows {
			*(*[sliceWidth]T)(dst[i*dstride:]) = *(*[sliceWidth]T)(src[i*sstride:])
		}
		return
	case simd.OrbitChannels:
		for i := range rows {
			*(*[simd.OrbitChannels]T)(dst[i*dstride:]) = *(*[simd.OrbitChannels]T)(src[i*sstride:])
		}
		return
	}
	for i := range rows {
		copy(dst[i*dstride:][:c], src[i*sstride:])
	}
}

// Workspace is the scratch memory of planned layers. It grows as needed and serves one call at a time.
type Workspace[T Float] struct {
	workers    []workspace[T]
	pass       *pass[T] // the current one
	transforms transformPass[T]
	sums       []T // of tiles that go slice by slice
	features   []simd.BF16
}

// Bytes is the size of the workspace.
func (w *Workspace[T]) Bytes() int64 {
	n, half := 0, 0
	for i := range w.workers {
		p := &w.workers[i]
		for _, b := range [][]T{p.weights, p.net, p.hidden, p.part, p.sum, p.dense, p.space, p.rows} {
			n += cap(b)
		}
		half += cap(p.half)
	}
	return 2*int64(half) + int64(n+cap(w.sums))*int64(sizeof[T]()) + 2*int64(cap(w.features)) + w.transforms.bytes()
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

// sized returns a buffer with n elements, allocated anew if it is too small.
func sized[T Float](buf *[]T, n int) []T { return roomy(buf, n, n+n/8) }

// roomy is sized for tiles: room is what the largest of them needs. Buffers that grew from tile to tile would leave
// several times their size to the garbage collector, beside the limit that a plan was given.
func roomy[T Float](buf *[]T, n, room int) []T {
	*buf = reuse.Roomy(*buf, n, max(n, room))
	return *buf
}

// flatRows is how many rows of a flat arrangement a goroutine computes at a time: a multiple of the rows that are computed
// together, and few enough for their sums to stay in the first-level cache until the dense map.
const flatRows = 64

// sliceWidth is how many channels of a tiled arrangement's features are stored side by side. The rows of a tile gather from many
// more points than the tile has, and have many weights; a slice of both stays in the second-level cache while all rows use it. Rows
// that come in fours have slices of simd.OrbitChannels.
const sliceWidth = 32

// width is the number of channels in a slice of features with c channels. Features under an arrangement are stored slice by
// slice, [c/width, rows, width]; the last slice has the remaining channels.
func (a *Arrangement[T]) width(c int) int {
	if a.Flat() {
		return max(c, 1)
	}
	return max(1, min(c, a.slice))
}

// Gather copies the features of one row to dst [c]. f holds one feature set [rows, c] in the form of the arrangement.
func (a *Arrangement[T]) Gather(dst, f []T, row int) {
	for lo, w := 0, 0; lo < len(dst); lo += w {
		w = min(a.width(len(dst)), len(dst)-lo)
		copy(dst[lo:lo+w], f[lo*a.Rows+row*w:])
	}
}

// rowLayer is a layer that computes runs of rows.
type rowLayer[T Float] interface {
	// rows computes rows lo to hi of some images of the pass with the weights that the rows' pose numbers refer to.
	rows(s *pass[T], w *workspace[T], weights *tileWeights[T], lo, hi, image, images int)
}

// RowRun is rows Lo to Hi of an arrangement. Of a flat one, those that begin and end at multiples of 8 are fastest.
type RowRun struct{ Lo, Hi int }

// pass is one call of a layer's Forward: it sets dst [batch, rows, out] to the layer of f [batch, rows, in], or adds it if add is
// set.
type pass[T Float] struct {
	a       *Arrangement[T]
	weights *poseWeights[T]
	layer   rowLayer[T]
	dst, f  []T
	add     bool
	batch   int
	runs    []RowRun // of a flat arrangement: the rows to compute; nil: all
	base    []T      // what rows that are added to begin with; nil: what dst holds
	sums    []T      // [images, rows, in]: the sums of the rows, if transforms or slices have computed them
	slabs   bool     // transforms have, and sums and dst stand slab by slab
	sliced  bool     // slices have, of the stored tiles; first and images are those images
	split   bool     // stored tiles and others take turns
	first   int
	images  int
	ctx     context.Context
	stopped atomic.Bool
	all     tileWeights[T]
	ws      *Workspace[T]
	// The methods flat, tile and slice as function values, bound once, so that passing them to goroutines does not allocate.
	runFlat, runTile, runSlice func(worker, i, _ int)
}

// each computes a layer in parallel, for runs of rows of every image: those given, or nil for all. It returns early,
// with the context's error, once ctx is done. Other arguments are as in pass.
func (a *Arrangement[T]) each(ctx context.Context, weights *poseWeights[T], layer rowLayer[T], dst, f []T, batch int, add bool,
	runs []RowRun, base []T,
	ws *Workspace[T]) error {
	s := ws.pass
	if s == nil {
		s = &pass[T]{}
		s.runFlat, s.runTile, s.runSlice = s.flat, s.tile, s.slice
		ws.pass = s
	}
	s.runs, s.base, s.sums, s.slabs = runs, base, ws.transforms.sums, ws.transforms.sums != nil && ws.transforms.slabs
	s.a, s.weights, s.layer, s.dst, s.f, s.add, s.batch, s.ctx, s.ws = a, weights, layer, dst, f, add, batch, ctx, ws
	s.split, s.sliced, s.first, s.images = false, false, 0, batch
	s.stopped.Store(false)
	n := workers()
	for len(ws.workers) < n {
		ws.workers = append(ws.workers, workspace[T]{})
	}
	if a.Flat() {
		s.all = tileWeights[T]{poseWeights: weights, poses: a.Poses(), stored: weights.table}
		parallel.ForWorkers(batch*s.chunks(), 1, n, s.runFlat)
	} else {
		s.tiles(n)
	}
	s.layer, s.dst, s.f, s.ctx, s.runs, s.base, s.sums = nil, nil, nil, nil, nil, nil, nil // do not keep the caller's data alive
	return ctx.Err()
}

// checkRuns panics on runs that a flat arrangement does not have, and on an arrangement that is not flat.
func (a *Arrangement[T]) checkRuns(where string, runs []RowRun) {
	if !a.Flat() {
		panic("layers: " + where + ": rows by themselves need a flat arrangement")
	}
	for _, r := range runs {
		if r.Lo < 0 || r.Hi < r.Lo || r.Hi > a.Rows {
			panic(fmt.Sprintf("layers: %s: rows %d to %d, need a part of 0 to %d", where, r.Lo, r.Hi, a.Rows))
		}
	}
}

// stop reports whether the context is done.
func (s *pass[T]) stop() bool {
	if !s.stopped.Load() && s.ctx.Err() != nil {
		s.stopped.Store(true)
	}
	return s.stopped.Load()
}

// chunks is how many runs of rows an image has under a flat arrangement.
func (s *pass[T]) chunks() int {
	if s.runs != nil {
		return len(s.runs)
	}
	return (s.a.Rows + flatRows - 1) / flatRows
}

// flat computes a run of rows of one image.
func (s *pass[T]) flat(worker, i, _ int) {
	if s.stop() {
		return
	}
	n := s.chunks()
	run := RowRun{i % n * flatRows, min((i%n+1)*flatRows, s.a.Rows)}
	if s.runs != nil {
		run = s.runs[i%n]
	}
	s.layer.rows(s, &s.ws.workers[worker], &s.all, run.Lo, run.Hi, i/n, 1)
}

// tile computes a tile of the pass's images, unless its turn is another.
func (s *pass[T]) tile(worker, i, _ int) {
	if s.stop() || s.split && s.sliced != s.weights.isSliced(i) {
		return
	}
	t, w := &s.a.tiles[i], &s.ws.workers[worker]
	w.tile = s.weights.tile(s.a, i, w)
	s.layer.rows(s, w, &w.tile, t.lo, t.hi, s.first, s.images)
}

// denseSlices is a linear map whose results are stored slice by slice.
type denseSlices[T Float] struct {
	in, out, width int
	packed         *simd.Packed[T]
	tiles          *simd.PackedTiles // instead of packed, for float32 in a single slice
	dots           *simd.PackedDots  // instead of either, for a map of features that are rounded to bfloat16
	bias           []T
}

// denseParts is how many bfloat16 numbers stand for one of a dense map where there are tiles: two have a float32's
// precision, as GemmTilesF32 says.
const denseParts = 2

// denseSpace is the most elements of scratch memory that a dense map of that many channels needs (PackedTiles.TilesSpace).
func denseSpace(channels int) int { return 32*channels*denseParts/2 + 32*32 + 16 }

// newDenseSlices packs weight [out, in]. half lets it and the features be rounded to bfloat16, where that is faster.
func newDenseSlices[T Float](weight, bias []T, in, out, width int, half bool) denseSlices[T] {
	d := denseSlices[T]{in: in, out: out, width: width, bias: append([]T(nil), bias...)}
	if w, ok := any(weight).([]float32); ok && half && simd.HaveDots() {
		if d.dots = simd.PackDotsTransposed(w, in, in, out); d.dots != nil {
			return d
		}
	}
	if w, ok := any(weight).([]float32); ok && width >= out {
		d.tiles = simd.PackTilesTransposed(w, in, in, out, denseParts)
		return d
	}
	d.packed = simd.PackTransposed(weight[:out*in], in, in, out)
	return d
}

// denseRows is how many rows pass through the map before their results are sliced, so that both stay in the first-level
// cache. The panels of a packed matrix are wider than a slice.
const denseRows = 56

// forward computes the results of x [n, in] by blocks of rows and by slices. It writes the results of rows lo to lo+rows-1 for
// the slice that starts at channel to the place that y returns.
func (d *denseSlices[T]) forward(x []T, n int, act simd.Activation, w *workspace[T], y func(lo, rows, channel, width int) []T) {
	if d.tiles != nil {
		need := d.tiles.TilesSpace()
		space := any(roomy(&w.space, need, need)).([]float32)
		simd.GemmTilesF32(any(y(0, n, 0, d.out)).([]float32), d.out, any(x).([]float32), d.in, d.tiles, any(d.bias).([]float32),
			act, n, space)
		return
	}
	multiply, block := func(to []T, lo, rows int) {
		simd.GemmPacked(to, d.out, x[lo*d.in:(lo+rows)*d.in], d.in, d.packed, d.bias, act, rows)
	}, denseRows
	if d.dots != nil {
		w.half = reuse.Roomy(w.half, simd.DotsRows(n)*d.in, simd.DotsRows(n)*d.in*9/8)
		half := w.half
		simd.BF16FromF32(half[:n*d.in], any(x[:n*d.in]).([]float32))
		multiply, block = func(to []T, lo, rows int) {
			simd.GemmDotsF32(any(to).([]float32), d.out, half[lo*d.in:], d.dots, any(d.bias).([]float32), act, rows)
		}, simd.DotsRows(denseRows)
	}
	if d.width >= d.out {
		multiply(y(0, n, 0, d.out), 0, n)
		return
	}
	for lo := 0; lo < n; lo += block {
		rows := min(block, n-lo)
		all := sized(&w.rows, block*d.out)
		multiply(all, lo, rows)
		for c := 0; c < d.out; c += d.width {
			width := min(d.width, d.out-c)
			copyRows(y(lo, rows, c, width), width, all[c:], d.out, width, rows)
		}
	}
}

// PlannedSeparable is a separable convolution over an arrangement, ready for inference: immutable and safe for concurrent
// use.
type PlannedSeparable[T Float] struct {
	a          *Arrangement[T]
	weights    poseWeights[T]
	dense      denseSlices[T]
	transforms *spectral.Plan // nil: sums over pairs
}

// Plan compiles the layer for an arrangement of its radius. The plan keeps the parameters as they are now.
func (l *SeparableLieConv[T]) Plan(a *Arrangement[T], s Storage) *PlannedSeparable[T] {
	checkGiven("SeparableLieConv.Plan", "a", a != nil)
	p := l.Pointwise
	planned := &PlannedSeparable[T]{
		a: a, weights: newPoseWeights(a, l.Depthwise.WeightNet, a.width(p.In), true, s),
		dense: newDenseSlices(p.Weight, p.Bias, p.In, p.Out, a.width(p.Out), s.BF16Dense),
	}
	switch {
	case s.File != nil:
		planned.freezeTransforms(s.File)
	case a.transforms != nil:
		planned.transforms = spectral.New(a.transforms, any(planned.weights.table).([]float32), p.In)
	}
	return planned
}

// Arrangement is that which the layer was planned for.
func (l *PlannedSeparable[T]) Arrangement() *Arrangement[T] { return l.a }

// Kept says what the layer stores.
func (l *PlannedSeparable[T]) Kept() Kept {
	k := l.weights.kept(l.a)
	k.Rounded.Dense = l.dense.dots != nil
	if l.transforms != nil {
		k.Bytes += l.transforms.Bytes()
	}
	return k
}

// Forward sets dst [batch, rows, out] to ReLU(convolution of f [batch, rows, in]) or, if add is set, to ReLU(dst + convolution):
// the two halves of a residual block. Both have the form of the arrangement. dst and f must not overlap.
func (l *PlannedSeparable[T]) Forward(ctx context.Context, dst, f []T, batch int, add bool, ws *Workspace[T]) error {
	a, in, out := l.a, l.dense.in, l.dense.out
	checkGiven("PlannedSeparable", "ws", ws != nil)
	checkLen("PlannedSeparable", "f", len(f), batch, a.Rows, in)
	checkLen("PlannedSeparable", "dst", len(dst), batch, a.Rows, out)
	if l.transforms != nil {
		return a.transformed(ctx, l.transforms, 1, &l.weights, l, dst, f, batch, add, nil, nil, form{}, ws)
	}
	return a.each(ctx, &l.weights, l, dst, f, batch, add, nil, nil, ws)
}

// Slabs reports whether there is ForwardSlabs.
func (l *PlannedSeparable[T]) Slabs() bool {
	return l.transforms != nil && l.a.inSlabs(l.dense.in, l.dense.out)
}

// ForwardSlabs is Forward, with the same bits, for dst [batch, out/16, rows, 16] and f [batch, in/16, rows, 16]. Large
// images are faster so.
func (l *PlannedSeparable[T]) ForwardSlabs(ctx context.Context, dst, f []T, batch int, add bool, ws *Workspace[T]) error {
	a := l.a
	checkGiven("PlannedSeparable", "ws", ws != nil)
	checkGiven("PlannedSeparable", "Slabs", l.Slabs())
	checkLen("PlannedSeparable", "f", len(f), batch, a.Rows, l.dense.in)
	checkLen("PlannedSeparable", "dst", len(dst), batch, a.Rows, l.dense.out)
	return a.transformed(ctx, l.transforms, 1, &l.weights, l, dst, f, batch, add, nil, nil, form{true, true}, ws)
}

// ForwardRows is Forward for some rows of a flat arrangement; base, unless nil, is what the convolution is added to. Other rows of dst stay
// as they are, and the bits of a row do not depend on which others there are. Runs must not overlap, and are best of 64 rows or
// less: each is computed by one goroutine.
func (l *PlannedSeparable[T]) ForwardRows(ctx context.Context, dst, f, base []T, batch int, runs []RowRun, ws *Workspace[T]) error {
	a := l.a
	a.checkRuns("PlannedSeparable", runs)
	checkGiven("PlannedSeparable", "ws", ws != nil)
	checkLen("PlannedSeparable", "f", len(f), batch, a.Rows, l.dense.in)
	checkLen("PlannedSeparable", "dst", len(dst), batch, a.Rows, l.dense.out)
	if base != nil {
		checkLen("PlannedSeparable", "base", len(base), len(dst))
	}
	if l.transforms != nil {
		return a.transformed(ctx, l.transforms, 1, &l.weights, l, dst, f, batch, base != nil, runs, base, form{}, ws)
	}
	return a.each(ctx, &l.weights, l, dst, f, batch, base != nil, runs, base, ws)
}

func (l *PlannedSeparable[T]) rows(s *pass[T], w *workspace[T], weights *tileWeights[T], lo, hi, image, images int) {
	if s.slabs {
		l.slabRows(s, w, weights, lo, hi, image)
		return
	}
	a, in, out, rows := l.a, l.dense.in, l.dense.out, hi-lo
	f := s.f[image*a.Rows*in : (image+images)*a.Rows*in]
	var sum []T
	switch {
	case s.sliced:
		sum = s.sums
	case s.sums != nil:
		sum = s.sums[(image*a.Rows+lo)*in : (image*a.Rows+hi)*in]
		s.ws.transforms.repair(lo, hi, image, func(i, end int) {
			a.depthwise(sum[(i-lo)*in:(end-lo)*in], f, weights, i, end, in, a.width(in), w)
		})
	default:
		sum = roomy(&w.sum, images*rows*in, images*a.tall*in)
		a.depthwise(sum, f, weights, lo, hi, in, a.width(in), w)
	}
	for b := range images {
		to := s.dst[(image+b)*a.Rows*out:][:a.Rows*out]
		var x []T
		if s.sliced {
			if x = sum[(b*a.Rows+lo)*in : (b*a.Rows+hi)*in]; a.window != nil {
				scaleRows(x, a.window.row[lo:hi], in)
			}
		} else {
			x = sum[b*rows*in : (b+1)*rows*in]
		}
		at := func(l, n, c, width int) []T { return to[c*a.Rows+(lo+l)*width:][:n*width] }
		if !s.add {
			l.dense.forward(x, rows, simd.ActReLU, w, at)
			continue
		}
		if s.base != nil { // rows lie side by side: the arrangement is flat
			copy(to[lo*out:hi*out], s.base[((image+b)*a.Rows+lo)*out:])
		}
		y := roomy(&w.dense, rows*out, a.tall*out)
		l.dense.forward(x, rows, simd.ActNone, w, func(l, n, c, width int) []T { return y[c*rows+l*width:][:n*width] })
		for c := 0; c < out; c += l.dense.width {
			n := min(l.dense.width, out-c)
			h := at(0, rows, c, n)
			simd.Add(h, h, y[c*rows:][:rows*n])
			simd.ReLU(h, h)
		}
	}
}

// slabRows is rows for an image whose features and sums stand slab by slab.
func (l *PlannedSeparable[T]) slabRows(s *pass[T], w *workspace[T], weights *tileWeights[T], lo, hi, image int) {
	a, t, in, out := l.a, &s.ws.transforms, l.dense.in, l.dense.out
	x := s.slabSums(w, lo, hi, image, in)
	t.repair(lo, hi, image, func(i, end int) {
		a.depthwise(x[(i-lo)*in:(end-lo)*in], t.rowsOf(a, image, in), weights, i, end, in, in, w)
	})
	act := simd.ActReLU
	if s.add {
		act = simd.ActNone
	}
	y := sized(&w.dense, (hi-lo)*out)
	l.dense.forward(x, hi-lo, act, w, func(int, int, int, int) []T { return y })
	s.toSlabs(w, y, lo, hi, image, out)
}

// slabSums gathers the sums of rows lo to hi of an image.
func (s *pass[T]) slabSums(w *workspace[T], lo, hi, image, c int) []T {
	x := sized(&w.sum, (hi-lo)*c)
	first, points := s.ws.transforms.first, s.ws.transforms.points
	GatherSlabs(x, s.sums[image*points*c:(image+1)*points*c], c, lo-first, hi-first)
	return x
}

// toSlabs sets rows lo to hi of an image of dst to y [hi-lo, c], or to ReLU(dst + y).
func (s *pass[T]) toSlabs(w *workspace[T], y []T, lo, hi, image, c int) {
	dst := s.dst[image*s.a.Rows*c : (image+1)*s.a.Rows*c]
	for slab := range c / slabWidth {
		to := s.a.slabOf(dst, slab, lo, hi)
		if !s.add {
			spectral.CopyLines(f32(to), slabWidth, f32(y[slab*slabWidth:]), c, hi-lo)
			continue
		}
		part := sized(&w.part, len(to))
		spectral.CopyLines(f32(part), slabWidth, f32(y[slab*slabWidth:]), c, hi-lo)
		simd.Add(to, to, part)
		simd.ReLU(to, to)
	}
}

// depthwise sets out [images, hi-lo, c] to the mean of weights ⊙ features over the pairs of each row. f and weights are stored in
// slices of width channels.
func (a *Arrangement[T]) depthwise(out, f []T, weights *tileWeights[T], lo, hi, c, width int, w *workspace[T]) {
	a.means(out, f, weights, lo, hi, c, width, w)
	if a.window != nil {
		for ; len(out) > 0; out = out[(hi-lo)*c:] {
			scaleRows(out, a.window.row[lo:hi], c)
		}
	}
}

// means is depthwise with the weights' sums divided by the number of pairs.
func (a *Arrangement[T]) means(out, f []T, weights *tileWeights[T], lo, hi, c, width int, w *workspace[T]) {
	if a.direct != nil {
		all := weights.slice(0, 0, c)
		simd.DepthwisePlanF32(any(out).([]float32), any(f).([]float32), any(all).([]float32), a.direct(), lo, hi, c, true)
		return
	}
	from, to, rows := a.offsets[lo], a.offsets[hi], hi-lo
	index, pose := a.pairs()
	offsets, index, pose := a.offsets[lo:hi+1], index[from:to], pose[from:to]
	if width >= c {
		all := weights.slice(0, 0, c)
		for b := range len(f) / max(1, a.Rows*c) {
			simd.Depthwise(out[b*rows*c:(b+1)*rows*c], f[b*a.Rows*c:(b+1)*a.Rows*c], all, offsets, index, pose, c, true)
		}
		return
	}
	// A slice of the weights serves all images before the next slice.
	at := between{c: c, out: rows * c, f: a.Rows * c, images: len(f) / max(1, a.Rows*c)}
	for j, n := 0, 0; j < c; j += n {
		n = min(width, c-j)
		at.from = j * a.Rows
		weights.means(out[j:], f, at, weights.slice(j/width, j, n), offsets, index, pose, n)
	}
}

// PlannedEmbedding is a LieConv on several feature sets side by side (density and signal) followed by a linear map of all
// their results, compiled into one:
//
//	out_i = W·[vec(P¹_i); vec(P²_i); ..]/n_i + b/n_i + c
//
// where W is the product of the two linear maps, b the first one's bias mapped by the second, and c the second one's bias.
type PlannedEmbedding[T Float] struct {
	a        *Arrangement[T]
	weights  poseWeights[T]
	channels int // of all sets together
	dense    denseSlices[T]
	shift    []T // b
	// nil: sums over pairs. A channel of it is one of P, which is a channel's feature with a weight of the WeightNet's
	transforms *spectral.Plan
}

// PlanEmbedding compiles the layer together with the linear map next. The layer is applied to that many feature sets, and next to
// its concatenated results.
func (l *LieConv[T]) PlanEmbedding(a *Arrangement[T], s Storage, sets int, next *Linear[T]) *PlannedEmbedding[T] {
	checkGiven("PlanEmbedding", "a", a != nil)
	checkGiven("PlanEmbedding", "next", next != nil)
	checkLen("PlanEmbedding", "next.In", next.In, sets, l.Out)
	checkLen("PlanEmbedding", "next.Weight", len(next.Weight), next.Out, next.In)
	checkLen("PlanEmbedding", "next.Bias", len(next.Bias), next.Out)
	k := l.Linear.In
	product := make([]T, next.Out*sets*k)
	shift := make([]T, next.Out)
	parallel.For(next.Out, 16, func(lo, hi int) {
		sum := make([]float64, k)
		for o := lo; o < hi; o++ {
			b := 0.0
			for set := range sets {
				clear(sum)
				for m, v := range next.Weight[o*next.In+set*l.Out:][:l.Out] {
					for i, w := range l.Linear.Weight[m*k : (m+1)*k] {
						sum[i] += float64(v) * float64(w)
					}
					b += float64(v) * float64(l.Linear.Bias[m])
				}
				for i, v := range sum {
					product[(o*sets+set)*k+i] = T(v)
				}
			}
			shift[o] = T(b)
		}
	})
	p := &PlannedEmbedding[T]{
		a: a, weights: newPoseWeights(a, l.WeightNet, l.WeightNet.Out(), false, s), channels: sets * l.In,
		dense: newDenseSlices(product, next.Bias, sets*k, next.Out, a.width(next.Out), false), shift: shift,
	}
	if mid := l.WeightNet.Out(); a.transforms != nil && len(p.weights.table) == a.poses*mid { // a file that failed may have fewer
		all := make([]float32, 0, a.poses*sets*k)
		for table := f32(p.weights.table); len(table) > 0; table = table[mid:] {
			for range p.channels {
				all = append(all, table[:mid]...)
			}
		}
		p.transforms = spectral.New(a.transforms, all, sets*k)
	}
	return p
}

// Arrangement is that which the layer was planned for.
func (l *PlannedEmbedding[T]) Arrangement() *Arrangement[T] { return l.a }

// Kept says what the layer stores.
func (l *PlannedEmbedding[T]) Kept() Kept {
	k := l.weights.kept(l.a)
	if l.transforms != nil {
		k.Bytes += l.transforms.Bytes()
	}
	return k
}

// Forward sets dst [batch, rows, out], in the form of the arrangement, for features f [batch, rows, sets·in].
func (l *PlannedEmbedding[T]) Forward(ctx context.Context, dst, f []T, batch int, ws *Workspace[T]) error {
	a, in, out := l.a, l.channels, l.dense.out
	checkGiven("PlannedEmbedding", "ws", ws != nil)
	checkLen("PlannedEmbedding", "f", len(f), batch, a.Rows, in)
	checkLen("PlannedEmbedding", "dst", len(dst), batch, a.Rows, out)
	return l.forward(ctx, dst, f, batch, nil, form{}, ws)
}

// Slabs reports whether there is ForwardSlabs.
func (l *PlannedEmbedding[T]) Slabs() bool {
	return l.transforms != nil && l.a.inSlabs(l.dense.in, l.dense.out)
}

// ForwardSlabs is Forward, with the same bits, for dst [batch, out/16, rows, 16].
func (l *PlannedEmbedding[T]) ForwardSlabs(ctx context.Context, dst, f []T, batch int, ws *Workspace[T]) error {
	checkGiven("PlannedEmbedding", "ws", ws != nil)
	checkGiven("PlannedEmbedding", "Slabs", l.Slabs())
	checkLen("PlannedEmbedding", "f", len(f), batch, l.a.Rows, l.channels)
	checkLen("PlannedEmbedding", "dst", len(dst), batch, l.a.Rows, l.dense.out)
	return l.forward(ctx, dst, f, batch, nil, form{dst: true}, ws)
}

// ForwardRows is Forward for some rows, as that of a PlannedSeparable.
func (l *PlannedEmbedding[T]) ForwardRows(ctx context.Context, dst, f []T, batch int, runs []RowRun, ws *Workspace[T]) error {
	a := l.a
	a.checkRuns("PlannedEmbedding", runs)
	checkGiven("PlannedEmbedding", "ws", ws != nil)
	checkLen("PlannedEmbedding", "f", len(f), batch, a.Rows, l.channels)
	checkLen("PlannedEmbedding", "dst", len(dst), batch, a.Rows, l.dense.out)
	return l.forward(ctx, dst, f, batch, runs, form{}, ws)
}

func (l *PlannedEmbedding[T]) forward(ctx context.Context, dst, f []T, batch int, runs []RowRun, slabs form, ws *Workspace[T]) error {
	if l.transforms != nil {
		return l.a.transformed(ctx, l.transforms, l.dense.in/l.channels, &l.weights, l, dst, f, batch, false, runs, nil, slabs, ws)
	}
	return l.a.each(ctx, &l.weights, l, dst, f, batch, false, runs, nil, ws)
}

func (l *PlannedEmbedding[T]) rows(s *pass[T], w *workspace[T], weights *tileWeights[T], lo, hi, image, images int) {
	a, in, out := l.a, l.channels, l.dense.out
	width, rows := l.dense.in, hi-lo
	if s.slabs {
		x := s.slabSums(w, lo, hi, image, width)
		f := s.f[image*a.Rows*in : (image+1)*a.Rows*in]
		s.ws.transforms.repair(lo, hi, image, func(i, end int) { l.means(x[(i-lo)*width:(end-lo)*width], f, weights, i, end) })
		y := sized(&w.dense, rows*out)
		l.dense.forward(x, rows, simd.ActNone, w, func(int, int, int, int) []T { return y })
		for i := lo; i < hi; i++ {
			simd.Axpy(y[(i-lo)*out:(i-lo+1)*out], a.inverse(i), l.shift)
		}
		s.toSlabs(w, y, lo, hi, image, out)
		return
	}
	for b := image; b < image+images; b++ {
		f, sum := s.f[b*a.Rows*in:(b+1)*a.Rows*in], []T(nil)
		if s.sums != nil {
			sum = s.sums[(b*a.Rows+lo)*width : (b*a.Rows+hi)*width]
			s.ws.transforms.repair(lo, hi, b, func(i, end int) { l.means(sum[(i-lo)*width:(end-lo)*width], f, weights, i, end) })
		} else {
			sum = roomy(&w.sum, rows*width, a.tall*width)
			l.means(sum, f, weights, lo, hi)
		}
		y := s.dst[b*a.Rows*out : (b+1)*a.Rows*out]
		l.dense.forward(sum, rows, simd.ActNone, w, func(l, n, c, width int) []T { return y[c*a.Rows+(lo+l)*width:][:n*width] })
		for c := 0; c < out; c += l.dense.width {
			n := min(l.dense.width, out-c)
			for i := lo; i < hi; i++ {
				simd.Axpy(y[c*a.Rows+i*n:][:n], a.inverse(i), l.shift[c:c+n])
			}
		}
	}
}

// means sets sum [hi-lo, in, mid] to P of rows lo to hi, divided as the result is; f is an image's.
func (l *PlannedEmbedding[T]) means(sum, f []T, weights *tileWeights[T], lo, hi int) {
	a, in, mid := l.a, l.channels, l.dense.in/l.channels
	from, to := a.offsets[lo], a.offsets[hi]
	index, pose := a.pairs()
	simd.PointConv(sum, f, weights.slice(0, 0, mid), a.offsets[lo:hi+1], index[from:to], pose[from:to], in, mid)
	for i := range hi - lo {
		row := sum[i*in*mid : (i+1)*in*mid]
		simd.Scale(row, a.inverse(lo+i), row)
	}
}

// PlannedLinear is a Linear with packed weights.
type PlannedLinear[T Float] struct {
	dense *simd.Packed[T]
	bias  []T
}

// Plan compiles the layer. The plan keeps the parameters as they are now.
func (l *Linear[T]) Plan() *PlannedLinear[T] {
	return &PlannedLinear[T]{simd.PackTransposed(l.Weight, l.In, l.In, l.Out), append([]T(nil), l.Bias...)}
}

// Forward sets dst [rows, out] to the result for x [rows, in], on the calling goroutine.
func (l *PlannedLinear[T]) Forward(dst, x []T, rows int) {
	simd.GemmPacked(dst, l.dense.N(), x, l.dense.K(), l.dense, l.bias, simd.ActNone, rows)
}

// MulAdds is the number of multiply-adds that one pose takes, without the activations.
func (w *WeightNet[T]) MulAdds() float64 {
	n := 0
	for _, l := range w.Linear {
		n += l.In * l.Out
	}
	return float64(n)
}
