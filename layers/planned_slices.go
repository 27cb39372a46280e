package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/reuse"
	"github.com/equivcnp/equivcnp/simd"
)

// slicedImages is how many images' sums are held while tiles pass slice by slice. A single image gains nothing: there
// weights from memory are what takes time.
const slicedImages = 8

// A separable convolution over tiles reads a slice of the features of every image for each tile. Tile by tile, with all
// slices of a tile before the next, these come from the third-level cache each time. Where weights are stored or
// interpolated, all tiles of a slice therefore go before the next slice: a slice of an image's features then stays in
// the second-level cache. The sums of all rows wait in memory for the dense map. Tiles whose weights the network
// computes in the call go by themselves and have all their slices at once, because the network's hidden layers serve
// them all. No bits depend on any of this.

// tiles computes all tiles of the pass.
func (s *pass[T]) tiles(workers int) {
	a, layer := s.a, (*PlannedSeparable[T])(nil)
	if l, ok := s.layer.(*PlannedSeparable[T]); ok && s.batch > 1 && a.width(l.dense.in) < l.dense.in && s.weights.anySliced() {
		layer = l
	}
	if layer == nil {
		s.roundFeatures(0, s.batch, workers)
		parallel.ForWorkers(len(a.tiles), 1, workers, s.runTile)
		return
	}
	s.split = true
	if !s.weights.allSliced() {
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

// between says where one slice stands among features of c channels and among the sums of a tile's rows, which have all
// channels side by side.
type between struct {
	c      int // numbers from a row of the sums to the next
	out, f int // from an image's sums, and from its features, to the next one's
	from   int // where the slice of the first image's features begins
	images int
}

// means sets n channels of the sums of a tile's rows to the means over their pairs, of features f with weights slice, for every image.
func (v *tileWeights[T]) means(out, f []T, at between, slice []T, offsets []int, index, pose []int32, n int) {
	rows, points := len(offsets)-1, at.f/at.c
	for b, images := 0, 1; b < at.images; b += images {
		to, x := out[b*at.out:], f[b*at.f+at.from:]
		if v.pairs != nil {
			simd.DepthwiseDotsF32(any(to).([]float32), at.c, v.w.features[b*at.f+at.from:][:points*simd.OrbitChannels], v.part, v.pairs)
			continue
		}
		orbits := v.orbits != nil && n == simd.OrbitChannels
		if orbits {
			images = min(simd.OrbitImages(), at.images-b)
		}
		part := roomy(&v.w.part, images*rows*n, min(simd.OrbitImages(), at.images)*v.tall*n)
		switch {
		case orbits:
			simd.DepthwiseOrbitsBatchF32(any(part).([]float32), any(x).([]float32), any(slice).([]float32), v.orbits, at.f, images)
		case v.rows != nil:
			simd.DepthwiseRowsF32(any(part).([]float32), any(x[:points*n]).([]float32), any(slice).([]float32), v.rows, n, true)
		default:
			simd.Depthwise(part, x[:points*n], slice, offsets, index, pose, n, true)
		}
		for i := range images {
			copyRows(to[i*at.out:], at.c, part[i*rows*n:], n, n, rows)
		}
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

// isSliced reports whether the weights of tile i come slice by slice, anySliced whether those of one do, allSliced whether all do.
func (p *poseWeights[T]) isSliced(i int) bool { return p.starts[i] >= 0 || p.nodes != nil }
func (p *poseWeights[T]) anySliced() bool     { return len(p.table)+len(p.half) > 0 || p.nodes != nil }

func (p *poseWeights[T]) allSliced() bool {
	for i := range p.starts {
		if !p.isSliced(i) {
			return false
		}
	}
	return true
}
