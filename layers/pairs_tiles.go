package layers

import (
	"cmp"
	"slices"
	"sync"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// Where most poses have a few pairs only, weights are many times the features, and what counts is how often they come from memory.
// So rows go by tiles, whose weights are made, from what the WeightNet's last linear map gave, in the second-level cache, used there
// for all rows and images, and forgotten.

// rowTiles is one side of a neighbourhood (queries or points) in an order that needs few weights at a time. Under rotation groups
// the rotated copies of a row have the same poses, each at another place of the list. Here the copies follow each other and all
// rows list their pairs by pose, so that a kernel finds rows with the same list and fetches a weight once for them.
type rowTiles struct {
	rows  []int32 // the row that is computed k-th
	tiles []rowTile
}

// rowTile are the rows lo to hi of the order.
type rowTile struct {
	lo, hi      int
	poses       []int32 // that they need, ascending
	offsets     []int
	index, pose []int32 // pose counts within poses
}

// trainPoses is about how many poses a tile needs: the weights of 128 channels take a quarter of the second-level cache, and leave
// room for the features that one image has there.
const trainPoses = 1 << 10

// tiles returns the pairs by query and by point.
func (p *Pairs[T]) tiles() (query, point *rowTiles) {
	s := &p.sorted
	s.tileOnce.Do(func() {
		s.query = newRowTiles(p.Neighborhood)
		s.point = newRowTiles(p.transposed())
	})
	return &s.query, &s.point
}

// newRowTiles arranges a neighbourhood.
func newRowTiles(n *neighbor.Neighborhood) rowTiles {
	order := copiesTogether(n)
	step := min(max(4, trainPoses*n.Queries/max(1, n.NumPoses()))&^3, rowGrain)
	t := rowTiles{rows: order, tiles: make([]rowTile, (n.Queries+step-1)/step)}
	locals := make([][]int32, workers()) // [poses] place within the tile plus one, 0: not among its poses
	parallel.ForWorkers(len(t.tiles), 1, len(locals), func(worker, k, _ int) {
		if locals[worker] == nil {
			locals[worker] = make([]int32, n.NumPoses())
		}
		lo := k * step
		t.tiles[k] = newRowTile(n, order, lo, min(lo+step, n.Queries), locals[worker])
	})
	return t
}

// copiesTogether returns the rows in an order in which those with equal poses follow each other: pose numbers grow in order of
// first use, so the largest one of a row tells. Sets of such rows keep the order of their first members: neighbouring sets gather
// from the same places.
func copiesTogether(n *neighbor.Neighborhood) []int32 {
	order, key := make([]int32, n.Queries), rowKeys(n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(key[a], key[b]) })
	first := make([]int32, n.Queries)
	for k, i := range order {
		first[i] = i
		if k > 0 && key[order[k-1]] == key[i] {
			first[i] = first[order[k-1]]
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(first[a], first[b]) })
	return order
}

// newRowTile arranges rows lo to hi of an order. local [poses] is all zero, before and after.
func newRowTile(n *neighbor.Neighborhood, order []int32, lo, hi int, local []int32) rowTile {
	t := rowTile{lo: lo, hi: hi, offsets: make([]int, hi-lo+1)}
	for k, i := range order[lo:hi] {
		index, pose := n.Row(int(i))
		t.offsets[k+1] = t.offsets[k] + len(index)
		for _, q := range pose {
			if local[q] == 0 {
				local[q] = 1
				t.poses = append(t.poses, q)
			}
		}
	}
	slices.Sort(t.poses)
	for k, q := range t.poses {
		local[q] = int32(k + 1)
	}
	pairs := t.offsets[hi-lo]
	t.index, t.pose = make([]int32, pairs), make([]int32, pairs)
	var sorted []int64
	for k, i := range order[lo:hi] {
		index, pose := n.Row(int(i))
		sorted = sorted[:0]
		for e, q := range pose {
			sorted = append(sorted, int64(local[q]-1)<<32|int64(index[e]))
		}
		slices.Sort(sorted)
		for e, v := range sorted {
			t.index[t.offsets[k]+e], t.pose[t.offsets[k]+e] = int32(v), int32(v>>32)
		}
	}
	for _, q := range t.poses {
		local[q] = 0
	}
	return t
}

// convolveTiles sets dst [batch, rows, c] to the sums over every row's pairs of w[pose] ⊙ src[index], for src [batch, rows, c];
// with mean, to their means.
func convolveTiles[T Float](t *rowTiles, dst, src []T, w poseSource[T], batch, c int, mean bool) {
	w.need()
	rows := len(t.rows)
	parallel.For(len(t.tiles), 1, func(k, _ int) {
		tile := &t.tiles[k]
		weights, out := rent[T](len(tile.poses)*c), rent[T]((tile.hi-tile.lo)*c)
		w.weightsOf(weights, tile.poses)
		for b := range batch {
			simd.Depthwise(out, src[b*rows*c:(b+1)*rows*c], weights, tile.offsets, tile.index, tile.pose, c, mean)
			for k, i := range t.rows[tile.lo:tile.hi] {
				copy(dst[(b*rows+int(i))*c:][:c], out[k*c:])
			}
		}
		giveBack(weights, out)
	})
}

// lists are scratch for lists of pairs.
var lists = sync.Pool{New: func() any { return new([]int32) }}

// listWeights returns a function that writes the gradient [hi-lo, c] to the weights of poses lo to hi, summed over the batch, given
// that to the sums, d, and the features f. The images' pairs go together, as pairs of one long image.
func (p *Pairs[T]) listWeights(d, f []T, batch, c int) func(dw []T, lo, hi int) {
	r, rows := p.byPose(), p.Queries
	return func(dw []T, lo, hi int) {
		n := batch * (r.offsets[hi] - r.offsets[lo])
		list := lists.Get().(*[]int32)
		*list = slices.Grow((*list)[:0], 2*n)[:2*n]
		query, point, offsets, at := (*list)[:n], (*list)[n:], make([]int, hi-lo+1), 0
		for q := lo; q < hi; q++ {
			a, b := r.offsets[q], r.offsets[q+1]
			for image := range batch {
				for k := a; k < b; k++ {
					query[at], point[at] = r.query[k]+int32(image*rows), r.point[k]+int32(image*rows)
					at++
				}
			}
			offsets[q-lo+1] = at
		}
		simd.DepthwiseGradW(dw, d, f, offsets, query, point, c)
		lists.Put(list)
	}
}
