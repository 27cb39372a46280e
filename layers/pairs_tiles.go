package layers

import (
	"github.com/equivcnp/equivcnp/internal/parallel"
	"github.com/equivcnp/equivcnp/neighbor"
	"github.com/equivcnp/equivcnp/simd"
)

// Where most poses have a few pairs only, weights are many times the features, and what counts is how often they come from memory.
// So rows go by tiles, whose weights are made slice by slice in the second-level cache, used there for all rows and images, and
// forgotten.

// tiling is a neighbourhood in an order that needs few weights and few features at a time.
type tiling[T Float] struct {
	table        []T     // [poses, e], in the order in which tiles meet them
	count        []int32 // how many pairs each has
	query, point rowTiles[T]
	poses        *simd.DepthwisePosePlan // float32 only: the pairs by pose
}

// rowTiles is one side of it, queries or points. Under rotation groups the rotated copies of a row have the same poses, each at another
// place of the list. Here the copies follow each other and list their pairs in the same order, so that a kernel finds them and fetches
// a weight once for all.
type rowTiles[T Float] struct {
	rows  []int32 // the row that is computed k-th
	tiles []rowTile[T]
	mean  bool // sums are divided by the number of pairs
}

// rowTile are the rows lo to hi of the order.
type rowTile[T Float] struct {
	lo, hi int
	poses  []int32 // that they need, by first use
	table  []T     // what those are, [poses, e]: every layer reads them
	// The rows' pairs, pose counting within poses: for float32 in a plan.
	batch       *simd.DepthwiseBatchPlan
	offsets     []int
	index, pose []int32
}

// trainPoses is about how many poses a tile needs: a slice of their weights takes a quarter of a second-level cache of 2 MB, and so does
// what it is made from; half is left for the features that they meet. Half as many poses meet nearly as many features.
const trainPoses = 1 << 12

// tiled says that convolutions go by tiles, and take weights slice by slice.
func (p *Pairs[T]) tiled() bool { return sizeof[T]() != 4 || !Flat(p.Neighborhood) }

// tiles returns the pairs in tiles.
func (p *Pairs[T]) tiles() *tiling[T] {
	p.sorted.tileOnce.Do(func() {
		t, n := &tiling[T]{table: p.Table, count: p.Count}, p.Neighborhood
		place := p.place
		if place == nil {
			place = make([]float64, 2*n.Queries)
		}
		order := RowOrder(n, place)
		if sizeof[T]() == 4 {
			n = t.renumber(n, order)
		}
		parallel.For(3, 1, func(k, _ int) {
			switch {
			case k == 0:
				t.query = newRowTiles(n, t.table, order, true)
			case k == 1:
				// Points that are rotated copies of each other have the same poses too, though others than queries.
				back := n.Transpose()
				t.point = newRowTiles(back, t.table, RowOrder(back, place), false)
			case sizeof[T]() == 4:
				t.poses = simd.NewDepthwisePosePlan(n.Offsets, n.Index, n.Pose, n.Queries, n.NumPoses())
			}
		})
		p.tiling = t
	})
	return p.tiling
}

// renumber returns n with its poses numbered by first use in an order of the rows, and sets table and count.
func (t *tiling[T]) renumber(n *neighbor.Neighborhood, order []int32) *neighbor.Neighborhood {
	e, poses := n.PoseDim, n.NumPoses()
	number, used := make([]int32, poses), int32(0) // plus one; 0: unused
	pose := make([]int32, len(n.Pose))
	table, count := make([]T, poses*e), make([]int32, poses)
	for _, i := range order {
		for k := n.Offsets[i]; k < n.Offsets[i+1]; k++ {
			q := n.Pose[k]
			if number[q] == 0 {
				copy(table[int(used)*e:], t.table[int(q)*e:(int(q)+1)*e])
				count[used] = n.Count[q]
				used++
				number[q] = used
			}
			pose[k] = number[q] - 1
		}
	}
	t.table, t.count = table[:int(used)*e], count[:used]
	return &neighbor.Neighborhood{Queries: n.Queries, Points: n.Points, Offsets: n.Offsets, Index: n.Index, Pose: pose, PoseDim: e, Count: t.count}
}

// newRowTiles arranges a neighbourhood whose points are its queries and whose poses are those of a table, for sums or means.
func newRowTiles[T Float](n *neighbor.Neighborhood, table []T, order []int32, mean bool) rowTiles[T] {
	step := min(max(4, trainPoses*n.Queries/max(1, n.NumPoses()))&^3, rowGrain)
	t := rowTiles[T]{rows: order, tiles: make([]rowTile[T], (n.Queries+step-1)/step), mean: mean}
	builders := make([]tileBuilder[T], workers())
	parallel.ForWorkers(len(t.tiles), 1, len(builders), func(worker, k, _ int) {
		b := &builders[worker]
		if b.local == nil {
			b.local, b.rank = make([]int32, n.NumPoses()), make([]int32, n.NumPoses())
		}
		lo := k * step
		tile := b.tile(n, order, lo, min(lo+step, n.Queries))
		tile.table = make([]T, 0, len(tile.poses)*n.PoseDim)
		for _, q := range tile.poses {
			tile.table = append(tile.table, table[int(q)*n.PoseDim:(int(q)+1)*n.PoseDim]...)
		}
		if sizeof[T]() == 4 {
			tile.batch = simd.NewDepthwiseBatchPlan(order[tile.lo:tile.hi], tile.offsets, tile.index, tile.pose, n.Queries, n.Queries, len(tile.poses), mean)
			tile.offsets, tile.index, tile.pose = nil, nil, nil
		}
		t.tiles[k] = tile
	})
	return t
}

// tileBuilder is scratch for making tiles, all zero between them.
type tileBuilder[T Float] struct {
	local []int32 // [poses] place within the tile plus one
	rank  []int32 // [poses] place in the last row that others are compared with, plus one
}

// tile arranges rows lo to hi of an order. A row lists its pairs as the row before does, where it has the same poses, else as they are.
func (b *tileBuilder[T]) tile(n *neighbor.Neighborhood, order []int32, lo, hi int) rowTile[T] {
	t := rowTile[T]{lo: lo, hi: hi, offsets: make([]int, hi-lo+1)}
	for k, i := range order[lo:hi] {
		t.offsets[k+1] = t.offsets[k] + n.Offsets[i+1] - n.Offsets[i]
	}
	pairs := t.offsets[hi-lo]
	t.index, t.pose = make([]int32, pairs), make([]int32, pairs)
	var lead []int32 // the poses that rank knows
	for k, i := range order[lo:hi] {
		index, pose := n.Row(int(i))
		from, to := t.offsets[k], t.offsets[k+1]
		if k > 0 && b.follow(t.index[from:to], index, pose, lead) {
			copy(t.pose[from:to], t.pose[t.offsets[k-1]:from])
			continue
		}
		for _, q := range lead {
			b.rank[q] = 0
		}
		lead = pose
		copy(t.index[from:to], index)
		for e, q := range pose {
			if b.local[q] == 0 {
				t.poses = append(t.poses, q)
				b.local[q] = int32(len(t.poses))
			}
			t.pose[from+e] = b.local[q] - 1
			b.rank[q] = int32(e + 1)
		}
	}
	for _, q := range lead {
		b.rank[q] = 0
	}
	for _, q := range t.poses {
		b.local[q] = 0
	}
	return t
}

// follow sets dst to the points of a row, in the order in which lead lists their poses, and reports whether those are the same, each
// once.
func (b *tileBuilder[T]) follow(dst, index, pose, lead []int32) bool {
	if len(pose) != len(lead) {
		return false
	}
	for k := range dst {
		dst[k] = -1
	}
	for k, q := range pose {
		at := b.rank[q] - 1
		if at < 0 || dst[at] >= 0 {
			return false
		}
		dst[at] = index[k]
	}
	return true
}
