package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/simd"
)

// Where rows come in fours with the same poses, as pixels and their copies under quarter turns do, training goes by tiles of fours
// (simd.DepthwiseOrbits), image by image and in slices of 16 channels. What is read of a point then serves six fours.
//
// Tiles of points serve both gradients. They gather the gradient to the sums: weighted, it adds up to the gradient to the points' features,
// and its products with these features add up to the gradient to the weights. So a tile's weights are computed once on the way back, and the
// network's own backward pass follows while they are in the cache.

// orbitTiles says where tiles end. What the network computes of a tile's poses should stay in the second-level cache.
var orbitTiles = schedule.Options{Poses: 1 << 11, Orbits: true}

// orbitPairs is a neighbourhood whose rows come in fours, and so do its points.
type orbitPairs[T Float] struct {
	order        []int32 // of rows, in which features are packed
	query, point orbitRows[T]
}

// orbitRows holds the tiles of one side; order says which row is the k-th.
type orbitRows[T Float] struct {
	order []int32
	tiles []tile[T]
}

// orbits returns the pairs in tiles of fours, for a layer of c channels, or nil where others are better.
func (p *Pairs[T]) orbits(w *WeightNet[T], c int) *orbitPairs[T] {
	if !p.tiled() || sizeof[T]() != 4 || c == 0 || c%simd.OrbitChannels != 0 || w.Norm[1] != nil || w.Norm[2] != nil {
		return nil
	}
	p.sorted.orbitOnce.Do(func() {
		rows := rowsOf(p.Neighborhood, nil)
		if !rows.Quarters() {
			return
		}
		o := &orbitPairs[T]{order: p.order(rows)}
		place := schedule.Inverse(o.order)
		parallel.For(2, 1, func(k, _ int) {
			if k == 0 {
				o.query = newOrbitRows(rows, o.order, place, p.Table, p.PoseDim, true)
				return
			}
			back := rowsOf(p.transposed(), nil)
			o.point = newOrbitRows(back, p.order(back), place, p.Table, p.PoseDim, false)
		})
		if o.query.few(p.Queries) && o.point.few(p.Queries) {
			p.orbiting = o
		}
	})
	return p.orbiting
}

// newOrbitRows arranges a neighbourhood for sums or means. place has the points' new numbers, table the poses' coordinates.
func newOrbitRows[T Float](r *schedule.Rows, order, place []int32, table []T, dim int, mean bool) orbitRows[T] {
	opt := orbitTiles
	opt.Number = place
	s := r.Tile(order, opt)
	o := orbitRows[T]{order, newTiles[T](s, table, dim, nil)}
	parallel.For(len(o.tiles), 1, func(k, _ int) {
		from := &s.Tiles[k]
		offsets, index, pose, same := s.Of(from)
		o.tiles[k].orbits = simd.NewDepthwiseOrbits(from.Orbits, offsets, index, pose, same, r.Len(), len(from.Poses), mean)
	})
	return o
}

// orbitAlone says that one row of so many may be in no four: its products with each pose take as long as those of some twenty others.
const orbitAlone = 64

// few reports whether few rows are in no four.
func (o *orbitRows[T]) few(rows int) bool {
	alone := 0
	for k := range o.tiles {
		alone += o.tiles[k].orbits.Alone()
	}
	return alone*orbitAlone <= rows
}

// packed returns x [batch, rows, c] as [slices, batch, rows, 16], in the order of features, from rent.
func (o *orbitPairs[T]) packed(x []T, batch, c int) []T {
	const n = simd.OrbitChannels
	rows := len(o.order)
	dst := rent[T](len(x))
	parallel.For(batch*rows, packRows, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			from := x[(k-k%rows+int(o.order[k%rows]))*c:][:c]
			for j := 0; j < c; j += n {
				copySlice(dst[j*batch*rows+k*n:], from[j:])
			}
		}
	})
	return dst
}

// imageSlice is slice k of image b of what packed returns.
func (o *orbitPairs[T]) imageSlice(packed []T, b, batch, k int) []float32 {
	size := len(o.order) * simd.OrbitChannels
	return any(packed).([]float32)[(k*batch+b)*size:][:size]
}

// put sets a slice of channels of the rows of a tile in dst [rows, c].
func (o *orbitRows[T]) put(dst []T, tile *tile[T], from []T, k, c int) {
	const n = simd.OrbitChannels
	for i, row := range o.order[tile.lo:tile.hi] {
		copySlice(dst[int(row)*c+k*n:], from[i*n:])
	}
}

// take is put the other way.
func (o *orbitRows[T]) take(to []T, tile *tile[T], src []T, k, c int) {
	const n = simd.OrbitChannels
	for i, row := range o.order[tile.lo:tile.hi] {
		copySlice(to[i*n:], src[int(row)*c+k*n:])
	}
}

// convolve sets dst [batch, rows, c] to the mean, over the pairs of every row, of w[pose] ⊙ f[index], for f [batch, rows, c]. window, if not
// nil, multiplies the weights of every pose.
func (o *orbitPairs[T]) convolve(dst, f []T, w poseSlices[T], window []T, batch, c int) {
	const n = simd.OrbitChannels
	packed, image := o.packed(f, batch, c), len(o.order)*c
	parallel.For(len(o.query.tiles), 1, func(at, _ int) {
		tile := &o.query.tiles[at]
		hidden, weights, out := w.hidden(tile), rent[T](len(tile.poses)*n), rent[T]((tile.hi-tile.lo)*n)
		for k := range c / n {
			w.slice(weights, hidden, k)
			scalePoses(weights, window, tile.poses, n)
			for b := range batch {
				simd.DepthwiseOrbitsF32(f32(out), o.imageSlice(packed, b, batch, k), f32(weights), tile.orbits)
				o.query.put(dst[b*image:(b+1)*image], tile, out, k, c)
			}
		}
		giveBack(hidden, weights, out)
	})
	giveBack(packed)
}

// convolveBack sets df [batch, rows, c], unless that is nil, to the gradient to the features f of convolve, and adds the gradients of the weights' network to g, given d,
// the gradient to the sums.
func (o *orbitPairs[T]) convolveBack(df, d, f []T, net *WeightNetTape[T], batch, c int, g *Grads[T]) {
	const n = simd.OrbitChannels
	packed, image := o.packed(d, batch, c), len(o.order)*c
	net.backwardTiles(o.point.tiles, func(at, k int, dw, w []T) {
		tile := &o.point.tiles[at]
		x := rent[T]((tile.hi - tile.lo) * n)
		for b := range batch {
			from := o.imageSlice(packed, b, batch, k)
			if df != nil {
				simd.DepthwiseOrbitsF32(f32(x), from, f32(w), tile.orbits)
				o.point.put(df[b*image:(b+1)*image], tile, x, k, c)
			}
			o.point.take(x, tile, f[b*image:(b+1)*image], k, c)
			simd.DepthwiseOrbitsGradWF32(f32(dw), f32(x), from, tile.orbits, b > 0)
		}
		giveBack(x)
	}, g)
	giveBack(packed)
}
