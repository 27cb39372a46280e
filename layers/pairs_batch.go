package layers

import (
	"github.com/equivcnp/equivcnp/internal/depthwise"
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/layers/internal/buffers"
	"github.com/equivcnp/equivcnp/simd"
)

// In float32, tiles are computed in slices of 16 channels, in which the values of all images of a batch at one point stand
// together. One address then serves all images, a vector of weights serves four rotated copies in four images, and a slice of
// what a tile gathers stays in the second-level cache.

// packRows is how many rows a goroutine packs at a time.
const packRows = 512

// packed returns x [batch, rows, c] packed by depthwise.PackF32 or by packFours, from rent; nil if T is not float32.
func (p *Pairs[T]) packed(x []T, batch, c int) []T {
	src, ok := any(x).([]float32)
	if !ok {
		return nil
	}
	if p.byFours(c) {
		return p.packFours(x, batch, c)
	}
	dst := buffers.Rent[T](depthwise.PackedLen(batch, p.Queries, c))
	to := any(dst).([]float32)
	parallel.For(p.Queries, packRows, func(lo, hi int) { depthwise.PackF32(to, src, batch, p.Queries, c, lo, hi) })
	return dst
}

// convolveTiles sets dst [batch, rows, c] to the sums or means, over the pairs of every row, of w[pose] ⊙ src[index]. t
// holds the tiles, src is [batch, rows, c], and packed, in float32, is src as packed returns it; slices have width
// channels. window, if not nil, multiplies the weights of every pose.
func convolveTiles[T Float](t *rowTiles[T], dst, src, packed []T, w poseSlices[T], window []T, batch, c, width int) {
	rows := len(t.Order)
	parallel.For(len(t.tiles), 1, func(k, _ int) {
		tile := &t.tiles[k]
		if len(tile.poses) == 0 {
			for b := range batch {
				for _, i := range t.Order[tile.lo:tile.hi] {
					clear(dst[(b*rows+int(i))*c:][:c])
				}
			}
			return
		}
		hidden, weights, room := w.hidden(tile), buffers.Rent[T](len(tile.poses)*width), buffers.Rent[T](len(tile.poses))
		factors := factorsOf(&room, window, tile.poses, 0)
		switch {
		case t.fours != nil:
			t.foursOf(k, dst, packed, weights, factors, hidden, w, batch, c)
		case t.batch == nil:
			w.slice(weights, hidden, tile, 0)
			scaleRows(weights, factors, c)
			convolveTile(t, k, dst, src, weights, batch, c)
		default:
			out, x := any(dst).([]float32), any(packed).([]float32)
			for lo := 0; lo < c; lo += width {
				n := min(width, c-lo)
				part := weights[:len(tile.poses)*n]
				w.slice(part, hidden, tile, lo/width)
				scaleRows(part, factors, n)
				depthwise.BatchF32(out, x, any(part).([]float32), t.batch[k], batch, lo, lo+n, c)
			}
		}
		buffers.GiveBack(hidden, weights, room)
	})
}

// convolveTile does the work of convolveTiles for one tile in float64, all channels at once.
func convolveTile[T Float](t *rowTiles[T], k int, dst, src, weights []T, batch, c int) {
	tile := &t.tiles[k]
	rows, out := len(t.Order), buffers.Rent[T]((tile.hi-tile.lo)*c)
	offsets, index, pose, _ := t.Of(&t.Tiles.Tiles[k])
	for b := range batch {
		simd.Depthwise(out, src[b*rows*c:(b+1)*rows*c], weights, offsets, index, pose, c, t.mean)
		for k, i := range t.Order[tile.lo:tile.hi] {
			copy(dst[(b*rows+int(i))*c:][:c], out[k*c:])
		}
	}
	buffers.GiveBack(out)
}

// poseParts computes the gradient to the weights, summed over the batch, from a list of the pairs of each pose, in float32.
type poseParts[T Float] struct {
	plan     *depthwise.Poses
	d, f     []T // packed: the gradient to the sums, and the features
	batch, c int
}

func (p *poseParts[T]) parts() int              { return p.plan.Parts() }
func (p *poseParts[T]) part(k int) (lo, hi int) { return p.plan.Part(k) }

func (p *poseParts[T]) width() int { return p.c }

func (p *poseParts[T]) produce(dw []T, k, _, _ int) {
	depthwise.PosesGradWF32(any(dw).([]float32), any(p.d).([]float32), any(p.f).([]float32), p.plan, k, 0, p.c, p.batch, p.c)
}
