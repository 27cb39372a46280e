package layers

import (
	"github.com/equivcnp/equivcnp/internal/depthwise"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/internal/schedule"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
)

// Pixels under rotations come in fours with the same poses. Where there are kernels for that (depthwise.HaveOrbitsGrad), the
// convolution and both its gradients take groups of fours: a point is read once for up to six fours, and a weight, or
// what is added to its gradient, once for four rows. Slices have depthwise.OrbitChannels channels, of which features are
// packed image by image, in the order of the queries' tiles.

// mostAlone says that a row in so many may be in no four: there is no kernel for its weights' gradient.
const mostAlone = 64

// tileFours returns the pairs in tiles of fours, or nil if too many rows come in none. A pose is in the table once for
// each use in the queries' tiles, in the order of use.
func (p *Pairs[T]) tileFours() *tiling[T] {
	rows := rowsOf(p.Neighborhood, nil)
	if !rows.Quarters() {
		return nil
	}
	order := p.order(rows)
	number := schedule.Inverse(order)
	t := &tiling[T]{fours: true}
	t.query = newFours[T](rows, order, number, true)
	alone := 0
	for _, f := range t.query.fours {
		alone += f.Alone()
	}
	if alone*mostAlone > rows.Len() {
		return nil
	}
	at := make([]int32, p.NumPoses()) // of each pose its first number in the table, plus one
	for i := range t.query.tiles {
		tile := &t.query.tiles[i]
		t.starts = append(t.starts, len(t.old))
		for k, q := range tile.poses {
			if at[q] == 0 {
				at[q] = int32(len(t.old)) + 1
			}
			tile.poses[k] = int32(len(t.old))
			t.old = append(t.old, q)
		}
	}
	t.starts = append(t.starts, len(t.old))
	t.table, t.count = make([]T, len(t.old)*p.PoseDim), make([]int32, len(t.old))
	for to, q := range t.old {
		copy(t.table[to*p.PoseDim:], p.Table[int(q)*p.PoseDim:(int(q)+1)*p.PoseDim])
	}
	for i := range t.query.tiles {
		tile := &t.query.tiles[i]
		tile.table = t.table[t.starts[i]*p.PoseDim : t.starts[i+1]*p.PoseDim]
		_, _, pose, _ := t.query.Of(&t.query.Tiles.Tiles[i])
		for _, q := range pose {
			t.count[t.starts[i]+int(q)]++
		}
	}
	// Points that are rotated copies of each other have the same poses as well, but other poses than queries.
	back := rowsOf(p.Transpose(), nil)
	t.point = newFours[T](back, p.order(back), number, false)
	for i := range t.point.tiles {
		tile := &t.point.tiles[i]
		tile.table = make([]T, 0, len(tile.poses)*p.PoseDim)
		for k, q := range tile.poses {
			tile.table = append(tile.table, p.Table[int(q)*p.PoseDim:(int(q)+1)*p.PoseDim]...)
			tile.poses[k] = at[q] - 1
		}
	}
	t.query.Tiles, t.point.Tiles = &schedule.Tiles{Order: order}, &schedule.Tiles{Order: t.point.Order}
	return t
}

// packFours returns x [batch, rows, c] as [c/OrbitChannels, batch, rows, OrbitChannels], rows in the order of the
// queries' tiles, from rent.
func (p *Pairs[T]) packFours(x []T, batch, c int) []T {
	const n = depthwise.OrbitChannels
	order, dst := p.tiles(c).query.Order, buffers.Rent[T](len(x))
	rows := len(order)
	parallel.For(rows, packRows, func(lo, hi int) {
		for b := range batch {
			for j := 0; j < c; j += n {
				to := dst[(j/n*batch+b)*rows*n:][:rows*n]
				for k := lo; k < hi; k++ {
					*(*[n]T)(to[k*n:]) = *(*[n]T)(x[(b*rows+int(order[k]))*c+j:])
				}
			}
		}
	})
	return dst
}

// foursOf does the work of convolveTiles for one tile of fours. weights is room for a slice.
func (t *rowTiles[T]) foursOf(k int, dst, packed, weights, factors, hidden []T, w poseSlices[T], batch, c int) {
	const n = depthwise.OrbitChannels
	tile, rows := &t.tiles[k], len(t.Order)
	own := t.Order[tile.lo:tile.hi]
	out := buffers.Rent[T](batch * len(own) * n)
	for j := 0; j < c; j += n {
		w.slice(weights, hidden, tile, j/n)
		scaleRows(weights, factors, n)
		depthwise.OrbitsBatchF32(buffers.F32(out), buffers.F32(packed[j*batch*rows:][:batch*rows*n]),
			buffers.F32(weights), t.fours[k], rows*n, batch)
		for b := range batch {
			for i, row := range own {
				*(*[n]T)(dst[(b*rows+int(row))*c+j:]) = *(*[n]T)(out[(b*len(own)+i)*n:])
			}
		}
	}
	buffers.GiveBack(out)
}

// fourParts computes the gradient to the weights, summed over the batch, for the queries' tiles of fours.
type fourParts[T Float] struct {
	t        *tiling[T]
	d, f     []T // packed: the gradient to the sums, and the features
	batch, c int
}

func (p *fourParts[T]) parts() int              { return len(p.t.starts) - 1 }
func (p *fourParts[T]) part(k int) (lo, hi int) { return p.t.starts[k], p.t.starts[k+1] }
func (p *fourParts[T]) width() int              { return depthwise.OrbitChannels }

func (p *fourParts[T]) produce(dw []T, k, from, to int) {
	const n = depthwise.OrbitChannels
	lo, hi := p.part(k)
	if lo == hi {
		return
	}
	tile, size := &p.t.query.tiles[k], len(p.t.query.Order)*n // numbers of an image
	one := func(dst []T, j int) {
		d := p.d[j*p.batch*size/n+tile.lo*n : (j/n+1)*p.batch*size]
		depthwise.OrbitsGradF32(buffers.F32(dst), buffers.F32(d), buffers.F32(p.f[j*p.batch*size/n:][:p.batch*size]),
			p.t.query.fours[k], size, size, p.batch)
	}
	if to-from == n {
		one(dw, from)
		return
	}
	slice := buffers.Rent[T]((hi - lo) * n)
	for j := from; j < to; j += n {
		one(slice, j)
		buffers.CopyRows(dw[j-from:], to-from, slice, n, n, hi-lo)
	}
	buffers.GiveBack(slice)
}
