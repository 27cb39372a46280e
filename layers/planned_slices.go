package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/simd"
)

// A separable convolution over tiles reads a slice of the features of every image for each tile. Tile by tile, with all
// slices of a tile before the next, these come from the third-level cache each time. Where weights are stored or
// interpolated, all tiles of a slice therefore go before the next slice: a slice of an image's features then stays in
// the second-level cache. The sums of all rows wait in memory for the dense map. Tiles whose weights the network
// computes in the call go by themselves and have all their slices at once, because the network's hidden layers serve
// them all. No bits depend on any of this.

// tiles computes all tiles of the pass.
func (s *pass[T]) tiles(workers int) {
	a, in := s.a, s.layer.waiting()
	if s.batch <= 1 || a.width(in) >= in || !s.weights.anySliced() {
		s.roundFeatures(0, s.batch, workers)
		parallel.ForWorkers(len(a.tiles), 1, workers, s.runTile)
		return
	}
	s.split = true
	if !s.weights.allSliced() {
		parallel.ForWorkers(len(a.tiles), 1, workers, s.runTile)
	}
	slices := (in + a.width(in) - 1) / a.width(in)
	for s.first = 0; s.first < s.batch; s.first += s.images {
		s.images = min(slicedImages, s.batch-s.first)
		s.roundFeatures(s.first, s.images, workers)
		s.sums, s.sliced = buffers.Sized(&s.ws.sums, s.images*a.Rows*in), true
		parallel.ForWorkers(slices*len(a.tiles), 1, workers, s.runSlice)
		parallel.ForWorkers(len(a.tiles), 1, workers, s.runTile)
	}
}

// slice computes the sums of one slice of a stored tile, of the pass's images.
func (s *pass[T]) slice(worker, unit, _ int) {
	a, i := s.a, unit%len(s.a.tiles)
	if s.stop() || !s.weights.isSliced(i) {
		return
	}
	t, w, c := &a.tiles[i], &s.ws.workers[worker], len(s.f)/(s.batch*a.Rows)
	k, width := unit/len(a.tiles), a.width(c)
	j := k * width
	n := min(width, c-j)
	w.tile = s.weights.tile(a, i, w)
	from, to := a.offsets[t.lo], a.offsets[t.hi]
	index, pose := a.pairs()
	at := between{c: c, out: a.Rows * c, f: a.Rows * c, from: j * a.Rows, images: s.images}
	w.tile.means(s.sums[t.lo*c+j:], s.f[s.first*c*a.Rows:], at, w.tile.slice(k, j, n), a.offsets[t.lo:t.hi+1], index[from:to],
		pose[from:to], n)
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
