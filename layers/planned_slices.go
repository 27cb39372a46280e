package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/simd"
)

// slicedImages is how many images' sums are held while tiles pass slice by slice. A single image gains nothing: there weights from memory are what
// takes time.
const slicedImages = 8

// A separable convolution over tiles reads a slice of the features of every image for each tile. Tile by tile, with all slices of a tile before the next,
// these come from the third-level cache each time. Where weights are stored, all tiles of a slice therefore go before the next slice: a slice of an image's
// features then stays in the second-level cache. The sums of all rows wait in memory for the dense map. Tiles whose weights are computed in the call go by
// themselves and have all their slices at once, because the network's hidden layers serve them all. No bits depend on any of this.

// tiles computes all tiles of the pass.
func (s *pass[T]) tiles(workers int) {
	a, layer := s.a, (*PlannedSeparable[T])(nil)
	if l, ok := s.layer.(*PlannedSeparable[T]); ok && s.batch > 1 && a.width(l.dense.in) < l.dense.in && s.weights.anyStored() {
		layer = l
	}
	if layer == nil {
		s.roundFeatures(0, s.batch, workers)
		parallel.ForWorkers(len(a.tiles), 1, workers, s.runTile)
		return
	}
	s.split = true
	if !s.weights.allStored() {
		parallel.ForWorkers(len(a.tiles), 1, workers, s.runTile)
	}
	in := layer.dense.in
	slices := (in + a.width(in) - 1) / a.width(in)
	for s.first = 0; s.first < s.batch; s.first += s.images {
		s.images = min(slicedImages, s.batch-s.first)
		s.roundFeatures(s.first, s.images, workers)
		s.sums, s.sliced = sized(&s.ws.sums, s.images*a.Rows*in), true
		parallel.ForWorkers(slices*len(a.tiles), 1, workers, s.runSlice)
		parallel.ForWorkers(len(a.tiles), 1, workers, s.runTile)
	}
}

// slice computes the sums of one slice of a stored tile, of the pass's images.
func (s *pass[T]) slice(worker, unit, _ int) {
	a, i := s.a, unit%len(s.a.tiles)
	if s.stop() || !s.weights.isStored(i) {
		return
	}
	t, w, c := &a.tiles[i], &s.ws.workers[worker], len(s.f)/(s.batch*a.Rows)
	k, width, rows := unit/len(a.tiles), a.width(c), t.hi-t.lo
	j := k * width
	n := min(width, c-j)
	w.tile = s.weights.tile(a, i, w)
	from, to := a.offsets[t.lo], a.offsets[t.hi]
	index, pose := a.pairs()
	part, slice := roomy(&w.part, rows*n, a.tall*n), w.tile.slice(k, j, n)
	for b := range s.images {
		if w.tile.pairs != nil {
			w.tile.dots(s.sums[(b*a.Rows+t.lo)*c+j:], c, (b*c+j)*a.Rows, a.Rows)
			continue
		}
		w.tile.means(part, s.f[((s.first+b)*c+j)*a.Rows:][:a.Rows*n], slice, a.offsets[t.lo:t.hi+1], index[from:to], pose[from:to], n)
		copyRows(s.sums[(b*a.Rows+t.lo)*c+j:], c, part, n, n, rows)
	}
}

// roundFeatures rounds the features of some images for tiles that have weights in bfloat16 in pairs.
func (s *pass[T]) roundFeatures(first, images, workers int) {
	if !s.weights.inPairs() {
		return
	}
	each := len(s.f) / max(1, s.batch)
	s.ws.features = reuse.Sized(s.ws.features, images*each)
	f, to := any(s.f[first*each:(first+images)*each]).([]float32), s.ws.features
	parallel.ForWorkers(len(f), roundGrain, workers, func(_, lo, hi int) { simd.BF16FromF32(to[lo:hi], f[lo:hi]) })
	for i := range s.ws.workers {
		s.ws.workers[i].features = to
	}
}

// roundGrain is how many numbers a goroutine rounds at a time.
const roundGrain = 1 << 15

// isStored reports whether the weights of tile i are, anyStored whether those of one are, allStored whether all are.
func (p *poseWeights[T]) isStored(i int) bool { return p.starts[i] >= 0 }
func (p *poseWeights[T]) anyStored() bool     { return len(p.table)+len(p.half) > 0 }

func (p *poseWeights[T]) allStored() bool {
	for i := range p.starts {
		if !p.isStored(i) {
			return false
		}
	}
	return true
}
