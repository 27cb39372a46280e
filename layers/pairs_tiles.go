package layers

import (
	"cmp"
	"slices"

	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// Where most poses have a few pairs only, weights are many times the features, and what counts is how often they come from memory.
// So rows go by tiles, whose weights are made, from what the WeightNet's second layer gave, slice by slice in the second-level cache, used
// there for all rows and images, and forgotten.

// rowTiles is one side of a neighbourhood (queries or points) in an order that needs few weights at a time. Under rotation groups
// the rotated copies of a row have the same poses, each at another place of the list. Here the copies follow each other and all
// rows list their pairs by pose, so that a kernel finds rows with the same list and fetches a weight once for them.
type rowTiles struct {
	rows  []int32 // the row that is computed k-th
	tiles []rowTile
	mean  bool // sums are divided by the number of pairs
}

// rowTile are the rows lo to hi of the order.
type rowTile struct {
	lo, hi int
	poses  []int32 // that they need, ascending
	// The rows' pairs, pose counting within poses: for float32 in a plan.
	batch       *simd.DepthwiseBatchPlan
	offsets     []int
	index, pose []int32
}

// trainPoses is about how many poses a tile needs: a slice of their weights takes a quarter of a second-level cache of 2 MB, and so does
// what it is made from; half is left for the features that they meet. Half as many poses meet nearly as many features.
const trainPoses = 1 << 12

// tiles returns the pairs by query and by point.
func (p *Pairs[T]) tiles() (query, point *rowTiles) {
	s := &p.sorted
	s.tileOnce.Do(func() {
		s.query = newRowTiles[T](p.Neighborhood, true)
		s.point = newRowTiles[T](p.transposed(), false)
	})
	return &s.query, &s.point
}

// newRowTiles arranges a neighbourhood whose points are its queries, for sums or means.
func newRowTiles[T Float](n *neighbor.Neighborhood, mean bool) rowTiles {
	order := copiesTogether(n)
	step := min(max(4, trainPoses*n.Queries/max(1, n.NumPoses()))&^3, rowGrain)
	t := rowTiles{rows: order, tiles: make([]rowTile, (n.Queries+step-1)/step), mean: mean}
	locals := make([][]int32, workers()) // [poses] place within the tile plus one, 0: not among its poses
	parallel.ForWorkers(len(t.tiles), 1, len(locals), func(worker, k, _ int) {
		if locals[worker] == nil {
			locals[worker] = make([]int32, n.NumPoses())
		}
		lo := k * step
		tile := newRowTile(n, order, lo, min(lo+step, n.Queries), locals[worker])
		if sizeof[T]() == 4 {
			tile.batch = simd.NewDepthwiseBatchPlan(order[tile.lo:tile.hi], tile.offsets, tile.index, tile.pose, n.Queries, n.Queries, len(tile.poses), mean)
			tile.offsets, tile.index, tile.pose = nil, nil, nil
		}
		t.tiles[k] = tile
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
